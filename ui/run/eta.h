// SPDX-License-Identifier: GPL-3.0-or-later
// Time left, said only when it means something.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace dsa::ui {

/// Feed it progress with a clock of your own. Nothing is told in the first 30 s or 2% (whichever ends first), nor when
/// the run stands still; then the rest at the mean rate of the last minute.
class Eta {
 public:
  void reset();
  /// `atSeconds` of any steady clock.
  void feed(double atSeconds, std::uint64_t step, std::uint64_t plannedSteps);
  [[nodiscard]] std::optional<double> secondsLeft(double atSeconds) const;

 private:
  struct Mark {
    double at;
    std::uint64_t step;
  };
  std::deque<Mark> m_marks;
  std::optional<Mark> m_first;
  std::uint64_t m_planned = 0;
};

}  // namespace dsa::ui
