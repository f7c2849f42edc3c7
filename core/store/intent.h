// SPDX-License-Identifier: Apache-2.0
// The step being applied, in a shared mapping: ids, gradients and parameters, so that a killed step can be finished.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/thread_pool.h"
#include "core/rows/kernels.h"
#include "core/store/format.h"

namespace dsa {

/// Where the rows of one table lie: record r begins at base + r * stride.
struct RecordArray {
  std::byte* base = nullptr;
  std::uint64_t stride = 0;
  [[nodiscard]] std::byte* at(std::uint64_t row) const { return base + row * stride; }
};

/// The redo half of a step costs nothing: ids and gradients are made in this mapping by the trainer. The undo half is kUndoRows old records a
/// worker, which stay in the L2 cache. Thread: the run thread; apply() uses the pool.
class Intent {
 public:
  static Result<void> create(const std::string& path, const Superblock& super);
  static Result<Intent> open(const std::string& path, const Superblock& super);

  /// ids [stepCapacity] of table t for the next step: sorted, distinct.
  [[nodiscard]] std::uint64_t* ids(std::uint32_t t) const { return m_ids[t]; }
  /// grads [stepCapacity x dim] of table t.
  [[nodiscard]] float* grads(std::uint32_t t) const { return m_grads[t]; }
  [[nodiscard]] IntentPage& page() const { return *m_page; }

  /// From here on the step will be applied, by us or by whoever opens the store after us. rows[t] ids are filled for each table.
  void arm(std::uint64_t step, std::span<const std::uint64_t> rows, std::span<const StepParams> params, const StateBlob& next, unsigned workers) const;
  /// Changes the rows of all tables. After arm().
  void apply(std::span<const RecordArray> tables, const RowKernels& kernels, ThreadPool& pool) const;
  /// After a kill: finishes an armed step, whatever part of it was done. False: nothing was armed.
  bool finish(std::span<const RecordArray> tables, const RowKernels& kernels) const;
  void disarm() const { publish(m_page->armed, 0); }
  [[nodiscard]] bool armed() const { return observe(m_page->armed) == 1; }

 private:
  [[nodiscard]] Progress& progress(std::uint32_t worker, std::uint32_t table) const {
    return m_progress[worker * kMaxTables + table];
  }
  [[nodiscard]] std::byte* undo(std::uint32_t worker) const { return m_undo + worker * m_undoBytes; }
  void applyRange(std::uint32_t worker, std::uint32_t t, const RecordArray& records, std::uint64_t end, const RowKernels& kernels) const;
  void layOut(std::byte* content, const Superblock& super);

  Mapping m_mapping;
  IntentPage* m_page = nullptr;
  Progress* m_progress = nullptr;
  std::byte* m_undo = nullptr;
  std::uint64_t m_undoBytes = 0;  // a worker
  std::vector<std::uint64_t*> m_ids;
  std::vector<float*> m_grads;
};

/// Whether a content file's blocks are taken from the disk at once (a store into a hole of a full disk would be SIGBUS) or on first touch.
enum class Space { allocated, sparse };

/// Writes page 0 of a content file and sets its length. Used for every file but store.dsa.
Result<void> createContentFile(const std::string& path, const char* magic, std::uint32_t table, const unsigned char* uuid,
                               std::uint64_t contentBytes, Space space);
/// Opens such a file and refuses a foreign, newer, damaged, truncated or other run's one with path, expected and found.
Result<File> openContentFile(const std::string& path, const char* magic, std::uint32_t table, const unsigned char* uuid,
                             std::uint64_t contentBytes, File::Mode mode);

}  // namespace dsa
