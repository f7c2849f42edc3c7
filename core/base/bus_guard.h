// SPDX-License-Identifier: Apache-2.0
// The last line behind a mapped file: a page that the kernel cannot give any more (the file was cut short, its disk
// failed, no space for a hole) is SIGBUS, and the end of the program by default.
//
// In a guarded mapping the handler puts zero pages there instead and remembers it, so that whatever was going on runs
// to its end and can then be given up in order. Nothing that was read or written since may be believed: who guards a
// mapping asks damaged() before it keeps a result. Everywhere else SIGBUS is what it was before.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dsa {

/// Guards a range of memory as long as it lives. Moves, never copies. Thread: damaged() any, the rest the owner;
/// nobody may touch the range while its guard goes.
class BusGuard {
 public:
  BusGuard() = default;
  /// [begin, begin + bytes), whole pages from a page's beginning on. Where kMost ranges are guarded already it guards
  /// nothing.
  BusGuard(void* begin, std::uint64_t bytes);
  BusGuard(BusGuard&& other) noexcept;
  BusGuard& operator=(BusGuard&& other) noexcept;
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;
  ~BusGuard();

  /// Whether a page of it was replaced by zeros. A thread that saw such zeros sees true.
  [[nodiscard]] bool damaged() const;

  /// Two stores of 8 tables each, and as much again.
  static constexpr int kMost = 80;

 private:
  void release();
  int m_slot = -1;
};

}  // namespace dsa
