// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the parsers of foreign tables (npy, word2vec, tsv, raw), from the first byte to the last row.
//
// Input: a byte of the format; the size of the pieces that are read (one byte); of raw the dim (8 bytes); the file.
#include <bit>
#include <cmath>
#include <vector>

#include "allocations.h"
#include "core/exchange/row_reader.h"
#include "fuzz_input.h"

using namespace dsa;

namespace {

constexpr TableFormat kFormats[] = {TableFormat::npy, TableFormat::word2vec, TableFormat::tsv, TableFormat::raw};

/// What came out of a file that was good to its end.
struct Table {
  ImportedShape shape;
  std::vector<float> values;
};

/// Errors are of the input. A failed reader is dropped, as the import does it.
template <class T>
bool good(const Result<T>& result) {
  fuzz::require(result || (result.error().code == ErrorCode::input && !result.error().message.empty()));
  return result.has_value();
}

/// No shape is believed that the file could not hold: a number is 4 bytes, or a digit and a separator.
void checkShape(const ImportedShape& shape, TableFormat format, std::uint64_t bytes) {
  fuzz::require(shape.rows > 0 && shape.dim > 0 && shape.dim <= kMostImportedDim);
  fuzz::require(!shape.vector || (format == TableFormat::npy && shape.dim == 1));
  const bool text = format == TableFormat::word2vec || format == TableFormat::tsv;
  fuzz::require(shape.rows <= (bytes + 1) / (shape.dim * (text ? 2 : 4)));
}

bool isName(std::string_view name) {
  return !name.empty() && std::none_of(name.begin(), name.end(),
                                       [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; });
}

/// All rows, and nothing behind them; none where the file is refused.
bool readAll(TableFormat format, const std::string& file, std::uint64_t rawDim, std::size_t pieceBytes, Table& table) {
  const auto memory = std::as_bytes(std::span(file));
  const auto shape = readHeader(format, memory, rawDim);
  auto opened = openRows(format, ByteReader(memoryBytes(memory), "file", pieceBytes), rawDim);
  fuzz::require(good(shape) == good(opened));
  if (!opened) return false;
  RowReader& rows = **opened;
  table.shape = rows.shape();
  fuzz::require(table.shape.rows == shape->rows && table.shape.dim == shape->dim);
  checkShape(table.shape, format, file.size());
  std::vector<float> row(table.shape.dim);
  table.values.clear();
  for (std::uint64_t i = 0; i < table.shape.rows; ++i) {
    if (!good(rows.next(row))) return false;
    for (const float value : row) fuzz::require(std::isfinite(value));
    fuzz::require((format == TableFormat::word2vec) == isName(rows.rowName()));
    table.values.insert(table.values.end(), row.begin(), row.end());
  }
  fuzz::require(rows.rounded() == 0 || format == TableFormat::npy);
  return good(rows.end());
}

/// Lines of a text, counted as an editor does.
std::uint64_t linesOf(const std::string& file) {
  const auto ends = static_cast<std::uint64_t>(std::count(file.begin(), file.end(), '\n'));
  return ends + (!file.empty() && file.back() != '\n' ? 1 : 0);
}

/// Written as the projector has it, and read again: the same bits.
void checkText(const Table& table, std::size_t pieceBytes) {
  std::string text;
  for (std::size_t i = 0; i < table.values.size(); ++i)
    text += fmt::format("{}{}", table.values[i], (i + 1) % table.shape.dim == 0 ? '\n' : '\t');
  Table again;
  fuzz::require(readAll(TableFormat::tsv, text, 0, pieceBytes, again));
  fuzz::require(again.shape.rows == table.shape.rows && again.shape.dim == table.shape.dim);
  fuzz::require(std::equal(table.values.begin(), table.values.end(), again.values.begin(), [](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  const TableFormat format = kFormats[bytes.take<std::uint8_t>() % std::size(kFormats)];
  const std::size_t pieceBytes = bytes.take<std::uint8_t>() + std::size_t{1};
  std::uint64_t rawDim = 0;
  if (format == TableFormat::raw) rawDim = std::max<std::uint64_t>(1, bytes.take<std::uint64_t>());
  const std::string file = bytes.rest();
  // Its own vector of all values is the largest of a good file: twice as long as they are, as vectors grow.
  fuzz::largestNew = 0;
  Table table;
  const bool whole = readAll(format, file, rawDim, pieceBytes, table);
  fuzz::require(fuzz::largestNew <= 8 * file.size() + 4096);
  if (!whole) return 0;
  if (format == TableFormat::word2vec || format == TableFormat::tsv)
    fuzz::require(linesOf(file) == table.shape.rows + (format == TableFormat::word2vec ? 1 : 0));
  checkText(table, pieceBytes);
  return 0;
}
