// SPDX-License-Identifier: Apache-2.0
// Whether the rows of coming steps are worth asking the kernel for.
#pragma once

#include <atomic>

namespace dsa {

/// Yes at first, and from a step that met major faults until several in a row met none: the reading ahead is what makes
/// them rare, so one step without a fault does not say that the table is in memory. Asking for 10,000 rows that are
/// there takes a core some 10 ms. Thread: met() one, cold() any.
class ColdSteps {
 public:
  void met(bool majorFaults) {
    if (majorFaults) {
      m_left.store(kWarmAfter, std::memory_order_relaxed);
    } else if (const int left = m_left.load(std::memory_order_relaxed); left > 0) {
      m_left.store(left - 1, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] bool cold() const { return m_left.load(std::memory_order_relaxed) > 0; }

 private:
  static constexpr int kWarmAfter = 8;
  std::atomic<int> m_left{kWarmAfter};
};

}  // namespace dsa
