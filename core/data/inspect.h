// SPDX-License-Identifier: Apache-2.0
// What `dsa data list`, `inspect` and `import` show: a dataset and how it was read, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/data/catalogue.h"
#include "core/data/importer.h"

namespace dsa {

/// A dataset looked at. `report` is there for files only.
struct Inspection {
  Dataset dataset;
  std::optional<ImportReport> report;
};

/// Reads a bundled, synthetic or own dataset to look at it; bad lines are skipped and told, whatever the options say.
Result<Inspection> inspectDataset(const std::string& nameOrPath, const LoadOptions& options = {});

/// Reads under the options and writes to `folder` (writeDataset): all or nothing.
Result<Inspection> importToFolder(const std::string& nameOrPath, const std::string& folder,
                                  const LoadOptions& options = {});

/// Some lines for people: what was recognised, counts, first rows, warnings, questions. No line end after the last.
std::string describeText(const Inspection& inspection);
nlohmann::ordered_json describeJson(const Inspection& inspection);

std::string catalogueText();
nlohmann::ordered_json catalogueJson();

}  // namespace dsa
