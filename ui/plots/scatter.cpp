// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/scatter.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "ui/look/units.h"

namespace dsa::ui {

namespace {

constexpr double kEdge = 20;       // pixels around what is shown whole
constexpr double kNear = 10;       // pixels from the mouse to a point that is meant
constexpr double kMostZoom = 400;  // times the whole view
constexpr double kLeastZoom = 0.5;
constexpr double kLooseFit = 0.55;  // the share of the view that a shrinking cloud may fill before it is fitted again
constexpr double kKeyStep = 0.1;    // of the smaller side

}  // namespace

QString shortName(const std::string& label) {
  static const QRegularExpression sense("\\.[nvasr]\\.\\d+$");
  QString text = QString::fromStdString(label);
  text.remove(sense);
  return text.replace('_', ' ');
}

Scatter::Scatter(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Points of the embedding"));
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  setMinimumSize(240, 240);
}

void Scatter::setFrame(const EmbeddingFrame& frame) {
  const bool another = frame.run != m_frame.run || !m_frame.of;
  m_frame = frame;
  m_order.clear();
  for (int i = 0; i < static_cast<int>(frame.points.size()); ++i)
    if (std::isfinite(frame.points[i].x()) && std::isfinite(frame.points[i].y())) m_order << i;
  std::stable_sort(m_order.begin(), m_order.end(), [&](int a, int b) { return frame.norms[a] < frame.norms[b]; });
  if (another) {
    m_moved = false;
    m_pointed = -1;
    m_labels.clear();
  }
  findMatches();
  if (!m_moved) fit(another);
  describe();
  update();
}

void Scatter::clear() {
  m_frame = EmbeddingFrame();
  m_order.clear();
  m_matches.clear();
  m_labels.clear();
  m_pointed = -1;
  m_moved = false;
  describe();
  update();
}

void Scatter::setPlacement(const QString& placement) {
  m_placement = placement;
  update();
}

void Scatter::setEmptyText(const QString& text) {
  m_emptyText = text;
  describe();
  update();
}

QString Scatter::name(int index) const {
  const EmbeddingRows& of = *m_frame.of;
  const auto i = static_cast<std::size_t>(index);
  if (!of.labels.empty() && !of.labels[i].empty()) return QString::fromStdString(of.labels[i]);
  return tr("Row %1").arg(Units::count(of.rows[i]));
}

int Scatter::search(const QString& text) {
  m_search = text.trimmed();
  m_nextMatch = 0;
  point(-1);
  findMatches();
  update();
  return matches();
}

void Scatter::findMatches() {
  m_matches.clear();
  if (m_search.isEmpty() || !m_frame.of) return;
  const EmbeddingRows& of = *m_frame.of;
  bool isNumber = false;
  const qulonglong number = m_search.toULongLong(&isNumber);
  for (const int i : m_order) {
    const auto place = static_cast<std::size_t>(i);
    const bool named =
        !of.labels.empty() && (QString::fromStdString(of.labels[place]).contains(m_search, Qt::CaseInsensitive) ||
                               shortName(of.labels[place]).contains(m_search, Qt::CaseInsensitive));
    if (named || (isNumber && of.rows[place] == number)) m_matches << i;
  }
}

void Scatter::showNextMatch() {
  if (m_matches.isEmpty()) return;
  point(m_matches[m_nextMatch % m_matches.size()]);
  m_nextMatch = (m_nextMatch + 1) % static_cast<int>(m_matches.size());
}

QPointF Scatter::toPixel(const QPointF& point) const {
  return {width() / 2.0 + (point.x() - m_centre.x()) * m_scale, height() / 2.0 - (point.y() - m_centre.y()) * m_scale};
}

QPointF Scatter::fromPixel(const QPointF& pixel) const {
  return {m_centre.x() + (pixel.x() - width() / 2.0) / m_scale, m_centre.y() - (pixel.y() - height() / 2.0) / m_scale};
}

double Scatter::ballRadius() const { return 1 / std::sqrt(m_frame.of->k); }

/// The disk whole; without a ball the cloud of points, which is fitted again only when it leaves the view or fills
/// little of it: a picture that is scaled anew at each frame would seem to stand still.
void Scatter::fit(bool always) {
  const double across = std::max(1.0, width() - 2 * kEdge);
  const double up = std::max(1.0, height() - 2 * kEdge);
  if (inBall()) {
    m_centre = QPointF();
    m_fitScale = m_scale = std::min(across, up) / (2 * ballRadius());
    return;
  }
  QRectF cloud;
  for (const int i : m_order) {
    const QRectF dot(m_frame.points[i], QSizeF(1e-300, 1e-300));
    cloud = cloud.isNull() ? dot : cloud.united(dot);
  }
  const double wide = std::max(cloud.width(), 1e-12);
  const double high = std::max(cloud.height(), 1e-12);
  const double wanted = std::min(across / wide, up / high);
  const QRectF seen(fromPixel(QPointF(0, height())), fromPixel(QPointF(width(), 0)));
  if (!always && seen.normalized().contains(cloud) && m_scale > kLooseFit * wanted) return;
  m_centre = cloud.center();
  m_fitScale = m_scale = wanted;
}

void Scatter::showAll() {
  m_moved = false;
  fit(true);
  update();
}

void Scatter::zoom(double factor, const QPointF& fixed) {
  if (!m_frame.of) return;
  const QPointF before = fromPixel(fixed);
  m_scale = std::clamp(m_scale * factor, kLeastZoom * m_fitScale, kMostZoom * m_fitScale);
  m_centre += before - fromPixel(fixed);
  m_moved = true;
  update();
}

void Scatter::move(const QPointF& pixels) {
  if (!m_frame.of) return;
  m_centre -= QPointF(pixels.x(), -pixels.y()) / m_scale;
  m_moved = true;
  update();
}

void Scatter::point(int index) {
  if (index == m_pointed) return;
  m_pointed = index;
  describe();
  update();
}

/// For those who hear it: the point that is told of, else what is there.
void Scatter::describe() {
  const QStringList told = readout();
  if (!told.isEmpty())
    setAccessibleDescription(told.join("; "));
  else if (m_frame.of)
    setAccessibleDescription(
        tr("%1 points after step %2")
            .arg(Units::count(static_cast<std::uint64_t>(m_order.size())), Units::count(m_frame.step)));
  else
    setAccessibleDescription(m_emptyText);
}

QStringList Scatter::readout() const {
  if (m_pointed < 0 || m_pointed >= m_frame.points.size()) return {};
  const QPointF at = m_frame.points[m_pointed];
  const double norm = m_frame.norms[m_pointed];
  QStringList lines{name(m_pointed)};
  lines << tr("x %1, y %2").arg(Units::number(at.x()), Units::number(at.y()));
  QString size = tr("norm %1").arg(Units::number(norm));
  const double k = m_frame.of->k;
  // The distance of the ball from its centre, in which a step of one is the same everywhere.
  if (k > 0 && norm * std::sqrt(k) < 1)
    size = tr("%1, distance from the centre %2")
               .arg(size, Units::number(2 / std::sqrt(k) * std::atanh(std::sqrt(k) * norm)));
  return lines << size;
}

void Scatter::resizeEvent(QResizeEvent*) {
  if (m_frame.of && !m_moved) fit(true);
}

void Scatter::wheelEvent(QWheelEvent* event) {
  zoom(std::pow(1.0015, event->angleDelta().y()), event->position());
  event->accept();
}

void Scatter::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  m_drag = event->position();
  setCursor(Qt::ClosedHandCursor);
}

void Scatter::mouseMoveEvent(QMouseEvent* event) {
  if (m_drag) {
    move(event->position() - *m_drag);
    m_drag = event->position();
    return;
  }
  int nearest = -1;
  double least = kNear * kNear;
  for (const int i : m_order) {
    const QPointF away = toPixel(m_frame.points[i]) - event->position();
    const double squared = QPointF::dotProduct(away, away);
    if (squared > least) continue;
    least = squared;
    nearest = i;
  }
  point(nearest);
}

void Scatter::mouseReleaseEvent(QMouseEvent*) {
  m_drag.reset();
  unsetCursor();
}

void Scatter::mouseDoubleClickEvent(QMouseEvent*) { showAll(); }

void Scatter::leaveEvent(QEvent*) { point(-1); }

void Scatter::keyPressEvent(QKeyEvent* event) {
  const double step = kKeyStep * std::min(width(), height());
  const QPointF middle(width() / 2.0, height() / 2.0);
  switch (event->key()) {
    case Qt::Key_Left:
      return move({step, 0});
    case Qt::Key_Right:
      return move({-step, 0});
    case Qt::Key_Up:
      return move({0, step});
    case Qt::Key_Down:
      return move({0, -step});
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(1.25, middle);
    case Qt::Key_Minus:
      return zoom(0.8, middle);
    case Qt::Key_Home:
    case Qt::Key_0:
      return showAll();
    default:
      QWidget::keyPressEvent(event);
  }
}

void Scatter::focusInEvent(QFocusEvent*) { update(); }

void Scatter::focusOutEvent(QFocusEvent*) { update(); }

}  // namespace dsa::ui
