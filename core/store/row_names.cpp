// SPDX-License-Identifier: Apache-2.0
#include "core/store/row_names.h"

#include "core/store/store_names.h"

namespace dsa {

Result<std::optional<RowNames>> RowNames::open(const RowStore& store, std::uint32_t table) {
  const std::string path = store.namesPath(table);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  // Nothing else says how long it should be: its header must agree with what is there.
  DSA_ASSIGN(const File there, File::open(path, File::Mode::readOnly));
  DSA_ASSIGN(const std::uint64_t size, there.size());
  const std::uint64_t content = size > kPage ? size - kPage : 0;
  DSA_ASSIGN(File file, openContentFile(path, names::kNamesMagic, table, store.uuid(), content, File::Mode::readOnly));
  DSA_ASSIGN(std::unique_ptr<SeekableBytes> bytes, fileBytes(std::move(file)));
  ByteReader reader(std::move(bytes), path);
  reader.seek(kPage);
  return RowNames(std::move(reader));
}

Result<std::string_view> RowNames::next() {
  DSA_ASSIGN(const std::optional<std::string_view> line, m_reader.line());
  if (line) return *line;
  return fail(ErrorCode::input, "{}: {} names, and more rows; the file is damaged and nothing was changed",
              m_reader.name(), m_reader.lineNumber());
}

}  // namespace dsa
