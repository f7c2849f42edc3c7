// SPDX-License-Identifier: Apache-2.0
// Reads ontologies in OBO format 1.2 and 1.4: is_a and relationship edges between terms that are not obsolete.
#pragma once

#include <string>
#include <vector>

#include "core/data/delimited.h"

namespace dsa {

/// Whether the first lines are those of an OBO file.
bool looksLikeObo(const std::vector<std::string>& lines);

/// Reads all stanzas into the collector. Entities get their `name:`, "NAME [ID]" where terms share it, the id where
/// they have none; relations keep their ids. Terms without edges are not entities. With asHierarchy only is_a is read.
Result<void> readObo(PeekedLines& lines, const ImportOptions& options, EdgeCollector& collector, ImportReport& report);

}  // namespace dsa
