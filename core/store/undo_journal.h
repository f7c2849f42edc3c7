// SPDX-License-Identifier: Apache-2.0
// Durability "power": old records of the rows first touched since the last checkpoint, on the disk before those rows
// change.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "core/store/format.h"
#include "core/store/intent.h"
#include "core/store/touched_bits.h"

namespace dsa {

/// Distinct rows of one step, one list a table.
using StepRows = std::vector<std::vector<std::uint64_t>>;

/// Written by a thread of its own, from the sampler's look-ahead, so that a step rarely waits for the disk.
/// Contract: a row named in submit(n) is not changed before wait(n) has returned. Thread: one caller.
class UndoJournal {
 public:
  struct Table {
    RecordArray records;
    TouchedBits touched;
    std::uint64_t rows = 0;
    /// What records and bits lie in: where a page of it was lost, no block is written.
    std::vector<const Mapping*> behind = {};
  };

  /// Most bytes of payload in a block: bounds the memory of the writer and of the one who reads it back. A larger step
  /// makes several blocks.
  static constexpr std::uint64_t kBlockBytes = 64ull << 20;

  /// Starts writing generation `generation` at the front of the file (created where it is missing).
  static Result<std::unique_ptr<UndoJournal>> open(const std::string& path, std::uint64_t generation,
                                                   std::uint64_t uuidHash, std::vector<Table> tables,
                                                   std::uint64_t blockBytes = kBlockBytes);
  ~UndoJournal();
  UndoJournal(const UndoJournal&) = delete;
  UndoJournal& operator=(const UndoJournal&) = delete;

  /// Queues the rows of a step. The ticket is not 0 and counts until the next restart().
  std::uint64_t submit(StepRows rows);
  /// Whether submit() gave this ticket since the last restart(); the rows of another are not in this generation.
  [[nodiscard]] bool knows(std::uint64_t ticket);
  /// Blocks until the old records of a known ticket are durable. Error machine: the disk refused them; the rows are
  /// unchanged, and all that follows is refused, too: what the file holds is not known any more.
  Result<void> wait(std::uint64_t ticket);
  /// After a checkpoint: drops everything, starts `generation`; steps queued but not yet applied must be submitted
  /// again.
  void restart(std::uint64_t generation);
  /// Bytes written since open(), the blocks' headers and padding included.
  [[nodiscard]] std::uint64_t bytesWritten() const { return m_bytesWritten.load(std::memory_order_relaxed); }

  /// Calls put(entry, oldRecord or null) for each row that generation holds, oldest first; stops at the first block
  /// that is not whole. Returns the number of rows. Error input: a whole block names rows that no table has; put was
  /// not called, for the file is read through before.
  static Result<std::uint64_t> replay(const std::string& path, std::uint64_t generation, std::uint64_t uuidHash,
                                      std::span<const Table> tables,
                                      const std::function<void(const JournalEntry&, const std::byte*)>& put);

 private:
  UndoJournal() = default;
  void run();
  [[nodiscard]] std::uint64_t ticketOf(std::uint64_t count) const;
  Result<void> write(const StepRows& rows);
  Result<void> addRow(std::uint32_t t, std::uint64_t row);
  Result<void> writeBlock();
  void forgetSaved();

  File m_file;
  bool m_direct = false;
  std::uint64_t m_uuidHash = 0;
  std::vector<Table> m_tables;
  std::vector<Mapping> m_saved;  // a bit a row: its old record is in this generation
  std::uint64_t m_generation = 0;
  std::uint64_t m_sequence = 0;
  std::uint64_t m_offset = 0;
  std::uint64_t m_blockBytes = kBlockBytes;
  std::vector<std::byte> m_block;  // header and payload of the block being filled
  std::uint64_t m_entries = 0;     // in it
  std::atomic<std::uint64_t> m_bytesWritten{0};

  std::mutex m_mutex;
  std::condition_variable m_change;
  std::deque<StepRows> m_queue;
  std::uint64_t m_epoch = 1;      // restarts; part of each ticket
  std::uint64_t m_submitted = 0;  // in this epoch
  std::uint64_t m_durable = 0;
  bool m_busy = false;
  bool m_stop = false;
  Result<void> m_failure;
  std::thread m_thread;
};

}  // namespace dsa
