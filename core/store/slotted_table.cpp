// SPDX-License-Identifier: Apache-2.0
#include "core/store/slotted_table.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/rows/row_init.h"
#include "core/store/store_names.h"

namespace dsa {

namespace {

// The slab grows by so much at a time, and to one and a half times what is in use: then free slots still come in runs.
constexpr std::uint64_t kGrowBytes = 64ull << 20;
constexpr std::uint64_t kBounceBytes = 1ull << 20;

std::uint64_t mapBytes(const UnitLayout& layout) { return std::max<std::uint64_t>(1, layout.units) * 4; }

}  // namespace

UnitLayout UnitLayout::of(const TableShape& table) {
  UnitLayout layout;
  layout.recordBytes = table.recordFloats() * sizeof(float);
  layout.rowsPerUnit = std::max<std::uint64_t>(1, kSector / layout.recordBytes);
  layout.slotBytes = wholeSectors(layout.rowsPerUnit * layout.recordBytes);
  layout.units = (table.rows + layout.rowsPerUnit - 1) / layout.rowsPerUnit;
  layout.rows = table.rows;
  return layout;
}

bool SlottedTable::isThere(const std::string& folder, const TableShape& table) {
  std::error_code ignored;
  return std::filesystem::exists(names::slotMap(folder, table), ignored);
}

Result<void> SlottedTable::create(const std::string& folder, std::uint32_t t, const TableShape& table,
                                  const unsigned char* uuid) {
  const UnitLayout layout = UnitLayout::of(table);
  if (layout.units >= std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::usage,
                "{}: {} rows are more than the direct engine can keep ({}); nothing was changed. Take the engine mmap",
                folder, table.rows, (layout.rowsPerUnit * std::numeric_limits<std::uint32_t>::max()));
  }
  // A slab without a map is a remain of a removal; it holds nothing that counts.
  std::error_code ignored;
  if (isFinishedFile(names::slab(folder, table), names::kSlabMagic))
    std::filesystem::remove(names::slab(folder, table), ignored);
  for (const std::string& path : {names::slab(folder, table), names::slotMap(folder, table)}) {
    const char* const magic = path.ends_with(".slab") ? names::kSlabMagic : names::kSlotsMagic;
    if (isUnfinishedFile(path + kUnfinished, magic)) std::filesystem::remove(path + kUnfinished, ignored);
  }
  DSA_TRY(createContentFile(names::slab(folder, table), names::kSlabMagic, t, uuid, 0, Space::sparse));
  return createContentFile(names::slotMap(folder, table), names::kSlotsMagic, t, uuid, mapBytes(layout),
                           Space::allocated);
}

Result<SlottedTable> SlottedTable::open(const std::string& folder, std::uint32_t t, const TableShape& table,
                                        const unsigned char* uuid, bool writable) {
  SlottedTable slotted;
  slotted.m_layout = UnitLayout::of(table);
  const std::uint64_t bytes = mapBytes(slotted.m_layout);
  const File::Mode mode = writable ? File::Mode::readWrite : File::Mode::readOnly;
  DSA_ASSIGN(slotted.m_mapFile,
             openContentFile(names::slotMap(folder, table), names::kSlotsMagic, t, uuid, bytes, mode));
  {
    DSA_ASSIGN(const File slab, openContentFile(names::slab(folder, table), names::kSlabMagic, t, uuid, 0, mode));
    DSA_ASSIGN(const std::uint64_t size, slab.size());
    slotted.m_slabSlots = (size - kPage) / slotted.m_layout.slotBytes;
  }
  DSA_ASSIGN(slotted.m_slab, openDirect(names::slab(folder, table), mode, slotted.m_direct));
  DSA_ASSIGN(slotted.m_map, Mapping::map(slotted.m_mapFile, kPage + bytes, Mapping::Kind::privateCopy));
  DSA_ASSIGN(slotted.m_committed, Mapping::map(slotted.m_mapFile, kPage + bytes, Mapping::Kind::sharedReadOnly));
  const std::uint64_t words = TouchedBits::bytesFor(slotted.m_layout.units);
  DSA_ASSIGN(slotted.m_movedWords, Mapping::anonymous(std::max<std::uint64_t>(kPage, words)));
  slotted.m_moved = TouchedBits(slotted.m_movedWords.data(), slotted.m_layout.units);
  if (writable) DSA_TRY(slotted.findFree());
  return slotted;
}

Result<void> SlottedTable::remove(const std::string& folder, const TableShape& table) {
  // The map first: a slab alone means nothing, a map without its slab would name rows that are gone.
  for (const std::string& path : {names::slotMap(folder, table), names::slab(folder, table)}) {
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return failErrno(path, "delete", error.value());
    DSA_TRY(syncFolder(folder));
  }
  return {};
}

Result<void> SlottedTable::intact() const {
  struct stat now {};
  if (::fstat(m_slab.fd(), &now) != 0) return failErrno(m_slab.path(), "look at", errno);
  const std::uint64_t expected = kPage + m_slabSlots * m_layout.slotBytes;
  if (now.st_nlink == 0)
    return fail(ErrorCode::machine, "{}: removed by another program while it was in use", m_slab.path());
  if (static_cast<std::uint64_t>(now.st_size) < expected) {
    return fail(ErrorCode::machine, "{}: cut short by another program while it was in use ({} bytes long, expected {})",
                m_slab.path(), now.st_size, expected);
  }
  return {};
}

void SlottedTable::setUsed(std::uint32_t slot, bool used) {
  if (isUsed(slot) == used) return;
  m_used[(slot - 1) / 64] ^= std::uint64_t{1} << ((slot - 1) % 64);
  m_usedSlots += used ? 1 : std::uint64_t(-1);
}

Result<void> SlottedTable::findFree() {
  m_used.assign((m_slabSlots + 63) / 64, 0);
  // Only where the map has data: a hole names no slot.
  const auto end = static_cast<off_t>(kPage + m_layout.units * 4);
  for (off_t at = static_cast<off_t>(kPage); at < end;) {
    off_t data = ::lseek(m_mapFile.fd(), at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    off_t hole = data < 0 ? end : ::lseek(m_mapFile.fd(), data, SEEK_HOLE);
    if (data < 0) data = at;  // a file system that knows no holes
    if (hole < 0 || hole > end) hole = end;
    const auto first = (static_cast<std::uint64_t>(data) - kPage) / 4;
    const auto last = (static_cast<std::uint64_t>(hole) - kPage + 3) / 4;
    for (std::uint64_t unit = first; unit < std::min(last, m_layout.units); ++unit) {
      const std::uint32_t slot = committed()[unit];
      if (slot == 0) continue;
      if (!holds(slot) || isUsed(slot)) {
        return fail(ErrorCode::input,
                    "{}: unit {} lies in slot {}, expected one of 1 to {} that no other has; the file is damaged and "
                    "nothing was changed",
                    m_mapFile.path(), unit, slot, m_slabSlots);
      }
      setUsed(slot, true);
    }
    at = hole;
  }
  return {};
}

Result<void> SlottedTable::grow(std::uint64_t count) {
  const std::uint64_t step = std::max(count, std::min(kGrowBytes / m_layout.slotBytes, m_layout.units / 4 + 1));
  const std::uint64_t slots = m_slabSlots + step;
  if (slots >= std::numeric_limits<std::uint32_t>::max())
    return fail(ErrorCode::machine, "{}: more slots than can be numbered; checkpoint more often", m_slab.path());
  DSA_TRY(m_slab.resize(kPage + slots * m_layout.slotBytes));
  m_cursor = m_slabSlots;
  m_slabSlots = slots;
  m_used.resize((slots + 63) / 64, 0);
  return {};
}

Result<void> SlottedTable::allocate(std::uint64_t count, std::vector<std::uint32_t>& taken) {
  taken.clear();
  if ((m_usedSlots + count) * 3 > m_slabSlots * 2) DSA_TRY(grow(count));
  taken.reserve(count);
  // There are enough: the slab has half as many again.
  while (taken.size() < count) {
    if (m_cursor >= m_slabSlots) m_cursor = 0;
    const std::uint64_t word = m_used[m_cursor / 64] >> (m_cursor % 64);
    if (word == ~std::uint64_t{0} >> (m_cursor % 64)) {
      m_cursor = (m_cursor / 64 + 1) * 64;
      continue;
    }
    if ((word & 1) == 0) {
      taken.push_back(static_cast<std::uint32_t>(m_cursor + 1));
      setUsed(taken.back(), true);
    }
    ++m_cursor;
  }
  std::sort(taken.begin(), taken.end());
  return {};
}

void SlottedTable::move(std::uint64_t unit, std::uint32_t slot) {
  // What the checkpoint names stays until the next one is durable.
  if (m_moved.test(unit)) setUsed(slotWords()[unit], false);
  slotWords()[unit] = slot;
  m_moved.set(unit);
}

void SlottedTable::redo(std::uint64_t unit, std::uint32_t slot) {
  if (!m_used.empty()) {
    // The file may hold the move already, or the slot before it.
    if (slotWords()[unit] != 0) setUsed(slotWords()[unit], false);
    setUsed(slot, true);
  }
  slotWords()[unit] = slot;
  m_moved.set(unit);
}

Result<void> SlottedTable::commit() {
  constexpr std::uint64_t kUnitsAPage = kPage / 4;
  const std::uint64_t words = TouchedBits::bytesFor(m_layout.units);
  for (std::uint64_t unit = m_moved.next(0); unit < m_layout.units;) {
    const std::uint64_t first = unit / kUnitsAPage * kUnitsAPage;
    const std::uint64_t last = std::min(first + kUnitsAPage, m_layout.units);
    for (; unit < last; unit = m_moved.next(unit + 1)) {
      const std::uint32_t left = committed()[unit];
      if (left != 0 && left != slotWords()[unit]) setUsed(left, false);
    }
    DSA_TRY(m_mapFile.writeAt(std::as_bytes(std::span(slotWords() + first, last - first)), kPage + first * 4));
  }
  // The private copies are the file's content now: give them back, time as many as were made.
  ::madvise(m_map.data(), m_map.size(), MADV_DONTNEED);
  ::madvise(m_movedWords.data(), std::max<std::uint64_t>(kPage, words), MADV_DONTNEED);
  return {};
}

Result<void> UnitReader::add(std::uint64_t unit, std::byte* slot, std::vector<DirectRequest>& requests) {
  const UnitLayout& layout = m_table->layout();
  const std::uint32_t at = m_table->slotOf(unit);
  if (at == 0) return addFromHome(unit, slot, requests);
  m_wanted.push_back({unit, slot, nullptr});
  requests.push_back(
      {DirectRequest::Kind::read, &m_table->slab(), SlottedTable::offsetOf(at, layout), slot, layout.slotBytes});
  return {};
}

Result<std::byte*> UnitReader::takeBounce(std::uint64_t bytes) {
  if (m_bounce < m_bounces.size() && m_bounceUsed + bytes > m_bounces[m_bounce].size()) {
    ++m_bounce;
    m_bounceUsed = 0;
  }
  if (m_bounce == m_bounces.size() || m_bounces[m_bounce].size() < bytes) {
    DSA_ASSIGN(Mapping more, Mapping::anonymous(std::max(kBounceBytes, bytes)));
    m_bounces.insert(m_bounces.begin() + static_cast<std::ptrdiff_t>(m_bounce), std::move(more));
    m_bounceUsed = 0;
  }
  std::byte* const taken = m_bounces[m_bounce].data() + m_bounceUsed;
  m_bounceUsed += bytes;
  return taken;
}

Result<void> UnitReader::addFromHome(std::uint64_t unit, std::byte* slot, std::vector<DirectRequest>& requests) {
  const UnitLayout& layout = m_table->layout();
  const TableShape& table = m_shape->tables[m_t];
  const std::uint64_t first = layout.firstRow(unit);
  const std::uint64_t end = layout.endRow(unit);
  m_wanted.push_back({unit, slot, nullptr});
  if (m_touched.next(first, end) == end) return {};  // nothing of it was ever written
  if (!m_home.isOpen()) {
    DSA_ASSIGN(m_home, RowFile::reopenDirect(m_homeLayout, m_homeDirect));
  }
  const std::uint64_t begin = kPage + first * layout.recordBytes;
  const std::uint64_t bytes = (end - first) * layout.recordBytes;
  const std::uint64_t from = begin / kSector * kSector;
  const std::uint64_t to = wholeSectors(begin + bytes);
  DSA_ASSIGN(std::byte* const bounce, takeBounce(to - from));
  m_wanted.back().bounce = bounce + (begin - from);
  if (!m_homeDirect || to > kPage + table.rows * layout.recordBytes) {
    // The table's end is no sector's.
    DSA_ASSIGN(const RowFile plain, RowFile::reopen(m_homeLayout));
    return plain.readAt({bounce + (begin - from), bytes}, begin);
  }
  return m_home.forParts(from, to - from, [&](const RowFile::Part& part) -> Result<void> {
    requests.push_back({DirectRequest::Kind::read, part.file, part.offset, bounce + part.begin, part.bytes});
    return {};
  });
}

void UnitReader::finish() {
  const UnitLayout& layout = m_table->layout();
  const TableShape& table = m_shape->tables[m_t];
  for (const Wanted& wanted : m_wanted) {
    const std::uint64_t first = layout.firstRow(wanted.unit);
    const std::uint64_t end = layout.endRow(wanted.unit);
    if (wanted.bounce != nullptr) std::memcpy(wanted.slot, wanted.bounce, (end - first) * layout.recordBytes);
    // Nothing of another row goes to the disk with it.
    if (m_table->slotOf(wanted.unit) == 0) {
      const std::uint64_t used = (end - first) * layout.recordBytes;
      std::memset(wanted.slot + used, 0, layout.slotBytes - used);
    }
    for (std::uint64_t row = first; row < end; ++row) {
      if (m_touched.test(row)) continue;
      auto* const record = reinterpret_cast<float*>(wanted.slot + (row - first) * layout.recordBytes);
      initialWeights(m_shape->seed, m_t, row, table.dim, table.initScale, record);
      std::fill(record + table.dim, record + table.recordFloats(), 0.0f);
    }
  }
  m_wanted.clear();
  m_bounce = 0;
  m_bounceUsed = 0;
}

}  // namespace dsa
