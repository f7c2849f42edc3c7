// SPDX-License-Identifier: Apache-2.0
#include "core/store/row_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

namespace dsa {

Result<RowCache> RowCache::make(const UnitLayout& layout, std::uint64_t capacity) {
  RowCache cache;
  cache.m_slotBytes = layout.slotBytes;
  const std::uint64_t most = std::max<std::uint64_t>(1, layout.units);
  cache.m_most = most;
  DSA_CHECK(most < kNone);
  DSA_ASSIGN(cache.m_arena, Mapping::anonymous(wholePages(most * layout.slotBytes)));
  DSA_ASSIGN(cache.m_units, Mapping::anonymous(wholePages(most * 8)));
  DSA_ASSIGN(cache.m_pins, Mapping::anonymous(wholePages(most * 4)));
  DSA_ASSIGN(cache.m_dirty, Mapping::anonymous(wholePages(most)));
  DSA_ASSIGN(cache.m_recent, Mapping::anonymous(wholePages(most)));
  // Places come into use one after the other, so huge pages take no more than they hold.
  ::madvise(cache.m_arena.data(), cache.m_arena.size(), MADV_HUGEPAGE);
  cache.m_capacity = std::min(capacity, most);
  DSA_TRY(cache.makeIndex());
  return cache;
}

std::uint64_t RowCache::bucketOf(std::uint64_t unit) const {
  return (unit * 0x9E3779B97F4A7C15ull >> 24) & m_mask;  // Fibonacci hashing: neighbours spread
}

Result<void> RowCache::makeIndex() {
  const std::uint64_t buckets = std::bit_ceil(m_capacity + m_capacity / 2 + 1);
  DSA_ASSIGN(m_index, Mapping::anonymous(wholePages(buckets * 4)));
  m_mask = buckets - 1;
  for (std::uint32_t place = 0; place < m_fresh; ++place) {
    if (holdsUnit(place)) put(place);
  }
  return {};
}

void RowCache::put(std::uint32_t place) {
  std::uint64_t bucket = bucketOf(unitAt(place));
  while (index()[bucket] != 0) bucket = (bucket + 1) & m_mask;
  index()[bucket] = place + 1;
}

std::uint32_t RowCache::find(std::uint64_t unit) const {
  for (std::uint64_t bucket = bucketOf(unit);; bucket = (bucket + 1) & m_mask) {
    const std::uint32_t entry = index()[bucket];
    if (entry == 0) return kNone;
    if (unitAt(entry - 1) == unit) return entry - 1;
  }
}

std::uint32_t RowCache::takeFree() {
  if (!m_free.empty()) {
    const std::uint32_t place = m_free.back();
    m_free.pop_back();
    return place;
  }
  return m_fresh < m_capacity ? m_fresh++ : kNone;
}

std::uint32_t RowCache::victim() {
  // Twice around: the first time takes the marks away.
  for (std::uint64_t looked = 0; looked < 2ull * m_fresh; ++looked) {
    if (m_hand >= m_fresh) m_hand = 0;
    const std::uint32_t place = m_hand++;
    if (!holdsUnit(place) || pinned(place)) continue;
    if (m_recent.data()[place] == std::byte{0}) return place;
    m_recent.data()[place] = std::byte{0};
  }
  return kNone;
}

void RowCache::insert(std::uint64_t unit, std::uint32_t place) {
  unitWord(place) = unit + 1;
  put(place);
  ++m_used;
}

void RowCache::erase(std::uint32_t place) {
  std::uint64_t hole = bucketOf(unitAt(place));
  while (index()[hole] != place + 1) hole = (hole + 1) & m_mask;
  // Entries behind it move up, so that no search ends at the hole before them.
  for (std::uint64_t next = (hole + 1) & m_mask; index()[next] != 0; next = (next + 1) & m_mask) {
    const std::uint64_t wanted = bucketOf(unitAt(index()[next] - 1));
    if (((next - wanted) & m_mask) < ((next - hole) & m_mask)) continue;
    index()[hole] = index()[next];
    hole = next;
  }
  index()[hole] = 0;
  unitWord(place) = 0;
  m_recent.data()[place] = std::byte{0};
  --m_used;
}

Result<void> RowCache::resize(std::uint64_t capacity) {
  capacity = std::min(capacity, m_most);
  for (std::uint64_t place = capacity; place < m_fresh; ++place)
    DSA_CHECK(!holdsUnit(static_cast<std::uint32_t>(place)));
  std::erase_if(m_free, [&](std::uint32_t place) { return place >= capacity; });
  m_fresh = static_cast<std::uint32_t>(std::min<std::uint64_t>(m_fresh, capacity));
  m_capacity = capacity;
  m_hand = 0;
  const auto giveBack = [&](const Mapping& mapping, std::uint64_t bytesAPlace) {
    const std::uint64_t from = wholePages(capacity * bytesAPlace);
    if (from < mapping.size()) ::madvise(mapping.data() + from, mapping.size() - from, MADV_DONTNEED);
  };
  giveBack(m_arena, m_slotBytes);
  giveBack(m_units, 8);
  giveBack(m_pins, 4);
  giveBack(m_dirty, 1);
  giveBack(m_recent, 1);
  return makeIndex();
}

}  // namespace dsa
