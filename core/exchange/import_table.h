// SPDX-License-Identifier: Apache-2.0
// A table's folder out of files of other programs: the way back of export_table.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/exchange/table_format.h"

namespace dsa {

struct TableImportOptions {
  std::optional<TableFormat> format;  ///< none: by the file's name
  Rule rule = Rule::sparseAdam;       ///< what a record keeps beside the weights
  std::uint32_t dim = 0;              ///< of raw, which does not say it; else 0
  std::string table = "entities";
  std::function<void(std::uint64_t done, std::uint64_t rows)> progress;  ///< after each MiB or so; may be empty
  std::function<bool()> shouldStop;                                      ///< asked as often; may be empty
};

struct ImportedTable {
  TableShape shape;
  TableFormat format = TableFormat::npy;
  bool state = false;              ///< the rule's state came from files; else it is zero
  bool names = false;              ///< the rows have names
  std::uint64_t rounded = 0;       ///< float64 values that float32 does not hold exactly
  std::vector<std::string> files;  ///< that were read
};

/// Makes FOLDER with a table of all the file's rows, each touched, at step 0. All or nothing: on an error, and where
/// shouldStop says so, what was made is removed again; a table that is there, and files of others, are never replaced.
/// FILE is the weights' file (raw: or NAME of NAME_w.dat). What belongs to it and lies beside it is read, too: npy
/// FILE-m.npy, FILE-v.npy; raw NAME_m.dat, NAME_v.dat; tsv FILE.metadata.tsv. Of state files all must be there, or
/// none. Memory: a few MiB and the longest line, whatever the size. Thread: one. Errors: usage, the format cannot be
/// told, or does not fit the options; input, a fault of a file (names it, the place, what was found and what was
/// expected), a table is there already; machine, the disk; stopped.
Result<ImportedTable> importTable(const std::string& file, const std::string& folder,
                                  const TableImportOptions& options);

}  // namespace dsa
