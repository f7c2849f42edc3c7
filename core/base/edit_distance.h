// SPDX-License-Identifier: Apache-2.0
// How far two short words are apart, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace dsa {

/// Edits (insert, delete, replace a byte) that lead from one word to the other. Thread-safe.
[[nodiscard]] std::size_t editDistance(std::string_view a, std::string_view b);

}  // namespace dsa
