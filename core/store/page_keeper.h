// SPDX-License-Identifier: Apache-2.0
// Writes a mapped table's dirty pages back a piece at a time and, under a budget, keeps its page cache within it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "core/base/residency.h"

namespace dsa {

/// The kernel's own write-back goes over every page of the file with a TLB shootdown each, and the step stalls every
/// dozen seconds. This one takes 4 MiB out of the page tables at once and starts their write, a little at a time,
/// before the kernel finds them old. Nothing that is stored is lost by it: the pages stay in the page cache until they
/// are written, and a step that needs them maps them again. A thread of its own. Thread: all functions from any thread.
class PageKeeper {
 public:
  struct Piece {
    const File* file;     ///< outlives the keeper
    std::byte* mapping;   ///< of the whole file, shared
    std::uint64_t bytes;  ///< of it
  };

  /// budgetBytes: most page cache of all files together; 0: none, only write-back.
  static Result<std::unique_ptr<PageKeeper>> start(std::vector<Piece> pieces, std::uint64_t budgetBytes);
  ~PageKeeper();
  PageKeeper(const PageKeeper&) = delete;
  PageKeeper& operator=(const PageKeeper&) = delete;

  void setBudget(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t budget() const { return m_budget.load(std::memory_order_relaxed); }
  /// Waits until the cache is within the budget, or a second at most. For a budget that was just set.
  void settle();
  /// Whether the kernel tells what is cached; without that no budget can be kept.
  [[nodiscard]] bool canCount() const;

 private:
  struct Window {
    std::size_t piece;
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  PageKeeper() = default;
  void run();
  [[nodiscard]] std::uint64_t cached() const;
  void writeBack();
  void shrink();
  void unmap(const Window& window) const;
  void beginWrite(const Window& window) const;
  void drop(const Window& window) const;
  Window nextWindow();
  [[nodiscard]] Residency residencyOf(const Window& window) const;

  std::vector<Piece> m_pieces;
  std::vector<ResidencyProbe> m_probes;
  std::uint64_t m_windows = 0;
  std::uint64_t m_hand = 0;
  double m_due = 0;  // windows to be written back in this tick
  std::atomic<std::uint64_t> m_budget{0};
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::uint64_t m_rounds = 0;  // of shrinking that ended within the budget
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace dsa
