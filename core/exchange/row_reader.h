// SPDX-License-Identifier: Apache-2.0
// Rows out of a foreign file, checked as they come: the parsers of NumPy, word2vec, projector and raw files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/byte_reader.h"
#include "core/exchange/table_format.h"

namespace dsa {

/// What a file's beginning, its length or its lines say, after a check of each against the others.
struct ImportedShape {
  std::uint64_t rows = 0;
  std::uint64_t dim = 0;
  bool vector = false;  ///< an array of one value a row; dim is 1
};

/// Errors of all its calls: input, a fault of the file: name, place, what was found and what was expected; machine, the
/// disk. Thread: the owner.
class RowReader {
 public:
  virtual ~RowReader() = default;
  [[nodiscard]] const ImportedShape& shape() const { return m_shape; }
  /// Values of the next row to out [dim], all finite; called shape().rows times at most.
  virtual Result<void> next(std::span<float> out) = 0;
  /// Of that row, where the format has it beside the numbers: one word. Lives until next().
  [[nodiscard]] virtual std::string_view rowName() const { return {}; }
  /// After the last row: nothing follows.
  virtual Result<void> end() = 0;
  /// float64 values so far that float32 does not hold exactly, rounded to the nearest.
  [[nodiscard]] std::uint64_t rounded() const { return m_rounded; }

 protected:
  RowReader() = default;
  ImportedShape m_shape;
  std::uint64_t m_rounded = 0;
};

/// Widest row that is taken, as of `dsa train --dim`.
inline constexpr std::uint64_t kMostImportedDim = 65536;

/// Reads and checks the beginning. rawDim: the dim of a raw file, which does not say it (0 elsewhere).
/// Memory: a few MiB, or the longest line. Time: tsv is gone through once for its lines.
Result<std::unique_ptr<RowReader>> openRows(TableFormat format, ByteReader reader, std::uint64_t rawDim);
/// The same of a file in memory; for tests and fuzzers.
Result<ImportedShape> readHeader(TableFormat format, std::span<const std::byte> file, std::uint64_t rawDim);

/// The parts of openRows().
Result<std::unique_ptr<RowReader>> openArray(ByteReader reader, std::uint64_t rawDim);
Result<std::unique_ptr<RowReader>> openText(TableFormat format, ByteReader reader);

/// A name that both text formats can give back: no control character; blanks inside only where allowed. Error input:
/// names file and line.
Result<void> checkName(const std::string& file, std::uint64_t line, std::string_view name);

/// What stands in a foreign file, for a message: the printable part of it, not too long.
[[nodiscard]] std::string shownText(std::string_view text);

}  // namespace dsa
