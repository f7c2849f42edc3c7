// SPDX-License-Identifier: Apache-2.0
#include "core/store/row_writer.h"

#include <algorithm>
#include <vector>

#include "core/store/store_names.h"

namespace dsa {

Result<RowWriter> RowWriter::create(const std::string& folder, const TableShape& table, std::uint32_t t,
                                    const unsigned char* uuid) {
  RowWriter writer;
  writer.m_folder = folder;
  writer.m_table = table;
  writer.m_number = t;
  writer.m_uuid = uuid;
  DSA_ASSIGN(File rows, createUnfinished(names::rows(folder, table), names::kRowsMagic, t, uuid,
                                         table.rows * names::stride(table), Space::allocated));
  writer.m_rows = BulkFile(std::move(rows), kPage);
  return writer;
}

Result<void> RowWriter::add(std::span<const float> record) {
  DSA_CHECK(record.size() == m_table.recordFloats() && m_count < m_table.rows);
  ++m_count;
  return m_rows.add(std::as_bytes(record));
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
  DSA_TRY(nameFinished(names::rows(m_folder, m_table)));
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
