// SPDX-License-Identifier: Apache-2.0
// Where the bundled files lie, and reading one of them only if it is the one that was shipped.
#pragma once

#include <string>

#include "core/base/error.h"

namespace dsa {

/// The folder that holds datasets/: $DSA_RESOURCES if set (and only it), else the first that exists of
/// <exe>/../share/dsa-lab, <exe>/../../../resources (a build tree) and /usr/share/dsa-lab. No slash at the end. Errors
/// input: none of them; the message lists where it looked.
Result<std::string> resourceFolder();

/// Checks resources/datasets/RELATIVE against datasets/SHA256SUMS and gives its path.
/// Errors input: missing, not listed, or its checksum is another (both are named).
Result<std::string> verifiedDatasetFile(const std::string& relative);

}  // namespace dsa
