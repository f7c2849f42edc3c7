// SPDX-License-Identifier: Apache-2.0
// The facts of a data set that defaults and plans need: of a loaded one, or of a bundled one without reading it.
#pragma once

#include <optional>
#include <string>

#include "core/data/dataset.h"
#include "core/spec/resolve.h"

namespace dsa {

[[nodiscard]] DatasetFacts factsOf(const Dataset& dataset);

/// Of a bundled set, from the catalogue; no file is read. Absent for any other name.
[[nodiscard]] std::optional<DatasetFacts> factsOfBundled(const std::string& name);

}  // namespace dsa
