// SPDX-License-Identifier: Apache-2.0
// What the benches of `dsa bench` share: a median, gradients, one step of one table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/data/sampler.h"
#include "core/optim/tables.h"

namespace dsa {

/// values not empty.
[[nodiscard]] inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// `count` distinct random rows of a table, others for another salt, sorted.
[[nodiscard]] inline std::vector<std::uint64_t> benchRows(std::uint64_t rows, std::uint64_t count, std::uint64_t salt) {
  std::vector<std::uint64_t> drawn(count);
  for (std::uint64_t i = 0; i < count; ++i) drawn[i] = permuted(i, rows, salt + 1);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

/// Some gradients in [-1, 1] for the first `count` rows of table 0; others for another salt.
inline void benchGradients(Tables& tables, std::uint64_t count, std::uint64_t salt) {
  float* const grads = tables.grads(0);
  const std::uint64_t values = count * tables.shape().tables[0].dim;
  for (std::uint64_t i = 0; i < values; ++i)
    grads[i] = static_cast<float>((i * 2654435761ull + salt) % 2001) * 1e-3f - 1.0f;
}

/// One step of table 0: `count` rows named by ids(0), with the gradients that stand there.
inline Result<void> benchStep(Tables& tables, const StepParams& params, std::uint64_t count, std::uint64_t ticket,
                              ThreadPool& pool) {
  const std::vector<std::uint64_t> counts = {count};
  const std::vector<StepParams> all = {makeStep(params, tables.step() + 1, 0.01)};
  return tables.apply(counts, all, StateBlob{}, ticket, {}, pool);
}

}  // namespace dsa
