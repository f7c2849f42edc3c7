// SPDX-License-Identifier: Apache-2.0
#include "core/store/row_store.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "core/rows/row_init.h"
#include "core/store/slotted_table.h"
#include "core/store/store_names.h"

namespace dsa {

namespace {

// Below this many rows a step stays on one thread: starting the loop would cost more. A guess, not measured.
constexpr std::uint64_t kRowsForThreads = 256;

}  // namespace

Result<std::unique_ptr<RowStore>> RowStore::open(const std::string& folder, Durability durability,
                                                 const RowKernels& kernels) {
  std::unique_ptr<RowStore> store(new RowStore);
  store->m_folder = folder;
  store->m_durability = durability;
  store->m_kernels = kernels;
  if (!std::filesystem::exists(names::store(folder))) {
    return fail(ErrorCode::input, "{}: no table here (store.dsa is missing)", folder);
  }
  DSA_ASSIGN(store->m_lock, StoreLock::take(folder));
  DSA_TRY(store->openFiles(true));
  store->m_writable = true;
  DSA_TRY(store->bringHome());
  const Recovery found = store->m_recovery;
  DSA_TRY(store->recover());
  if (found != Recovery::clean) store->m_recovery = found;
  return store;
}

Result<std::unique_ptr<RowStore>> RowStore::openReadOnly(const std::string& folder) {
  std::unique_ptr<RowStore> store(new RowStore);
  store->m_folder = folder;
  if (!std::filesystem::exists(names::store(folder))) {
    return fail(ErrorCode::input, "{}: no table here (store.dsa is missing)", folder);
  }
  DSA_TRY(store->openFiles(false));
  DSA_TRY(store->openSlotted(false));
  DSA_ASSIGN(const std::optional<StoreLock> nobodyWrites, StoreLock::share(folder));
  if (nobodyWrites) DSA_TRY(store->checkReadable());
  return store;
}

std::uint64_t RowStore::step() const { return m_atCheckpoint ? m_checkpoint.step : observe(live().step); }

StateBlob RowStore::state() const { return m_atCheckpoint ? m_checkpoint.state : live().states[step() % 2]; }

const SlottedTable* RowStore::slotted(std::uint32_t t) const {
  return t < m_slotted.size() ? m_slotted[t].get() : nullptr;
}

void RowStore::readWeights(std::uint32_t t, std::uint64_t row, float* weights) const {
  readValues(t, row, {weights, m_shape.tables[t].dim});
}

void RowStore::readValues(std::uint32_t t, std::uint64_t row, std::span<float> values) const {
  const TableShape& table = m_shape.tables[t];
  if (m_touched[t].test(row)) {
    if (slotted(t) != nullptr)
      readSlotted(t, row, values);
    else
      std::memcpy(values.data(), m_records[t].at(row), values.size_bytes());
  } else {
    initialWeights(m_shape.seed, t, row, table.dim, table.initScale, values.data());
    std::fill(values.begin() + table.dim, values.end(), 0.0f);
  }
}

std::uint64_t RowStore::announce(const StepRows& rows) { return m_journal ? m_journal->submit(rows) : 0; }

std::uint64_t RowStore::prefetch(std::uint32_t t, std::span<const std::uint64_t> rows) const {
  std::uint64_t asked = 0;
  for (const std::uint64_t row : rows) {
    if (!m_touched[t].test(row)) continue;
    m_rowFiles[t].advise(kPage + row * m_records[t].stride, m_records[t].stride, POSIX_FADV_WILLNEED);
    ++asked;
  }
  return asked;
}

Result<void> RowStore::admit(std::uint32_t t, std::uint64_t count) {
  // pwrite, not a store: in a full file system it is an error instead of SIGBUS, and the file stays sparse.
  const TableShape& table = m_shape.tables[t];
  m_newRecord.assign(table.recordFloats(), 0.0f);
  const std::uint64_t* const rows = ids(t);
  for (std::uint64_t i = 0; i < count; ++i) {
    // Also -1 as an id: nothing outside the table is read or written for it.
    const bool valid = rows[i] < table.rows && (i == 0 || rows[i - 1] < rows[i]);
    if (!valid) DSA_TRY(usable());  // zeros, where the intent was cut short by another program since they were written
    DSA_CHECK(valid);
    if (m_touched[t].test(rows[i])) continue;
    initialWeights(m_shape.seed, t, rows[i], table.dim, table.initScale, m_newRecord.data());
    if (auto put = m_rowFiles[t].writeAt(std::as_bytes(std::span(m_newRecord)), kPage + rows[i] * m_records[t].stride);
        !put) {
      return fail(put.error().code, "{}. All rows are as they were after step {}; make room and resume the run",
                  put.error().message, step());
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

Result<void> RowStore::apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params,
                             const StateBlob& next, std::uint64_t ticket, ThreadPool& pool,
                             std::span<const float* const> stepped) {
  DSA_CHECK(m_writable && counts.size() == m_records.size() && params.size() == counts.size());
  DSA_TRY(usable());
  std::uint64_t rows = 0;
  for (std::uint32_t t = 0; t < counts.size(); ++t) {
    DSA_CHECK(counts[t] <= m_shape.tables[t].stepCapacity);
    rows += counts[t];
    DSA_TRY(admit(t, counts[t]));
  }
  if (m_journal) {
    // None, or one from before a checkpoint: the rows are not in this generation.
    if (!m_journal->knows(ticket)) {
      StepRows named;
      for (std::uint32_t t = 0; t < counts.size(); ++t) named.emplace_back(ids(t), ids(t) + counts[t]);
      ticket = announce(named);
    }
    if (auto safe = m_journal->wait(ticket); !safe) {
      DSA_TRY(usable());  // old records that could not be read say more than the journal
      return safe;
    }
  }
  DSA_CHECK(pool.threads() <= kMaxWorkers);
  const unsigned workers =
      rows < kRowsForThreads || pool.threads() == 1 ? 1 : std::min<unsigned>(pool.threads() * 8, kMaxWorkers);
  const std::uint64_t made = step() + 1;
  m_intent.arm(made, counts, params, next, workers);
  m_intent.apply(m_records, m_kernels, stepped, pool);
  if (damaged()) return usable();
  markTouched(counts);
  live().states[made % 2] = next;
  publish(live().step, made);
  m_intent.disarm();
  return {};
}

/// After a failed fdatasync the kernel may have dropped what it could not write, and the next one may succeed all the
/// same: what the disk holds is any subset of the stores since the last one, as after a power loss. The boot id goes,
/// so that the next open treats it as one.
tl::unexpected<Error> RowStore::breakOff(const Error& error) {
  if (m_writable) disown(false);
  m_broken = Error{error.code, fmt::format("{}. Nothing more is written to this table; see to the disk, then resume "
                                           "the run: it goes on from what is safely stored",
                                           error.message)};
  return tl::unexpected(m_broken);
}

Result<void> RowStore::sync(const File& file) {
  if (auto synced = file.sync(); !synced) return breakOff(synced.error());
  return {};
}

Result<void> RowStore::sync(const RowFile& rows) {
  for (const File& file : rows.files()) DSA_TRY(sync(file));
  return {};
}

Result<void> RowStore::syncAll() {
  for (const RowFile& rows : m_rowFiles) DSA_TRY(sync(rows));
  for (const File& file : m_touchedFiles) DSA_TRY(sync(file));
  DSA_TRY(sync(m_lossFile));
  return sync(m_storeFile);
}

/// After syncAll(): store.dsa is clean and nothing of it on its way to the disk, so the slot, in one sector, gets there
/// whole or not at all.
Result<void> RowStore::writeCheckpoint() {
  CheckpointSlot slot;
  slot.sequence = m_checkpoint.sequence + 1;
  slot.generation = m_checkpoint.generation + 1;
  slot.step = step();
  slot.state = state();
  slot.checksum = checksumOf(&slot, offsetof(CheckpointSlot, checksum));
  DSA_TRY(m_storeFile.writeAt(std::as_bytes(std::span(&slot, 1)), (1 + slot.sequence % 2) * kPage));
  DSA_TRY(sync(m_storeFile));
  m_checkpoint = slot;
  return {};
}

Result<void> RowStore::checkpoint() {
  DSA_CHECK(m_writable);
  DSA_TRY(usable());
  if (!m_journal) return {};
  DSA_TRY(syncAll());
  DSA_TRY(writeCheckpoint());
  m_journal->restart(m_checkpoint.generation);
  return {};
}

Result<void> RowStore::evict() {
  if (!m_broken.message.empty()) return tl::unexpected(m_broken);
  for (std::size_t t = 0; t < m_rowFiles.size(); ++t) {
    DSA_TRY(sync(m_rowFiles[t]));
    if (::madvise(m_rowMaps[t].data(), m_rowMaps[t].size(), MADV_DONTNEED) != 0)
      return failErrno(m_rowFiles[t].path(), "unmap pages of", errno);
    const int failed = m_rowFiles[t].advise(0, 0, POSIX_FADV_DONTNEED);
    if (failed != 0) return failErrno(m_rowFiles[t].path(), "drop the cached pages of", failed);
  }
  return {};
}

Result<void> RowStore::close() {
  DSA_CHECK(m_writable);
  DSA_TRY(usable());
  m_journal.reset();
  Result<void> closed = markClosed();
  m_closed = closed.has_value();
  // Half closed: without its journal no row may change any more.
  if (!closed && m_broken.message.empty()) m_broken = closed.error();
  return closed;
}

Result<void> RowStore::markClosed() {
  DSA_TRY(syncAll());
  DSA_TRY(writeCheckpoint());
  publish(live().clean, 1);
  return sync(m_storeFile);
}

}  // namespace dsa
