// SPDX-License-Identifier: GPL-3.0-or-later
// Points of a plane from rows of any dimension: as they are, or by their two leading directions.
#pragma once

#include <QMetaType>
#include <QPointF>
#include <QString>
#include <QVector>
#include <memory>
#include <span>
#include <vector>

#include "core/record/embedding.h"

namespace dsa::ui {

enum class ProjectionKind {
  coordinates,  ///< dim 1 or 2: the coordinates themselves
  directions,   ///< k > 0: onto the two leading directions through the origin; nothing leaves the ball
  pca,          ///< k = 0: the same after the mean was taken off
};

/// A plane in which rows are drawn, kept from frame to frame.
struct Plane {
  std::vector<double> axes;  ///< [2 x dim], orthonormal
  std::vector<double> mean;  ///< [dim]; zeros but for pca
  double share = 1;          ///< of the sum of squares (from the mean for pca) that lies in the plane, 0 to 1
};

/// The plane of most squares of weights [n x dim], float32; rows that are not finite are left out. Subspace iteration,
/// begun at the axes of `before` where it has them, in O(n dim) a round; axes are then turned, within the plane, as
/// near to those of `before` as they go, so that a picture neither flips nor turns between two frames. Without them the
/// first axis is the one of most squares, its largest part positive. DSA_CHECK: dim
/// >= 2.
[[nodiscard]] Plane leadingPlane(std::span<const float> weights, std::size_t dim, bool centred, const Plane& before);

/// What is drawn of one state of a run. Without `of` the run has none recorded.
struct EmbeddingFrame {
  RunId run = 0;
  std::uint64_t step = 0;
  std::shared_ptr<const EmbeddingRows> of;
  ProjectionKind kind = ProjectionKind::coordinates;
  double share = 1;
  QVector<QPointF> points;  ///< [n], y upwards; NaN where a row is not finite
  QVector<double> norms;    ///< [n] of the whole rows
  QString problem;          ///< why a recorded state cannot be drawn; then there is no `of`
};

/// Turns the states of one run into frames, one after the other. Thread: any one.
class Projector {
 public:
  [[nodiscard]] EmbeddingFrame frame(RunId run, const EmbeddingSample& sample);

 private:
  Plane m_plane;
};

}  // namespace dsa::ui

Q_DECLARE_METATYPE(dsa::ui::EmbeddingFrame)
