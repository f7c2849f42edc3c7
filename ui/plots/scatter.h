// SPDX-License-Identifier: GPL-3.0-or-later
// Points of an embedding: the ball's disk or a plane, names of a few, one under the mouse, matches of a search.
#pragma once

#include <QWidget>

#include "ui/plots/label_layout.h"
#include "ui/run/projection.h"

namespace dsa::ui {

/// A name as it is written beside a point: in words, of WordNet's "even-toed_ungulate.n.01" without the sense.
[[nodiscard]] QString shortName(const std::string& label);

/// Both axes have one scale, so that the disk is round. Wheel and + - zoom, dragging and arrows move, a double click or
/// Home shows all again. Thread: the window's.
class Scatter : public QWidget {
  Q_OBJECT
 public:
  explicit Scatter(QWidget* parent = nullptr);

  /// Takes the place of what was shown; the view stays where the user has moved it, unless the run is another.
  void setFrame(const EmbeddingFrame& frame);
  void clear();
  [[nodiscard]] const EmbeddingFrame& frame() const { return m_frame; }
  /// Where the run's table is: ram, gpu or disk; its colour.
  void setPlacement(const QString& placement);
  /// Said while there are no points.
  void setEmptyText(const QString& text);

  /// Lights the points whose name contains the text, or whose row number is the text; none for an empty one. Gives how
  /// many there are.
  int search(const QString& text);
  [[nodiscard]] int matches() const { return static_cast<int>(m_matches.size()); }
  /// Shows what the next match is, as the mouse would.
  void showNextMatch();

  [[nodiscard]] QPointF toPixel(const QPointF& point) const;
  [[nodiscard]] QPointF fromPixel(const QPointF& pixel) const;
  /// Pixels of one unit.
  [[nodiscard]] double scale() const { return m_scale; }
  void showAll();
  /// The point under the mouse or found by a search; -1: none.
  [[nodiscard]] int pointed() const { return m_pointed; }
  /// What is told of it, a line each: its name, its place, its norm.
  [[nodiscard]] QStringList readout() const;
  /// Of the last painting.
  [[nodiscard]] const QVector<PlacedLabel>& labels() const { return m_labels; }
  [[nodiscard]] QSize sizeHint() const override { return {520, 480}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void fit(bool always);
  void zoom(double factor, const QPointF& fixed);
  void move(const QPointF& pixels);
  void point(int index);
  void describe();
  void findMatches();
  void placeNames();
  void paintGround(QPainter& painter) const;
  void paintPoints(QPainter& painter) const;
  void paintNames(QPainter& painter) const;
  void paintPointed(QPainter& painter) const;
  [[nodiscard]] QString name(int index) const;
  [[nodiscard]] bool inBall() const { return m_frame.of && m_frame.of->k > 0; }
  [[nodiscard]] double ballRadius() const;
  [[nodiscard]] double dotRadius(int index) const;
  [[nodiscard]] QColor colour() const;

  EmbeddingFrame m_frame;
  QVector<int> m_order;  ///< finite points, the smallest norm first
  QString m_placement;
  QString m_emptyText;
  QString m_search;
  QVector<int> m_matches;
  QVector<PlacedLabel> m_labels;
  QPointF m_centre;
  double m_scale = 1;
  double m_fitScale = 1;
  bool m_moved = false;  ///< by the user
  int m_pointed = -1;
  int m_nextMatch = 0;
  std::optional<QPointF> m_drag;
};

}  // namespace dsa::ui
