// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy over one sample's candidates, the true one first.
#pragma once

#include <cstdint>

#include "core/rows/elementary.h"

namespace dsa {

/// scores [count] become dLoss/dScore = p - [i = 0], times scale; returns -log p_0.
DSA_MATH double softmaxLoss(double* scores, std::uint32_t count, double scale) {
  double most = scores[0];
  for (std::uint32_t i = 1; i < count; ++i) most = math::greater(most, scores[i]);
  const double first = scores[0];
  double sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    scores[i] = math::exp(scores[i] - most);
    sum += scores[i];
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const double p = scores[i] / sum;
    scores[i] = (i == 0 ? p - 1.0 : p) * scale;
  }
  return math::log(sum) - (first - most);
}

}  // namespace dsa
