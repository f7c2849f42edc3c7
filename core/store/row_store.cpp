// SPDX-License-Identifier: Apache-2.0
#include "core/store/row_store.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "core/rows/row_init.h"

namespace dsa {

namespace {

// Below this many rows a second thread costs more than it brings (bench rows, d = 8 and 128).
constexpr std::uint64_t kRowsForThreads = 256;

std::uint64_t uuidHash(const Superblock& super) { return checksumOf(super.uuid, sizeof super.uuid); }

}  // namespace

Result<std::unique_ptr<RowStore>> RowStore::open(const std::string& folder, Durability durability, const RowKernels& kernels) {
  std::unique_ptr<RowStore> store(new RowStore);
  store->m_folder = folder;
  store->m_durability = durability;
  store->m_kernels = kernels;
  if (!std::filesystem::exists(folder + "/store.dsa")) {
    return fail(ErrorCode::input, "{}: no table here (store.dsa is missing)", folder);
  }
  DSA_ASSIGN(store->m_lock, StoreLock::take(folder));
  DSA_TRY(store->openFiles(true));
  store->m_writable = true;
  DSA_TRY(store->recover(kernels));
  return store;
}

Result<std::unique_ptr<RowStore>> RowStore::openReadOnly(const std::string& folder) {
  std::unique_ptr<RowStore> store(new RowStore);
  store->m_folder = folder;
  if (!std::filesystem::exists(folder + "/store.dsa")) {
    return fail(ErrorCode::input, "{}: no table here (store.dsa is missing)", folder);
  }
  DSA_TRY(store->openFiles(false));
  return store;
}

RowStore::~RowStore() = default;

std::uint64_t RowStore::step() const { return observe(live().step); }

StateBlob RowStore::state() const { return live().states[step() % 2]; }

Result<void> RowStore::readCheckpoint(CheckpointSlot& best) const {
  bool found = false;
  for (const std::uint64_t page : {1, 2}) {
    CheckpointSlot slot;
    DSA_TRY(m_storeFile.readAt(std::as_writable_bytes(std::span(&slot, 1)), page * kPage));
    if (std::memcmp(slot.magic, "DSACHECK", 8) != 0 || slot.checksum != checksumOf(&slot, offsetof(CheckpointSlot, checksum))) continue;
    if (!found || slot.sequence > best.sequence) best = slot;
    found = true;
  }
  if (!found) return fail(ErrorCode::input, "{}: neither checkpoint is whole; the file is damaged and nothing was changed", m_storeFile.path());
  return {};
}

Result<void> RowStore::recover(const RowKernels& kernels) {
  DSA_TRY(readCheckpoint(m_checkpoint));
  const BootId boot = currentBootId();
  const bool sameBoot = std::memcmp(live().bootId, boot.bytes, 16) == 0 && !(boot == BootId{});
  if (live().clean == 1) {
    m_recovery = Recovery::clean;
  } else if (sameBoot) {
    m_recovery = Recovery::lastStep;
    const IntentPage& page = m_intent.page();
    if (m_intent.armed() && page.step == step() + 1 && m_intent.finish(m_records, kernels)) {
      markTouched(std::span(page.rows, page.tableCount));
      live().states[page.step % 2] = page.next;
      publish(live().step, page.step);
    }
  } else {
    DSA_TRY(rollBack());
  }
  m_intent.disarm();
  if (m_durability == Durability::power) {
    DSA_TRY(syncAll());
    DSA_TRY(writeCheckpoint());
    std::vector<UndoJournal::Table> tables;
    for (std::uint32_t t = 0; t < m_records.size(); ++t) tables.push_back({m_records[t], m_touched[t], m_shape.tables[t].rows});
    DSA_ASSIGN(m_journal, UndoJournal::open(m_folder + "/undo.journal", m_checkpoint.generation, uuidHash(m_super), std::move(tables)));
    DSA_TRY(syncFolder(m_folder));
  }
  // Durable before the first row changes: after a power loss these flags say what to believe.
  std::memcpy(live().bootId, boot.bytes, 16);
  live().clean = 0;
  live().power = m_durability == Durability::power ? 1 : 0;
  return m_storeFile.sync();
}

Result<void> RowStore::rollBack() {
  if (live().power == 0) {
    // No journal was kept: every row counts as untouched again. The files' blocks are given back.
    for (std::uint32_t t = 0; t < m_records.size(); ++t) {
      DSA_TRY(m_rowFiles[t].resize(kPage));
      DSA_TRY(m_rowFiles[t].resize(kPage + m_shape.tables[t].rows * m_records[t].stride));
      std::memset(m_touchedMaps[t].data() + kPage, 0, m_touchedMaps[t].size() - kPage);
    }
    live().states[0] = StateBlob{};
    publish(live().step, 0);
    m_recovery = Recovery::fromStart;
    return syncAll();
  }
  std::vector<std::uint32_t> strides;
  for (const RecordArray& records : m_records) strides.push_back(static_cast<std::uint32_t>(records.stride));
  const auto restored = UndoJournal::replay(
      m_folder + "/undo.journal", m_checkpoint.generation, uuidHash(m_super), strides, [&](const JournalEntry& entry, const std::byte* old) {
        if (entry.row >= m_shape.tables[entry.table].rows) return;
        if (old == nullptr) {
          m_touched[entry.table].clear(entry.row);
        } else {
          std::memcpy(m_records[entry.table].at(entry.row), old, m_records[entry.table].stride);
          m_touched[entry.table].set(entry.row);
        }
      });
  if (!restored) return tl::unexpected(restored.error());
  live().states[m_checkpoint.step % 2] = m_checkpoint.state;
  publish(live().step, m_checkpoint.step);
  m_recovery = Recovery::lastCheckpoint;
  return syncAll();
}

void RowStore::readWeights(std::uint32_t t, std::uint64_t row, float* weights) const {
  const TableShape& table = m_shape.tables[t];
  if (m_touched[t].test(row)) {
    std::memcpy(weights, m_records[t].at(row), table.dim * sizeof(float));
  } else {
    initialWeights(m_shape.seed, t, row, table.dim, table.initScale, weights);
  }
}

std::uint64_t RowStore::announce(const StepRows& rows) { return m_journal ? m_journal->submit(rows) : 0; }

void RowStore::prefetch(std::uint32_t t, std::span<const std::uint64_t> rows) const {
  for (const std::uint64_t row : rows) {
    if (!m_touched[t].test(row)) continue;
    ::posix_fadvise(m_rowFiles[t].fd(), static_cast<off_t>(kPage + row * m_records[t].stride), static_cast<off_t>(m_records[t].stride),
                    POSIX_FADV_WILLNEED);
  }
}

Result<void> RowStore::admit(std::uint32_t t, std::uint64_t count) {
  // pwrite, not a store: in a full file system it is an error instead of SIGBUS, and the file stays sparse.
  const TableShape& table = m_shape.tables[t];
  m_newRecord.assign(table.recordFloats(), 0.0f);
  const std::uint64_t* const rows = ids(t);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (m_touched[t].test(rows[i])) continue;
    initialWeights(m_shape.seed, t, rows[i], table.dim, table.initScale, m_newRecord.data());
    if (auto put = m_rowFiles[t].writeAt(std::as_bytes(std::span(m_newRecord)), kPage + rows[i] * m_records[t].stride); !put) {
      return fail(put.error().code, "{}. All rows are as they were after step {}; make room and resume the run", put.error().message, step());
    }
  }
  return {};
}

void RowStore::markTouched(std::span<const std::uint64_t> counts) const {
  for (std::uint32_t t = 0; t < counts.size(); ++t) {
    const std::uint64_t* const rows = m_intent.ids(t);
    for (std::uint64_t i = 0; i < counts[t]; ++i) m_touched[t].set(rows[i]);
  }
}

Result<void> RowStore::apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params, const StateBlob& next, std::uint64_t ticket, ThreadPool& pool) {
  DSA_CHECK(m_writable && counts.size() == m_records.size() && params.size() == counts.size());
  std::uint64_t rows = 0;
  for (std::uint32_t t = 0; t < counts.size(); ++t) {
    DSA_CHECK(counts[t] <= m_shape.tables[t].stepCapacity);
    rows += counts[t];
    DSA_TRY(admit(t, counts[t]));
  }
  if (m_journal) {
    if (ticket == 0) {
      StepRows named;
      for (std::uint32_t t = 0; t < counts.size(); ++t) named.emplace_back(ids(t), ids(t) + counts[t]);
      ticket = announce(named);
    }
    DSA_TRY(m_journal->wait(ticket));
  }
  DSA_CHECK(pool.threads() <= kMaxWorkers);
  const unsigned workers = rows < kRowsForThreads ? 1 : pool.threads();
  const std::uint64_t made = step() + 1;
  m_intent.arm(made, counts, params, next, workers);
  m_intent.apply(m_records, m_kernels, pool);
  markTouched(counts);
  live().states[made % 2] = next;
  publish(live().step, made);
  m_intent.disarm();
  return {};
}

Result<void> RowStore::syncAll() const {
  for (const File& file : m_rowFiles) DSA_TRY(file.sync());
  for (const File& file : m_touchedFiles) DSA_TRY(file.sync());
  DSA_TRY(m_lossFile.sync());
  return m_storeFile.sync();
}

Result<void> RowStore::writeCheckpoint() {
  CheckpointSlot slot;
  slot.sequence = m_checkpoint.sequence + 1;
  slot.generation = m_checkpoint.generation + 1;
  slot.step = step();
  slot.state = state();
  slot.checksum = checksumOf(&slot, offsetof(CheckpointSlot, checksum));
  DSA_TRY(m_storeFile.writeAt(std::as_bytes(std::span(&slot, 1)), (1 + slot.sequence % 2) * kPage));
  DSA_TRY(m_storeFile.sync());
  m_checkpoint = slot;
  return {};
}

Result<void> RowStore::checkpoint() {
  DSA_CHECK(m_writable);
  if (!m_journal) return {};
  DSA_TRY(syncAll());
  DSA_TRY(writeCheckpoint());
  m_journal->restart(m_checkpoint.generation);
  return {};
}

Result<void> RowStore::evict() {
  for (std::size_t t = 0; t < m_rowFiles.size(); ++t) {
    DSA_TRY(m_rowFiles[t].sync());
    if (::madvise(m_rowMaps[t].data(), m_rowMaps[t].size(), MADV_DONTNEED) != 0) return failErrno(m_rowFiles[t].path(), "unmap pages of", errno);
    const int failed = ::posix_fadvise(m_rowFiles[t].fd(), 0, 0, POSIX_FADV_DONTNEED);
    if (failed != 0) return failErrno(m_rowFiles[t].path(), "drop the cached pages of", failed);
  }
  return {};
}

Result<void> RowStore::close() {
  DSA_CHECK(m_writable && !m_closed);
  m_journal.reset();
  DSA_TRY(syncAll());
  DSA_TRY(writeCheckpoint());
  live().clean = 1;
  m_closed = true;
  return m_storeFile.sync();
}

}  // namespace dsa
