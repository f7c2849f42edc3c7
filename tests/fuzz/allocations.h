// SPDX-License-Identifier: Apache-2.0
// How large the largest piece of memory was that an input made the program ask for: what the bytes promise must not be
// taken before it is there.
#pragma once

#include <cstddef>

namespace fuzz {

/// Bytes of the largest `new` since it was set to 0.
inline std::size_t largestNew = 0;

}  // namespace fuzz
