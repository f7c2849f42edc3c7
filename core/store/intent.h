// SPDX-License-Identifier: Apache-2.0
// The step being applied, in a shared mapping: ids, gradients and parameters, so that a killed step can be finished.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/thread_pool.h"
#include "core/rows/kernels.h"
#include "core/store/content_file.h"
#include "core/store/format.h"

namespace dsa {

/// Where the rows of one table lie: record r begins at base + r * stride.
struct RecordArray {
  std::byte* base = nullptr;
  std::uint64_t stride = 0;
  [[nodiscard]] std::byte* at(std::uint64_t row) const { return base + row * stride; }
};

/// The redo half of a step costs nothing: ids and gradients are made in this mapping by the trainer. The undo half is
/// kUndoRows old records a worker, which stay in the L2 cache. Thread: the run thread; apply() uses the pool.
class Intent {
 public:
  static Result<void> create(const std::string& path, const Superblock& super);
  /// The step that stands in the file, for a reader; nothing is mapped.
  static Result<IntentPage> readPage(const std::string& path, const Superblock& super);
  static Result<Intent> open(const std::string& path, const Superblock& super);

  /// ids [stepCapacity] of table t for the next step: sorted, distinct.
  [[nodiscard]] std::uint64_t* ids(std::uint32_t t) const { return m_ids[t]; }
  /// grads [stepCapacity x dim] of table t.
  [[nodiscard]] float* grads(std::uint32_t t) const { return m_grads[t]; }
  [[nodiscard]] IntentPage& page() const { return *m_page; }

  /// From here on the step will be applied, by us or by whoever opens the store after us. rows[t] ids are filled for
  /// each table.
  void arm(std::uint64_t step, std::span<const std::uint64_t> rows, std::span<const StepParams> params,
           const StateBlob& next, unsigned workers) const;
  /// Changes the rows of all tables, or puts the records `stepped` [table][count x stride] there, which are those that
  /// the kernels would make. After arm().
  void apply(std::span<const RecordArray> tables, const RowKernels& kernels, std::span<const float* const> stepped,
             ThreadPool& pool) const;
  /// Whether an armed step can be believed by the process after ours: every count, place, row and rule against the
  /// superblock, `applied` steps being applied. Error input: damaged; names what, found and expected.
  [[nodiscard]] Result<void> check(std::uint64_t applied) const;
  /// After a kill and check(): finishes an armed step, whatever part of it was done. False: nothing was armed.
  bool finish(std::span<const RecordArray> tables, const RowKernels& kernels) const;
  void disarm() const;
  [[nodiscard]] const Mapping& mapping() const { return m_mapping; }
  [[nodiscard]] bool armed() const { return observe(m_page->armed) == 1; }

 private:
  [[nodiscard]] Progress& progress(std::uint32_t worker, std::uint32_t table) const {
    return m_progress[worker * kMaxTables + table];
  }
  [[nodiscard]] std::byte* undo(std::uint32_t worker) const { return m_undo + worker * m_undoBytes; }
  void applyRange(std::uint32_t worker, std::uint32_t t, const RecordArray& records, std::uint64_t end,
                  const RowKernels& kernels, const float* stepped) const;
  [[nodiscard]] Result<void> checkTable(std::uint32_t t) const;
  [[nodiscard]] tl::unexpected<Error> damaged(const char* what, std::uint64_t found, const std::string& expected) const;
  void layOut(std::byte* content, const Superblock& super);

  std::string m_path;
  std::vector<TableRecord> m_tables;
  Mapping m_mapping;
  IntentPage* m_page = nullptr;
  Progress* m_progress = nullptr;
  std::byte* m_undo = nullptr;
  std::uint64_t m_undoBytes = 0;  // a worker
  std::vector<std::uint64_t*> m_ids;
  std::vector<float*> m_grads;
};

}  // namespace dsa
