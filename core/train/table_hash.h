// SPDX-License-Identifier: Apache-2.0
// The fingerprint of a trained table: equal for equal results, wherever the table lies.
#pragma once

#include <string>

#include "core/optim/tables.h"

namespace dsa {

/// SHA-256 over the canonical spec (the keys that change the result), then for each table, for each touched row in
/// order, its id (8 bytes, little-endian) and all its values (float32). Reads the touched rows once and leaves the page
/// cache as it was. Error machine: the disk.
Result<std::string> tableSha256(const Tables& tables, const std::string& canonicalSpec);

}  // namespace dsa
