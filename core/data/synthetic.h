// SPDX-License-Identifier: Apache-2.0
// Datasets made from their name: complete trees and Zipf pairs.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/data/dataset.h"

namespace dsa {

/// Whether a name is meant as a recipe: it begins with "tree:" or "zipf:".
bool isSyntheticName(const std::string& name);

/// Makes it. Errors input: the recipe is malformed or over its limits (value and limit are named).
Result<Dataset> makeSynthetic(const std::string& name);

}  // namespace dsa
