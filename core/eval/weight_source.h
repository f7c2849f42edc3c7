// SPDX-License-Identifier: Apache-2.0
// Where an evaluation reads the weights of a table from: memory, a store, a device's copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "core/base/error.h"

namespace dsa {

/// Dense weights of a table, rows 0 .. rows-1.
/// read(begin, count, out) writes rows [begin, begin + count) to out, [count x dim] float32. It is called from several
/// threads at once; the weights must not change while an evaluation runs. An error ends the evaluation and is its
/// result.
struct WeightSource {
  std::uint64_t rows = 0;
  std::uint32_t dim = 0;
  std::function<Result<void>(std::uint64_t begin, std::uint64_t count, float* out)> read;
};

/// A table in memory, [rows x dim] float32, which must outlive the source.
[[nodiscard]] inline WeightSource memoryWeights(const float* table, std::uint64_t rows, std::uint32_t dim) {
  return {rows, dim, [table, dim](std::uint64_t begin, std::uint64_t count, float* out) -> Result<void> {
            std::copy_n(table + begin * dim, count * dim, out);
            return {};
          }};
}

}  // namespace dsa
