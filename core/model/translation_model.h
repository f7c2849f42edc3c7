// SPDX-License-Identifier: Apache-2.0
// TransE (Bordes et al. 2013): score = -|h + r - t|, the Euclidean norm.
#pragma once

#include "core/model/model.h"
#include "core/model/softmax.h"
#include "core/rows/reduce.h"

namespace dsa {

template <class L>
struct TranslationModel {
  using V = typename L::V;
  using T = typename L::T;

  /// h + r - t over lanes, whichever side the candidate stands on, in double.
  static inline double distanceTo(const SampleRows& r, const T* candidate) {
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

  static inline void score(const SampleRows& r, double* scores) noexcept {
    for (std::uint32_t c = 0; c < r.count; ++c) scores[c] = -distanceTo(r, r.candidates[c]);
  }

  static inline double sample(const SampleRows& r, const SampleGradients& out, double scale, double* scores) noexcept {
    double* const distances = scores + r.count;
    for (std::uint32_t c = 0; c < r.count; ++c) {
      distances[c] = distanceTo(r, r.candidates[c]);
      scores[c] = -distances[c];
    }
    const double loss = softmaxLoss(scores, r.count, scale);
    clearRow<L>(out.fixed, r.dim);
    clearRow<L>(out.relation, r.dim);
    for (std::uint32_t c = 0; c < r.count; ++c) {
      const double on = distances[c] > 0 ? -scores[c] / distances[c] : 0.0;
      addGradient(r, out, c, static_cast<T>(on));
    }
    return loss;
  }

  /// With delta = h + r - t: f delta to head and relation, -f delta to the tail.
  static inline void addGradient(const SampleRows& r, const SampleGradients& out, std::uint32_t c, T f) {
    const T* const head = r.candidatesAreHeads ? r.candidates[c] : r.fixed;
    const T* const tail = r.candidatesAreHeads ? r.fixed : r.candidates[c];
    const V onHead = L::set(f);
    const V onFixed = L::set(r.candidatesAreHeads ? -f : f);
    const V onCandidate = L::set(r.candidatesAreHeads ? f : -f);
    forLanes<L>(r.dim, [&](std::uint32_t i, int n) {
      const V moved = L::add(loadLanes<L>(head, i, n), loadLanes<L>(r.relation, i, n));
      const V delta = L::sub(moved, loadLanes<L>(tail, i, n));
      storeLanes<L>(out.fixed, i, L::add(loadLanes<L>(out.fixed, i, n), L::mul(onFixed, delta)), n);
      storeLanes<L>(out.relation, i, L::add(loadLanes<L>(out.relation, i, n), L::mul(onHead, delta)), n);
      storeLanes<L>(out.candidates[c], i, L::mul(onCandidate, delta), n);
    });
  }
};

}  // namespace dsa
