// SPDX-License-Identifier: Apache-2.0
// DistMult (Yang et al. 2015): score = sum_i h_i r_i t_i, the same for either side.
#pragma once

#include "core/model/softmax.h"
#include "core/rows/reduce.h"

namespace dsa {

template <class L>
struct ProductModel {
  using V = typename L::V;
  using T = typename L::T;

  template <class Rows>
  DSA_MATH double product(const Rows& r, const T* candidate) {
    Sum sums[1];
    sumProducts<L, 1>(r.dim, sums, [&](std::uint32_t i, int n, auto add) {
      const auto query = L::mulWide(L::widen(loadLanes<L>(r.fixed, i, n)), L::widen(loadLanes<L>(r.relation, i, n)));
      add(0, query, L::widen(loadLanes<L>(candidate, i, n)));
    });
    return valueOf(sums[0]);
  }

  template <class Rows, class Scores>
  DSA_MATH void score(const Rows& r, Scores&& scores) noexcept {
    for (std::uint32_t c = 0; c < r.count; ++c) putOnce<L>(scores, c, product(r, r.candidate(c)));
    lanesMeet<L>();
  }

  template <class Rows, class Gradients>
  DSA_MATH double sample(const Rows& r, const Gradients& out, double scale, double* scores) noexcept {
    score(r, scores);
    const double loss = softmaxLoss<L>(scores, r.count, scale);
    forLanes<L>(r.dim, [&](std::uint32_t i, int n) {
      const V x = loadLanes<L>(r.fixed, i, n);
      const V w = loadLanes<L>(r.relation, i, n);
      const V query = L::mul(x, w);
      V sum = L::set(T(0));
      for (std::uint32_t c = 0; c < r.count; ++c) {
        const V f = L::set(static_cast<T>(scores[c]));
        sum = L::add(sum, L::mul(f, loadLanes<L>(r.candidate(c), i, n)));
        storeLanes<L>(out.candidate(c), i, L::mul(f, query), n);
      }
      storeLanes<L>(out.fixed, i, L::mul(sum, w), n);
      storeLanes<L>(out.relation, i, L::mul(sum, x), n);
    });
    return loss;
  }
};

}  // namespace dsa
