// SPDX-License-Identifier: Apache-2.0
// The engine "direct": rows in a cache of the process's own, of a size that is kept to, over O_DIRECT.
//
// Rows change in private memory and go to free slots of NAME.slab when their place is needed or at a checkpoint; a slot
// that the last checkpoint names is not overwritten. So SIGKILL and power loss lead back to the last checkpoint, in
// either durability, and nothing is written twice for it. FORMAT.md, "Slots".
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/store/moves_log.h"
#include "core/store/row_cache.h"

namespace dsa {

/// What the engine did since it was opened.
struct DirectCounters {
  std::uint64_t found = 0;         ///< units of steps that were in the cache
  std::uint64_t fetched = 0;       ///< units of steps that were not: read, or new
  std::uint64_t bytesRead = 0;     ///< from the slab
  std::uint64_t bytesWritten = 0;  ///< to the slab and the log
  std::uint64_t cacheBytes = 0;    ///< places in use, bookkeeping included
};

/// Thread: the run thread, but for what UnitOverlay and RowStore's readers do. A thread of its own brings in the rows
/// of announced steps, in their order, and gives up others.
class DirectStore final : public UnitOverlay {
 public:
  struct Options {
    std::uint64_t budgetBytes = 0;
    DirectIo::Engine io = DirectIo::Engine::best;
  };

  /// Least budget that these tables can be stepped with: the rows of one step.
  [[nodiscard]] static std::uint64_t leastBudget(const StoreShape& shape);
  /// Recovers and opens; a store that the engine mmap wrote is taken over. O(1) in rows, but for 4 bytes a unit that
  /// ever lay in a slot. Errors as RowStore::open; usage: the budget is below leastBudget().
  static Result<std::unique_ptr<DirectStore>> open(const std::string& folder, const RowKernels& kernels,
                                                   const Options& options);
  ~DirectStore() override;
  DirectStore(const DirectStore&) = delete;
  DirectStore& operator=(const DirectStore&) = delete;

  /// Shape, losses, touched bits, and every row for readers (RowScan): those of memory where they are newer.
  [[nodiscard]] RowStore& files() { return *m_files; }
  [[nodiscard]] const RowStore& files() const { return *m_files; }
  [[nodiscard]] std::uint64_t step() const { return m_step; }
  [[nodiscard]] const StateBlob& state() const { return m_state; }
  [[nodiscard]] std::uint64_t* ids(std::uint32_t t) const;
  [[nodiscard]] float* grads(std::uint32_t t) const;

  /// A coming step's distinct rows; steps are applied in the order in which they were announced. The ticket counts
  /// until the next checkpoint(), evict() or setBudget().
  std::uint64_t announce(StepRows rows);
  /// Waits until the rows of this step, named by ids(t), are in memory; announces it where the ticket does not count.
  /// Error machine: the disk; no row was changed.
  Result<void> stage(std::span<const std::uint64_t> counts, std::uint64_t ticket);
  /// The first values of the record of row ids(t)[place] of the staged step, weights before state. Any thread.
  void staged(std::uint32_t t, std::uint64_t place, std::span<float> values) const;
  /// As RowStore::apply; stages the step if that was not done.
  Result<void> apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params, const StateBlob& next,
                     std::uint64_t ticket, ThreadPool& pool, std::span<const float* const> stepped = {});

  /// The present step becomes the one that a kill or a power loss leads back to. Time: rows changed since the last one.
  Result<void> checkpoint();
  /// Writes what is dirty and empties the cache.
  Result<void> evict();
  /// From now on at most so many bytes. Error usage: below leastBudget(); nothing has changed.
  Result<void> setBudget(std::uint64_t bytes);
  /// A checkpoint and a clean mark. Called once.
  Result<void> close();

  [[nodiscard]] std::uint64_t budget() const { return m_budget; }
  [[nodiscard]] DirectCounters counters() const;
  /// Whether rows really go past the page cache.
  [[nodiscard]] bool direct() const;

  [[nodiscard]] std::shared_lock<std::shared_mutex> hold() const override;
  bool copyUnit(std::uint32_t t, std::uint64_t unit, std::byte* slot) const override;

 private:
  struct Batch {
    StepRows rows;
    std::vector<std::vector<std::uint32_t>> places;  // of each row, a table
    std::vector<std::vector<std::uint32_t>> pinned;  // distinct, a table
    bool staged = false;
  };
  struct Miss {
    std::uint64_t unit;
    std::size_t place;  // in Batch::pinned
  };

  DirectStore() = default;
  Result<void> start(const Options& options);
  Result<void> raiseFlags();
  [[nodiscard]] std::vector<std::uint64_t> capacities(std::uint64_t budget) const;
  void run();
  [[nodiscard]] bool hasRoom(const Batch& batch) const;
  Result<void> stageBatch(Batch& batch);
  Result<void> stageTable(std::uint32_t t, Batch& batch);
  void addWrite(std::uint32_t t, std::uint32_t place);
  Result<void> queueWrites(std::uint32_t t);
  Result<void> runRequests();
  void dropStaged();
  void unpin(const Batch& batch);
  void applyTable(std::uint32_t t, std::uint64_t count, const StepParams& params, const float* stepped,
                  ThreadPool& pool);
  void markTouched(std::uint32_t t, std::uint64_t count);
  Result<void> flush(std::uint32_t t, std::uint32_t from);
  Result<void> commit();
  Result<void> logMoves(std::uint64_t generation);
  Result<void> commitTouched(std::uint32_t t);
  [[nodiscard]] Result<void> usable() const;
  tl::unexpected<Error> breakOff(const Error& error);
  [[nodiscard]] std::uint64_t ticketOf(std::uint64_t count) const;
  [[nodiscard]] SlottedTable& table(std::uint32_t t) const { return *m_files->m_slotted[t]; }
  [[nodiscard]] std::uint32_t tables() const { return static_cast<std::uint32_t>(m_caches.size()); }

  std::unique_ptr<RowStore> m_files;
  RowKernels m_kernels;
  std::uint64_t m_budget = 0;
  std::uint64_t m_step = 0;
  StateBlob m_state;
  bool m_closed = false;
  Error m_broken{ErrorCode::machine, ""};  // why nothing is done any more, or no message

  std::vector<Mapping> m_ids, m_grads;
  mutable std::shared_mutex m_world;  // alone: who brings in, gives up or writes units
  std::vector<RowCache> m_caches;
  std::unique_ptr<DirectIo> m_io;
  MovesLog m_log;
  std::vector<UnitReader> m_readers;
  std::vector<DirectRequest> m_requests;
  std::vector<Miss> m_misses;
  Mapping m_writeBuffer;
  std::uint64_t m_writeUsed = 0;           // bytes of it
  std::uint64_t m_writeBegin = 0;          // where those of the present table begin
  std::vector<std::uint64_t> m_leaving;    // units of them
  std::vector<std::uint32_t> m_freeSlots;  // for them
  std::vector<Mapping> m_changedWords;     // a bit for each 32 touched bits changed since the last commit
  std::vector<TouchedBits> m_changed;
  std::atomic<std::uint64_t> m_found{0}, m_fetched{0}, m_bytesRead{0}, m_bytesWritten{0}, m_cacheBytes{0};

  mutable std::mutex m_mutex;  // guards what follows
  std::condition_variable m_changeOfQueue;
  std::deque<std::unique_ptr<Batch>> m_batches;  // announced and not applied, in order
  std::size_t m_stagedBatches = 0;               // of them, from the front
  std::uint64_t m_epoch = 1;                     // part of each ticket
  std::uint64_t m_announced = 0, m_applied = 0;  // in this epoch
  std::vector<std::uint64_t> m_pinnedUnits;      // a table, counted once a batch
  bool m_busy = false;
  bool m_stop = false;
  Result<void> m_failure;
  std::thread m_thread;
};

}  // namespace dsa
