// SPDX-License-Identifier: Apache-2.0
// The initial weights of a row: a function of (seed, table, row), so that rows can come into being on first touch.
#pragma once

#include <cstdint>

#include "core/base/random.h"

namespace dsa {

/// Weights i .. i+3 of a row, of which there are dim; i a multiple of 4. For whoever shares a row out (card_work.h).
DSA_HOST_DEVICE inline void initialFour(std::uint64_t seed, std::uint32_t table, std::uint64_t row, std::uint32_t i,
                                        std::uint32_t dim, float scale, float* weights) {
  const Random4 r = philox(seed, Stream::rowInit, row, (table << 24) + i / 4);
  for (std::uint32_t j = 0; j < 4 && i + j < dim; ++j) weights[i + j] = symmetricFrom(r.word[j], scale);
}

/// Fills weights [dim] uniform in [-scale, scale). The rest of a new row's record is zero. Thread-safe.
void initialWeights(std::uint64_t seed, std::uint32_t table, std::uint64_t row, std::uint32_t dim, float scale,
                    float* weights);

}  // namespace dsa
