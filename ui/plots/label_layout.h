// SPDX-License-Identifier: GPL-3.0-or-later
// Which names fit beside their points without lying on each other.
#pragma once

#include <QRectF>
#include <QSizeF>
#include <QVector>
#include <functional>

namespace dsa::ui {

struct PlacedLabel {
  int point = 0;  ///< index of the point that it names
  QRectF box;
};

/// Goes through `candidates` (indices of points, the most wanted first) until `most` have a place: right, left, above
/// or below their point, inside `area`, on no other label and no other labelled point. `at` gives a point's pixel,
/// `sizeOf` the size of its text; `radius` is that of a point's dot.
[[nodiscard]] QVector<PlacedLabel> placeLabels(const QVector<int>& candidates, int most, const QRectF& area,
                                               double radius, const std::function<QPointF(int)>& at,
                                               const std::function<QSizeF(int)>& sizeOf);

}  // namespace dsa::ui
