// SPDX-License-Identifier: Apache-2.0
// The initial weights of a row: a function of (seed, table, row), so that rows can come into being on first touch.
#pragma once

#include <cstdint>

namespace dsa {

/// Fills weights [dim] uniform in [-scale, scale). The rest of a new row's record is zero. Thread-safe.
void initialWeights(std::uint64_t seed, std::uint32_t table, std::uint64_t row, std::uint32_t dim, float scale,
                    float* weights);

}  // namespace dsa
