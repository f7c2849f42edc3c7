// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot.h"

#include <algorithm>
#include <cmath>

#include "ui/look/theme.h"
#include "ui/look/units.h"

namespace dsa::ui {

namespace {

/// Few ticks at round values: of bytes in powers of two.
class Ticker : public QCPAxisTicker {
 public:
  explicit Ticker(PlotUnit unit) : m_unit(unit) { setTickCount(4); }

 protected:
  double getTickStep(const QCPRange& range) override {
    if (m_unit != PlotUnit::bytes && m_unit != PlotUnit::bytesPerSecond) return QCPAxisTicker::getTickStep(range);
    double unit = 1;
    while (range.size() / 4 >= 1024 * unit && unit < 1e15) unit *= 1024;
    const double raw = range.size() / 4 / unit;
    double step = 1;
    for (const double candidate :
         {1., 2., 4., 5., 8., 10., 16., 20., 25., 32., 50., 64., 100., 128., 200., 256., 512.}) {
      step = candidate;
      if (candidate >= raw) break;
    }
    return raw <= 0.5 ? unit / 2 : step * unit;
  }
  int getSubTickCount(double) override { return 0; }
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    if (std::abs(tick) < 1e-12) return "0";
    return Plot::tickText(tick, m_unit);
  }

 private:
  PlotUnit m_unit;
};

QFont fontOf(double points, bool strong) {
  QFont font = QApplication::font();
  font.setPointSizeF(points);
  if (strong) font.setWeight(QFont::DemiBold);
  return font;
}

constexpr double kAxisPoints = 9;

}  // namespace

Plot::Plot(const QString& title, PlotUnit unit, QWidget* parent) : QCustomPlot(parent), m_title(title), m_unit(unit) {
  setPlottingHint(QCP::phFastPolylines, true);
  setNoAntialiasingOnDrag(true);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  axisRect()->setAutoMargins(QCP::msLeft | QCP::msBottom);
  // Above: the title; to the right: the labels of the lines.
  axisRect()->setMargins(QMargins(0, 26, 96, 0));
  xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new Ticker(m_xUnit)));
  yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new Ticker(m_unit)));
  xAxis->setSubTicks(false);
  yAxis->setSubTicks(false);
  // A layer of its own, buffered: moving the cursor repaints nothing else.
  addLayer("cursor", layer("main"), QCustomPlot::limAbove);
  layer("cursor")->setMode(QCPLayer::lmBuffered);
  const auto text = [this] {
    auto* item = new QCPItemText(this);
    item->setClipToAxisRect(false);
    return item;
  };
  m_titleText = text();
  m_titleText->position->setType(QCPItemPosition::ptAbsolute);
  m_titleText->position->setCoords(8, 6);
  m_titleText->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_emptyText = text();
  m_emptyText->position->setType(QCPItemPosition::ptAxisRectRatio);
  m_emptyText->position->setCoords(0.5, 0.45);
  m_gapText = text();
  m_gapText->position->setType(QCPItemPosition::ptAxisRectRatio);
  m_gapText->position->setCoords(0, 0.02);
  m_gapText->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_capacityText = text();
  m_capacityText->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
  m_capacityLine = new QCPItemStraightLine(this);
  m_capacityLine->setVisible(false);
  m_capacityText->setVisible(false);
  m_gapMarks = addGraph();
  m_gapMarks->setLineStyle(QCPGraph::lsNone);
  m_gapMarks->setAntialiased(false);
  m_cursor = new QCPItemStraightLine(this);
  m_cursor->setLayer("cursor");
  m_cursor->setVisible(false);
  setTitle(title);
  applyLook();
}

void Plot::setTitle(const QString& title) {
  m_title = title;
  m_titleText->setText(title);
  setAccessibleName(title);
}

void Plot::setHorizontal(const QString& title, PlotUnit unit) {
  m_xUnit = unit;
  xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new Ticker(unit)));
  xAxis->setLabel(title);
}

int Plot::addLine(const LineStyle& style) {
  Line line;
  line.style = style;
  line.graph = addGraph();
  line.label = new QCPItemText(this);
  line.label->setClipToAxisRect(false);
  line.label->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  line.label->setVisible(false);
  styleLine(line);
  m_lines.push_back(std::move(line));
  return lineCount() - 1;
}

void Plot::setLine(int number, const QVector<double>& x, const QVector<double>& y) {
  Line& line = m_lines[static_cast<std::size_t>(number)];
  line.x = x;
  line.y = y;
  refresh();
}

void Plot::clearLines() {
  for (Line& line : m_lines) {
    removeGraph(line.graph);
    removeItem(line.label);
  }
  m_lines.clear();
  m_shownTop = 0;
  refresh();
}

void Plot::setCapacity(std::optional<double> bytes, const QString& label) {
  m_capacity = bytes;
  m_capacityText->setText(label);
  refresh();
}

void Plot::setRange(std::optional<QCPRange> range) {
  m_range = range;
  refresh();
}

QCPRange Plot::dataRange() const {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Line& line : m_lines) {
    if (line.x.isEmpty()) continue;
    low = std::min(low, line.x.front());
    high = std::max(high, line.x.back());
  }
  return low <= high ? QCPRange(low, high) : QCPRange(0, 1);
}

double Plot::top() const {
  double top = 0;
  for (const Line& line : m_lines)
    for (const double v : line.y)
      if (std::isfinite(v)) top = std::max(top, v);
  return top;
}

QVector<double> Plot::gaps() const {
  QVector<double> places;
  for (const Line& line : m_lines) places += notFinite(line.x, line.y);
  std::sort(places.begin(), places.end());
  return places;
}

void Plot::setEmptyText(const QString& text) { m_emptyText->setText(text); }

void Plot::refresh() {
  if (m_pending) return;
  m_pending = true;
  QMetaObject::invokeMethod(
      this,
      [this] {
        m_pending = false;
        // A hidden plot would be drawn for nobody; it is fed when it is shown.
        if (isVisible()) feed();
      },
      Qt::QueuedConnection);
}

void Plot::feed() {
  m_titleText->setText(QFontMetrics(m_titleText->font()).elidedText(m_title, Qt::ElideRight, width() - 16));
  QCPRange shown = m_range.value_or(dataRange());
  if (!(shown.size() > 0)) shown = QCPRange(shown.lower, shown.lower + 1);
  const int columns = std::max(10, axisRect()->width());
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  bool any = false;
  int notPositive = 0;
  for (Line& line : m_lines) {
    line.drawn = decimate(line.x, line.y, shown.lower, shown.upper, columns);
    if (m_log) notPositive += dropNotPositive(line.drawn);
    line.graph->setData(line.drawn.x, line.drawn.y, true);
    for (const double v : line.drawn.y) {
      low = std::min(low, v);
      high = std::max(high, v);
      any = true;
    }
  }
  if (!any) low = m_log ? 0.1 : 0, high = 1;
  xAxis->setRange(shown);
  setVerticalRange(low, high);
  low = yAxis->range().lower;
  high = yAxis->range().upper;
  const QVector<double> places = gaps();
  const double foot = m_log ? low * std::pow(high / low, 0.03) : low + (high - low) * 0.03;
  m_gapMarks->setData(places, QVector<double>(places.size(), foot), true);
  writeNote(places, notPositive);
  m_emptyText->setVisible(!any && places.isEmpty() && notPositive == 0);
  const bool capacity = m_capacity && *m_capacity <= high;
  m_capacityLine->setVisible(capacity);
  m_capacityText->setVisible(capacity);
  if (capacity) {
    m_capacityLine->point1->setCoords(0, *m_capacity);
    m_capacityLine->point2->setCoords(1, *m_capacity);
    m_capacityText->position->setCoords(xAxis->range().upper, *m_capacity);
  }
  placeLabels();
  replot(QCustomPlot::rpQueuedReplot);
}

/// Takes what a logarithmic axis cannot show out of the points; gives how many there were.
int Plot::dropNotPositive(Points& points) {
  Points kept;
  for (qsizetype i = 0; i < points.y.size(); ++i) {
    if (!(points.y[i] > 0)) continue;
    kept.x.push_back(points.x[i]);
    kept.y.push_back(points.y[i]);
  }
  const int dropped = static_cast<int>(points.y.size() - kept.y.size());
  points = kept;
  return dropped;
}

void Plot::setVerticalRange(double low, double high) {
  if (m_log) {
    const double margin = std::max(1.1, std::pow(high / low, 0.05));
    yAxis->setRange(low / margin, high * margin);
    return;
  }
  if (m_zero) {
    low = 0;
    m_shownTop = std::max({m_shownTop, high * 1.08, m_leastTop * 1.08});
    if (m_capacity && *m_capacity < m_shownTop * 4) m_shownTop = std::max(m_shownTop, *m_capacity * 1.08);
    high = m_shownTop;
  } else {
    const double margin = std::max((high - low) * 0.08, std::abs(high) * 1e-3 + 1e-9);
    high += margin;
    low = low >= 0 && low - margin < 0 ? 0 : low - margin;
  }
  yAxis->setRange(low, high > low ? high : low + 1);
}

void Plot::writeNote(const QVector<double>& notNumbers, int notPositive) {
  QStringList notes;
  if (!notNumbers.isEmpty()) {
    //: %n is how many values of the series are NaN or infinite, %1 the first place on the axis
    notes << tr("not a number: %n value(s), first at %1", nullptr, static_cast<int>(notNumbers.size()))
                 .arg(textOf(notNumbers.front(), m_xUnit));
  }
  //: on a logarithmic axis
  if (notPositive > 0) notes << tr("zero or less, not drawn: %n value(s)", nullptr, notPositive);
  m_gapText->setText(notes.join("; "));
  m_gapText->setVisible(!notes.isEmpty());
}

void Plot::setLogarithmic(bool on) {
  m_log = on;
  yAxis->setScaleType(on ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  if (on) {
    auto* ticker = new QCPAxisTickerLog;
    ticker->setSubTickCount(0);
    yAxis->setTicker(QSharedPointer<QCPAxisTicker>(ticker));
    yAxis->setNumberFormat("gbc");
    yAxis->setNumberPrecision(2);
  } else {
    yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new Ticker(m_unit)));
  }
  refresh();
}

/// Labels stand at the ends of their lines, moved apart where they would cover each other.
void Plot::placeLabels() {
  std::vector<std::pair<double, Line*>> order;
  for (Line& line : m_lines) {
    line.label->setVisible(!line.style.label.isEmpty() && !line.drawn.y.isEmpty());
    if (line.label->visible()) order.emplace_back(yAxis->coordToPixel(line.drawn.y.back()), &line);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const double height = QFontMetricsF(fontOf(kAxisPoints, false)).height();
  const double lowest = axisRect()->bottom() - height * 0.5;
  double free = axisRect()->top() + height * 0.5;
  const double room = static_cast<double>(order.size()) * height;
  for (auto& [y, line] : order) {
    y = std::max(y, free);
    free = y + height;
  }
  // From below again, so that nothing leaves the plot.
  double limit = lowest;
  for (auto it = order.rbegin(); it != order.rend() && room < axisRect()->height(); ++it) {
    it->first = std::min(it->first, limit);
    limit = it->first - height;
  }
  for (auto& [y, line] : order) {
    line->label->position->setType(QCPItemPosition::ptAbsolute);
    line->label->position->setCoords(axisRect()->right() + 6, y);
    line->label->setText(line->style.label);
    // Where there is no room for all, the last ones are read at the cursor.
    if (y > lowest + height) line->label->setVisible(false);
  }
}

QStringList Plot::valuesAt(double x) const {
  QStringList values;
  for (const Line& line : m_lines) {
    if (line.x.isEmpty()) continue;
    auto at = std::lower_bound(line.x.begin(), line.x.end(), x);
    if (at == line.x.end() || (at != line.x.begin() && x - *(at - 1) < *at - x)) --at;
    values << line.style.label + " " + textOf(line.y[at - line.x.begin()], m_unit);
  }
  return values;
}

QString Plot::textOf(double value, PlotUnit unit) {
  switch (unit) {
    case PlotUnit::bytes:
      return Units::bytes(value);
    case PlotUnit::bytesPerSecond:
      return Units::bytesPerSecond(value);
    case PlotUnit::perSecond:
      return Units::rate(value);
    case PlotUnit::percent:
      return QLocale().toString(value, 'f', 1) + QChar(0xA0) + "%";
    case PlotUnit::seconds:
      return value < 10 && value != std::floor(value) ? Units::duration(value)
             : value < 60                             ? tr("%1 s").arg(QLocale().toString(value, 'f', 0))
                                                      : Units::duration(value);
    case PlotUnit::plain:
      break;
  }
  if (value == std::floor(value) && std::abs(value) < 1e12) return QLocale().toString(value, 'f', 0);
  return Units::number(value);
}

QString Plot::tickText(double value, PlotUnit unit) {
  if (unit == PlotUnit::plain && std::abs(value) < 1e6 && (std::abs(value) >= 1e-4 || value == 0))
    return QLocale().toString(value, 'g', 6);
  if (unit == PlotUnit::seconds && std::abs(value) < 60) return tr("%1 s").arg(QLocale().toString(value, 'g', 4));
  return textOf(value, unit).replace(QLocale().decimalPoint() + "00" + QChar(0xA0), QString(QChar(0xA0)));
}

void Plot::setCursor(std::optional<double> x) {
  m_cursor->setVisible(x.has_value());
  if (x) {
    m_cursor->point1->setCoords(*x, 0);
    m_cursor->point2->setCoords(*x, 1);
  }
  layer("cursor")->replot();
}

void Plot::styleLine(Line& line) const {
  QPen pen(line.style.colour, line.style.width, line.style.dash);
  line.graph->setPen(pen);
  line.graph->setAntialiased(line.style.width > 1);
  if (line.style.fill) {
    QBrush brush(*line.style.fill);
    if (line.style.hatched) brush.setStyle(Qt::BDiagPattern);
    line.graph->setBrush(brush);
  }
  line.label->setColor(line.style.colour);
  line.label->setFont(fontOf(kAxisPoints, false));
}

void Plot::applyLook() {
  const Theme& theme = Theme::current();
  setBackground(QBrush(theme.plot));
  axisRect()->setBackground(QBrush(theme.plot));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setBasePen(QPen(theme.grid));
    axis->setTickPen(QPen(theme.grid));
    axis->setTickLabelColor(theme.muted);
    axis->setLabelColor(theme.muted);
    axis->setTickLabelFont(fontOf(kAxisPoints, false));
    axis->setLabelFont(fontOf(kAxisPoints, false));
    axis->setTickLength(0, 3);
    axis->grid()->setPen(QPen(theme.grid, 1));
    axis->grid()->setZeroLinePen(QPen(theme.grid, 1));
    axis->grid()->setSubGridVisible(false);
  }
  xAxis->grid()->setVisible(false);
  m_titleText->setColor(theme.text);
  m_titleText->setFont(fontOf(10, true));
  m_emptyText->setColor(theme.muted);
  m_emptyText->setFont(fontOf(10, false));
  m_gapText->setColor(theme.error);
  m_gapText->setFont(fontOf(kAxisPoints, false));
  m_gapMarks->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssTriangle, theme.error, theme.error, 7));
  m_capacityLine->setPen(QPen(theme.muted, 1, Qt::DashLine));
  m_capacityText->setColor(theme.muted);
  m_capacityText->setFont(fontOf(kAxisPoints, false));
  m_cursor->setPen(QPen(theme.muted, 1));
  for (Line& line : m_lines) styleLine(line);
}

void Plot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
    applyLook();
    refresh();
  }
}

void Plot::resizeEvent(QResizeEvent* event) {
  QCustomPlot::resizeEvent(event);
  refresh();
}

bool Plot::event(QEvent* event) {
  // QCustomPlot reads the ratio once and keeps it; a window moves between screens.
  if (event->type() == QEvent::Show || event->type() == QEvent::ScreenChangeInternal ||
      event->type() == QEvent::WinIdChange || event->type() == QEvent::Paint) {
    if (!qFuzzyCompare(bufferDevicePixelRatio(), devicePixelRatioF())) {
      setBufferDevicePixelRatio(devicePixelRatioF());
      refresh();
    }
  }
  if (event->type() == QEvent::Show) refresh();
  return QCustomPlot::event(event);
}

void Plot::mouseMoveEvent(QMouseEvent* event) {
  QCustomPlot::mouseMoveEvent(event);
  const double x = xAxis->pixelToCoord(event->position().x());
  const bool inside = axisRect()->rect().contains(event->position().toPoint());
  emit cursorMoved(inside ? std::optional<double>(x) : std::nullopt);
  if (inside) setToolTip(textOf(x, m_xUnit) + "\n" + valuesAt(x).mid(0, 5).join('\n'));
}

void Plot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  emit cursorMoved(std::nullopt);
}

void linkPlots(const QVector<Plot*>& plots) {
  for (Plot* plot : plots) {
    for (Plot* other : plots) QObject::connect(plot, &Plot::cursorMoved, other, &Plot::setCursor);
  }
}

}  // namespace dsa::ui
