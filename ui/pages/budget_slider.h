// SPDX-License-Identifier: GPL-3.0-or-later
// How much memory a running table on disk may take for its rows: an order to its trainer, changed in view.
#pragma once

#include <QTimer>
#include <QVector>
#include <QWidget>
#include <optional>

class QLabel;
class QSlider;

namespace dsa::ui {

/// From 16 MiB to the machine's memory in half octaves, and at the right end no budget. What is chosen is told once the
/// handle has rested for a moment.
class BudgetSlider : public QWidget {
  Q_OBJECT
 public:
  explicit BudgetSlider(QWidget* parent = nullptr);

  /// Where the handle stands for another run; tells nobody. No value: not known.
  void setBudget(std::optional<quint64> bytes);
  /// Bytes; 0 is no budget.
  [[nodiscard]] quint64 budget() const;
  /// Nobody is moving it.
  [[nodiscard]] bool rests() const;

 signals:
  void chosen(quint64 bytes);

 private:
  void showValue();

  QVector<quint64> m_sizes;  // ascending; the place after the last is no budget
  QSlider* m_slider = nullptr;
  QLabel* m_value = nullptr;
  QTimer m_rest;
};

}  // namespace dsa::ui
