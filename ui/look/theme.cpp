// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/look/theme.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QStyleFactory>
#include <QToolTip>
#include <array>
#include <cmath>

namespace dsa::ui {

namespace {

Theme makeLight() {
  Theme t;
  t.window = QColor("#F6F7F9");
  t.plot = QColor("#FFFFFF");
  t.text = QColor("#1F2328");
  t.muted = QColor("#59636E");
  t.grid = QColor("#E4E7EB");
  t.button = QColor("#FFFFFF");
  t.field = QColor("#FFFFFF");
  t.selection = QColor("#CFE3FA");
  t.reference = QColor("#C2410C");
  t.dsa = QColor("#00796B");
  t.gpu = QColor("#A21C7B");
  t.ram = QColor("#1D5FBF");
  t.disk = QColor("#B8BEC6");
  t.error = QColor("#B42318");
  t.warning = QColor("#8A5A00");
  t.good = QColor("#00796B");
  return t;
}

Theme makeDark() {
  Theme t;
  t.dark = true;
  t.window = QColor("#1E2227");
  t.plot = QColor("#16191D");
  t.text = QColor("#E6E9EE");
  t.muted = QColor("#A0A9B4");
  t.grid = QColor("#2A3037");
  t.button = QColor("#2A3037");
  t.field = QColor("#16191D");
  t.selection = QColor("#1F4A7A");
  t.reference = QColor("#FB923C");
  t.dsa = QColor("#2DD4BF");
  t.gpu = QColor("#F472B6");
  t.ram = QColor("#60A5FA");
  t.disk = QColor("#6B7480");
  t.error = QColor("#FF8A80");
  t.warning = QColor("#F2C14E");
  t.good = QColor("#2DD4BF");
  return t;
}

bool g_dark = false;

QPalette paletteOf(const Theme& t) {
  QPalette p;
  p.setColor(QPalette::Window, t.window);
  p.setColor(QPalette::WindowText, t.text);
  p.setColor(QPalette::Base, t.field);
  p.setColor(QPalette::AlternateBase, t.window);
  p.setColor(QPalette::Text, t.text);
  p.setColor(QPalette::PlaceholderText, t.muted);
  p.setColor(QPalette::Button, t.button);
  p.setColor(QPalette::ButtonText, t.text);
  p.setColor(QPalette::BrightText, t.error);
  p.setColor(QPalette::Highlight, t.selection);
  p.setColor(QPalette::HighlightedText, t.text);
  p.setColor(QPalette::ToolTipBase, t.field);
  p.setColor(QPalette::ToolTipText, t.text);
  p.setColor(QPalette::Link, t.ram);
  p.setColor(QPalette::LinkVisited, t.gpu);
  p.setColor(QPalette::Light, t.dark ? t.button.lighter(120) : QColor("#FFFFFF"));
  p.setColor(QPalette::Midlight, t.grid);
  p.setColor(QPalette::Mid, t.disk);
  p.setColor(QPalette::Dark, t.dark ? QColor("#0F1215") : QColor("#9AA3AD"));
  p.setColor(QPalette::Shadow, t.dark ? QColor("#000000") : QColor("#6B7480"));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    p.setColor(QPalette::Disabled, role, t.dark ? QColor("#6B7480") : QColor("#9AA3AD"));
  return p;
}

double luminance(const QColor& colour) {
  const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

struct RunLook {
  const char* light;
  const char* dark;
  QVector<qreal> dash;
};

// Found by search: contrast of 3 and more on its paper, and as far apart as eight colours get under protan, deutan and
// tritan simulation (tst_look); the dash tells them apart in grey print.
const std::array<RunLook, kRunColours>& runLooks() {
  static const std::array<RunLook, kRunColours> looks = {{{"#0072B2", "#A0A0F0", {}},
                                                          {"#C2410C", "#FB923C", {8, 3}},
                                                          {"#00796B", "#2DD4BF", {2, 3}},
                                                          {"#A21C7B", "#C828A0", {8, 3, 2, 3}},
                                                          {"#000000", "#F0F000", {12, 4}},
                                                          {"#7800F0", "#A028F0", {5, 2}},
                                                          {"#502800", "#A0F0A0", {2, 2, 2, 6}},
                                                          {"#000050", "#288858", {12, 3, 2, 3, 2, 3}}}};
  return looks;
}

}  // namespace

const Theme& Theme::light() {
  static const Theme theme = makeLight();
  return theme;
}

const Theme& Theme::darkOne() {
  static const Theme theme = makeDark();
  return theme;
}

const Theme& Theme::current() { return g_dark ? darkOne() : light(); }

bool systemPrefersDark() {
  QDBusMessage ask = QDBusMessage::createMethodCall("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop",
                                                    "org.freedesktop.portal.Settings", "Read");
  ask << QString("org.freedesktop.appearance") << QString("color-scheme");
  const QDBusMessage answer = QDBusConnection::sessionBus().call(ask, QDBus::Block, 300);
  if (answer.type() == QDBusMessage::ReplyMessage && !answer.arguments().isEmpty()) {
    QVariant value = answer.arguments().constFirst();
    while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
    if (value.toUInt() != 0) return value.toUInt() == 1;
  }
  return QPalette().color(QPalette::Window).lightness() < 128;
}

void applyTheme(QApplication& app, ThemeMode mode) {
  // The desktop's own palette, before ours hides it.
  static const bool desktopIsDark = systemPrefersDark();
  g_dark = mode == ThemeMode::dark || (mode == ThemeMode::system && desktopIsDark);
  static const bool styled = [] {
    QApplication::setStyle(QStyleFactory::create("Fusion"));
    return true;
  }();
  Q_UNUSED(styled)
  const QPalette palette = paletteOf(Theme::current());
  QApplication::setPalette(palette);
  QToolTip::setPalette(palette);
  const Theme& t = Theme::current();
  app.setStyleSheet(
      QString(
          "QToolTip { color: %1; background: %2; border: 1px solid %3; padding: 4px; }"
          "QTableView, QTreeView, QPlainTextEdit { border: 1px solid %3; border-radius: 6px; gridline-color: %3; }"
          "QHeaderView::section { background: %4; color: %5; border: 0; border-bottom: 1px solid %3; padding: 4px 8px; "
          "}"
          "QToolBar { border: 0; border-bottom: 1px solid %3; spacing: 4px; padding: 4px; }"
          "QStatusBar { border-top: 1px solid %3; color: %5; }"
          "QStatusBar::item { border: 0; }"
          "QTabWidget::pane { border: 0; border-top: 1px solid %3; }"
          "QTabBar::tab { padding: 7px 14px; border: 0; border-bottom: 2px solid transparent; color: %5; }"
          "QTabBar::tab:selected { color: %1; border-bottom: 2px solid %6; }"
          "QTabBar::tab:hover:!selected { color: %1; }"
          "QProgressBar { border: 0; border-radius: 3px; background: %3; }"
          "QProgressBar::chunk { border-radius: 3px; background: %6; }"
          "QSplitter::handle { background: %3; }")
          .arg(t.text.name(), t.field.name(), t.grid.name(), t.window.name(), t.muted.name(), t.ram.name()));
}

QColor runColour(int slot) {
  const RunLook& look = runLooks()[static_cast<std::size_t>(((slot % kRunColours) + kRunColours) % kRunColours)];
  return QColor(g_dark ? look.dark : look.light);
}

QPen runPen(int slot, double width) {
  const RunLook& look = runLooks()[static_cast<std::size_t>(((slot % kRunColours) + kRunColours) % kRunColours)];
  QPen pen(runColour(slot), width);
  if (!look.dash.isEmpty()) pen.setDashPattern(look.dash);
  return pen;
}

void setSheet(QWidget& widget, const QString& sheet) {
  if (widget.styleSheet() != sheet) widget.setStyleSheet(sheet);
}

QColor partColour(const QColor& place, int part) {
  // Towards the paper, in light and dark alike.
  const QColor paper = Theme::current().plot;
  const double mix = 0.28 * part;
  return QColor::fromRgbF(static_cast<float>(place.redF() * (1 - mix) + paper.redF() * mix),
                          static_cast<float>(place.greenF() * (1 - mix) + paper.greenF() * mix),
                          static_cast<float>(place.blueF() * (1 - mix) + paper.blueF() * mix));
}

QColor faded(QColor colour, float alpha) {
  colour.setAlphaF(alpha);
  return colour;
}

double contrast(const QColor& a, const QColor& b) {
  const double la = luminance(a);
  const double lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

}  // namespace dsa::ui
