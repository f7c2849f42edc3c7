// SPDX-License-Identifier: GPL-3.0-or-later
// One plot in our look: left and bottom axes, direct labels, thin lines, marks where a value is no number.
#pragma once

#include <QVector>
#include <functional>
#include <optional>

#include "ui/plots/qcustomplot.h"
#include "ui/run/series.h"

namespace dsa::ui {

/// How values of an axis are written.
enum class PlotUnit { plain, bytes, bytesPerSecond, perSecond, percent, seconds };

struct LineStyle {
  QString label;  ///< written at the line's end
  QColor colour;
  Qt::PenStyle dash = Qt::SolidLine;
  double width = 1;  ///< raw lines 1: wider ones are slow to draw
  std::optional<QColor> fill;
  bool hatched = false;  ///< the fill is reclaimable or simulated
};

/// Thread: the window's. Replots are queued: many calls make one.
class Plot : public QCustomPlot {
  Q_OBJECT
 public:
  explicit Plot(const QString& title, PlotUnit unit, QWidget* parent = nullptr);

  /// Titles stand above the plot and hold the unit; also its accessible name.
  void setTitle(const QString& title);
  [[nodiscard]] const QString& title() const { return m_title; }
  /// What the horizontal axis counts.
  void setHorizontal(const QString& title, PlotUnit unit);
  /// Adds a line; gives its number.
  int addLine(const LineStyle& style);
  void setLine(int line, const QVector<double>& x, const QVector<double>& y);
  void clearLines();
  /// Axes of memory start at 0 and never shrink while a run is shown.
  void keepZero(bool zero) { m_zero = zero; }
  /// At least up to here: a capacity line, or the other plot's peak.
  void setFloorOfTop(double top) { m_leastTop = top; }
  /// A logarithmic vertical axis: each decade the same height. What is zero or less cannot be drawn and is counted in a
  /// note.
  void setLogarithmic(bool on);
  [[nodiscard]] bool isLogarithmic() const { return m_log; }
  /// What stands in the plot about values that are not drawn.
  [[nodiscard]] QString note() const { return m_gapText->visible() ? m_gapText->text() : QString(); }
  void setCapacity(std::optional<double> bytes, const QString& label);
  /// The stretch shown; nothing: all there is.
  void setRange(std::optional<QCPRange> range);
  [[nodiscard]] QCPRange dataRange() const;
  /// Largest finite value of all lines.
  [[nodiscard]] double top() const;
  /// Text in the middle while no line has a point.
  void setEmptyText(const QString& text);
  /// Queues a repaint with the data thinned for the width.
  void refresh();
  /// What was drawn at the last repaint, by line: for tests and the data table.
  [[nodiscard]] Points drawn(int line) const {
    return line < lineCount() ? m_lines[static_cast<std::size_t>(line)].drawn : Points();
  }
  [[nodiscard]] const LineStyle& style(int line) const { return m_lines[static_cast<std::size_t>(line)].style; }
  [[nodiscard]] int lineCount() const { return static_cast<int>(m_lines.size()); }
  /// Values nearest to x of each line, "private 31.2 MiB".
  [[nodiscard]] QStringList valuesAt(double x) const;
  [[nodiscard]] static QString textOf(double value, PlotUnit unit);
  /// The same without needless decimals.
  [[nodiscard]] static QString tickText(double value, PlotUnit unit);
  /// x of values that are no numbers, over all lines.
  [[nodiscard]] QVector<double> gaps() const;
  void setCursor(std::optional<double> x);

 signals:
  /// The pointer moved over the plot (linked plots follow), or left it.
  void cursorMoved(std::optional<double> x);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool event(QEvent* event) override;
  [[nodiscard]] QSize sizeHint() const override { return {360, 170}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {220, 110}; }

 private:
  struct Line {
    LineStyle style;
    QVector<double> x;
    QVector<double> y;
    Points drawn;
    QCPGraph* graph = nullptr;
    QCPItemText* label = nullptr;
  };
  void applyLook();
  void styleLine(Line& line) const;
  void feed();
  static int dropNotPositive(Points& points);
  void setVerticalRange(double low, double high);
  void writeNote(const QVector<double>& notNumbers, int notPositive);
  void placeLabels();

  QString m_title;
  PlotUnit m_unit;
  PlotUnit m_xUnit = PlotUnit::seconds;
  std::vector<Line> m_lines;
  QCPGraph* m_gapMarks;
  QCPItemText* m_titleText;
  QCPItemText* m_emptyText;
  QCPItemText* m_gapText;
  QCPItemStraightLine* m_cursor;
  QCPItemStraightLine* m_capacityLine;
  QCPItemText* m_capacityText;
  std::optional<double> m_capacity;
  std::optional<QCPRange> m_range;
  bool m_zero = false;
  bool m_log = false;
  double m_leastTop = 0;
  double m_shownTop = 0;
  bool m_pending = false;
};

/// Links the cursors and ranges of plots that share an axis.
void linkPlots(const QVector<Plot*>& plots);

}  // namespace dsa::ui
