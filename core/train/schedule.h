// SPDX-License-Identifier: Apache-2.0
// The learning rate of each step: burn-in at a hundredth, then constant or falling linearly to zero. A function of the
// step alone.
#pragma once

#include <cstdint>

namespace dsa {

struct Schedule {
  double lr = 0;
  std::uint64_t burnInSteps = 0;
  std::uint64_t plannedSteps = 1;
  bool linearDecay = false;

  /// step counts from 0.
  [[nodiscard]] double at(std::uint64_t step) const {
    double rate = lr;
    if (linearDecay) rate = rate * (1.0 - static_cast<double>(step) / static_cast<double>(plannedSteps));
    // Nickel and Kiela 2017: first find a good angular layout at a hundredth of the rate.
    return step < burnInSteps ? rate * 0.01 : rate;
  }
};

}  // namespace dsa
