// SPDX-License-Identifier: Apache-2.0
#include "core/rows/row_init.h"

#include "core/base/random.h"

namespace dsa {

void initialWeights(std::uint64_t seed, std::uint32_t table, std::uint64_t row, std::uint32_t dim, float scale,
                    float* weights) {
  for (std::uint32_t i = 0; i < dim; i += 4) {
    const Random4 r = philox(seed, Stream::rowInit, row, (table << 24) + i / 4);
    for (std::uint32_t j = 0; j < 4 && i + j < dim; ++j) weights[i + j] = symmetricFrom(r.word[j], scale);
  }
}

}  // namespace dsa
