// SPDX-License-Identifier: GPL-3.0-or-later
// What Scatter draws: ground, points, names, and the one that is pointed at.
#include <QLocale>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/look/theme.h"
#include "ui/plots/scatter.h"

namespace dsa::ui {

namespace {

constexpr int kMostNames = 20;
constexpr int kMostFoundNames = 30;
// Names that are looked at for a place; more would cost a frame milliseconds and bring no further name.
constexpr int kNamesTried = 300;
// A name stays while its point is this much farther down the order than one that would take its place: names that come
// and go at each frame cannot be read.
constexpr double kStays = 0.75;
constexpr double kRingStep = 1;
constexpr int kMostRings = 4;
constexpr double kPad = 8;

QFont smallFont(const QFont& font) {
  QFont small = font;
  small.setPointSizeF(9);
  return small;
}

/// Text that stays readable on dots.
void drawText(QPainter& painter, const QRectF& box, const QString& text, const QColor& colour, const QColor& paper) {
  QPainterPath path;
  const QFontMetricsF metrics(painter.font());
  path.addText(box.left(), box.top() + metrics.ascent(), painter.font(), text);
  painter.strokePath(path, QPen(faded(paper, 0.85F), 3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setPen(colour);
  painter.drawText(QPointF(box.left(), box.top() + metrics.ascent()), text);
}

/// The nearest of 1, 2, 5 times a power of ten below `value`.
double roundLength(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {5.0, 2.0})
    if (step * power <= value) return step * power;
  return power;
}

}  // namespace

QColor Scatter::colour() const {
  const Theme& theme = Theme::current();
  // The disk's own colour is that of a file behind a bar: too pale for points.
  return m_placement == "gpu" ? theme.gpu : m_placement == "ram" ? theme.ram : theme.dsa;
}

/// In the ball what is general lies near the centre: it is drawn larger.
double Scatter::dotRadius(int index) const {
  if (!inBall()) return 2.5;
  const double norm = m_frame.norms[index];
  return 1.8 + 2.7 * std::sqrt(std::max(0.0, 1 - m_frame.of->k * norm * norm));
}

void Scatter::placeNames() {
  const bool found = !m_search.isEmpty();
  if (m_frame.of->labels.empty() && !found) {
    m_labels.clear();
    return;
  }
  const QRectF area = QRectF(rect()).adjusted(kPad, kPad, -kPad, -kPad);
  QVector<QPair<double, int>> wanted;
  for (const int i : found ? m_matches : m_order) {
    if (!area.contains(toPixel(m_frame.points[i]))) continue;
    // In the ball the most general; in a plane what sticks out, where there is room for a name.
    const double rank = inBall() ? m_frame.norms[i] : -std::hypot(m_frame.points[i].x(), m_frame.points[i].y());
    wanted.push_back({rank, i});
  }
  for (const PlacedLabel& label : m_labels)
    for (auto& [rank, i] : wanted)
      if (i == label.point) rank = rank < 0 ? rank / kStays : rank * kStays;
  const auto tried = std::min<qsizetype>(wanted.size(), kNamesTried);
  std::partial_sort(wanted.begin(), wanted.begin() + tried, wanted.end());
  QVector<int> candidates;
  for (qsizetype i = 0; i < tried; ++i) candidates << wanted[i].second;
  const QFontMetricsF metrics(smallFont(font()));
  m_labels = placeLabels(
      candidates, found ? kMostFoundNames : kMostNames, area, 4.5, [&](int i) { return toPixel(m_frame.points[i]); },
      [&](int i) {
        return QSizeF(std::ceil(metrics.horizontalAdvance(shortName(name(i).toStdString()))) + 1, metrics.height());
      });
}

void Scatter::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Theme& theme = Theme::current();
  const bool focused = hasFocus();
  painter.setPen(QPen(focused ? theme.ram : theme.grid, focused ? 2 : 1));
  painter.setBrush(theme.plot);
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
  if (!m_frame.of) {
    painter.setPen(theme.muted);
    painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
    return;
  }
  painter.setClipRect(rect().adjusted(2, 2, -2, -2));
  placeNames();
  paintGround(painter);
  paintPoints(painter);
  paintNames(painter);
  paintPointed(painter);
}

void Scatter::paintGround(QPainter& painter) const {
  const Theme& theme = Theme::current();
  painter.setFont(smallFont(font()));
  const QPointF corner(12, height() - 12);
  painter.setBrush(Qt::NoBrush);
  if (inBall()) {
    const QPointF centre = toPixel(QPointF());
    const double root = std::sqrt(m_frame.of->k);
    painter.setPen(QPen(theme.grid, 1));
    if (m_frame.kind == ProjectionKind::coordinates) {
      for (int ring = 1; ring <= kMostRings; ++ring) {
        const double radius = std::tanh(root * kRingStep * ring / 2) / root * m_scale;
        painter.drawEllipse(centre, radius, radius);
      }
      painter.setPen(theme.muted);
      painter.drawText(corner, tr("Rings: distance 1 to %1 from the centre").arg(kMostRings));
    }
    painter.setPen(QPen(theme.muted, 1.5));
    painter.drawEllipse(centre, ballRadius() * m_scale, ballRadius() * m_scale);
    return;
  }
  const QPointF origin = toPixel(QPointF());
  painter.setPen(QPen(theme.grid, 1));
  painter.drawLine(QPointF(0, origin.y()), QPointF(width(), origin.y()));
  painter.drawLine(QPointF(origin.x(), 0), QPointF(origin.x(), height()));
  const double length = roundLength(120 / m_scale);
  painter.setPen(QPen(theme.muted, 1.5));
  const QPointF from = corner + QPointF(0, -2);
  const QPointF to = from + QPointF(length * m_scale, 0);
  painter.drawPolyline(QPolygonF({from + QPointF(0, -5), from, to, to + QPointF(0, -5)}));
  painter.drawText(QRectF(from + QPointF(0, -22), QSizeF(length * m_scale, 16)),
                   Qt::AlignHCenter | Qt::AlignBottom | Qt::TextDontClip, QLocale().toString(length, 'g', 3));
}

void Scatter::paintPoints(QPainter& painter) const {
  const Theme& theme = Theme::current();
  const QRectF seen = QRectF(rect()).adjusted(-6, -6, 6, 6);
  // While a search is on, the others step back.
  const QColor fill = faded(colour(), m_search.isEmpty() ? 0.62F : 0.2F);
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  for (auto it = m_order.rbegin(); it != m_order.rend(); ++it) {
    const QPointF at = toPixel(m_frame.points[*it]);
    if (seen.contains(at)) painter.drawEllipse(at, dotRadius(*it), dotRadius(*it));
  }
  painter.setPen(QPen(theme.plot, 1));
  painter.setBrush(theme.reference);
  for (auto it = m_matches.rbegin(); it != m_matches.rend(); ++it) {
    const QPointF at = toPixel(m_frame.points[*it]);
    if (seen.contains(at)) painter.drawEllipse(at, dotRadius(*it) + 1.5, dotRadius(*it) + 1.5);
  }
}

void Scatter::paintNames(QPainter& painter) const {
  const Theme& theme = Theme::current();
  painter.setFont(smallFont(font()));
  for (const PlacedLabel& label : m_labels) {
    if (label.point == m_pointed) continue;  // its name stands in the box
    const QPointF at = toPixel(m_frame.points[label.point]);
    painter.setPen(QPen(theme.text, 1));
    painter.setBrush(m_search.isEmpty() ? colour() : theme.reference);
    painter.drawEllipse(at, dotRadius(label.point) + 0.5, dotRadius(label.point) + 0.5);
    drawText(painter, label.box, shortName(name(label.point).toStdString()), theme.text, theme.plot);
  }
}

void Scatter::paintPointed(QPainter& painter) const {
  const QStringList lines = readout();
  if (lines.isEmpty()) return;
  const Theme& theme = Theme::current();
  const QPointF at = toPixel(m_frame.points[m_pointed]);
  painter.setPen(QPen(theme.text, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(at, dotRadius(m_pointed) + 3, dotRadius(m_pointed) + 3);
  painter.setFont(smallFont(font()));
  QFont strong = painter.font();
  strong.setWeight(QFont::DemiBold);
  const QFontMetricsF metrics(strong);
  double wide = 0;
  for (const QString& line : lines) wide = std::max(wide, metrics.horizontalAdvance(line));
  wide = std::min(std::ceil(wide), width() - 4 * kPad);
  const QSizeF size(wide + 2 * kPad, metrics.lineSpacing() * static_cast<double>(lines.size()) + kPad);
  QRectF box(at + QPointF(14, 14), size);
  if (box.right() > width() - kPad) box.moveRight(at.x() - 14);
  if (box.bottom() > height() - kPad) box.moveBottom(at.y() - 14);
  box.moveLeft(std::clamp(box.left(), kPad, std::max(kPad, width() - kPad - box.width())));
  box.moveTop(std::clamp(box.top(), kPad, std::max(kPad, height() - kPad - box.height())));
  painter.setPen(QPen(theme.grid, 1));
  painter.setBrush(theme.field);
  painter.drawRoundedRect(box, 4, 4);
  for (qsizetype i = 0; i < lines.size(); ++i) {
    painter.setFont(i == 0 ? strong : smallFont(font()));
    painter.setPen(i == 0 ? theme.text : theme.muted);
    const QRectF line(box.left() + kPad, box.top() + kPad / 2 + metrics.lineSpacing() * static_cast<double>(i), wide,
                      metrics.lineSpacing());
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(lines[i], Qt::ElideRight, wide));
  }
}

}  // namespace dsa::ui
