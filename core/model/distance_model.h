// SPDX-License-Identifier: Apache-2.0
// Distance of two rows: geodesic on the Poincare ball (k > 0, Nickel and Kiela 2017) or Euclidean (k = 0); score =
// -distance.
#pragma once

#include "core/model/softmax.h"
#include "core/rows/geometry.h"

namespace dsa {

template <class L>
struct DistanceModel {
  using V = typename L::V;
  using T = typename L::T;

  /// |u - v|^2 and 1 - k|v|^2 in one pass.
  DSA_MATH void pairSums(const T* u, const T* v, std::uint32_t dim, double k, double& s, double& b) {
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

  template <class Rows, class Scores>
  DSA_MATH void score(const Rows& r, Scores&& scores) noexcept {
    if (r.k > 0) {
      const double a = oneMinus(r.k, squaredNorm<L>(r.fixed, r.dim));
      for (std::uint32_t c = 0; c < r.count; ++c) {
        double s = 0;
        double b = 0;
        pairSums(r.fixed, r.candidate(c), r.dim, r.k, s, b);
        putOnce<L>(scores, c, -ballDistance(r.k, s, a, b));
      }
      lanesMeet<L>();
      return;
    }
    for (std::uint32_t c = 0; c < r.count; ++c) {
      putOnce<L>(scores, c, -math::root(valueOf(squaredDistance<L>(r.fixed, r.candidate(c), r.dim))));
    }
    lanesMeet<L>();
  }

  template <class Rows, class Gradients>
  DSA_MATH double sample(const Rows& r, const Gradients& out, double scale, double* scratch) noexcept {
    return r.k > 0 ? onBall(r, out, scale, scratch) : flat(r, out, scale, scratch);
  }

  template <class Rows, class Gradients>
  DSA_MATH double flat(const Rows& r, const Gradients& out, double scale, double* scores) noexcept {
    double* const onDelta = scores + r.count;
    for (std::uint32_t c = 0; c < r.count; ++c) {
      const double distance = math::root(valueOf(squaredDistance<L>(r.fixed, r.candidate(c), r.dim)));
      storeOnce<L>(onDelta + c, distance);
      storeOnce<L>(scores + c, -distance);
    }
    lanesMeet<L>();
    const double loss = softmaxLoss<L>(scores, r.count, scale);
    // dLoss/du = -dLoss/dScore (u - v)/|u - v|; two equal points pull nowhere.
    forItems<L>(r.count, [&](std::uint32_t c) { onDelta[c] = onDelta[c] > 0 ? -scores[c] / onDelta[c] : 0.0; });
    // Lanes outside, candidates inside: u's gradient stays in a register, added to in the order of the candidates.
    forLanes<L>(r.dim, [&](std::uint32_t i, int n) {
      const V u = loadLanes<L>(r.fixed, i, n);
      V sum = L::set(T(0));
      for (std::uint32_t c = 0; c < r.count; ++c) {
        const V pull = L::mul(L::set(static_cast<T>(onDelta[c])), L::sub(u, loadLanes<L>(r.candidate(c), i, n)));
        sum = L::add(sum, pull);
        storeLanes<L>(out.candidate(c), i, L::sub(L::set(T(0)), pull), n);
      }
      storeLanes<L>(out.fixed, i, sum, n);
    });
    return loss;
  }

  template <class Rows, class Gradients>
  DSA_MATH double onBall(const Rows& r, const Gradients& out, double scale, double* scores) noexcept {
    double* const onDelta = scores + r.count;  // first |u - v|^2
    double* const onU = onDelta + r.count;     // first 1 - k|v|^2
    double* const onV = onU + r.count;
    const double a = oneMinus(r.k, squaredNorm<L>(r.fixed, r.dim));
    for (std::uint32_t c = 0; c < r.count; ++c) {
      double s = 0;
      double b = 0;
      pairSums(r.fixed, r.candidate(c), r.dim, r.k, s, b);
      storeOnce<L>(onDelta + c, s);
      storeOnce<L>(onU + c, b);
      storeOnce<L>(scores + c, -ballDistance(r.k, s, a, b));
    }
    lanesMeet<L>();
    const double loss = softmaxLoss<L>(scores, r.count, scale);
    forItems<L>(r.count, [&](std::uint32_t c) {
      ballCoefficients(r.k, a, onU[c], onDelta[c], -scores[c], onDelta[c], onU[c], onV[c]);
    });
    forLanes<L>(r.dim, [&](std::uint32_t i, int n) {
      const V u = loadLanes<L>(r.fixed, i, n);
      V sum = L::set(T(0));
      for (std::uint32_t c = 0; c < r.count; ++c) {
        const V v = loadLanes<L>(r.candidate(c), i, n);
        const V pull = L::mul(L::set(static_cast<T>(onDelta[c])), L::sub(u, v));
        sum = L::add(sum, L::add(pull, L::mul(L::set(static_cast<T>(onU[c])), u)));
        storeLanes<L>(out.candidate(c), i, L::sub(L::mul(L::set(static_cast<T>(onV[c])), v), pull), n);
      }
      storeLanes<L>(out.fixed, i, sum, n);
    });
    return loss;
  }

  /// With q = sqrt(k s/(ab)), F = 2 sqrt(k)/(q sqrt(1+q^2)): dd/du = F((u-v)/(ab) + k s u/(a^2 b)), dd/dv =
  /// F(-(u-v)/(ab) + k s v/(a b^2)).
  DSA_MATH void ballCoefficients(double k, double a, double b, double s, double onDistance, double& onDelta,
                                 double& onU, double& onV) {
    const double q2 = k * s / (a * b);
    if (!(q2 > 0)) {
      onDelta = onU = onV = 0;
      return;
    }
    const double F = onDistance * 2.0 * math::root(k) / (math::root(q2) * math::root(1.0 + q2));
    onDelta = F / (a * b);
    onU = onDelta * k * s / a;
    onV = onDelta * k * s / b;
  }
};

}  // namespace dsa
