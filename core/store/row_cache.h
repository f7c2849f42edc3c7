// SPDX-License-Identifier: Apache-2.0
// Units of a table in private memory: found by number, pinned while a step needs them, given up by CLOCK.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/base/file.h"
#include "core/store/slotted_table.h"

namespace dsa {

/// Places 0 .. capacity-1 of one unit each. Thread: the owner; unpin(), markDirty() and data() of a pinned place from
/// any thread beside it; find() from many threads while the owner changes nothing.
class RowCache {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  static Result<RowCache> make(const UnitLayout& layout, std::uint64_t capacity);
  /// What a place costs, bookkeeping included.
  [[nodiscard]] static std::uint64_t bytesAPlace(const UnitLayout& layout) { return layout.slotBytes + kBookkeeping; }

  [[nodiscard]] std::uint64_t capacity() const { return m_capacity; }
  /// Places that hold a unit.
  [[nodiscard]] std::uint64_t used() const { return m_used; }
  /// Places that ever held one lie below it.
  [[nodiscard]] std::uint32_t end() const { return m_fresh; }

  /// The unit's place, or kNone. Does not count as use.
  [[nodiscard]] std::uint32_t find(std::uint64_t unit) const;
  /// What lies in a place; kNone as a unit: nothing.
  [[nodiscard]] bool holdsUnit(std::uint32_t place) const { return unitWord(place) != 0; }
  [[nodiscard]] std::uint64_t unitAt(std::uint32_t place) const { return unitWord(place) - 1; }
  [[nodiscard]] std::byte* data(std::uint32_t place) const {
    return m_arena.data() + std::uint64_t{place} * m_slotBytes;
  }

  /// An empty place, or kNone.
  std::uint32_t takeFree();
  /// The place that was longest without use (CLOCK) and that nobody needs; kNone where all are pinned.
  std::uint32_t victim();
  void insert(std::uint64_t unit, std::uint32_t place);
  /// Empties it. Its place is not handed out by takeFree() until give().
  void erase(std::uint32_t place);
  void give(std::uint32_t place) { m_free.push_back(place); }

  void pin(std::uint32_t place) {
    pins(place).fetch_add(1, std::memory_order_relaxed);
    m_recent.data()[place] = std::byte{1};
  }
  void unpin(std::uint32_t place) const { pins(place).fetch_sub(1, std::memory_order_release); }
  [[nodiscard]] bool pinned(std::uint32_t place) const { return pins(place).load(std::memory_order_acquire) != 0; }
  void markDirty(std::uint32_t place) const { dirt(place).store(1, std::memory_order_relaxed); }
  void markClean(std::uint32_t place) const { dirt(place).store(0, std::memory_order_relaxed); }
  [[nodiscard]] bool dirty(std::uint32_t place) const { return dirt(place).load(std::memory_order_relaxed) != 0; }

  /// Places from `capacity` on must be empty; their memory goes back.
  Result<void> resize(std::uint64_t capacity);

 private:
  static constexpr std::uint64_t kBookkeeping = 8 + 4 + 1 + 1 + 12;  // unit, pins, dirty, recent, index

  RowCache() = default;
  [[nodiscard]] std::uint64_t& unitWord(std::uint32_t place) const {
    return reinterpret_cast<std::uint64_t*>(m_units.data())[place];
  }
  [[nodiscard]] std::atomic_ref<std::uint32_t> pins(std::uint32_t place) const {
    return std::atomic_ref<std::uint32_t>(reinterpret_cast<std::uint32_t*>(m_pins.data())[place]);
  }
  [[nodiscard]] std::atomic_ref<unsigned char> dirt(std::uint32_t place) const {
    return std::atomic_ref<unsigned char>(reinterpret_cast<unsigned char*>(m_dirty.data())[place]);
  }
  [[nodiscard]] std::uint32_t* index() const { return reinterpret_cast<std::uint32_t*>(m_index.data()); }
  [[nodiscard]] std::uint64_t bucketOf(std::uint64_t unit) const;
  Result<void> makeIndex();
  void put(std::uint32_t place);

  std::uint64_t m_slotBytes = 0;
  std::uint64_t m_most = 0;  // places that the mappings have room for
  std::uint64_t m_capacity = 0;
  std::uint64_t m_used = 0;
  std::uint32_t m_fresh = 0;  // places from here on never held anything
  std::uint32_t m_hand = 0;
  std::uint64_t m_mask = 0;  // buckets - 1
  std::vector<std::uint32_t> m_free;
  // Reserved for the whole table, taken as places come into use: resizing moves nothing.
  Mapping m_arena, m_units, m_pins, m_dirty, m_recent;
  Mapping m_index;  // place + 1, linear probing
};

}  // namespace dsa
