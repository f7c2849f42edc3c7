// SPDX-License-Identifier: Apache-2.0
// The records of a table as one run of bytes: NAME.rows or, of a table longer than a segment, NAME.rows, NAME.rows.1,
// ..
//
// Why segments: Linux writes a file back whole once its first dirty page is 30 s old. Where it could do so within one
// turn (half a second of the disk's bandwidth, 4 MiB at least) the file has another 30 s; a larger one keeps its place
// in the queue, and a table that is changed all the time is written again and again without end (fs/fs-writeback.c,
// requeue_inode). ARCHITECTURE.md has the figures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/store/format.h"

namespace dsa {

/// Where a table's records lie. Offsets are those of a single file: a header page, then the content. Each further
/// segment has a header page of its own, which they do not count.
struct RowFileLayout {
  std::string path;                ///< of the first segment
  std::uint64_t contentBytes = 0;  ///< of all
  std::uint64_t segmentBytes = 0;  ///< content of each but the last, whole pages; as much as there is: one file

  [[nodiscard]] std::uint64_t segments() const {
    return std::max<std::uint64_t>(1, (contentBytes + segmentBytes - 1) / segmentBytes);
  }
  [[nodiscard]] std::string pathOf(std::uint64_t segment) const {
    return segment == 0 ? path : path + "." + std::to_string(segment);
  }
  [[nodiscard]] std::uint64_t contentOf(std::uint64_t segment) const {
    return std::min(segmentBytes, contentBytes - segment * segmentBytes);
  }
  [[nodiscard]] std::uint64_t size() const { return kPage + contentBytes; }
};

/// The segments of a table, open. Thread: as File.
class RowFile {
 public:
  /// Of a range: bytes from `offset` of a segment's file on.
  struct Part {
    const File* file;
    std::uint64_t offset;
    std::uint64_t begin;  ///< of the range, from its first byte on
    std::uint64_t bytes;
  };

  /// Makes them as createContentFile() does. Error machine: one exists, or no space.
  static Result<void> create(const RowFileLayout& layout, std::uint32_t table, const unsigned char* uuid);
  /// Opens and checks them as openContentFile() does.
  static Result<RowFile> open(const RowFileLayout& layout, std::uint32_t table, const unsigned char* uuid,
                              File::Mode mode);
  /// A second time, to read: no header is looked at.
  static Result<RowFile> reopen(const RowFileLayout& layout, int extraFlags = 0);
  /// The same by openDirect(); `direct`: all of them.
  static Result<RowFile> reopenDirect(const RowFileLayout& layout, bool& direct);
  /// What a segment's header has in place of the table's number.
  [[nodiscard]] static std::uint32_t numberOf(std::uint32_t table, std::uint64_t segment) {
    return table | static_cast<std::uint32_t>(segment) << 8;
  }

  [[nodiscard]] const RowFileLayout& layout() const { return m_layout; }
  [[nodiscard]] const std::string& path() const { return m_layout.path; }
  [[nodiscard]] bool isOpen() const { return !m_files.empty(); }
  [[nodiscard]] std::span<const File> files() const { return m_files; }

  /// Calls f(part) for each segment that [offset, offset + bytes) meets, in order; ends with f's first error.
  template <class F>
  Result<void> forParts(std::uint64_t offset, std::uint64_t bytes, F&& f) const {
    for (std::uint64_t begin = 0; begin < bytes;) {
      const std::uint64_t at = offset + begin;
      const std::uint64_t segment =
          at < kPage ? 0 : std::min<std::uint64_t>((at - kPage) / m_layout.segmentBytes, m_files.size() - 1);
      const std::uint64_t first = segment * m_layout.segmentBytes;
      // The last one takes what lies beyond its end, too: whoever reads says that it is short.
      const std::uint64_t room =
          segment + 1 == m_files.size() ? bytes - begin : kPage + first + m_layout.segmentBytes - at;
      const Part part{&m_files[segment], at - first, begin, std::min(room, bytes - begin)};
      DSA_TRY(f(part));
      begin += part.bytes;
    }
    return {};
  }

  Result<void> readAt(std::span<std::byte> bytes, std::uint64_t offset) const;
  Result<void> writeAt(std::span<const std::byte> bytes, std::uint64_t offset) const;
  /// POSIX_FADV_* of a range; 0 bytes: of everything. Gives the first errno.
  int advise(std::uint64_t offset, std::uint64_t bytes, int advice) const;
  /// All of them, one behind the other: byte i of the mapping is that of offset i.
  Result<Mapping> map(Mapping::Kind kind) const;

 private:
  /// Each segment by openOne(segment).
  template <class F>
  static Result<RowFile> openEach(const RowFileLayout& layout, F&& openOne) {
    RowFile rows;
    rows.m_layout = layout;
    for (std::uint64_t s = 0; s < layout.segments(); ++s) {
      DSA_ASSIGN(File file, openOne(s));
      rows.m_files.push_back(std::move(file));
    }
    return rows;
  }

  RowFileLayout m_layout;
  std::vector<File> m_files;
};

}  // namespace dsa
