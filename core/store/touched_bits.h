// SPDX-License-Identifier: Apache-2.0
// One bit a row: has a step been applied to it. Mapped; words are atomic because look-ahead reads while steps set.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace dsa {

/// A view of mapped words; lives no longer than the mapping.
class TouchedBits {
 public:
  TouchedBits() = default;
  TouchedBits(void* words, std::uint64_t rows) : m_words(static_cast<std::uint64_t*>(words)), m_rows(rows) {}

  [[nodiscard]] bool test(std::uint64_t row) const {
    return ((word(row).load(std::memory_order_relaxed) >> (row % 64)) & 1) != 0;
  }
  void set(std::uint64_t row) const {
    // One writer: a plain read-modify-write, atomic only towards readers. A set bit is not written again.
    std::atomic_ref<std::uint64_t> w = word(row);
    const std::uint64_t old = w.load(std::memory_order_relaxed);
    const std::uint64_t bit = std::uint64_t{1} << (row % 64);
    if ((old & bit) == 0) w.store(old | bit, std::memory_order_relaxed);
  }
  void clear(std::uint64_t row) const {
    std::atomic_ref<std::uint64_t> w = word(row);
    w.store(w.load(std::memory_order_relaxed) & ~(std::uint64_t{1} << (row % 64)), std::memory_order_relaxed);
  }
  /// Calls f(row) for each set bit, in order.
  template <class F>
  void forEach(F&& f) const {
    for (std::uint64_t i = 0; i < (m_rows + 63) / 64; ++i) {
      std::uint64_t left = std::atomic_ref<std::uint64_t>(m_words[i]).load(std::memory_order_relaxed);
      while (left != 0) {
        f(i * 64 + static_cast<std::uint64_t>(__builtin_ctzll(left)));
        left &= left - 1;
      }
    }
  }
  /// The first set row at or after `row`; the number of rows where there is none.
  [[nodiscard]] std::uint64_t next(std::uint64_t row) const { return next(row, m_rows); }
  /// The first set row in [row, end); end where there is none. Time: words of that range. next(row) < end looks through
  /// all of a table with few touched rows.
  [[nodiscard]] std::uint64_t next(std::uint64_t row, std::uint64_t end) const {
    if (row >= end) return end;
    std::uint64_t left = word(row).load(std::memory_order_relaxed) & (~std::uint64_t{0} << (row % 64));
    for (std::uint64_t i = row / 64;;) {
      if (left != 0) return std::min(end, i * 64 + static_cast<std::uint64_t>(__builtin_ctzll(left)));
      if (++i >= (end + 63) / 64) return end;
      left = word(i * 64).load(std::memory_order_relaxed);
    }
  }
  [[nodiscard]] static std::uint64_t bytesFor(std::uint64_t rows) { return (rows + 63) / 64 * 8; }

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> word(std::uint64_t row) const {
    return std::atomic_ref<std::uint64_t>(m_words[row / 64]);
  }
  std::uint64_t* m_words = nullptr;
  std::uint64_t m_rows = 0;
};

}  // namespace dsa
