// SPDX-License-Identifier: Apache-2.0
// From one engine to the other: what the direct engine left is believed or refused, settled, and brought home to
// NAME.rows.
#include <algorithm>

#include "core/store/moves_log.h"
#include "core/store/slotted_table.h"
#include "core/store/store_names.h"

namespace dsa {

namespace {

// Units copied home at a time.
constexpr std::uint64_t kUnitsHome = 512;

}  // namespace

/// The tables' slots as the last checkpoint has them. Read-only, for nothing is written: in memory.
Result<void> RowStore::openSlotted(bool writable) {
  m_slotted.clear();
  m_slotted.resize(m_shape.tables.size());
  bool any = false;
  for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) {
    if (!SlottedTable::isThere(m_folder, m_shape.tables[t])) continue;
    any = true;
    DSA_ASSIGN(SlottedTable table, SlottedTable::open(m_folder, t, m_shape.tables[t], m_super.uuid, writable));
    m_slotted[t] = std::make_unique<SlottedTable>(std::move(table));
  }
  if (!any) return {};
  DSA_TRY(readCheckpoint(m_checkpoint));
  if (live().clean == 0 && live().direct == 0) {
    return fail(
        ErrorCode::input,
        "{}: slots of the direct engine lie beside rows that the engine mmap was writing; the folder is damaged "
        "and nothing was changed",
        m_folder);
  }
  if (writable || live().clean == 1) return {};
  m_atCheckpoint = true;
  // What the log says is seen by this process alone.
  for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) {
    const std::uint64_t bytes = kPage + names::touchedBytes(m_shape.tables[t]);
    DSA_ASSIGN(m_touchedMaps[t], Mapping::map(m_touchedFiles[t], bytes, Mapping::Kind::privateCopy));
    m_touched[t] = TouchedBits(m_touchedMaps[t].data() + kPage, m_shape.tables[t].rows);
  }
  return redoMoves();
}

/// Entries of the last checkpoint's generation, each checked against the tables before the first is put.
Result<void> RowStore::readLogged(const std::function<void(const MoveEntry&)>& put) const {
  const std::string path = names::moves(m_folder);
  const auto check = [&](const MoveEntry& entry) -> Result<void> {
    const bool known = entry.table < m_shape.tables.size() && m_slotted[entry.table] != nullptr;
    bool right = known && (entry.what == MoveEntry::slot || entry.what == MoveEntry::touched);
    if (right && entry.what == MoveEntry::slot)
      right = entry.index < m_slotted[entry.table]->layout().units && m_slotted[entry.table]->holds(entry.value);
    if (right && entry.what == MoveEntry::touched) {
      const std::uint64_t rows = m_shape.tables[entry.table].rows;
      right = entry.index < (rows + 31) / 32 &&
              ((entry.index + 1) * 32 <= rows || std::uint64_t{entry.value} >> (rows % 32) == 0);
    }
    if (right) return {};
    return fail(
        ErrorCode::input,
        "{}: moves unit {} of table {} to {} ({}), which cannot be; the file is damaged and nothing was changed", path,
        entry.index, entry.table, entry.value, entry.what);
  };
  return MovesLog::replay(path, m_checkpoint.generation, uuidHash(m_super), check, put);
}

Result<void> RowStore::redoMoves() {
  return readLogged([this](const MoveEntry& entry) {
    if (entry.what == MoveEntry::slot) {
      m_slotted[entry.table]->redo(entry.index, entry.value);
    } else {
      auto* const halves = reinterpret_cast<std::uint32_t*>(m_touchedMaps[entry.table].data() + kPage);
      std::atomic_ref<std::uint32_t>(halves[entry.index]).store(entry.value, std::memory_order_relaxed);
    }
  });
}

/// Killed or powered off under the direct engine: its last checkpoint, and a clean mark.
Result<void> RowStore::settleDirect() {
  DSA_TRY(checkLivePage(m_checkpoint));
  if (live().clean == 1) return {};
  DSA_TRY(redoMoves());
  for (const auto& table : m_slotted) {
    if (table == nullptr) continue;
    DSA_TRY(table->commit());
    DSA_TRY(table->syncMap());
  }
  live().states[m_checkpoint.step % 2] = m_checkpoint.state;
  publish(live().step, m_checkpoint.step);
  DSA_TRY(syncAll());
  publish(live().clean, 1);
  DSA_TRY(sync(m_storeFile));
  m_recovery = Recovery::lastCheckpoint;
  return {};
}

/// For the engine mmap: rows that lie in slots go to their places in NAME.rows, then the slots are given up. A kill in
/// between leaves them, and the next open begins again.
Result<void> RowStore::bringHome() {
  DSA_TRY(openSlotted(true));
  if (std::none_of(m_slotted.begin(), m_slotted.end(), [](const auto& table) { return table != nullptr; })) return {};
  DSA_TRY(settleDirect());
  for (std::uint32_t t = 0; t < m_slotted.size(); ++t) {
    if (m_slotted[t] != nullptr) DSA_TRY(copyHome(t));
  }
  DSA_TRY(syncAll());
  for (std::uint32_t t = 0; t < m_slotted.size(); ++t) {
    if (m_slotted[t] == nullptr) continue;
    m_slotted[t].reset();
    DSA_TRY(SlottedTable::remove(m_folder, m_shape.tables[t]));
  }
  std::error_code ignored;
  std::filesystem::remove(names::moves(m_folder), ignored);
  return {};
}

Result<void> RowStore::copyHome(std::uint32_t t) {
  const SlottedTable& table = *m_slotted[t];
  const UnitLayout& layout = table.layout();
  const auto io = DirectIo::make();
  UnitReader reader(table, t, m_shape, m_touched[t], rowsLayout(t));
  DSA_ASSIGN(const Mapping buffer, Mapping::anonymous(kUnitsHome * layout.slotBytes));
  std::vector<DirectRequest> requests;
  std::vector<std::uint64_t> units;
  const auto write = [&]() -> Result<void> {
    DSA_TRY(io->run(requests));
    reader.finish();
    for (std::size_t i = 0; i < units.size(); ++i) {
      const std::uint64_t first = layout.firstRow(units[i]);
      const std::uint64_t rows = layout.endRow(units[i]) - first;
      DSA_TRY(m_rowFiles[t].writeAt({buffer.data() + i * layout.slotBytes, rows * layout.recordBytes},
                                    kPage + first * layout.recordBytes));
    }
    requests.clear();
    units.clear();
    return {};
  };
  for (std::uint64_t row = m_touched[t].next(0); row < m_shape.tables[t].rows;) {
    const std::uint64_t unit = row / layout.rowsPerUnit;
    if (table.slotOf(unit) != 0) {
      DSA_TRY(reader.add(unit, buffer.data() + units.size() * layout.slotBytes, requests));
      units.push_back(unit);
      if (units.size() == kUnitsHome) DSA_TRY(write());
    }
    row = m_touched[t].next(layout.firstRow(unit + 1));
  }
  return write();
}

/// Slots for each table, empty where there were none; their log; the folder durable.
Result<void> RowStore::makeSlotted() {
  for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) {
    if (!SlottedTable::isThere(m_folder, m_shape.tables[t]))
      DSA_TRY(SlottedTable::create(m_folder, t, m_shape.tables[t], m_super.uuid));
  }
  {
    // An empty generation, before the flag says that the log counts.
    DSA_ASSIGN(MovesLog log, MovesLog::open(names::moves(m_folder), uuidHash(m_super)));
    log.begin(m_checkpoint.generation);
    DSA_TRY(log.finish());
  }
  DSA_TRY(syncFolder(m_folder));
  DSA_TRY(openSlotted(true));
  for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) {
    const std::uint64_t bytes = kPage + names::touchedBytes(m_shape.tables[t]);
    DSA_ASSIGN(m_touchedMaps[t], Mapping::map(m_touchedFiles[t], bytes, Mapping::Kind::privateCopy));
    m_touched[t] = TouchedBits(m_touchedMaps[t].data() + kPage, m_shape.tables[t].rows);
  }
  return {};
}

Result<std::unique_ptr<RowStore>> RowStore::openForDirect(const std::string& folder, const RowKernels& kernels) {
  std::unique_ptr<RowStore> store(new RowStore);
  store->m_folder = folder;
  store->m_durability = Durability::process;
  store->m_kernels = kernels;
  if (!std::filesystem::exists(names::store(folder)))
    return fail(ErrorCode::input, "{}: no table here (store.dsa is missing)", folder);
  DSA_ASSIGN(store->m_lock, StoreLock::take(folder));
  DSA_TRY(store->openFiles(true));
  store->m_writable = true;
  DSA_TRY(store->openSlotted(true));
  DSA_TRY(store->readCheckpoint(store->m_checkpoint));
  if (store->live().clean == 1 || store->live().direct == 1) {
    DSA_TRY(store->settleDirect());
  } else {
    DSA_TRY(store->recover());
    DSA_TRY(store->markClosed());
  }
  DSA_TRY(store->makeSlotted());
  store->m_durability = Durability::power;  // from here on the last checkpoint is what everything leads back to
  return store;
}

void RowStore::readSlotted(std::uint32_t t, std::uint64_t row, std::span<float> values) const {
  const SlottedTable& table = *m_slotted[t];
  const UnitLayout& layout = table.layout();
  const std::uint64_t unit = row / layout.rowsPerUnit;
  std::vector<std::byte> memory(layout.slotBytes + kSector);
  void* place = memory.data();
  std::size_t space = memory.size();
  auto* const slot = static_cast<std::byte*>(std::align(kSector, layout.slotBytes, place, space));
  std::optional<std::shared_lock<std::shared_mutex>> held;
  if (m_overlay != nullptr) held = m_overlay->hold();
  if (m_overlay == nullptr || !m_overlay->copyUnit(t, unit, slot)) {
    UnitReader reader(table, t, m_shape, m_touched[t], rowsLayout(t));
    std::vector<DirectRequest> requests;
    bool read = reader.add(unit, slot, requests).has_value();
    for (const DirectRequest& request : requests)
      read = read && request.file->readAt({request.data, request.bytes}, request.offset).has_value();
    if (read)
      reader.finish();
    else
      std::fill(memory.begin(), memory.end(), std::byte{0});
  }
  std::memcpy(values.data(), slot + (row - layout.firstRow(unit)) * layout.recordBytes, values.size_bytes());
}

}  // namespace dsa
