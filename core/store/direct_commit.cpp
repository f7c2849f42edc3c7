// SPDX-License-Identifier: Apache-2.0
// The direct engine's checkpoints, eviction, budget and end.
#include <sys/mman.h>

#include <algorithm>

#include "core/store/direct_store.h"

namespace dsa {

/// Dirty places from `from` on go to the slab; they stay in the cache. Nobody else is at work.
Result<void> DirectStore::flush(std::uint32_t t, std::uint32_t from) {
  const RowCache& cache = m_caches[t];
  const std::uint64_t bytes = table(t).layout().slotBytes;
  for (std::uint32_t place = from; place < cache.end();) {
    m_requests.clear();
    m_leaving.clear();
    m_writeUsed = m_writeBegin = 0;
    for (; place < cache.end() && m_writeUsed + bytes <= m_writeBuffer.size(); ++place) {
      if (cache.holdsUnit(place) && cache.dirty(place)) addWrite(t, place);
    }
    DSA_TRY(queueWrites(t));
    DSA_TRY(runRequests());
  }
  return {};
}

Result<void> DirectStore::logMoves(std::uint64_t generation) {
  m_log.begin(generation);
  for (std::uint32_t t = 0; t < tables(); ++t) {
    Result<void> added;
    const auto add = [&](std::uint16_t what, std::uint64_t index, std::uint32_t value) {
      if (added) added = m_log.add(MoveEntry{static_cast<std::uint16_t>(t), what, value, index});
    };
    table(t).forEachMoved([&](std::uint64_t unit, std::uint32_t slot) { add(MoveEntry::slot, unit, slot); });
    const auto* const halves = reinterpret_cast<const std::uint32_t*>(m_files->m_touchedMaps[t].data() + kPage);
    m_changed[t].forEach([&](std::uint64_t word) { add(MoveEntry::touched, word, halves[word]); });
    DSA_TRY(std::move(added));
  }
  return m_log.finish();
}

/// Changed pages of touched bits to NAME.touched. Not synced.
Result<void> DirectStore::commitTouched(std::uint32_t t) {
  constexpr std::uint64_t kWordsAPage = kPage / 4;
  const Mapping& map = m_files->m_touchedMaps[t];
  const std::uint64_t words = (m_files->m_shape.tables[t].rows + 31) / 32;
  for (std::uint64_t word = m_changed[t].next(0); word < words;) {
    const std::uint64_t offset = kPage + word / kWordsAPage * kPage;
    const std::uint64_t bytes = std::min<std::uint64_t>(kPage, map.size() - offset);
    DSA_TRY(m_files->m_touchedFiles[t].writeAt({map.data() + offset, bytes}, offset));
    word = m_changed[t].next((word / kWordsAPage + 1) * kWordsAPage);
  }
  ::madvise(map.data(), map.size(), MADV_DONTNEED);
  ::madvise(m_changedWords[t].data(), m_changedWords[t].size(), MADV_DONTNEED);
  return {};
}

/// FORMAT.md, "checkpoint of the direct engine". The slot in store.dsa makes it count; all before it leaves the last
/// one whole, all after it can be made again from the log.
Result<void> DirectStore::commit() {
  RowStore& files = *m_files;
  for (std::uint32_t t = 0; t < tables(); ++t) {
    DSA_TRY(flush(t, 0));
    DSA_TRY(table(t).intact());
    DSA_TRY(table(t).slab().sync());
    // What the last log made: it is about to be written over.
    DSA_TRY(table(t).syncMap());
    DSA_TRY(files.m_touchedFiles[t].sync());
  }
  DSA_TRY(files.m_lossFile.sync());
  const std::uint64_t before = m_log.bytesWritten();
  DSA_TRY(logMoves(files.m_checkpoint.generation + 1));
  m_bytesWritten.fetch_add(m_log.bytesWritten() - before, std::memory_order_relaxed);
  files.live().states[m_step % 2] = m_state;
  publish(files.live().step, m_step);
  DSA_TRY(files.writeCheckpoint());
  for (std::uint32_t t = 0; t < tables(); ++t) {
    DSA_TRY(table(t).commit());
    DSA_TRY(commitTouched(t));
  }
  return {};
}

Result<void> DirectStore::checkpoint() {
  DSA_TRY(usable());
  dropStaged();
  const std::unique_lock world(m_world);
  if (auto done = commit(); !done) return breakOff(done.error());
  return {};
}

Result<void> DirectStore::evict() {
  DSA_TRY(usable());
  dropStaged();
  const std::unique_lock world(m_world);
  for (std::uint32_t t = 0; t < tables(); ++t) {
    if (auto done = flush(t, 0); !done) return breakOff(done.error());
    RowCache& cache = m_caches[t];
    const std::uint64_t capacity = cache.capacity();
    for (std::uint32_t place = 0; place < cache.end(); ++place) {
      if (cache.holdsUnit(place)) cache.erase(place);
    }
    DSA_TRY(cache.resize(0));
    DSA_TRY(cache.resize(capacity));
  }
  m_cacheBytes.store(0, std::memory_order_relaxed);
  return {};
}

Result<void> DirectStore::setBudget(std::uint64_t bytes) {
  DSA_TRY(usable());
  if (bytes < leastBudget(m_files->shape())) {
    return fail(ErrorCode::usage, "{} do not hold the rows of one step; the budget stays at {}. Take at least {}",
                formatBytes(bytes), formatBytes(m_budget), formatBytes(leastBudget(m_files->shape())));
  }
  dropStaged();
  const std::unique_lock world(m_world);
  const std::vector<std::uint64_t> places = capacities(bytes);
  std::uint64_t held = 0;
  for (std::uint32_t t = 0; t < tables(); ++t) {
    RowCache& cache = m_caches[t];
    const auto first = static_cast<std::uint32_t>(std::min<std::uint64_t>(places[t], cache.end()));
    if (auto done = flush(t, first); !done) return breakOff(done.error());
    for (std::uint32_t place = first; place < cache.end(); ++place) {
      if (cache.holdsUnit(place)) cache.erase(place);
    }
    DSA_TRY(cache.resize(places[t]));
    held += cache.used() * RowCache::bytesAPlace(table(t).layout());
  }
  m_budget = bytes;
  m_cacheBytes.store(held, std::memory_order_relaxed);
  return {};
}

Result<void> DirectStore::close() {
  DSA_TRY(usable());
  dropStaged();
  const std::unique_lock world(m_world);
  const auto end = [&]() -> Result<void> {
    DSA_TRY(commit());
    for (std::uint32_t t = 0; t < tables(); ++t) {
      DSA_TRY(table(t).syncMap());
      DSA_TRY(m_files->m_touchedFiles[t].sync());
    }
    publish(m_files->live().clean, 1);
    return m_files->m_storeFile.sync();
  };
  if (auto done = end(); !done) return breakOff(done.error());
  m_closed = m_files->m_closed = true;
  return {};
}

}  // namespace dsa
