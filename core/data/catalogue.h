// SPDX-License-Identifier: Apache-2.0
// Datasets by name: the bundled ones, synthetic ones from a recipe in the name, and files of the user's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/data/importer.h"

namespace dsa {

struct CatalogueEntry {
  std::string name;
  DatasetKind kind = DatasetKind::graph;
  std::uint64_t entities = 0, relations = 0;
  std::uint64_t train = 0, valid = 0, test = 0;
  std::string licence;
  std::string description;
};

/// The bundled datasets, in the order to show them. No file is read.
const std::vector<CatalogueEntry>& catalogue();

using LoadOptions = ImportOptions;  ///< for files of the user's; bundled and synthetic sets ignore them

/// Limits of the synthetic sets.
inline constexpr std::uint64_t kMaxTreeEdges = 20'000'000;
inline constexpr std::uint64_t kMinZipfRows = 2;
inline constexpr std::uint64_t kMaxZipfRows = 1ull << 40;

/// A bundled name, `tree:BRANCHING,DEPTH` (a complete tree with every node's ancestors as its edges; the root is "0",
/// its children "0.0", "0.1", ...), `zipf:ROWS`, or the path of a file or folder (importDataset). A bundled name wins
/// over a file of that name; write ./NAME for the file. Errors input: unknown name (the catalogue is listed and the
/// nearest name offered), missing or damaged file, synthetic sets over their limits.
Result<Dataset> loadDataset(const std::string& nameOrPath, const LoadOptions& options = {});

}  // namespace dsa
