// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/label_layout.h"

#include <algorithm>

namespace dsa::ui {

namespace {

constexpr double kGap = 3;     // between a dot and its label
constexpr double kMargin = 2;  // between two labels

}  // namespace

QVector<PlacedLabel> placeLabels(const QVector<int>& candidates, int most, const QRectF& area, double radius,
                                 const std::function<QPointF(int)>& at, const std::function<QSizeF(int)>& sizeOf) {
  QVector<PlacedLabel> placed;
  QVector<QRectF> taken;
  for (const int point : candidates) {
    if (placed.size() >= most) break;
    const QPointF p = at(point);
    const QRectF dot(p.x() - radius, p.y() - radius, 2 * radius, 2 * radius);
    const QSizeF size = sizeOf(point);
    const double aside = radius + kGap;
    const QPointF corners[] = {{p.x() + aside, p.y() - size.height() / 2},
                               {p.x() - aside - size.width(), p.y() - size.height() / 2},
                               {p.x() - size.width() / 2, p.y() - aside - size.height()},
                               {p.x() - size.width() / 2, p.y() + aside}};
    const auto isFree = [&](const QRectF& box) {
      return std::none_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(box); });
    };
    // A dot under another's label would take that name for its own.
    if (!isFree(dot)) continue;
    for (const QPointF& corner : corners) {
      const QRectF box(corner, size);
      if (!area.contains(box) || !isFree(box.adjusted(-kMargin, 0, kMargin, 0))) continue;
      placed.push_back({point, box});
      taken << box << dot;
      break;
    }
  }
  return placed;
}

}  // namespace dsa::ui
