// SPDX-License-Identifier: GPL-3.0-or-later
// The look: colours of light and dark, what each colour means, and the palette that widgets are drawn with.
#pragma once

#include <QColor>
#include <QPalette>
#include <QPen>
#include <QString>

class QApplication;
class QWidget;

namespace dsa::ui {

enum class ThemeMode { system, light, dark };

/// Colour means place; lightness means weights, first and second moment.
struct Theme {
  bool dark = false;
  QColor window, plot, text, muted, grid;
  QColor button, field, selection;
  QColor reference;  ///< the run that keeps the table whole (dashed)
  QColor dsa;        ///< the run with the table on disk (solid)
  QColor gpu, ram, disk;
  QColor error, warning, good;

  static const Theme& light();
  static const Theme& darkOne();
  /// What the application is drawn with now. Thread: the window's.
  static const Theme& current();
};

/// Fusion style, our palette and font sizes. Every widget hears of it through QEvent::PaletteChange.
void applyTheme(QApplication& app, ThemeMode mode);
/// Qt 6.4 has no signal for it: the desktop's portal is asked, else the palette it gave us is looked at.
bool systemPrefersDark();

/// Colour of a run by its slot (0 to 7), told apart by colour-blind people too, and its dash for print.
QColor runColour(int slot);
QPen runPen(int slot, double width = 1);
inline constexpr int kRunColours = 8;

/// Gives a widget a style sheet unless it has that one: setting one says PaletteChange, and looks follow PaletteChange.
void setSheet(QWidget& widget, const QString& sheet);

/// A colour of the place, lighter for the moments: part 0 weights, 1 first, 2 second moment.
QColor partColour(const QColor& place, int part);
/// The colour, translucent: alpha 0 to 1.
QColor faded(QColor colour, float alpha);
/// WCAG contrast of two opaque colours, 1 to 21.
double contrast(const QColor& a, const QColor& b);

}  // namespace dsa::ui
