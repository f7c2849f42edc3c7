// SPDX-License-Identifier: Apache-2.0
// Distance of two rows: geodesic on the Poincare ball (k > 0, Nickel and Kiela 2017) or Euclidean (k = 0); score = -distance.
#pragma once

#include "core/model/model.h"
#include "core/model/softmax.h"
#include "core/rows/geometry.h"

namespace dsa {

template <class L>
struct DistanceModel {
  using V = typename L::V;
  using T = typename L::T;

  /// |u - v|^2 and 1 - k|v|^2 in one pass.
  static inline void pairSums(const T* u, const T* v, std::uint32_t dim, double k, double& s, double& b) {
    Sum sums[2];
    sumProducts<L, 2>(dim, sums, [&](std::uint32_t i, int n, auto add) {
      const auto y = L::widen(loadLanes<L>(v, i, n));
      const auto delta = L::subWide(L::widen(loadLanes<L>(u, i, n)), y);
      add(0, delta, delta);
      add(1, y, y);
    });
    s = valueOf(sums[0]);
    b = oneMinus(k, sums[1]);
  }

  static inline void score(const SampleRows& r, double* scores) noexcept {
    if (r.k > 0) {
      const double a = oneMinus(r.k, squaredNorm<L>(r.fixed, r.dim));
      for (std::uint32_t c = 0; c < r.count; ++c) {
        double s = 0;
        double b = 0;
        pairSums(r.fixed, r.candidates[c], r.dim, r.k, s, b);
        scores[c] = -ballDistance(r.k, s, a, b);
      }
      return;
    }
    for (std::uint32_t c = 0; c < r.count; ++c) {
      scores[c] = -math::root(valueOf(squaredDistance<L>(r.fixed, r.candidates[c], r.dim)));
    }
  }

  static inline double sample(const SampleRows& r, const SampleGradients& out, double scale, double* scratch) noexcept {
    return r.k > 0 ? onBall(r, out, scale, scratch) : flat(r, out, scale, scratch);
  }

  static inline double flat(const SampleRows& r, const SampleGradients& out, double scale, double* scores) noexcept {
    double* const distances = scores + r.count;
    for (std::uint32_t c = 0; c < r.count; ++c) {
      distances[c] = math::root(valueOf(squaredDistance<L>(r.fixed, r.candidates[c], r.dim)));
      scores[c] = -distances[c];
    }
    const double loss = softmaxLoss(scores, r.count, scale);
    clearRow<L>(out.fixed, r.dim);
    for (std::uint32_t c = 0; c < r.count; ++c) {
      // dLoss/du = -dLoss/dScore (u - v)/|u - v|; two equal points pull nowhere.
      const double on = distances[c] > 0 ? -scores[c] / distances[c] : 0.0;
      addDifference(r.fixed, r.candidates[c], out.fixed, out.candidates[c], static_cast<T>(on), r.dim);
    }
    return loss;
  }

  /// outU += f (u - v), outV = -f (u - v).
  static inline void addDifference(const T* u, const T* v, T* outU, T* outV, T f, std::uint32_t dim) {
    const V factor = L::set(f);
    const V minus = L::set(-f);
    forLanes<L>(dim, [&](std::uint32_t i, int n) {
      const V delta = L::sub(loadLanes<L>(u, i, n), loadLanes<L>(v, i, n));
      storeLanes<L>(outU, i, L::add(loadLanes<L>(outU, i, n), L::mul(factor, delta)), n);
      storeLanes<L>(outV, i, L::mul(minus, delta), n);
    });
  }

  static inline double onBall(const SampleRows& r, const SampleGradients& out, double scale, double* scores) noexcept {
    double* const squares = scores + r.count;
    double* const candidatesB = squares + r.count;
    const double a = oneMinus(r.k, squaredNorm<L>(r.fixed, r.dim));
    for (std::uint32_t c = 0; c < r.count; ++c) {
      pairSums(r.fixed, r.candidates[c], r.dim, r.k, squares[c], candidatesB[c]);
      scores[c] = -ballDistance(r.k, squares[c], a, candidatesB[c]);
    }
    const double loss = softmaxLoss(scores, r.count, scale);
    clearRow<L>(out.fixed, r.dim);
    for (std::uint32_t c = 0; c < r.count; ++c) {
      ballGradient(r, out, c, a, candidatesB[c], squares[c], -scores[c]);
    }
    return loss;
  }

  /// With q = sqrt(k s/(ab)), F = 2 sqrt(k)/(q sqrt(1+q^2)): dd/du = F((u-v)/(ab) + k s u/(a^2 b)), dd/dv = F(-(u-v)/(ab) + k s v/(a b^2)).
  static inline void ballGradient(const SampleRows& r, const SampleGradients& out, std::uint32_t c, double a, double b, double s,
                                  double onDistance) {
    double onDelta = 0;
    double onU = 0;
    double onV = 0;
    const double q2 = r.k * s / (a * b);
    if (q2 > 0) {
      const double F = onDistance * 2.0 * math::root(r.k) / (math::root(q2) * math::root(1.0 + q2));
      onDelta = F / (a * b);
      onU = onDelta * r.k * s / a;
      onV = onDelta * r.k * s / b;
    }
    const V delta = L::set(static_cast<T>(onDelta));
    const V minus = L::set(static_cast<T>(-onDelta));
    const V onUs = L::set(static_cast<T>(onU));
    const V onVs = L::set(static_cast<T>(onV));
    forLanes<L>(r.dim, [&](std::uint32_t i, int n) {
      const V u = loadLanes<L>(r.fixed, i, n);
      const V v = loadLanes<L>(r.candidates[c], i, n);
      const V difference = L::sub(u, v);
      const V toU = L::add(L::mul(delta, difference), L::mul(onUs, u));
      storeLanes<L>(out.fixed, i, L::add(loadLanes<L>(out.fixed, i, n), toU), n);
      storeLanes<L>(out.candidates[c], i, L::add(L::mul(minus, difference), L::mul(onVs, v)), n);
    });
  }
};

}  // namespace dsa
