// SPDX-License-Identifier: Apache-2.0
#include "core/store/undo_journal.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "core/store/journal_block.h"

namespace dsa {

namespace {

// A ticket is the epoch above these bits and the count below: 16 million checkpoints before one repeats.
constexpr std::uint64_t kCountBits = 40;

}  // namespace

Result<std::unique_ptr<UndoJournal>> UndoJournal::open(const std::string& path, std::uint64_t generation,
                                                       std::uint64_t uuidHash, std::vector<Table> tables,
                                                       std::uint64_t blockBytes) {
  std::unique_ptr<UndoJournal> journal(new UndoJournal);
  auto file = File::open(path, File::Mode::readWrite, O_CREAT | O_DIRECT);
  journal->m_direct = file.has_value();
  if (!file) file = File::open(path, File::Mode::readWrite, O_CREAT);  // tmpfs and others know no O_DIRECT
  if (!file) return tl::unexpected(file.error());
  journal->m_file = std::move(*file);
  journal->m_uuidHash = uuidHash;
  journal->m_tables = std::move(tables);
  journal->m_generation = generation;
  journal->m_blockBytes = blockBytes;
  for (const Table& table : journal->m_tables) {
    DSA_ASSIGN(Mapping saved, Mapping::anonymous(std::max<std::uint64_t>(kPage, TouchedBits::bytesFor(table.rows))));
    journal->m_saved.push_back(std::move(saved));
  }
  journal->m_thread = std::thread([raw = journal.get()] { raw->run(); });
  return journal;
}

UndoJournal::~UndoJournal() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_change.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

std::uint64_t UndoJournal::ticketOf(std::uint64_t count) const { return (m_epoch << kCountBits) | count; }

std::uint64_t UndoJournal::submit(StepRows rows) {
  const std::lock_guard lock(m_mutex);
  m_queue.push_back(std::move(rows));
  m_change.notify_all();
  ++m_submitted;
  DSA_CHECK(m_submitted < std::uint64_t{1} << kCountBits);
  return ticketOf(m_submitted);
}

bool UndoJournal::knows(std::uint64_t ticket) {
  const std::lock_guard lock(m_mutex);
  return ticket > ticketOf(0) && ticket <= ticketOf(m_submitted);
}

Result<void> UndoJournal::wait(std::uint64_t ticket) {
  std::unique_lock lock(m_mutex);
  DSA_CHECK(ticket > ticketOf(0) && ticket <= ticketOf(m_submitted));
  m_change.wait(lock, [&] { return ticketOf(m_durable) >= ticket || !m_failure; });
  if (ticketOf(m_durable) >= ticket) return {};
  return m_failure;
}

void UndoJournal::restart(std::uint64_t generation) {
  std::unique_lock lock(m_mutex);
  m_queue.clear();
  m_change.wait(lock, [&] { return !m_busy; });
  m_epoch = m_epoch % ((std::uint64_t{1} << (64 - kCountBits)) - 1) + 1;
  m_submitted = 0;
  m_durable = 0;
  m_generation = generation;
  m_sequence = 0;
  m_offset = 0;
  forgetSaved();
}

void UndoJournal::forgetSaved() {
  // Fresh zero pages instead of clearing: time proportional to what was touched.
  for (const Mapping& saved : m_saved) ::madvise(saved.data(), saved.size(), MADV_DONTNEED);
}

void UndoJournal::run() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_change.wait(lock, [&] { return m_stop || (!m_queue.empty() && m_failure); });
    if (m_stop) return;
    // Everything queued goes under one fdatasync.
    StepRows together(m_tables.size());
    const std::uint64_t count = m_queue.size();
    for (const StepRows& rows : m_queue) {
      for (std::size_t t = 0; t < rows.size(); ++t)
        together[t].insert(together[t].end(), rows[t].begin(), rows[t].end());
    }
    m_queue.clear();
    m_busy = true;
    lock.unlock();
    Result<void> written = write(together);
    lock.lock();
    m_busy = false;
    if (written) {
      m_durable += count;
    } else {
      m_failure = fail(written.error().code,
                       "{}. No row of the step was changed. The journal takes nothing more until the table is opened "
                       "again: make room, then resume the run",
                       written.error().message);
    }
    m_change.notify_all();
  }
}

Result<void> UndoJournal::addRow(std::uint32_t t, std::uint64_t row) {
  const Table& table = m_tables[t];
  const TouchedBits saved(m_saved[t].data(), table.rows);
  if (saved.test(row)) return {};
  saved.set(row);
  const JournalEntry entry{t, table.touched.test(row) ? 1u : 0u, row};
  const std::uint64_t record = entry.touched != 0 ? table.records.stride : 0;
  if (m_entries > 0 && m_block.size() - sizeof(JournalBlock) + sizeof entry + record > m_blockBytes)
    DSA_TRY(writeBlock());
  if (m_entries == 0) m_block.assign(sizeof(JournalBlock), std::byte{0});
  const std::size_t at = m_block.size();
  m_block.resize(at + sizeof entry + record);
  std::memcpy(m_block.data() + at, &entry, sizeof entry);
  if (record > 0) std::memcpy(m_block.data() + at + sizeof entry, table.records.at(row), record);
  ++m_entries;
  return {};
}

Result<void> UndoJournal::write(const StepRows& rows) {
  const std::uint64_t before = m_offset;
  for (std::uint32_t t = 0; t < rows.size(); ++t) {
    for (const std::uint64_t row : rows[t]) DSA_TRY(addRow(t, row));
  }
  if (m_entries > 0) DSA_TRY(writeBlock());
  if (m_offset == before) return {};
  // A later block may be on the disk before an earlier one: reading back stops at the gap, and no row behind it has
  // changed yet.
  return m_file.sync();
}

Result<void> UndoJournal::writeBlock() {
  // An old record that could not be read must not become what a rollback puts in the row's place.
  for (const Table& table : m_tables) {
    for (const Mapping* const map : table.behind) {
      if (map->damaged()) return fail(ErrorCode::machine, "{}: a page of the table is lost", m_file.path());
    }
  }
  JournalBlock header;
  header.generation = m_generation;
  header.sequence = m_sequence;
  header.entries = m_entries;
  header.uuidHash = m_uuidHash;
  DSA_ASSIGN(const std::uint64_t bytes, writeJournalBlock(m_file, m_offset, header, m_block));
  m_entries = 0;
  ++m_sequence;
  m_offset += bytes;
  m_bytesWritten.fetch_add(bytes, std::memory_order_relaxed);
  return {};
}

namespace {

using Put = std::function<void(const JournalEntry&, const std::byte*)>;

/// The rows of one whole block.
Result<void> forEachRow(const std::string& path, std::span<const std::byte> payload, std::uint64_t entries,
                        std::span<const UndoJournal::Table> tables, const Put& put) {
  std::size_t at = 0;
  for (std::uint64_t e = 0; e < entries; ++e) {
    JournalEntry entry;
    if (at + sizeof entry > payload.size())
      return fail(ErrorCode::input,
                  "{}: a block promises {} rows and holds {}; the file is damaged and no row was changed", path,
                  entries, e);
    std::memcpy(&entry, payload.data() + at, sizeof entry);
    at += sizeof entry;
    if (entry.table >= tables.size() || entry.touched > 1 || entry.row >= tables[entry.table].rows) {
      return fail(ErrorCode::input,
                  "{}: names row {} of table {}, expected {} tables and a row below {}; the file is damaged and no row "
                  "was changed",
                  path, entry.row, entry.table, tables.size(),
                  entry.table < tables.size() ? tables[entry.table].rows : 0);
    }
    const std::uint64_t record = entry.touched != 0 ? tables[entry.table].records.stride : 0;
    if (at + record > payload.size())
      return fail(ErrorCode::input, "{}: row {} does not fit its block; the file is damaged and no row was changed",
                  path, entry.row);
    put(entry, entry.touched != 0 ? payload.data() + at : nullptr);
    at += record;
  }
  return {};
}

}  // namespace

Result<std::uint64_t> UndoJournal::replay(const std::string& path, std::uint64_t generation, std::uint64_t uuidHash,
                                          std::span<const Table> tables, const Put& put) {
  DSA_ASSIGN(const File file, File::open(path, File::Mode::readOnly));
  JournalBlock first;
  first.generation = generation;
  first.uuidHash = uuidHash;
  std::uint64_t rows = 0;
  const Put look = [&](const JournalEntry&, const std::byte*) { ++rows; };
  for (const Put& pass : {look, put}) {
    DSA_TRY(forEachJournalBlock(file, first, [&](std::span<const std::byte> payload, std::uint64_t entries) {
      return forEachRow(path, payload, entries, tables, pass);
    }));
  }
  return rows;
}

}  // namespace dsa
