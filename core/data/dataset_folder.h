// SPDX-License-Identifier: Apache-2.0
// The folder that an import writes: train.tsv, valid.tsv, test.tsv, the names by id, and dataset.json with the
// checksum.
#pragma once

#include <optional>
#include <string>

#include "core/data/importer.h"

namespace dsa {

/// What dataset.json says about reading the folder again.
struct DatasetFolder {
  std::string name;
  DatasetKind kind = DatasetKind::graph;
  bool weighted = false;
  bool quoted = false;  ///< fields that need it are quoted as in RFC 4180
  std::string sha256;
  std::string licence;
};

/// Writes the dataset to `folder`, which must not exist (or be empty): all of it or nothing, by a rename at the end.
/// dataset.json is nlohmann JSON of DatasetFolder, counts and warnings. Errors input: the folder has something in it,
/// or the kind is pairs. Errors machine: no space, no permission.
Result<void> writeDataset(const Dataset& dataset, const std::string& folder);

/// Reads dataset.json; nullopt if the folder has none. Errors input: it is damaged, or of a newer format.
Result<std::optional<DatasetFolder>> readDatasetFolder(const std::string& folder);

/// Reads the folder's names and edges; a checksum other than dataset.json's is a warning ("changed since it was
/// written").
Result<Imported> importDatasetFolder(const std::string& path, const DatasetFolder& folder,
                                     const ImportOptions& options);

}  // namespace dsa
