// SPDX-License-Identifier: Apache-2.0
// The tables of a run behind one interface, wherever they lie: private memory, device memory, or the disk-backed store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/device/device.h"
#include "core/store/row_store.h"

namespace dsa {

/// Where a table lies on a card, for whoever computes there: the card's addresses.
struct CardTable {
  float* records = nullptr;
  std::uint64_t stride = 0;      ///< floats
  std::uint64_t* ids = nullptr;  ///< [stepCapacity], of the step that is applied next
  float* grads = nullptr;        ///< [stepCapacity x dim], in their order
};

/// Counts since the tables were opened. Absent: not known in this place.
struct TableTraffic {
  std::optional<std::uint64_t> prefetched;  ///< pages (mmap) or units (direct) brought in ahead of their step
  std::optional<std::uint64_t> cacheBytes;  ///< of the row cache, in private memory
  std::optional<std::uint64_t> budget;      ///< most bytes of rows in memory, 0 = none
  std::optional<std::uint64_t> written;     ///< bytes to the slab and its log; what mmap writes is the kernel's to know
};

/// Rows are read and stepped through it; the arithmetic is the same in every place, bit for bit.
/// A step: fill ids(t) (sorted, distinct) and grads(t) [n x dim], then apply(). Thread: the run thread, but for
/// readWeights and prefetch.
class Tables {
 public:
  virtual ~Tables() = default;

  [[nodiscard]] virtual const StoreShape& shape() const = 0;
  [[nodiscard]] virtual std::uint64_t step() const = 0;
  [[nodiscard]] virtual StateBlob state() const = 0;
  [[nodiscard]] virtual std::uint64_t* ids(std::uint32_t t) = 0;
  [[nodiscard]] virtual float* grads(std::uint32_t t) = 0;
  [[nodiscard]] virtual double* losses() = 0;

  /// Of tables on a card; then grads() is the card's, too, and ids(t) of the step must stand in both places.
  [[nodiscard]] virtual std::optional<CardTable> onCard(std::uint32_t) const { return std::nullopt; }

  [[nodiscard]] virtual const TouchedBits& touchedBits(std::uint32_t t) const = 0;
  /// The record of a touched row. Lives until the next apply().
  [[nodiscard]] virtual const float* record(std::uint32_t t, std::uint64_t row) const = 0;
  /// Weights [dim] of any row; the initial ones where no step touched it. Thread-safe between steps.
  virtual void readWeights(std::uint32_t t, std::uint64_t row, float* weights) const = 0;

  /// Weights [count x dim] of rows [begin, begin + count), read in a way that leaves the page cache as it was
  /// (RowScan). Thread-safe between steps. Error machine: the disk.
  virtual Result<void> scanWeights(std::uint32_t t, std::uint64_t begin, std::uint64_t count, float* weights) const = 0;
  /// Calls visit(row, record) for each touched row in order, leaving the page cache as it was. The record has all its
  /// values and lives until the next call. Error machine: the disk; rows before it were visited.
  virtual Result<void> scanTouched(std::uint32_t t,
                                   const std::function<void(std::uint64_t, const float*)>& visit) const = 0;

  /// Error machine: the disk or another program took pages of the tables; what was read since the last call is zeros.
  [[nodiscard]] virtual Result<void> intact() const { return {}; }

  /// Whether announce() does anything.
  [[nodiscard]] virtual bool wantsRows() const = 0;
  /// Rows of a coming step, for durability "power" and the direct engine; gives the ticket for its stage() and apply().
  /// Steps are applied in the order in which they were announced; a checkpoint, an eviction or another budget makes
  /// tickets void (void ones are no error).
  virtual std::uint64_t announce(const StepRows& rows) = 0;
  /// Waits until the rows of the step, counts[t] named by ids(t), can be read and changed. Error machine: the disk.
  virtual Result<void> stage(std::span<const std::uint64_t> counts, std::uint64_t ticket) = 0;
  /// The first values of the record of row ids(t)[place] of the staged step, weights before state. Thread-safe.
  virtual void staged(std::uint32_t t, std::uint64_t place, std::span<float> values) const = 0;
  /// Rows that will be read soon. Thread-safe.
  virtual void prefetch(std::uint32_t t, std::span<const std::uint64_t> rows) const = 0;
  /// One step of all tables; see RowStore::apply. stepped: none, or for each table the records of the step's rows as
  /// the step makes them, [count x recordFloats], in their order: whoever made them has stepped the rows.
  virtual Result<void> apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params,
                             const StateBlob& next, std::uint64_t ticket, std::span<const float* const> stepped,
                             ThreadPool& pool) = 0;
  virtual Result<void> checkpoint() = 0;
  /// Drops the table's pages from the page cache; elsewhere than on disk there is none: error usage.
  virtual Result<void> evict() = 0;
  /// Most bytes of the table in memory from now on, page cache or row cache; 0: as it was opened. Error usage: what
  /// this place or engine cannot do, and why.
  virtual Result<void> setRamBudget(std::uint64_t bytes) = 0;
  virtual Result<void> close() = 0;

  /// Files whose page cache is the table's; none outside the disk.
  [[nodiscard]] virtual std::vector<std::string> files() const = 0;
  [[nodiscard]] virtual Result<std::uint64_t> diskBytes() const = 0;
  /// What has come and gone since it was opened.
  [[nodiscard]] virtual TableTraffic traffic() const = 0;
  /// How it was found when opened.
  [[nodiscard]] virtual Recovery recovery() const = 0;

  /// N x bytes a row over all tables.
  [[nodiscard]] std::uint64_t tableBytes() const;
};

/// How tables on disk are reached.
enum class DiskEngine {
  mmap,    ///< mapped; the kernel's page cache holds what was used
  direct,  ///< a row cache of the process's own over O_DIRECT (DirectStore)
};

struct DiskOptions {
  Durability durability = Durability::process;  ///< of mmap; direct keeps the last checkpoint in either
  DiskEngine engine = DiskEngine::mmap;
  std::uint64_t ramBudget = 0;  ///< bytes of the table in memory; 0: none, which direct refuses
};

/// Tables on disk, in an existing store. Errors as RowStore::open and DirectStore::open.
Result<std::unique_ptr<Tables>> openDiskTables(const std::string& folder, const DiskOptions& options,
                                               const RowKernels& kernels);

/// The whole of every table committed at once in the device's memory (placement "gpu") or in private memory
/// (Device::cpu(), placement "ram"), and filled with the initial weights; on a card by the card. Errors machine: does
/// not fit, nothing was allocated; the card failed.
Result<std::unique_ptr<Tables>> makeMemoryTables(const StoreShape& shape, const std::shared_ptr<Device>& device,
                                                 const RowKernels& kernels, ThreadPool& pool);

/// Index of the first row of the step whose gradient is not finite, or -1; table and place in the step.
struct BadGradient {
  std::uint32_t table = 0;
  std::uint64_t place = 0;
  bool found = false;
};
[[nodiscard]] BadGradient findBadGradient(Tables& tables, std::span<const std::uint64_t> counts);

}  // namespace dsa
