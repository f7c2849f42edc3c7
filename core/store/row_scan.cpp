// SPDX-License-Identifier: Apache-2.0
#include "core/store/row_scan.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/rows/row_init.h"
#include "core/store/slotted_table.h"

namespace dsa {

namespace {

// Pages that are read along rather than left out: a request of its own costs 120 us at depth 1, in which the disk gives
// 180 KB in a row.
constexpr std::uint64_t kReadAlong = 32;

/// The kernel tells others than the owner, root and those who may write that every page is cached (mm/mincore.c).
bool kernelTellsResidency(std::span<const File> files) {
  return std::all_of(files.begin(), files.end(), [](const File& file) {
    struct stat info {};
    if (::sysconf(_SC_PAGESIZE) != static_cast<long>(kPage) || ::fstat(file.fd(), &info) != 0) return false;
    return ::geteuid() == info.st_uid || ::geteuid() == 0 ||
           ::faccessat(AT_FDCWD, file.path().c_str(), W_OK, AT_EACCESS) == 0;
  });
}

/// Calls f(begin, end) for each longest run of pages for which `in` holds, joined over at most `gap` others.
template <class In, class F>
Result<void> forRuns(std::uint64_t pages, std::uint64_t gap, In&& in, F&& f) {
  for (std::uint64_t begin = 0; begin < pages;) {
    if (!in(begin)) {
      ++begin;
      continue;
    }
    std::uint64_t end = begin + 1;
    for (std::uint64_t i = end; i < pages && i - end <= gap; ++i) {
      if (in(i)) end = i + 1;
    }
    DSA_TRY(f(begin, end));
    begin = end;
  }
  return {};
}

}  // namespace

/// The pages of a block, from `offset` in the file on.
struct RowScan::Pages {
  std::uint64_t offset = 0;
  std::vector<unsigned char> needed;  // a touched row lies there
  std::vector<unsigned char> cached;  // 1: in the page cache
  bool known = false;                 // `cached` is true, not a guess
};

RowScan::RowScan(const RowStore& store, std::uint32_t table, ScanRows rows)
    : m_store(store),
      m_table(table),
      m_rows(rows),
      m_shape(store.shape().tables[table]),
      m_stride(m_shape.recordFloats() * sizeof(float)),
      m_map(reinterpret_cast<const std::byte*>(store.record(table, 0)) - kPage) {}

Result<std::unique_ptr<RowScan>> RowScan::open(const RowStore& store, std::uint32_t table, ScanRows rows) {
  DSA_CHECK(table < store.shape().tables.size());
  std::unique_ptr<RowScan> scan(new RowScan(store, table, rows));
  DSA_ASSIGN(scan->m_cachedFile, RowFile::reopen(store.rowsLayout(table)));
  scan->m_cachedFile.advise(0, 0, POSIX_FADV_RANDOM);
  scan->m_mayAskCache = kernelTellsResidency(scan->m_cachedFile.files());
  if (auto direct = RowFile::reopen(store.rowsLayout(table), O_DIRECT); direct) {
    scan->m_directFile = std::move(*direct);
    scan->m_directFile.advise(0, 0, POSIX_FADV_RANDOM);
    scan->m_direct = true;
  }
  DSA_ASSIGN(scan->m_buffer, Mapping::anonymous(scan->bufferBytes(scan->rowsInBlock())));
  return scan;
}

std::uint64_t RowScan::rowsInBlock() const { return std::max<std::uint64_t>(1, kBlockBytes / m_stride); }

/// They begin and end anywhere in a page.
std::uint64_t RowScan::bufferBytes(std::uint64_t rows) const { return wholePages(rows * m_stride) + kPage; }

Result<std::optional<RowBlock>> RowScan::next() {
  const std::uint64_t first = m_rows == ScanRows::touched ? m_store.touchedBits(m_table).next(m_next) : m_next;
  if (first >= m_shape.rows) {
    DSA_TRY(m_store.intact());
    return std::nullopt;
  }
  RowBlock block;
  block.first = first;
  block.count = std::min(rowsInBlock(), m_shape.rows - first);
  block.recordFloats = m_shape.recordFloats();
  DSA_ASSIGN(float* const records, load(first, block.count, m_stride, m_buffer.data()));
  if (m_rows == ScanRows::all) {
    for (std::uint64_t i = 0; i < block.count; ++i) {
      if (!m_store.touched(m_table, first + i)) fillInitial(first + i, records + i * block.recordFloats);
    }
  }
  // The touched bits are read in place.
  DSA_TRY(m_store.intact());
  block.records = records;
  m_next = first + block.count;
  return block;
}

Result<void> RowScan::readWeights(std::uint64_t begin, std::uint64_t count, float* out) const {
  DSA_CHECK(begin <= m_shape.rows && count <= m_shape.rows - begin);
  DSA_ASSIGN(const Mapping buffer, Mapping::anonymous(bufferBytes(std::min(count, rowsInBlock()))));
  const std::uint64_t floats = m_shape.recordFloats();
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t rows = std::min(rowsInBlock(), count - done);
    DSA_ASSIGN(const float* const records, load(begin + done, rows, m_shape.dim * sizeof(float), buffer.data()));
    for (std::uint64_t i = 0; i < rows; ++i, ++done, out += m_shape.dim) {
      if (m_store.touched(m_table, begin + done))
        std::copy_n(records + i * floats, m_shape.dim, out);
      else
        initialWeights(m_store.shape().seed, m_table, begin + done, m_shape.dim, m_shape.initScale, out);
    }
  }
  return m_store.intact();
}

void RowScan::fillInitial(std::uint64_t row, float* record) const {
  initialWeights(m_store.shape().seed, m_table, row, m_shape.dim, m_shape.initScale, record);
  std::fill(record + m_shape.dim, record + m_shape.recordFloats(), 0.0f);
}

/// The first `width` bytes, at least, of the records of the touched rows among these to the buffer. Gives the place of
/// the first record in it.
Result<float*> RowScan::load(std::uint64_t first, std::uint64_t count, std::uint64_t width, std::byte* buffer) const {
  if (m_store.slotted(m_table) != nullptr) return loadUnits(first, count, buffer);
  const std::uint64_t begin = kPage + first * m_stride;
  Pages pages;
  pages.offset = begin / kPage * kPage;
  const std::uint64_t length = wholePages(begin + count * m_stride - pages.offset) / kPage;
  pages.needed.assign(length, 0);
  const TouchedBits& touched = m_store.touchedBits(m_table);
  const std::uint64_t end = first + count;
  for (std::uint64_t row = touched.next(first, end); row < end; row = touched.next(row + 1, end)) {
    const std::uint64_t from = kPage + row * m_stride - pages.offset;
    for (std::uint64_t p = from / kPage; p <= (from + width - 1) / kPage; ++p) pages.needed[p] = 1;
  }
  pages.cached.assign(length, 0);
  pages.known = askResidency(pages.offset, pages.cached);
  // The cached ones last: what a direct read brought of them was whole, but is older.
  DSA_TRY(readUncached(pages, buffer));
  DSA_TRY(readCached(pages, buffer));
  return reinterpret_cast<float*>(buffer + (begin - pages.offset));
}

/// The same where the direct engine keeps the rows: whole units, from its memory where they are newer there.
Result<float*> RowScan::loadUnits(std::uint64_t first, std::uint64_t count, std::byte* buffer) const {
  const SlottedTable& slotted = *m_store.slotted(m_table);
  const UnitLayout& layout = slotted.layout();
  const std::uint64_t firstUnit = first / layout.rowsPerUnit;
  const std::uint64_t units = (first + count - 1) / layout.rowsPerUnit - firstUnit + 1;
  DSA_ASSIGN(const Mapping memory, Mapping::anonymous(wholePages(units * layout.slotBytes)));
  const auto io = DirectIo::make();
  const TouchedBits& touched = m_store.touchedBits(m_table);
  const std::uint64_t end = first + count;
  UnitReader reader(slotted, m_table, m_store.shape(), touched, m_store.rowsLayout(m_table));
  std::vector<DirectRequest> requests;
  {
    std::optional<std::shared_lock<std::shared_mutex>> held;
    if (m_store.overlay() != nullptr) held = m_store.overlay()->hold();
    for (std::uint64_t row = touched.next(first, end); row < end;) {
      const std::uint64_t unit = row / layout.rowsPerUnit;
      std::byte* const slot = memory.data() + (unit - firstUnit) * layout.slotBytes;
      if (m_store.overlay() == nullptr || !m_store.overlay()->copyUnit(m_table, unit, slot))
        DSA_TRY(reader.add(unit, slot, requests));
      row = touched.next(layout.firstRow(unit + 1), end);
    }
    DSA_TRY(io->run(requests));
    reader.finish();
  }
  for (std::uint64_t row = touched.next(first, end); row < end; row = touched.next(row + 1, end)) {
    const std::uint64_t unit = row / layout.rowsPerUnit;
    const std::byte* const slot = memory.data() + (unit - firstUnit) * layout.slotBytes;
    std::memcpy(buffer + (row - first) * m_stride, slot + (row - layout.firstRow(unit)) * layout.recordBytes, m_stride);
  }
  return reinterpret_cast<float*>(buffer);
}

/// False where the kernel does not tell; nothing is known then.
bool RowScan::askResidency(std::uint64_t offset, std::span<unsigned char> states) const {
  if (!m_mayAskCache) return false;
  // The mapping is not read and gets no page tables by this.
  if (::mincore(const_cast<std::byte*>(m_map) + offset, states.size() * kPage, states.data()) != 0) {
    std::fill(states.begin(), states.end(), std::uint8_t{0});
    return false;
  }
  for (unsigned char& state : states) state &= 1u;
  return true;
}

Result<void> RowScan::readUncached(const Pages& pages, std::byte* buffer) const {
  const auto missing = [&](std::uint64_t p) { return pages.needed[p] != 0 && pages.cached[p] == 0; };
  return forRuns(pages.needed.size(), direct() ? kReadAlong : 0, missing,
                 [&](std::uint64_t from, std::uint64_t to) -> Result<void> {
                   const std::span<std::byte> bytes(buffer + from * kPage, (to - from) * kPage);
                   const std::uint64_t offset = pages.offset + from * kPage;
                   if (direct()) {
                     DSA_ASSIGN(const bool done, readDirectly(offset, bytes));
                     if (done) return {};
                   }
                   return forRuns(
                       to - from, 0, [&](std::uint64_t p) { return missing(from + p); },
                       [&](std::uint64_t a, std::uint64_t b) {
                         return readSmall(offset + a * kPage, bytes.subspan(a * kPage, (b - a) * kPage), pages.known);
                       });
                 });
}

/// Cached pages again where a direct read went over them: a copy costs less than to remember which.
Result<void> RowScan::readCached(const Pages& pages, std::byte* buffer) const {
  return forRuns(
      pages.needed.size(), 0, [&](std::uint64_t p) { return pages.needed[p] != 0 && pages.cached[p] != 0; },
      [&](std::uint64_t from, std::uint64_t to) {
        return readWhole(pages.offset + from * kPage, {buffer + from * kPage, (to - from) * kPage});
      });
}

/// False: this file system has no direct reads after all; they are not tried again, and the bytes are to be read anew.
Result<bool> RowScan::readDirectly(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::vector<unsigned char> before(bytes.size() / kPage), now(before.size());
  const bool watch = !m_directSeen.load(std::memory_order_relaxed) && askResidency(offset, before);
  const std::uint64_t end = kPage + m_shape.rows * m_stride;
  bool refused = false;
  DSA_TRY(m_directFile.forParts(offset, bytes.size(), [&](const RowFile::Part& part) -> Result<void> {
    // The table's end is no page's.
    const std::uint64_t there = std::min(part.bytes, end - std::min(end, offset + part.begin));
    for (std::uint64_t done = 0; !refused && done < there;) {
      const ssize_t got = ::pread(part.file->fd(), bytes.data() + part.begin + done, part.bytes - done,
                                  static_cast<off_t>(part.offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno != EINVAL) return failErrno(part.file->path(), "read", errno);
      refused = got < 0;
      if (got == 0) {
        return fail(ErrorCode::input, "{}: ends at byte {}, expected {}; the file is cut short", part.file->path(),
                    part.offset + done, part.offset + there);
      }
      if (!refused) done += static_cast<std::uint64_t>(got);
    }
    return {};
  }));
  if (refused) {
    m_direct = false;
    return false;
  }
  if (!watch || !askResidency(offset, now)) return true;
  // Encrypted, compressed or journalled files: O_DIRECT is taken and the page cache used. Give back what came.
  const auto came = [&](std::uint64_t p) { return before[p] == 0 && now[p] != 0; };
  bool any = false;
  DSA_TRY(forRuns(now.size(), 0, came, [&](std::uint64_t a, std::uint64_t b) -> Result<void> {
    any = true;
    m_cachedFile.advise(offset + a * kPage, (b - a) * kPage, POSIX_FADV_DONTNEED);
    return {};
  }));
  if (any) m_direct = false;
  m_directSeen = true;
  return true;
}

/// Pages that are not cached, through the page cache.
Result<void> RowScan::readSmall(std::uint64_t offset, std::span<std::byte> bytes, bool giveBack) const {
  DSA_TRY(readWhole(offset, bytes));
  if (giveBack) m_cachedFile.advise(offset, bytes.size(), POSIX_FADV_DONTNEED);
  return {};
}

/// Up to the table's end, which may lie within the last page.
Result<void> RowScan::readWhole(std::uint64_t offset, std::span<std::byte> bytes) const {
  const std::uint64_t end = kPage + m_shape.rows * m_stride;
  return m_cachedFile.readAt(bytes.first(std::min<std::uint64_t>(bytes.size(), end - offset)), offset);
}

}  // namespace dsa
