// SPDX-License-Identifier: Apache-2.0
// What a store does when it is opened: believe the checkpoints and flags or refuse, finish a step or roll back, raise
// its own flags.
#include <fcntl.h>

#include <cerrno>

#include "core/store/store_names.h"

namespace dsa {

namespace {

/// Gives the blocks behind the header page back; the length stays, so that a kill here leaves nothing that is cut
/// short.
Result<void> punchContent(const File& file, std::uint64_t bytes) {
  for (;;) {
    if (::fallocate(file.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(kPage),
                    static_cast<off_t>(bytes)) == 0)
      return {};
    if (errno == EINTR) continue;
    // Without holes the old records stay where they are: the touched bits say that they mean nothing.
    if (errno == EOPNOTSUPP || errno == ENOSYS) return {};
    return failErrno(file.path(), "give back the blocks of", errno);
  }
}

}  // namespace

bool RowStore::sameBoot() const {
  const BootId boot = currentBootId();
  return !(boot == BootId{}) && std::memcmp(live().bootId, boot.bytes, sizeof boot.bytes) == 0;
}

Result<void> RowStore::readCheckpoint(CheckpointSlot& best) const {
  CheckpointSlot slots[2];
  bool there[2];
  for (std::uint64_t i = 0; i < 2; ++i) {
    CheckpointSlot& slot = slots[i];
    DSA_TRY(m_storeFile.readAt(std::as_writable_bytes(std::span(&slot, 1)), (1 + i) * kPage));
    static constexpr unsigned char kNone[sizeof slot] = {};
    there[i] = std::memcmp(&slot, kNone, sizeof slot) != 0;
    const std::uint64_t expected = checksumOf(&slot, offsetof(CheckpointSlot, checksum));
    if (!there[i] ||
        (std::memcmp(slot.magic, "DSACHECK", 8) == 0 && slot.checksum == expected && slot.sequence % 2 == i))
      continue;
    // Never torn (writeCheckpoint), so it has rotted. The other one is no way out: its generation of the journal may be
    // overwritten.
    return fail(ErrorCode::input,
                "{}: the checkpoint on page {} has the checksum {:016x}, expected {:016x}; the file is damaged and "
                "nothing was changed",
                m_storeFile.path(), 1 + i, slot.checksum, expected);
  }
  const std::size_t newer = there[1] && (!there[0] || slots[1].sequence > slots[0].sequence) ? 1 : 0;
  const std::uint64_t before = there[1 - newer] ? slots[1 - newer].sequence : 0;
  if (!there[newer] || slots[newer].sequence != before + 1) {
    return fail(ErrorCode::input,
                "{}: the checkpoints are numbered {} and {}, expected two that follow each other; the file is damaged "
                "and nothing was changed",
                m_storeFile.path(), before, there[newer] ? slots[newer].sequence : 0);
  }
  best = slots[newer];
  return {};
}

Result<void> RowStore::checkLivePage(const CheckpointSlot& last) const {
  const LivePage& page = live();
  const auto damaged = [&](const char* what, std::uint64_t found, const std::string& expected) {
    return fail(ErrorCode::input, "{}: page 3: {} is {}, expected {}; the file is damaged and nothing was changed",
                m_storeFile.path(), what, found, expected);
  };
  if (page.clean > 1) return damaged("clean", page.clean, "0 or 1");
  if (page.power > 1) return damaged("power", page.power, "0 or 1");
  if (page.direct > 1) return damaged("direct", page.direct, "0 or 1");
  if (page.clean == 1) {
    if (step() != last.step)
      return damaged("the step", step(), fmt::format("{}, that of the last checkpoint", last.step));
    if (std::memcmp(page.states[last.step % 2].bytes, last.state.bytes, kStateBytes) != 0)
      return damaged("the state", last.step, "that of the last checkpoint");
  } else if (page.direct == 0 && page.power == 1 && sameBoot() && step() < last.step) {
    return damaged("the step", step(), fmt::format("{} or more, that of the last checkpoint", last.step));
  }
  return {};
}

Result<void> RowStore::checkReadable() const {
  CheckpointSlot last;
  DSA_TRY(readCheckpoint(last));
  DSA_TRY(checkLivePage(last));
  DSA_ASSIGN(const IntentPage page, Intent::readPage(names::intent(m_folder), m_super));
  if (live().clean == 1 || m_atCheckpoint) return {};
  if (!sameBoot()) {
    return fail(ErrorCode::input,
                "{}: the machine went down while this table was written, and its rows may be of several steps. Resume "
                "the run first: that rolls it back",
                m_folder);
  }
  if (page.armed != 0 && page.step != step()) {
    return fail(ErrorCode::input,
                "{}: a process was killed in the middle of step {}, and some of its rows are changed. Resume the run "
                "first: that finishes the step",
                m_folder, step() + 1);
  }
  return {};
}

Result<void> RowStore::recover() {
  DSA_TRY(readCheckpoint(m_checkpoint));
  DSA_TRY(checkLivePage(m_checkpoint));
  if (live().clean == 1) {
    m_recovery = Recovery::clean;
  } else if (sameBoot()) {
    DSA_TRY(finishStep());
  } else {
    DSA_TRY(rollBack());
  }
  DSA_TRY(usable());
  m_intent.disarm();
  if (m_durability == Durability::power) DSA_TRY(startJournal());
  return raiseFlags();
}

Result<void> RowStore::finishStep() {
  DSA_TRY(m_intent.check(step()));
  m_recovery = Recovery::lastStep;
  const IntentPage& page = m_intent.page();
  if (page.step != step() + 1 || !m_intent.finish(m_records, m_kernels)) return {};
  markTouched(std::span(page.rows, page.tableCount));
  live().states[page.step % 2] = page.next;
  publish(live().step, page.step);
  return {};
}

Result<void> RowStore::rollBack() {
  if (live().power == 0) return forgetAll();
  const auto put = [this](const JournalEntry& entry, const std::byte* old) {
    if (old == nullptr) {
      m_touched[entry.table].clear(entry.row);
    } else {
      std::memcpy(m_records[entry.table].at(entry.row), old, m_records[entry.table].stride);
      m_touched[entry.table].set(entry.row);
    }
  };
  DSA_TRY(
      UndoJournal::replay(names::journal(m_folder), m_checkpoint.generation, uuidHash(m_super), journalTables(), put));
  live().states[m_checkpoint.step % 2] = m_checkpoint.state;
  publish(live().step, m_checkpoint.step);
  m_recovery = Recovery::lastCheckpoint;
  return syncAll();
}

/// No journal was kept: every row counts as untouched again.
Result<void> RowStore::forgetAll() {
  for (std::uint32_t t = 0; t < m_records.size(); ++t) {
    const RowFile& rows = m_rowFiles[t];
    for (std::size_t s = 0; s < rows.files().size(); ++s)
      DSA_TRY(punchContent(rows.files()[s], rows.layout().contentOf(s)));
    std::memset(m_touchedMaps[t].data() + kPage, 0, m_touchedMaps[t].size() - kPage);
  }
  live().states[0] = StateBlob{};
  publish(live().step, 0);
  m_recovery = Recovery::fromStart;
  return syncAll();
}

std::vector<UndoJournal::Table> RowStore::journalTables() const {
  std::vector<UndoJournal::Table> tables;
  for (std::uint32_t t = 0; t < m_records.size(); ++t)
    tables.push_back({m_records[t], m_touched[t], m_shape.tables[t].rows, {&m_rowMaps[t], &m_touchedMaps[t]}});
  return tables;
}

Result<void> RowStore::startJournal() {
  DSA_TRY(syncAll());
  DSA_TRY(writeCheckpoint());
  DSA_ASSIGN(m_journal,
             UndoJournal::open(names::journal(m_folder), m_checkpoint.generation, uuidHash(m_super), journalTables()));
  return syncFolder(m_folder);
}

/// Durable before the first row changes, and each before the next: whatever is on the disk in between still tells the
/// truth about rows that nobody has changed. The boot id before "power", else a kill between a journal's rollback and a
/// run without one would count as a power loss without a journal.
Result<void> RowStore::raiseFlags() {
  const bool wasClean = live().clean == 1;
  const BootId boot = currentBootId();
  std::memcpy(live().bootId, boot.bytes, sizeof boot.bytes);
  // Never 1 here unless the store is clean: open() settles what the direct engine left.
  publish(live().direct, 0);
  keepOrder();
  DSA_TRY(sync(m_storeFile));
  publish(live().power, m_durability == Durability::power ? 1 : 0);
  DSA_TRY(sync(m_storeFile));
  publish(live().clean, 0);
  if (auto synced = m_storeFile.sync(); !synced) {
    if (wasClean) publish(live().clean, 1);  // nothing has changed: still as it was closed
    return breakOff(synced.error());
  }
  return {};
}

}  // namespace dsa
