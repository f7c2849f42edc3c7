// SPDX-License-Identifier: GPL-3.0-or-later
// Picture 1, "will it fit?": the table on a card, in RAM, on disk as bars against what there is, before anything runs.
#pragma once

#include <QVector>
#include <QWidget>
#include <optional>

#include "core/spec/planner.h"

namespace dsa::ui {

struct FitSegment {
  QString name;
  double bytes = 0;
  QColor colour;
  bool hatched = false;  ///< predicted, reclaimable or simulated
};

struct FitBar {
  QString title;
  QVector<FitSegment> segments;
  std::optional<double> capacity;
  QString capacityName;
  QString verdict;
  Fit fit = Fit::fits;
  bool chosen = false;
};

/// The bars for a plan. `card` is absent where there is no card; `simulated` names it so.
[[nodiscard]] QVector<FitBar> fitBars(const PlanInput& input, const PlanCapacity& capacity, bool simulated);

/// Draws bars on one linear axis from 0; a piece under 3 px is drawn 3 px wide. Thread: the window's.
class FitBars : public QWidget {
  Q_OBJECT
 public:
  explicit FitBars(QWidget* parent = nullptr);
  void setBars(const QVector<FitBar>& bars);
  /// Instead of bars.
  void setMessage(const QString& message);
  [[nodiscard]] const QVector<FitBar>& bars() const { return m_bars; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {300, 220}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QVector<FitBar> m_bars;
  QString m_message;
};

}  // namespace dsa::ui
