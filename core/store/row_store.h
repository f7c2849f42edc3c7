// SPDX-License-Identifier: Apache-2.0
// The disk-backed tables of one run: rows on first touch, whole steps after SIGKILL, whole checkpoints after power
// loss.
//
// Guarantees G1 to G7 of ARCHITECTURE.md, "Store"; bytes in FORMAT.md. One folder a run, one writer (StoreLock), any
// number of readers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/thread_pool.h"
#include "core/rows/kernels.h"
#include "core/store/format.h"
#include "core/store/intent.h"
#include "core/store/page_keeper.h"
#include "core/store/row_file.h"
#include "core/store/store_lock.h"
#include "core/store/touched_bits.h"
#include "core/store/undo_journal.h"

namespace dsa {

/// What a kill or a power loss leaves whole (FORMAT.md).
enum class Durability {
  process,  ///< SIGKILL: the last step. Power loss: the run starts again from step 0.
  power,    ///< SIGKILL: the last step. Power loss: the last checkpoint.
};

/// One table of a run. name: at most 15 of [a-z0-9_].
struct TableShape {
  std::string name;
  std::uint64_t rows = 0;
  std::uint32_t dim = 0;
  Rule rule = Rule::sparseAdam;
  float initScale = 1e-3f;
  std::uint64_t stepCapacity = 0;  ///< rows that one step can change at most
  [[nodiscard]] std::uint64_t recordFloats() const { return rowFloats(rule, dim); }
};

struct StoreShape {
  std::vector<TableShape> tables;
  std::uint64_t seed = 1;
  std::uint64_t lossCapacity = 1;
  /// Of NAME.rows (row_file.h), whole pages; 0: one file, as stores were made before. 32 MiB are written within one
  /// turn by a disk of 64 MiB/s or more.
  std::uint64_t segmentBytes = 32ull << 20;
};

/// What open() found.
enum class Recovery {
  clean,           ///< closed in order
  lastStep,        ///< killed: the last step stands whole (an armed one was finished)
  lastCheckpoint,  ///< the machine went down, or the direct engine was killed: rolled back
  fromStart,       ///< the machine went down and durability was "process": every row is untouched again
};

class SlottedTable;

/// Units that the direct engine holds in memory, newer than the files. Thread: any.
class UnitOverlay {
 public:
  virtual ~UnitOverlay() = default;
  /// While it is held no unit moves, comes or goes.
  [[nodiscard]] virtual std::shared_lock<std::shared_mutex> hold() const = 0;
  /// Copies the unit to `slot` [slotBytes], held; false: it is not in memory.
  virtual bool copyUnit(std::uint32_t t, std::uint64_t unit, std::byte* slot) const = 0;
};

/// Gives RowWriter all records of table t, in order (row_writer.h).
class RowWriter;
using RowFill = std::function<Result<void>(std::uint32_t t, RowWriter& rows)>;

/// The engine mmap, and the files for both engines.
/// Thread: the run thread, except where said otherwise.
/// After a failed fdatasync, a page that was lost and after close(), every call that would write is refused; opening
/// again recovers (FORMAT.md, "A failed sync", "A lost page").
class RowStore {
 public:
  /// Makes FOLDER and the files in it, durable before it returns. Errors: input, a store is there already (nothing is
  /// overwritten); machine, no space or no permission (what was made is removed again). A file of somebody else is
  /// never replaced or removed: input.
  static Result<void> create(const std::string& folder, const StoreShape& shape);
  /// The same with all rows touched, at step 0, their records from `fill`. Errors: also fill's; nothing is left then,
  /// and no folder that was made.
  static Result<void> create(const std::string& folder, const StoreShape& shape, const RowFill& fill);
  /// Opens for writing and recovers. O(1) in the number of rows, but for power-loss recovery (rows of the journal).
  /// Errors: machine, locked (names the pid); input, a foreign, newer, damaged, truncated or missing file.
  static Result<std::unique_ptr<RowStore>> open(const std::string& folder, Durability durability,
                                                const RowKernels& kernels);
  /// Opens the files for the direct engine: recovered, closed in order, its own files there. No row changes yet.
  /// Errors as open().
  static Result<std::unique_ptr<RowStore>> openForDirect(const std::string& folder, const RowKernels& kernels);
  /// Opens read-only beside a writer, or after it: no recovery, nothing written. Beside one, rows may be in the middle
  /// of a step. Error input: nobody writes it and its rows do not stand whole: a step was killed half way, or the
  /// machine went down. Opening it for writing mends that.
  static Result<std::unique_ptr<RowStore>> openReadOnly(const std::string& folder);
  /// Deletes the store's files, known by name and magic, and the folder where nothing else lies in it. False: no store
  /// is there. Time: a sparse file of many extents may take seconds. Error machine: a process has it open (nothing was
  /// deleted); a file cannot be deleted (the rest can be deleted by another call).
  static Result<bool> remove(const std::string& folder);
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  /// Error machine: a file was cut short or removed, or a page of it could not be read or written, and zeros stand for
  /// it: nothing that was read since the last call counts. Thread-safe.
  [[nodiscard]] Result<void> intact() const;

  [[nodiscard]] const StoreShape& shape() const { return m_shape; }
  [[nodiscard]] Recovery recovery() const { return m_recovery; }
  /// Steps applied, and the state committed with the last one.
  [[nodiscard]] std::uint64_t step() const;
  [[nodiscard]] StateBlob state() const;

  /// ids and gradients of the next step, in the shared mapping. ids sorted and distinct; grads [n x dim].
  [[nodiscard]] std::uint64_t* ids(std::uint32_t t) const { return m_intent.ids(t); }
  [[nodiscard]] float* grads(std::uint32_t t) const { return m_intent.grads(t); }

  [[nodiscard]] bool touched(std::uint32_t t, std::uint64_t row) const { return m_touched[t].test(row); }
  /// The record of a touched row; its content before the first touch is undefined. Lives as long as the store.
  [[nodiscard]] const float* record(std::uint32_t t, std::uint64_t row) const {
    return reinterpret_cast<const float*>(m_records[t].at(row));
  }
  /// Where the direct engine left the table's rows; null where they lie in NAME.rows. record() is not for these.
  [[nodiscard]] const SlottedTable* slotted(std::uint32_t t) const;
  [[nodiscard]] const UnitOverlay* overlay() const { return m_overlay; }
  /// Weights [dim] of any row, the initial ones where no step touched it. Thread-safe towards itself. In slots: by a
  /// read of its own; a unit that cannot be read reads as zeros (scans say why: RowScan).
  void readWeights(std::uint32_t t, std::uint64_t row, float* weights) const;
  /// The same of the first values of its record, weights before state; at least the weights.
  void readValues(std::uint32_t t, std::uint64_t row, std::span<float> values) const;
  [[nodiscard]] const TouchedBits& touchedBits(std::uint32_t t) const { return m_touched[t]; }

  /// A step ahead of time: in "power", its rows' old records go to the journal. Returns a ticket for apply(), 0 in
  /// "process". A ticket counts until the next checkpoint; apply() announces the step again where it does not.
  std::uint64_t announce(const StepRows& rows);
  /// Asks the kernel for the pages of these rows; gives how many rows were asked for. Thread-safe.
  std::uint64_t prefetch(std::uint32_t t, std::span<const std::uint64_t> rows) const;

  /// Applies one step to all tables: counts[t] rows named by ids(t) with grads(t), params[t]; then step() is one more
  /// and state() is `next`. stepped: none, or for each table the records [count x recordFloats] that the step makes of
  /// these rows, whoever computed them; grads(t) stand all the same, for whoever finishes a killed step. Error machine:
  /// no space for new rows or for the journal; no row was changed.
  Result<void> apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params, const StateBlob& next,
                     std::uint64_t ticket, ThreadPool& pool, std::span<const float* const> stepped = {});

  /// Makes the present step the one that a power loss leads back to. Time: rows touched since the last one. No-op in
  /// "process". Steps announced but not applied are better announced again, ahead of time. Error machine: the disk
  /// refused; see above.
  Result<void> checkpoint();
  /// Writes what is dirty and drops the tables' pages from memory; the next reads fault them in again. For teaching and
  /// measuring.
  Result<void> evict();
  /// Everything to the disk and a clean mark. Called once; without it the next open recovers as after a SIGKILL.
  Result<void> close();

  /// losses[i]; survives with the step that follows it.
  [[nodiscard]] double* losses() const { return m_losses; }
  [[nodiscard]] std::uint64_t journalBytes() const { return m_journal ? m_journal->bytesWritten() : 0; }
  /// N x bytes a row over all tables; bytes that the folder's files occupy.
  [[nodiscard]] std::uint64_t tableBytes() const;
  Result<std::uint64_t> diskBytes() const;
  /// The file of the rows' names, where there is one (row_names.h), and what its header carries, 16 bytes.
  [[nodiscard]] std::string namesPath(std::uint32_t t) const;
  [[nodiscard]] const unsigned char* uuid() const { return m_super.uuid; }
  /// Where a table's records lie, and the first of these files.
  [[nodiscard]] const RowFileLayout& rowsLayout(std::uint32_t t) const { return m_rowFiles[t].layout(); }
  [[nodiscard]] const std::string& rowsPath(std::uint32_t t) const { return m_rowFiles[t].path(); }
  /// The mapped record files, for a PageKeeper that goes before the store.
  [[nodiscard]] std::vector<PageKeeper::Piece> pieces() const;

 private:
  friend class DirectStore;
  RowStore() = default;
  Result<void> openFiles(bool writable);
  Result<void> openSlotted(bool writable);
  Result<void> readLogged(const std::function<void(const MoveEntry&)>& put) const;
  Result<void> redoMoves();
  Result<void> bringHome();
  Result<void> copyHome(std::uint32_t t);
  Result<void> settleDirect();
  Result<void> makeSlotted();
  void readSlotted(std::uint32_t t, std::uint64_t row, std::span<float> values) const;
  Result<void> recover();
  Result<void> finishStep();
  Result<void> rollBack();
  Result<void> forgetAll();
  Result<void> startJournal();
  Result<void> raiseFlags();
  Result<void> readCheckpoint(CheckpointSlot& best) const;
  Result<void> checkLivePage(const CheckpointSlot& last) const;
  Result<void> checkReadable() const;
  Result<void> writeCheckpoint();
  Result<void> markClosed();
  [[nodiscard]] bool sameBoot() const;
  [[nodiscard]] std::vector<UndoJournal::Table> journalTables() const;
  /// What became of the files under us.
  struct Loss {
    std::string what;
    bool forGood = false;  // content is gone, which no journal has
  };
  [[nodiscard]] bool damaged() const;
  [[nodiscard]] std::optional<Loss> loss() const;
  [[nodiscard]] Error lostError(const Loss& lost) const;
  void disown(bool forGood);
  Result<void> usable();
  tl::unexpected<Error> breakOff(const Error& error);
  Result<void> sync(const File& file);
  Result<void> sync(const RowFile& rows);
  Result<void> admit(std::uint32_t t, std::uint64_t count);
  Result<void> syncAll();
  void markTouched(std::span<const std::uint64_t> counts) const;
  [[nodiscard]] LivePage& live() const { return *reinterpret_cast<LivePage*>(m_storeMap.data() + 3 * kPage); }

  std::string m_folder;
  StoreLock m_lock;
  StoreShape m_shape;
  Superblock m_super;
  Durability m_durability = Durability::process;
  Recovery m_recovery = Recovery::clean;
  RowKernels m_kernels;
  bool m_writable = false;
  bool m_closed = false;
  Error m_broken{ErrorCode::machine, ""};  // why nothing is written any more, or no message
  File m_storeFile, m_lossFile;
  Mapping m_storeMap, m_lossMap;
  std::vector<RowFile> m_rowFiles;
  std::vector<File> m_touchedFiles;
  std::vector<Mapping> m_rowMaps, m_touchedMaps;
  std::vector<RecordArray> m_records;
  std::vector<TouchedBits> m_touched;
  double* m_losses = nullptr;
  Intent m_intent;
  CheckpointSlot m_checkpoint;
  std::vector<std::unique_ptr<SlottedTable>> m_slotted;  // null where a table has none
  bool m_atCheckpoint = false;  // read-only: what stands is the direct engine's last checkpoint
  const UnitOverlay* m_overlay = nullptr;
  std::unique_ptr<UndoJournal> m_journal;
  std::vector<float> m_newRecord;
};

}  // namespace dsa
