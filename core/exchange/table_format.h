// SPDX-License-Identifier: Apache-2.0
// The formats of other programs, and which files and arrays a table is in each of them: said once for both directions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/row_store.h"

namespace dsa {

/// Numbers are little-endian float32 as in the table, or decimal text that reads back to the same bits.
enum class TableFormat {
  npy,       ///< NumPy 1.0, C order, [rows x dim]; state: FILE-m.npy and so on, [rows x dim], or [rows] where it is one
             ///< value a row
  word2vec,  ///< "rows dim", then a line a row: name and numbers; blanks in names become _
  tsv,  ///< the embedding projector's: a line a row, numbers between tabs; names in FILE.metadata.tsv, tabs and line
        ///< ends in them as blanks
  raw,  ///< NAME_w.dat, NAME_m.dat, NAME_v.dat, [rows x dim] each, no header: the original's, with numpy.memmap
};

[[nodiscard]] std::string_view tableFormatName(TableFormat format);
/// Also "projector" for tsv.
[[nodiscard]] std::optional<TableFormat> tableFormatFromName(std::string_view name);

/// A part of each record that is an array of its own in npy and raw.
struct Segment {
  std::string name;
  std::uint64_t offset = 0, width = 0;  ///< floats of the record
  bool perRow = false;                  ///< one value a row: a vector, not a matrix
  bool accumulator = false;             ///< never negative
};

/// The weights, "w".
[[nodiscard]] Segment weightsOf(const TableShape& table);
/// What the rule keeps beside the weights (FORMAT.md); rsgd nothing.
[[nodiscard]] std::vector<Segment> stateOf(const TableShape& table);
/// Whether raw can hold that state: two moments of every coordinate.
[[nodiscard]] bool rawHolds(const std::vector<Segment>& state);

/// "a.npy" and "m": "a-m.npy".
[[nodiscard]] std::string npyStateFile(const std::string& file, const std::string& segment);
/// "a" and "m": "a_m.dat".
[[nodiscard]] std::string rawFile(const std::string& name, const std::string& segment);
[[nodiscard]] std::string metadataFile(const std::string& file);

}  // namespace dsa
