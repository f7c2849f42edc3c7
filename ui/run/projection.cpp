// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/projection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace dsa::ui {

namespace {

// From nothing a round gains a factor lambda_3 / lambda_2; from the frame before, a few rounds follow what has moved.
constexpr int kColdRounds = 300;
constexpr int kWarmRounds = 40;
constexpr double kStill = 1e-12;  // squared sine of the largest angle that a round has turned the plane by

using Vector = std::vector<double>;

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

bool finite(const float* row, std::size_t dim) {
  return std::all_of(row, row + dim, [](float w) { return std::isfinite(w); });
}

/// The rows that count, as doubles from the mean: [rows x dim].
struct Rows {
  Vector values;
  std::size_t count = 0;
  double squares = 0;
};

Rows prepared(std::span<const float> weights, std::size_t dim, bool centred, Vector& mean) {
  Rows rows;
  mean.assign(dim, 0);
  for (std::size_t i = 0; i + dim <= weights.size(); i += dim) {
    if (!finite(weights.data() + i, dim)) continue;
    rows.values.insert(rows.values.end(), weights.begin() + static_cast<std::ptrdiff_t>(i),
                       weights.begin() + static_cast<std::ptrdiff_t>(i + dim));
    ++rows.count;
  }
  if (centred && rows.count > 0) {
    for (std::size_t i = 0; i < rows.values.size(); ++i) mean[i % dim] += rows.values[i];
    for (double& m : mean) m /= static_cast<double>(rows.count);
    for (std::size_t i = 0; i < rows.values.size(); ++i) rows.values[i] -= mean[i % dim];
  }
  rows.squares = dot(rows.values.data(), rows.values.data(), rows.values.size());
  return rows;
}

/// Makes the two axes orthonormal; a part that vanishes is replaced by a coordinate axis.
void orthonormalize(Vector& axes, std::size_t dim) {
  DSA_CHECK(dim >= 2);
  for (std::size_t a = 0; a < 2; ++a) {
    double* const axis = axes.data() + a * dim;
    for (std::size_t tries = 0;; ++tries) {
      const double before = dot(axis, axis, dim);
      // Twice: the first pass leaves rounding of the size of what it took off.
      for (int pass = 0; pass < 2 && a == 1; ++pass) {
        const double along = dot(axes.data(), axis, dim);
        for (std::size_t j = 0; j < dim; ++j) axis[j] -= along * axes[j];
      }
      const double after = dot(axis, axis, dim);
      if (after > 1e-24 * before && after > std::numeric_limits<double>::min()) {
        const double scale = 1 / std::sqrt(after);
        for (std::size_t j = 0; j < dim; ++j) axis[j] *= scale;
        break;
      }
      std::fill_n(axis, dim, 0.0);
      axis[(a + tries) % dim] = 1;
    }
  }
}

/// axes <- the squares' matrix times axes.
Vector multiplied(const Rows& rows, const Vector& axes, std::size_t dim) {
  Vector out(2 * dim, 0);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const double* const row = rows.values.data() + i * dim;
    const double a = dot(row, axes.data(), dim);
    const double b = dot(row, axes.data() + dim, dim);
    for (std::size_t j = 0; j < dim; ++j) {
      out[j] += a * row[j];
      out[dim + j] += b * row[j];
    }
  }
  return out;
}

/// axes turned within their plane: x' = c x + s y, y' = -s x + c y; mirrored where asked.
void turn(Vector& axes, std::size_t dim, double c, double s, bool mirrored) {
  for (std::size_t j = 0; j < dim; ++j) {
    const double x = axes[j];
    const double y = axes[dim + j];
    axes[j] = c * x + s * y;
    axes[dim + j] = (mirrored ? -1 : 1) * (-s * x + c * y);
  }
}

/// The first axis becomes the one of most squares; each axis' largest part is positive.
void settle(const Rows& rows, Vector& axes, std::size_t dim) {
  const Vector image = multiplied(rows, axes, dim);
  const double xx = dot(axes.data(), image.data(), dim);
  const double xy = dot(axes.data() + dim, image.data(), dim);
  const double yy = dot(axes.data() + dim, image.data() + dim, dim);
  const double angle = 0.5 * std::atan2(2 * xy, xx - yy);
  turn(axes, dim, std::cos(angle), std::sin(angle), false);
  for (std::size_t a = 0; a < 2; ++a) {
    double* const axis = axes.data() + a * dim;
    const double* const largest =
        std::max_element(axis, axis + dim, [](double l, double r) { return std::abs(l) < std::abs(r); });
    if (*largest < 0)
      for (std::size_t j = 0; j < dim; ++j) axis[j] = -axis[j];
  }
}

/// The orthogonal turn of `axes` that is nearest to `before` (Procrustes in two dimensions).
void follow(const Vector& before, Vector& axes, std::size_t dim) {
  const double xx = dot(before.data(), axes.data(), dim);
  const double xy = dot(before.data(), axes.data() + dim, dim);
  const double yx = dot(before.data() + dim, axes.data(), dim);
  const double yy = dot(before.data() + dim, axes.data() + dim, dim);
  // A rotation reaches |(xx + yy, xy - yx)|, a mirrored one |(xx - yy, xy + yx)|; the longer is nearer.
  const double plain = std::hypot(xx + yy, xy - yx);
  const double mirror = std::hypot(xx - yy, xy + yx);
  const bool mirrored = mirror > plain;
  const double length = mirrored ? mirror : plain;
  if (length == 0) return;
  const double c = (mirrored ? xx - yy : xx + yy) / length;
  const double s = (mirrored ? xy + yx : xy - yx) / length;
  turn(axes, dim, c, s, mirrored);
}

/// Squared sine of the largest angle between two planes, at most 2 of it.
double turnedBy(const Vector& a, const Vector& b, std::size_t dim) {
  double inside = 0;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const double part = dot(a.data() + i * dim, b.data() + j * dim, dim);
      inside += part * part;
    }
  return 2 - inside;
}

}  // namespace

Plane leadingPlane(std::span<const float> weights, std::size_t dim, bool centred, const Plane& before) {
  DSA_CHECK(dim >= 2);
  Plane plane;
  const Rows rows = prepared(weights, dim, centred, plane.mean);
  const bool warm = before.axes.size() == 2 * dim;
  if (warm) {
    plane.axes = before.axes;
  } else {
    // Anything that is not orthogonal to the leading directions; the same for every run.
    plane.axes.resize(2 * dim);
    for (std::size_t i = 0; i < 2 * dim; ++i)
      plane.axes[i] = std::sin(1 + 12.9898 * static_cast<double>(i)) + (i % (dim + 1) == 0 ? 0.1 : 0);
    orthonormalize(plane.axes, dim);
  }
  if (!(rows.squares > 0)) {
    plane.share = 0;
    return plane;
  }
  for (int round = 0; round < (warm ? kWarmRounds : kColdRounds); ++round) {
    Vector next = multiplied(rows, plane.axes, dim);
    orthonormalize(next, dim);
    const double turned = turnedBy(plane.axes, next, dim);
    plane.axes = std::move(next);
    if (turned < kStill) break;
  }
  if (warm)
    follow(before.axes, plane.axes, dim);
  else
    settle(rows, plane.axes, dim);
  double inside = 0;
  for (std::size_t i = 0; i < rows.count; ++i) {
    const double* const row = rows.values.data() + i * dim;
    const double x = dot(row, plane.axes.data(), dim);
    const double y = dot(row, plane.axes.data() + dim, dim);
    inside += x * x + y * y;
  }
  plane.share = std::min(1.0, inside / rows.squares);
  return plane;
}

EmbeddingFrame Projector::frame(RunId run, const EmbeddingSample& sample) {
  EmbeddingFrame frame;
  frame.run = run;
  frame.step = sample.step;
  frame.of = sample.of;
  const auto dim = static_cast<std::size_t>(sample.of->dim);
  const bool flat = dim <= 2;
  frame.kind = flat                  ? ProjectionKind::coordinates
               : sample.of->k != 0.0 ? ProjectionKind::directions
                                     : ProjectionKind::pca;
  if (!flat) {
    m_plane = leadingPlane(sample.weights, dim, frame.kind == ProjectionKind::pca, m_plane);
    frame.share = m_plane.share;
  }
  const auto n = static_cast<qsizetype>(sample.of->rows.size());
  frame.points.reserve(n);
  frame.norms.reserve(n);
  Vector row(dim);
  for (qsizetype i = 0; i < n; ++i) {
    const float* const weights = sample.weights.data() + static_cast<std::size_t>(i) * dim;
    std::copy_n(weights, dim, row.begin());
    frame.norms.push_back(std::sqrt(dot(row.data(), row.data(), dim)));
    if (!finite(weights, dim)) {
      frame.points.push_back(QPointF(std::nan(""), std::nan("")));
    } else if (flat) {
      frame.points.push_back(QPointF(row[0], dim == 2 ? row[1] : 0));
    } else {
      for (std::size_t j = 0; j < dim; ++j) row[j] -= m_plane.mean[j];
      frame.points.push_back(
          QPointF(dot(row.data(), m_plane.axes.data(), dim), dot(row.data(), m_plane.axes.data() + dim, dim)));
    }
  }
  return frame;
}

}  // namespace dsa::ui
