// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy over one sample's candidates, the true one first.
#pragma once

#include <cstdint>

#include "core/rows/reduce.h"

namespace dsa {

/// scores [count] become dLoss/dScore = p - [i = 0], times scale; returns -log p_0. All lanes have met before and
/// after.
template <class L>
DSA_MATH double softmaxLoss(double* scores, std::uint32_t count, double scale) {
  double most = scores[0];
  for (std::uint32_t i = 1; i < count; ++i) most = math::greater(most, scores[i]);
  const double first = scores[0];
  lanesMeet<L>();
  forItems<L>(count, [&](std::uint32_t i) { scores[i] = math::exp(scores[i] - most); });
  double sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum += scores[i];
  lanesMeet<L>();
  forItems<L>(count, [&](std::uint32_t i) {
    const double p = scores[i] / sum;
    scores[i] = (i == 0 ? p - 1.0 : p) * scale;
  });
  return math::log(sum) - (first - most);
}

}  // namespace dsa
