// SPDX-License-Identifier: Apache-2.0
#include "core/rows/row_init.h"

namespace dsa {

void initialWeights(std::uint64_t seed, std::uint32_t table, std::uint64_t row, std::uint32_t dim, float scale,
                    float* weights) {
  for (std::uint32_t i = 0; i < dim; i += 4) initialFour(seed, table, row, i, dim, scale, weights);
}

}  // namespace dsa
