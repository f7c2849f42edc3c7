// SPDX-License-Identifier: Apache-2.0
// TransE (Bordes et al. 2013): score = -|h + r - t|, the Euclidean norm.
#pragma once

#include "core/model/softmax.h"
#include "core/rows/reduce.h"

namespace dsa {

template <class L>
struct TranslationModel {
  using V = typename L::V;
  using T = typename L::T;

  /// h + r - t over lanes, whichever side the candidate stands on, in double.
  template <class Rows>
  DSA_MATH double distanceTo(const Rows& r, const T* candidate) {
    const T* const head = r.candidatesAreHeads ? candidate : r.fixed;
    const T* const tail = r.candidatesAreHeads ? r.fixed : candidate;
    Sum sums[1];
    sumProducts<L, 1>(r.dim, sums, [&](std::uint32_t i, int n, auto add) {
      const auto moved = L::addWide(L::widen(loadLanes<L>(head, i, n)), L::widen(loadLanes<L>(r.relation, i, n)));
      const auto delta = L::subWide(moved, L::widen(loadLanes<L>(tail, i, n)));
      add(0, delta, delta);
    });
    return math::root(valueOf(sums[0]));
  }

  template <class Rows, class Scores>
  DSA_MATH void score(const Rows& r, Scores&& scores) noexcept {
    for (std::uint32_t c = 0; c < r.count; ++c) putOnce<L>(scores, c, -distanceTo(r, r.candidate(c)));
    lanesMeet<L>();
  }

  template <class Rows, class Gradients>
  DSA_MATH double sample(const Rows& r, const Gradients& out, double scale, double* scores) noexcept {
    double* const distances = scores + r.count;
    for (std::uint32_t c = 0; c < r.count; ++c) {
      const double distance = distanceTo(r, r.candidate(c));
      storeOnce<L>(distances + c, distance);
      storeOnce<L>(scores + c, -distance);
    }
    lanesMeet<L>();
    const double loss = softmaxLoss<L>(scores, r.count, scale);
    // With delta = h + r - t: f delta to head and relation, -f delta to the tail; the fixed side is the head, or the
    // tail where heads are the candidates.
    forItems<L>(r.count, [&](std::uint32_t c) { distances[c] = distances[c] > 0 ? -scores[c] / distances[c] : 0.0; });
    const V zero = L::set(T(0));
    forLanes<L>(r.dim, [&](std::uint32_t i, int n) {
      const V fixed = loadLanes<L>(r.fixed, i, n);
      const V relation = loadLanes<L>(r.relation, i, n);
      V sum = zero;
      for (std::uint32_t c = 0; c < r.count; ++c) {
        const V candidate = loadLanes<L>(r.candidate(c), i, n);
        const V delta = r.candidatesAreHeads ? L::sub(L::add(candidate, relation), fixed)
                                             : L::sub(L::add(fixed, relation), candidate);
        const V pull = L::mul(L::set(static_cast<T>(distances[c])), delta);
        sum = L::add(sum, pull);
        storeLanes<L>(out.candidate(c), i, r.candidatesAreHeads ? pull : L::sub(zero, pull), n);
      }
      storeLanes<L>(out.fixed, i, r.candidatesAreHeads ? L::sub(zero, sum) : sum, n);
      storeLanes<L>(out.relation, i, sum, n);
    });
    return loss;
  }
};

}  // namespace dsa
