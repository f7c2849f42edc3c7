// SPDX-License-Identifier: Apache-2.0
// A table as files of other programs: NumPy, word2vec text, the embedding projector, the original's three raw files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/data/vocabulary.h"
#include "core/exchange/table_format.h"
#include "core/store/row_store.h"

namespace dsa {

struct ExportOptions {
  TableFormat format = TableFormat::npy;
  std::uint32_t table = 0;
  bool state = false;                 ///< npy: the rule's state, too
  const Vocabulary* names = nullptr;  ///< one a row; null: the table's own, of an import, or numbers
  std::function<void(std::uint64_t done, std::uint64_t rows)> progress;  ///< after each MiB or so; may be empty
  std::function<bool()> shouldStop;                                      ///< asked as often; may be empty
};

struct Exported {
  std::vector<std::string> files;
  std::uint64_t bytes = 0;  ///< of all of them
};

/// Writes all rows, untouched ones with their initial weights, in order. All files or none; an existing one is never
/// replaced. The table is read as RowScan does, so beside a run that trains, rows may be in the middle of a step.
/// Memory: a few MiB, whatever the size. Thread: one.
/// Errors: usage, a format that cannot hold what is asked; input, a file exists, the names are not as many as the rows;
/// machine, the disk; stopped, shouldStop said so. Where the files are whole and only the folder could not be synced,
/// the message says so.
Result<Exported> exportTable(const RowStore& store, const std::string& out, const ExportOptions& options);

}  // namespace dsa
