// SPDX-License-Identifier: Apache-2.0
// Keeps the page cache of a mapped table within a budget.
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

/// Takes 4 MiB at a time out of the page tables, has them written, and drops them; counts what is left by cachestat or
/// mincore. Nothing that is stored is lost by it: a page stays in the page cache until it is written, and a step that
/// needs it maps it again. A thread of its own. Thread: all functions from any thread.
/// Without a budget the kernel's write-back is left alone: taking it over in this way, every window within 20 s, gave a
/// mean of 71 to 74% of the median over 50 s at 1M x 128, the kernel 74 to 85 (of one file; see row_file.h).
class PageKeeper {
 public:
  struct Piece {
    const File* file;      ///< outlives the keeper
    std::uint64_t offset;  ///< in it, whole pages
    std::byte* mapping;    ///< from there on, shared
    std::uint64_t bytes;
  };

  /// budgetBytes: most page cache of all files together; 0: none.
  static Result<std::unique_ptr<PageKeeper>> start(std::vector<Piece> pieces, std::uint64_t budgetBytes);
  ~PageKeeper();
  PageKeeper(const PageKeeper&) = delete;
  PageKeeper& operator=(const PageKeeper&) = delete;

  void setBudget(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t budget() const { return m_budget.load(std::memory_order_relaxed); }
  /// Waits until the cache is within the budget, or a fifth of a second at most. For a budget that was just set.
  void settle();
  /// At the last look there was more than the budget: whoever steps waits, settle().
  [[nodiscard]] bool over() const { return m_over.load(std::memory_order_relaxed); }
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
  std::atomic<std::uint64_t> m_budget{0};
  std::atomic<bool> m_over{false};
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::uint64_t m_rounds = 0;  // of shrinking that ended within the budget
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace dsa
