// SPDX-License-Identifier: Apache-2.0
#include "core/store/row_writer.h"

#include <algorithm>
#include <vector>

#include "core/store/store_names.h"

namespace dsa {

Result<RowWriter> RowWriter::create(const std::string& folder, const StoreShape& shape, std::uint32_t t,
                                    const unsigned char* uuid) {
  RowWriter writer;
  writer.m_folder = folder;
  writer.m_table = shape.tables[t];
  writer.m_number = t;
  writer.m_uuid = uuid;
  writer.m_layout = names::rowsLayout(folder, writer.m_table, shape.segmentBytes);
  for (std::uint64_t s = 0; s < writer.m_layout.segments(); ++s) {
    DSA_ASSIGN(File file, createUnfinished(writer.m_layout.pathOf(s), names::kRowsMagic, RowFile::numberOf(t, s), uuid,
                                           writer.m_layout.contentOf(s), Space::allocated));
    writer.m_segments.insert(writer.m_segments.begin(), std::move(file));
  }
  writer.nextSegment();
  return writer;
}

void RowWriter::nextSegment() {
  m_rows = BulkFile(std::move(m_segments.back()), kPage);
  m_segments.pop_back();
}

Result<void> RowWriter::add(std::span<const float> record) {
  DSA_CHECK(record.size() == m_table.recordFloats() && m_count < m_table.rows);
  ++m_count;
  for (std::span<const std::byte> bytes = std::as_bytes(record); !bytes.empty();) {
    if (m_rows.end() == kPage + m_layout.segmentBytes) {
      DSA_TRY(m_rows.finish());
      nextSegment();
    }
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), kPage + m_layout.segmentBytes - m_rows.end()));
    DSA_TRY(m_rows.add(part));
    bytes = bytes.subspan(part.size());
  }
  return {};
}

Result<void> RowWriter::addName(std::string_view name) {
  DSA_CHECK(m_nameCount == m_count && name.find('\n') == std::string_view::npos);
  if (!m_names) {
    DSA_ASSIGN(File file, File::open(names::rowNames(m_folder, m_table) + kUnfinished, File::Mode::createNew));
    m_names = BulkFile(std::move(file), kPage);
  }
  ++m_nameCount;
  DSA_TRY(m_names->add(std::as_bytes(std::span(name))));
  return m_names->add(std::as_bytes(std::span("\n", 1)));
}

/// The header last: the content's length is known only now. Until then the page is a hole, zeros.
Result<void> RowWriter::finishNames() {
  DSA_CHECK(m_nameCount == m_count);
  DSA_TRY(m_names->finish());
  DSA_TRY(writeFileHeader(m_names->file(), names::kNamesMagic, m_number, m_uuid, m_names->end() - kPage));
  DSA_TRY(m_names->file().sync());
  return nameFinished(names::rowNames(m_folder, m_table));
}

Result<void> RowWriter::finish() {
  DSA_CHECK(m_count == m_table.rows);
  DSA_TRY(m_rows.finish());
  for (std::uint64_t s = 0; s < m_layout.segments(); ++s) DSA_TRY(nameFinished(m_layout.pathOf(s)));
  return m_names ? finishNames() : Result<void>();
}

Result<void> createAllTouched(const std::string& folder, const TableShape& table, std::uint32_t t,
                              const unsigned char* uuid) {
  const std::string path = names::touched(folder, table);
  DSA_ASSIGN(File file,
             createUnfinished(path, names::kTouchedMagic, t, uuid, names::touchedBytes(table), Space::allocated));
  BulkFile bits(std::move(file), kPage);
  const std::vector<std::uint64_t> full(4096, ~std::uint64_t{0});
  for (std::uint64_t words = table.rows / 64; words > 0;) {
    const std::uint64_t some = std::min<std::uint64_t>(words, full.size());
    DSA_TRY(bits.add(std::as_bytes(std::span(full).first(some))));
    words -= some;
  }
  // Bits beyond the last row are 0, as a step leaves them.
  const std::uint64_t rest = (std::uint64_t{1} << (table.rows % 64)) - 1;
  if (rest != 0) DSA_TRY(bits.add(std::as_bytes(std::span(&rest, 1))));
  DSA_TRY(bits.finish());
  return nameFinished(path);
}

}  // namespace dsa
