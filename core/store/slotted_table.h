// SPDX-License-Identifier: Apache-2.0
// Where the direct engine keeps a table: units of whole sectors in NAME.slab, found by NAME.slots, never overwritten
// before a checkpoint that does without them is durable (FORMAT.md, "Slots").
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/store/direct_io.h"
#include "core/store/row_store.h"

namespace dsa {

/// A unit: as many rows as fit a sector, or one row in as few sectors as hold it. Records lie in it without gaps.
struct UnitLayout {
  std::uint64_t rowsPerUnit = 1;
  std::uint64_t recordBytes = 0;
  std::uint64_t slotBytes = 0;
  std::uint64_t units = 0;
  std::uint64_t rows = 0;
  static UnitLayout of(const TableShape& table);
  /// Rows [firstRow, endRow) of a unit; the last one may hold fewer than the others.
  [[nodiscard]] std::uint64_t firstRow(std::uint64_t unit) const { return unit * rowsPerUnit; }
  [[nodiscard]] std::uint64_t endRow(std::uint64_t unit) const { return std::min(firstRow(unit + 1), rows); }
};

/// The map from units to slots and the slab's free slots. What changes is private to the process until it is committed:
/// the files hold the last checkpoint's. Thread: one writer; slotOf() beside it only for units that do not move.
class SlottedTable {
 public:
  static bool isThere(const std::string& folder, const TableShape& table);
  /// NAME.slab and NAME.slots, empty. Errors as createContentFile.
  static Result<void> create(const std::string& folder, std::uint32_t t, const TableShape& table,
                             const unsigned char* uuid);
  /// Reads the map once to find the free slots when `writable`: 4 bytes a unit that was ever written.
  static Result<SlottedTable> open(const std::string& folder, std::uint32_t t, const TableShape& table,
                                   const unsigned char* uuid, bool writable);
  /// Deletes both; the rows must be elsewhere, and durable.
  static Result<void> remove(const std::string& folder, const TableShape& table);

  [[nodiscard]] const UnitLayout& layout() const { return m_layout; }
  [[nodiscard]] const File& slab() const { return m_slab; }
  [[nodiscard]] bool direct() const { return m_direct; }
  /// Of a unit, from 1; 0: it has none.
  [[nodiscard]] std::uint32_t slotOf(std::uint64_t unit) const { return slotWords()[unit]; }
  [[nodiscard]] static std::uint64_t offsetOf(std::uint32_t slot, const UnitLayout& layout) {
    return kPage + (slot - 1ull) * layout.slotBytes;
  }

  /// Takes `count` free slots, ascending, in as long runs as there are; the slab grows where they run short. Error
  /// machine: it cannot.
  Result<void> allocate(std::uint64_t count, std::vector<std::uint32_t>& taken);
  /// The unit lies there from now on. A slot that no checkpoint names is free again at once.
  void move(std::uint64_t unit, std::uint32_t slot);
  /// Calls f(unit, slot) for each that moved since the last commit.
  template <class F>
  void forEachMoved(F&& f) const {
    m_moved.forEach([&](std::uint64_t unit) { f(unit, slotWords()[unit]); });
  }
  /// After the checkpoint that names the moves is durable: to NAME.slots; what they left is free. Not synced.
  Result<void> commit();
  /// Error machine: another program cut the slab short or removed it. Not seen by writes, which would make it longer.
  [[nodiscard]] Result<void> intact() const;
  /// NAME.slots on the disk.
  Result<void> syncMap() const { return m_mapFile.sync(); }
  /// A move read back from the log, not yet in the file: for a reader as for a writer.
  void redo(std::uint64_t unit, std::uint32_t slot);
  /// Whether a slot number can be: in the slab as it is.
  [[nodiscard]] bool holds(std::uint32_t slot) const { return slot > 0 && slot <= m_slabSlots; }

 private:
  SlottedTable() = default;
  [[nodiscard]] std::uint32_t* slotWords() const { return reinterpret_cast<std::uint32_t*>(m_map.data() + kPage); }
  [[nodiscard]] const std::uint32_t* committed() const {
    return reinterpret_cast<const std::uint32_t*>(m_committed.data() + kPage);
  }
  Result<void> findFree();
  Result<void> grow(std::uint64_t count);
  void setUsed(std::uint32_t slot, bool used);
  [[nodiscard]] bool isUsed(std::uint32_t slot) const {
    return (m_used[(slot - 1) / 64] >> ((slot - 1) % 64) & 1) != 0;
  }

  UnitLayout m_layout;
  File m_slab, m_mapFile;
  bool m_direct = false;
  Mapping m_map;        // private: what changes since the last commit is ours alone
  Mapping m_committed;  // shared, read-only: what the checkpoint names
  Mapping m_movedWords;
  TouchedBits m_moved;
  std::vector<std::uint64_t> m_used;  // a bit a slot of the slab
  std::uint64_t m_slabSlots = 0;
  std::uint64_t m_usedSlots = 0;
  std::uint64_t m_cursor = 0;
};

/// Reads units as they stand on the disk, wherever that is. Thread: one caller at a time.
class UnitReader {
 public:
  /// home: NAME.rows, for units without a slot. All three outlive the reader.
  UnitReader(const SlottedTable& table, std::uint32_t t, const StoreShape& shape, TouchedBits touched,
             const RowFileLayout& home)
      : m_table(&table), m_t(t), m_shape(&shape), m_touched(touched), m_homeLayout(home) {}
  /// Adds what is to be read for the unit to come to `slot` [slotBytes].
  Result<void> add(std::uint64_t unit, std::byte* slot, std::vector<DirectRequest>& requests);
  /// After the requests were carried out: copies what came from NAME.rows and fills untouched rows in.
  void finish();

 private:
  struct Wanted {
    std::uint64_t unit;
    std::byte* slot;
    const std::byte* bounce;  // where its rows come to from NAME.rows; null: they come in place, or not at all
  };
  Result<void> addFromHome(std::uint64_t unit, std::byte* slot, std::vector<DirectRequest>& requests);
  Result<std::byte*> takeBounce(std::uint64_t bytes);

  const SlottedTable* m_table;
  std::uint32_t m_t;
  const StoreShape* m_shape;
  TouchedBits m_touched;
  RowFileLayout m_homeLayout;
  RowFile m_home;
  bool m_homeDirect = false;
  std::vector<Wanted> m_wanted;
  std::vector<Mapping> m_bounces;  // used from the front in each round
  std::size_t m_bounce = 0;
  std::uint64_t m_bounceUsed = 0;  // bytes of the present one
};

}  // namespace dsa
