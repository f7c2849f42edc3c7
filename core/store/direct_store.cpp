// SPDX-License-Identifier: Apache-2.0
// The direct engine's steps, and the thread that brings their rows in.
#include "core/store/direct_store.h"

#include <sys/mman.h>

#include <algorithm>

#include "core/store/store_names.h"

namespace dsa {

namespace {

// As RowStore: below this many rows a step stays on one thread.
constexpr std::uint64_t kDirectRowsForThreads = 256;
// Rows handed to the kernel at a time; the lines of the next ones are asked for meanwhile.
constexpr std::uint64_t kDirectChunk = 16;
// A write of more gains nothing, and several keep the disk busy.
constexpr std::uint64_t kLargestWrite = 1ull << 20;
constexpr std::uint64_t kDirectCountBits = 40;

std::uint64_t unitsOfAStep(const TableShape& table, const UnitLayout& layout) {
  return std::max<std::uint64_t>(1, std::min(table.stepCapacity, layout.units));
}

std::uint64_t writeBufferFor(const StoreShape& shape) {
  std::uint64_t bytes = kLargestWrite;
  for (const TableShape& table : shape.tables) {
    const UnitLayout layout = UnitLayout::of(table);
    bytes += unitsOfAStep(table, layout) * layout.slotBytes;
  }
  return bytes;
}

}  // namespace

std::uint64_t DirectStore::leastBudget(const StoreShape& shape) {
  std::uint64_t bytes = writeBufferFor(shape);
  for (const TableShape& table : shape.tables) {
    const UnitLayout layout = UnitLayout::of(table);
    bytes += unitsOfAStep(table, layout) * RowCache::bytesAPlace(layout);
  }
  return bytes;
}

/// Each table the rows of a step, then what is left to the smaller tables first: a table of relations is held whole.
std::vector<std::uint64_t> DirectStore::capacities(std::uint64_t budget) const {
  const StoreShape& shape = m_files->shape();
  std::vector<std::uint64_t> places;
  std::vector<std::uint32_t> bySize;
  for (std::uint32_t t = 0; t < shape.tables.size(); ++t) {
    places.push_back(unitsOfAStep(shape.tables[t], table(t).layout()));
    bySize.push_back(t);
  }
  std::uint64_t left = budget - leastBudget(shape);
  std::sort(bySize.begin(), bySize.end(), [&](std::uint32_t a, std::uint32_t b) {
    return table(a).layout().units * table(a).layout().slotBytes <
           table(b).layout().units * table(b).layout().slotBytes;
  });
  for (std::size_t i = 0; i < bySize.size(); ++i) {
    const UnitLayout& layout = table(bySize[i]).layout();
    const std::uint64_t cost = RowCache::bytesAPlace(layout);
    const std::uint64_t share = i + 1 == bySize.size() ? left : left / 2;
    const std::uint64_t more = std::min(layout.units - places[bySize[i]], share / cost);
    places[bySize[i]] += more;
    left -= more * cost;
  }
  return places;
}

Result<std::unique_ptr<DirectStore>> DirectStore::open(const std::string& folder, const RowKernels& kernels,
                                                       const Options& options) {
  std::unique_ptr<DirectStore> store(new DirectStore);
  DSA_ASSIGN(store->m_files, RowStore::openForDirect(folder, kernels));
  store->m_kernels = kernels;
  DSA_TRY(store->start(options));
  return store;
}

Result<void> DirectStore::start(const Options& options) {
  const StoreShape& shape = m_files->shape();
  if (options.budgetBytes < leastBudget(shape)) {
    return fail(ErrorCode::usage,
                "ram_budget: {} do not hold the rows of one step of the direct engine; nothing was changed. Take at "
                "least {}, or a smaller batch",
                formatBytes(options.budgetBytes), formatBytes(leastBudget(shape)));
  }
  m_budget = options.budgetBytes;
  m_step = m_files->step();
  m_state = m_files->state();
  m_io = DirectIo::make(options.io);
  DSA_ASSIGN(m_writeBuffer, Mapping::anonymous(wholePages(writeBufferFor(shape))));
  DSA_ASSIGN(m_log, MovesLog::open(names::moves(m_files->m_folder), uuidHash(m_files->m_super)));
  const std::vector<std::uint64_t> places = capacities(m_budget);
  for (std::uint32_t t = 0; t < shape.tables.size(); ++t) {
    const TableShape& one = shape.tables[t];
    DSA_ASSIGN(RowCache cache, RowCache::make(table(t).layout(), places[t]));
    m_caches.push_back(std::move(cache));
    m_readers.emplace_back(table(t), t, shape, m_files->m_touched[t], m_files->rowsLayout(t));
    DSA_ASSIGN(Mapping ids, Mapping::anonymous(wholePages(std::max<std::uint64_t>(1, one.stepCapacity) * 8)));
    DSA_ASSIGN(Mapping grads,
               Mapping::anonymous(wholePages(std::max<std::uint64_t>(1, one.stepCapacity) * one.dim * 4)));
    m_ids.push_back(std::move(ids));
    m_grads.push_back(std::move(grads));
    const std::uint64_t words = (one.rows + 31) / 32;
    DSA_ASSIGN(Mapping changed, Mapping::anonymous(wholePages(TouchedBits::bytesFor(words))));
    m_changed.emplace_back(changed.data(), words);
    m_changedWords.push_back(std::move(changed));
  }
  m_pinnedUnits.assign(shape.tables.size(), 0);
  DSA_TRY(raiseFlags());
  m_files->m_overlay = this;
  m_thread = std::thread([this] { run(); });
  return {};
}

/// The files are clean. From here on they are the direct engine's, until it says again that they are.
Result<void> DirectStore::raiseFlags() {
  LivePage& live = m_files->live();
  const BootId boot = currentBootId();
  std::memcpy(live.bootId, boot.bytes, sizeof boot.bytes);
  publish(live.direct, 1);
  keepOrder();
  DSA_TRY(m_files->sync(m_files->m_storeFile));
  publish(live.clean, 0);
  if (auto synced = m_files->m_storeFile.sync(); !synced) {
    publish(live.clean, 1);
    return breakOff(synced.error());
  }
  return {};
}

DirectStore::~DirectStore() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_changeOfQueue.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

std::uint64_t* DirectStore::ids(std::uint32_t t) const { return reinterpret_cast<std::uint64_t*>(m_ids[t].data()); }
float* DirectStore::grads(std::uint32_t t) const { return reinterpret_cast<float*>(m_grads[t].data()); }

Result<void> DirectStore::usable() const {
  if (m_closed)
    return fail(ErrorCode::bug, "{}: the table is closed and was not changed; open it again to go on",
                m_files->m_folder);
  if (!m_broken.message.empty()) return tl::unexpected(m_broken);
  return m_files->intact();
}

/// Memory and slab do not belong together any more; the last checkpoint does not know of it.
tl::unexpected<Error> DirectStore::breakOff(const Error& error) {
  if (m_broken.message.empty()) {
    m_broken =
        Error{error.code, fmt::format("{}. Nothing more is written to this table; what is safe is the checkpoint "
                                      "of step {}. See to the disk, then resume the run: it goes on from there",
                                      error.message, m_files->m_checkpoint.step)};
  }
  return tl::unexpected(m_broken);
}

std::uint64_t DirectStore::ticketOf(std::uint64_t count) const { return (m_epoch << kDirectCountBits) | count; }

std::uint64_t DirectStore::announce(StepRows rows) {
  auto batch = std::make_unique<Batch>();
  batch->rows = std::move(rows);
  const std::lock_guard lock(m_mutex);
  m_batches.push_back(std::move(batch));
  ++m_announced;
  m_changeOfQueue.notify_all();
  return ticketOf(m_announced);
}

void DirectStore::run() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changeOfQueue.wait(lock, [&] {
      return m_stop || (m_failure && m_stagedBatches < m_batches.size() && hasRoom(*m_batches[m_stagedBatches]));
    });
    if (m_stop) return;
    Batch& batch = *m_batches[m_stagedBatches];
    m_busy = true;
    lock.unlock();
    Result<void> staged;
    {
      const std::unique_lock world(m_world);
      staged = stageBatch(batch);
    }
    lock.lock();
    m_busy = false;
    if (staged) {
      batch.staged = true;
      ++m_stagedBatches;
      for (std::uint32_t t = 0; t < tables(); ++t) m_pinnedUnits[t] += batch.pinned[t].size();
    } else {
      m_failure = std::move(staged);
    }
    m_changeOfQueue.notify_all();
  }
}

/// Steps ahead take no more than half of the cache; one step always fits.
bool DirectStore::hasRoom(const Batch& batch) const {
  if (m_stagedBatches == 0) return true;
  for (std::uint32_t t = 0; t < tables(); ++t) {
    if (m_pinnedUnits[t] + batch.rows[t].size() > m_caches[t].capacity() / 2) return false;
  }
  return true;
}

Result<void> DirectStore::stageBatch(Batch& batch) {
  m_requests.clear();
  m_writeUsed = 0;
  batch.places.resize(tables());
  batch.pinned.resize(tables());
  for (std::uint32_t t = 0; t < tables(); ++t) DSA_TRY(stageTable(t, batch));
  DSA_TRY(runRequests());
  std::uint64_t bytes = 0;
  for (std::uint32_t t = 0; t < tables(); ++t) {
    m_readers[t].finish();
    bytes += m_caches[t].used() * RowCache::bytesAPlace(table(t).layout());
  }
  m_cacheBytes.store(bytes, std::memory_order_relaxed);
  return {};
}

Result<void> DirectStore::stageTable(std::uint32_t t, Batch& batch) {
  RowCache& cache = m_caches[t];
  const std::uint64_t rowsPerUnit = table(t).layout().rowsPerUnit;
  const std::vector<std::uint64_t>& rows = batch.rows[t];
  std::vector<std::uint32_t>& pinned = batch.pinned[t];
  std::vector<std::uint32_t>& places = batch.places[t];  // for now: of which entry of `pinned` each row is
  places.resize(rows.size());
  pinned.clear();
  m_misses.clear();
  std::uint64_t last = ~std::uint64_t{0};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t unit = rowsPerUnit == 1 ? rows[i] : rows[i] / rowsPerUnit;
    if (unit != last) {
      const std::uint32_t place = cache.find(unit);
      if (place == RowCache::kNone)
        m_misses.push_back({unit, pinned.size()});
      else
        cache.pin(place);
      pinned.push_back(place);
      last = unit;
    }
    places[i] = static_cast<std::uint32_t>(pinned.size() - 1);
  }
  m_found.fetch_add(pinned.size() - m_misses.size(), std::memory_order_relaxed);
  m_fetched.fetch_add(m_misses.size(), std::memory_order_relaxed);
  m_leaving.clear();
  m_writeBegin = m_writeUsed;
  for (const Miss& miss : m_misses) {
    std::uint32_t place = cache.takeFree();
    if (place == RowCache::kNone) {
      place = cache.victim();
      DSA_CHECK(place != RowCache::kNone);  // hasRoom()
      if (cache.dirty(place)) addWrite(t, place);
      cache.erase(place);
    }
    cache.insert(miss.unit, place);
    cache.pin(place);
    pinned[miss.place] = place;
    DSA_TRY(m_readers[t].add(miss.unit, cache.data(place), m_requests));
  }
  for (std::uint32_t& place : places) place = pinned[place];
  return queueWrites(t);
}

/// A copy to the write buffer; the place is clean from now on.
void DirectStore::addWrite(std::uint32_t t, std::uint32_t place) {
  const std::uint64_t bytes = table(t).layout().slotBytes;
  std::memcpy(m_writeBuffer.data() + m_writeUsed, m_caches[t].data(place), bytes);
  m_writeUsed += bytes;
  m_leaving.push_back(m_caches[t].unitAt(place));
  m_caches[t].markClean(place);
}

/// Slots for the units in the write buffer, and as few requests as their runs allow.
Result<void> DirectStore::queueWrites(std::uint32_t t) {
  if (m_leaving.empty()) return {};
  SlottedTable& slotted = table(t);
  const std::uint64_t bytes = slotted.layout().slotBytes;
  DSA_TRY(slotted.allocate(m_leaving.size(), m_freeSlots));
  for (std::size_t begin = 0; begin < m_leaving.size();) {
    std::size_t end = begin;
    while (end < m_leaving.size() && m_freeSlots[end] == m_freeSlots[begin] + (end - begin) &&
           (end == begin || (end + 1 - begin) * bytes <= kLargestWrite)) {
      slotted.move(m_leaving[end], m_freeSlots[end]);
      ++end;
    }
    m_requests.push_back({DirectRequest::Kind::write, &slotted.slab(),
                          SlottedTable::offsetOf(m_freeSlots[begin], slotted.layout()),
                          m_writeBuffer.data() + m_writeBegin + begin * bytes, (end - begin) * bytes});
    begin = end;
  }
  return {};
}

Result<void> DirectStore::runRequests() {
  std::uint64_t read = 0, written = 0;
  for (const DirectRequest& request : m_requests)
    (request.kind == DirectRequest::Kind::read ? read : written) += request.bytes;
  DSA_TRY(m_io->run(m_requests));
  m_requests.clear();
  m_bytesRead.fetch_add(read, std::memory_order_relaxed);
  m_bytesWritten.fetch_add(written, std::memory_order_relaxed);
  return {};
}

Result<void> DirectStore::stage(std::span<const std::uint64_t> counts, std::uint64_t ticket) {
  DSA_TRY(usable());
  std::unique_lock lock(m_mutex);
  const std::uint64_t due = ticketOf(m_applied + 1);
  if (ticket != due || m_announced <= m_applied) {
    // None, or one from before a checkpoint.
    lock.unlock();
    dropStaged();
    StepRows named;
    for (std::uint32_t t = 0; t < counts.size(); ++t) named.emplace_back(ids(t), ids(t) + counts[t]);
    announce(std::move(named));
    lock.lock();
  }
  m_changeOfQueue.wait(lock, [&] { return m_stagedBatches > 0 || !m_failure; });
  if (m_stagedBatches > 0) return {};
  return breakOff(m_failure.error());
}

void DirectStore::staged(std::uint32_t t, std::uint64_t place, std::span<float> values) const {
  const UnitLayout& layout = table(t).layout();
  const std::byte* const unit = m_caches[t].data(m_batches.front()->places[t][place]);
  const std::uint64_t within = layout.rowsPerUnit == 1 ? 0 : ids(t)[place] % layout.rowsPerUnit;
  std::memcpy(values.data(), unit + within * layout.recordBytes, values.size_bytes());
}

void DirectStore::applyTable(std::uint32_t t, std::uint64_t count, const StepParams& params, const float* stepped,
                             ThreadPool& pool) {
  const UnitLayout& layout = table(t).layout();
  const RowCache& cache = m_caches[t];
  const std::vector<std::uint32_t>& places = m_batches.front()->places[t];
  const std::uint64_t* const rowIds = ids(t);
  const auto record = [&](std::uint64_t i) {
    const std::uint64_t within = layout.rowsPerUnit == 1 ? 0 : rowIds[i] % layout.rowsPerUnit;
    return cache.data(places[i]) + within * layout.recordBytes;
  };
  const auto body = [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    float* rows[kDirectChunk];
    for (std::uint64_t from = begin; from < end; from += kDirectChunk) {
      const std::uint64_t to = std::min(end, from + kDirectChunk);
      for (std::uint64_t i = from; i < to; ++i) {
        if (i + kDirectChunk < end) {
          const std::byte* const ahead = record(i + kDirectChunk);
          for (std::uint64_t line = 0; line < layout.recordBytes; line += 64) __builtin_prefetch(ahead + line, 1, 3);
        }
        rows[i - from] = reinterpret_cast<float*>(record(i));
      }
      stepRows(m_kernels, params, rows, grads(t), stepped, from, to - from);
    }
  };
  if (count < kDirectRowsForThreads)
    body(0, count, 0);
  else
    pool.partitioned(count, body);
}

void DirectStore::markTouched(std::uint32_t t, std::uint64_t count) {
  const TouchedBits& touched = m_files->m_touched[t];
  for (std::uint64_t i = 0; i < count; ++i) {
    if (touched.test(ids(t)[i])) continue;
    touched.set(ids(t)[i]);
    m_changed[t].set(ids(t)[i] / 32);
  }
}

Result<void> DirectStore::apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params,
                                const StateBlob& next, std::uint64_t ticket, ThreadPool& pool,
                                std::span<const float* const> stepped) {
  DSA_CHECK(counts.size() == tables() && params.size() == counts.size());
  DSA_TRY(stage(counts, ticket));
  const Batch& batch = *m_batches.front();
  for (std::uint32_t t = 0; t < tables(); ++t) {
    DSA_CHECK(counts[t] == batch.rows[t].size());
    applyTable(t, counts[t], params[t], stepped.empty() ? nullptr : stepped[t], pool);
  }
  for (std::uint32_t t = 0; t < tables(); ++t) {
    for (const std::uint32_t place : batch.pinned[t]) m_caches[t].markDirty(place);
    markTouched(t, counts[t]);
  }
  m_state = next;
  ++m_step;
  const std::lock_guard lock(m_mutex);
  unpin(batch);
  m_batches.pop_front();
  --m_stagedBatches;
  ++m_applied;
  m_changeOfQueue.notify_all();
  return {};
}

/// Under m_mutex.
void DirectStore::unpin(const Batch& batch) {
  for (std::uint32_t t = 0; t < tables(); ++t) {
    for (const std::uint32_t place : batch.pinned[t]) m_caches[t].unpin(place);
    m_pinnedUnits[t] -= batch.pinned[t].size();
  }
}

/// What was announced counts no more; the thread rests.
void DirectStore::dropStaged() {
  std::unique_lock lock(m_mutex);
  m_changeOfQueue.wait(lock, [&] { return !m_busy; });
  for (std::size_t i = 0; i < m_stagedBatches; ++i) unpin(*m_batches[i]);
  m_batches.clear();
  m_stagedBatches = 0;
  m_announced = m_applied = 0;
  m_epoch = m_epoch % ((std::uint64_t{1} << (64 - kDirectCountBits)) - 1) + 1;
}

std::shared_lock<std::shared_mutex> DirectStore::hold() const { return std::shared_lock(m_world); }

bool DirectStore::copyUnit(std::uint32_t t, std::uint64_t unit, std::byte* slot) const {
  const std::uint32_t place = m_caches[t].find(unit);
  if (place == RowCache::kNone) return false;
  std::memcpy(slot, m_caches[t].data(place), table(t).layout().slotBytes);
  return true;
}

DirectCounters DirectStore::counters() const {
  return {m_found.load(std::memory_order_relaxed), m_fetched.load(std::memory_order_relaxed),
          m_bytesRead.load(std::memory_order_relaxed), m_bytesWritten.load(std::memory_order_relaxed),
          m_cacheBytes.load(std::memory_order_relaxed)};
}

bool DirectStore::direct() const {
  for (std::uint32_t t = 0; t < tables(); ++t) {
    if (!table(t).direct()) return false;
  }
  return true;
}

}  // namespace dsa
