// SPDX-License-Identifier: Apache-2.0
// Durability "power": old records of the rows first touched since the last checkpoint, on the disk before those rows change.
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
  };

  /// Starts writing generation `generation` at the front of the file (created where it is missing).
  static Result<std::unique_ptr<UndoJournal>> open(const std::string& path, std::uint64_t generation, std::uint64_t uuidHash, std::vector<Table> tables);
  ~UndoJournal();
  UndoJournal(const UndoJournal&) = delete;
  UndoJournal& operator=(const UndoJournal&) = delete;

  /// Queues the rows of a step. Tickets count up by one from 1.
  std::uint64_t submit(StepRows rows);
  /// Blocks until the ticket's old records are durable. Error machine: the disk refused them; the rows are unchanged.
  Result<void> wait(std::uint64_t ticket);
  /// After a checkpoint: drops everything, starts `generation`; steps queued but not yet applied must be submitted again.
  void restart(std::uint64_t generation);
  /// Bytes written since open(), the blocks' headers and padding included.
  [[nodiscard]] std::uint64_t bytesWritten() const { return m_bytesWritten.load(std::memory_order_relaxed); }

  /// Calls put(entry, oldRecord or null) for each row that generation holds, oldest first; stops at the first block that is not whole.
  /// Returns the number of rows.
  static Result<std::uint64_t> replay(const std::string& path, std::uint64_t generation, std::uint64_t uuidHash, std::span<const std::uint32_t> strides,
                                      const std::function<void(const JournalEntry&, const std::byte*)>& put);

 private:
  UndoJournal() = default;
  void run();
  Result<void> write(const StepRows& rows);
  void collect(const StepRows& rows, std::uint64_t& entries);
  void forgetSaved();

  File m_file;
  bool m_direct = false;
  std::uint64_t m_uuidHash = 0;
  std::vector<Table> m_tables;
  std::vector<Mapping> m_saved;  // a bit a row: its old record is in this generation
  std::uint64_t m_generation = 0;
  std::uint64_t m_sequence = 0;
  std::uint64_t m_offset = 0;
  std::vector<std::byte> m_block;
  std::atomic<std::uint64_t> m_bytesWritten{0};

  std::mutex m_mutex;
  std::condition_variable m_change;
  std::deque<StepRows> m_queue;
  std::uint64_t m_submitted = 0;
  std::uint64_t m_durable = 0;
  bool m_busy = false;
  bool m_stop = false;
  Result<void> m_failure;
  std::thread m_thread;
};

}  // namespace dsa
