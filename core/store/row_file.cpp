// SPDX-License-Identifier: Apache-2.0
#include "core/store/row_file.h"

#include <fcntl.h>

#include "core/store/content_file.h"
#include "core/store/direct_io.h"
#include "core/store/store_names.h"

namespace dsa {

Result<void> RowFile::create(const RowFileLayout& layout, std::uint32_t table, const unsigned char* uuid) {
  for (std::uint64_t s = 0; s < layout.segments(); ++s)
    DSA_TRY(createContentFile(layout.pathOf(s), names::kRowsMagic, numberOf(table, s), uuid, layout.contentOf(s),
                              Space::sparse));
  return {};
}

Result<RowFile> RowFile::open(const RowFileLayout& layout, std::uint32_t table, const unsigned char* uuid,
                              File::Mode mode) {
  return openEach(layout, [&](std::uint64_t s) {
    return openContentFile(layout.pathOf(s), names::kRowsMagic, numberOf(table, s), uuid, layout.contentOf(s), mode);
  });
}

Result<RowFile> RowFile::reopen(const RowFileLayout& layout, int extraFlags) {
  return openEach(layout,
                  [&](std::uint64_t s) { return File::open(layout.pathOf(s), File::Mode::readOnly, extraFlags); });
}

Result<RowFile> RowFile::reopenDirect(const RowFileLayout& layout, bool& direct) {
  direct = true;
  return openEach(layout, [&](std::uint64_t s) {
    bool one = false;
    auto file = openDirect(layout.pathOf(s), File::Mode::readOnly, one);
    direct = direct && one;
    return file;
  });
}

Result<void> RowFile::readAt(std::span<std::byte> bytes, std::uint64_t offset) const {
  return forParts(offset, bytes.size(), [&](const Part& part) {
    return part.file->readAt(bytes.subspan(part.begin, part.bytes), part.offset);
  });
}

Result<void> RowFile::writeAt(std::span<const std::byte> bytes, std::uint64_t offset) const {
  return forParts(offset, bytes.size(), [&](const Part& part) {
    return part.file->writeAt(bytes.subspan(part.begin, part.bytes), part.offset);
  });
}

int RowFile::advise(std::uint64_t offset, std::uint64_t bytes, int advice) const {
  int failed = 0;
  const auto one = [&](const File& file, std::uint64_t from, std::uint64_t length) {
    const int error = ::posix_fadvise(file.fd(), static_cast<off_t>(from), static_cast<off_t>(length), advice);
    if (failed == 0) failed = error;
  };
  if (bytes == 0) {
    for (const File& file : m_files) one(file, 0, 0);
    return failed;
  }
  static_cast<void>(forParts(offset, bytes, [&](const Part& part) -> Result<void> {
    one(*part.file, part.offset, part.bytes);
    return {};
  }));
  return failed;
}

Result<Mapping> RowFile::map(Mapping::Kind kind) const {
  std::vector<Mapping::Piece> pieces;
  for (std::uint64_t s = 0; s < m_files.size(); ++s)
    pieces.push_back({&m_files[s], s == 0 ? 0 : kPage, m_layout.contentOf(s) + (s == 0 ? kPage : 0)});
  return Mapping::map(pieces, kind);
}

}  // namespace dsa
