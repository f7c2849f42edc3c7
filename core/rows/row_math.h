// SPDX-License-Identifier: Apache-2.0
// The update rules, row by row, over a lane policy: one source for scalar, AVX2, AVX-512, an emulated or real warp, and
// double.
//
// Formulas: ARCHITECTURE.md, "Rules". x is the row, g its summed gradient, d the dimension, K the curvature magnitude
// k. Row-wide sums are doubles (reduce.h); coefficients made of them are computed in double and rounded once to T.
#pragma once

#include "core/rows/reduce.h"
#include "core/rows/rule.h"

namespace dsa {

/// torch.optim.SparseAdam: m += (1-b1)(g-m); v += (1-b2)(g^2-v); x += -lr sqrt(c2)/c1 * m/(sqrt(v)+eps). Zero ulp from
/// PyTorch.
template <class L>
struct SparseAdamRule {
  using V = typename L::V;
  using T = typename L::T;
  V m1, v1, eps, step;
  std::uint32_t dim;

  DSA_MATH SparseAdamRule make(const StepParams& p) {
    return SparseAdamRule{L::set(static_cast<T>(1.0 - p.beta1)), L::set(static_cast<T>(1.0 - p.beta2)),
                          L::set(static_cast<T>(p.eps)),
                          L::set(static_cast<T>(-(p.lr * math::root(p.bias2) / p.bias1))), p.dim};
  }
  DSA_HOST_DEVICE inline void operator()(T* row, const T* grad) const {
    T* const m = row + dim;
    T* const v = m + dim;
    forLanes<L>(dim, [&](std::uint32_t i, int n) {
      const V g = loadLanes<L>(grad, i, n);
      const V m0 = loadLanes<L>(m, i, n);
      const V v0 = loadLanes<L>(v, i, n);
      const V mNew = L::add(L::mul(L::sub(g, m0), m1), m0);
      const V vNew = L::add(L::mul(L::sub(L::mul(g, g), v0), v1), v0);
      const V move = L::mul(L::div(mNew, L::add(L::sqrt(vNew), eps)), step);
      storeLanes<L>(m, i, mNew, n);
      storeLanes<L>(v, i, vNew, n);
      storeLanes<L>(row, i, L::add(loadLanes<L>(row, i, n), move), n);
    });
  }
};

/// The original disk-sparse-adam rule: AdamW-style decay, per-coordinate v; on the ball the gradient is scaled by
/// (1-K|x|^2)^2/4, m is not transported and the row is clipped to sqrt((1-margin)/K).
template <class L>
struct DsaRule {
  using V = typename L::V;
  using T = typename L::T;
  const StepParams& p;
  V b1, m1, b2, v1, eps, c1, c2, lr, decay;

  DSA_MATH DsaRule make(const StepParams& q) {
    const auto set = [](double x) { return L::set(static_cast<T>(x)); };
    return DsaRule{q,          set(q.beta1), set(1.0 - q.beta1), set(q.beta2), set(1.0 - q.beta2),
                   set(q.eps), set(q.bias1), set(q.bias2),       set(q.lr),    set(1.0 - q.lr * q.weightDecay)};
  }
  DSA_HOST_DEVICE inline void operator()(T* row, const T* grad) const {
    T* const m = row + p.dim;
    T* const v = m + p.dim;
    V scaleV = L::set(T(1));
    if (p.k > 0) {
      const double square = math::lesser(valueOf(squaredNorm<L>(row, p.dim)), (1.0 - p.ballMargin) / p.k);
      const double a = 1.0 - p.k * square;
      scaleV = L::set(static_cast<T>(a * a / 4.0));
    }
    const bool decays = p.weightDecay != 0;
    const bool scales = p.k > 0;
    forLanes<L>(p.dim, [&](std::uint32_t i, int n) {
      V g = loadLanes<L>(grad, i, n);
      if (scales) g = L::mul(g, scaleV);
      V x = loadLanes<L>(row, i, n);
      if (decays) x = L::mul(x, decay);
      const V mNew = L::add(L::mul(loadLanes<L>(m, i, n), b1), L::mul(g, m1));
      const V vNew = L::add(L::mul(loadLanes<L>(v, i, n), b2), L::mul(L::mul(g, g), v1));
      const V move = L::div(L::div(mNew, c1), L::add(L::sqrt(L::div(vNew, c2)), eps));
      storeLanes<L>(m, i, mNew, n);
      storeLanes<L>(v, i, vNew, n);
      storeLanes<L>(row, i, L::sub(x, L::mul(lr, move)), n);
    });
    if (p.k > 0) clip(row);
  }
  DSA_HOST_DEVICE inline void clip(T* row) const {
    const double norm = math::root(valueOf(squaredNorm<L>(row, p.dim)));
    const double radius = math::root((1.0 - p.ballMargin) / p.k);
    if (!(norm > radius)) return;
    const V factor = L::set(static_cast<T>(radius / norm));
    forLanes<L>(p.dim,
                [&](std::uint32_t i, int n) { storeLanes<L>(row, i, L::mul(loadLanes<L>(row, i, n), factor), n); });
  }
};

/// A point y = f * (alpha x + beta u) given by coefficients, so that passes over the row recompute it with the same
/// bits.
template <class L>
struct Combination {
  using V = typename L::V;
  using T = typename L::T;
  const T* x;
  const T* u;
  V alpha, beta, factor;
  bool plain;   // alpha = 1
  bool scaled;  // factor != 1

  DSA_HOST_DEVICE inline V at(std::uint32_t i, int n) const {
    V y = loadLanes<L>(x, i, n);
    if (!plain) y = L::mul(alpha, y);
    y = L::add(y, L::mul(beta, loadLanes<L>(u, i, n)));
    return scaled ? L::mul(y, factor) : y;
  }
};

/// Coefficients of x (+) rho u for K > 0: alpha x + beta u. `b` is 1 - K rho^2|u|^2, given because it is known more
/// precisely.
struct MobiusCoefficients {
  double alpha, beta;
};
DSA_MATH MobiusCoefficients mobiusCoefficients(double k, double a, double b, double rho, double squaredSum) {
  // 1 + 2K<x,u'> + K|u'|^2 = a + K|x+u'|^2, and the denominator is a b + K|x+u'|^2: no cancellation.
  const double denominator = a * b + k * squaredSum;
  return MobiusCoefficients{(a + k * squaredSum) / denominator, a * rho / denominator};
}

/// |x + rho u|^2.
template <class L>
DSA_MATH Sum squaredSumWith(const typename L::T* x, const typename L::T* u, double rho, std::uint32_t dim) {
  Sum sums[1];
  const auto r = L::setWide(rho);
  sumProducts<L, 1>(dim, sums, [&](std::uint32_t i, int n, auto add) {
    const auto s = L::addWide(L::widen(loadLanes<L>(x, i, n)), L::mulWide(r, L::widen(loadLanes<L>(u, i, n))));
    add(0, s, s);
  });
  return sums[0];
}

/// rho with exp_x(gamma m) = x (+) rho m, and 1 - K rho^2|m|^2 without cancellation. |u| = |gamma m|.
struct ExponentialStep {
  double rho, b;
};
DSA_MATH ExponentialStep exponentialStep(double k, double a, double gamma, double squaredM) {
  const double rootK = math::root(k);
  const double lambda = 2.0 / math::greater(a, 1e-15);
  const double length = math::absolute(gamma) * math::root(squaredM);
  if (length < 1e-15) return ExponentialStep{gamma * lambda / 2.0, 1.0};
  const double z = math::lesser(rootK * lambda * length / 2.0, 15.0);
  const double e = math::exp(-2.0 * z);
  const double sech2 = 4.0 * e / ((1.0 + e) * (1.0 + e));
  return ExponentialStep{gamma * math::tanh(z) / (rootK * length), sech2};
}

/// Sets factor so that |y| <= (1-margin)/sqrt(K).
template <class L>
DSA_MATH void projectCombination(Combination<L>& y, double k, double margin, std::uint32_t dim) {
  Sum sums[1];
  sumProducts<L, 1>(dim, sums, [&](std::uint32_t i, int n, auto add) {
    const auto w = L::widen(y.at(i, n));
    add(0, w, w);
  });
  const double norm = math::root(valueOf(sums[0]));
  const double radius = (1.0 - margin) / math::root(k);
  if (norm > radius) {
    y.factor = L::set(static_cast<typename L::T>(radius / norm));
    y.scaled = true;
  }
}

/// Stores y over x and, where `m` is given, carries m from x to y: (lambda_x/lambda_y) gyr[y,-x] m.
/// With delta = y - x: A = -K a<x,m> + 2K^2<x,delta><x,m> - K^2|x|^2<delta,m>, A - B = K a<delta,m> -
/// K^2|delta|^2<x,m>, D = a b + K|delta|^2, result = (b/a)(m + 2(A delta + (A-B) x)/D): the form of peers.md (G) with
/// its cancellations removed.
template <class L, class Point>
DSA_MATH void moveAndTransport(typename L::T* row, typename L::T* m, const Point& y, double k, double a,
                               const Sum& squaredX, std::uint32_t dim) {
  using V = typename L::V;
  using T = typename L::T;
  // y.at may read row and m: every pass reads it before it stores.
  Sum sums[5];  // |y|^2, |delta|^2, <x,delta>, <delta,m>, <x,m>
  sumProducts<L, 5>(dim, sums, [&](std::uint32_t i, int n, auto add) {
    const auto x = L::widen(loadLanes<L>(row, i, n));
    const auto w = L::widen(y.at(i, n));
    const auto mw = L::widen(loadLanes<L>(m, i, n));
    const auto delta = L::subWide(w, x);
    add(0, w, w);
    add(1, delta, delta);
    add(2, x, delta);
    add(3, delta, mw);
    add(4, x, mw);
  });
  const double b = oneMinus(k, sums[0]);
  const double s = valueOf(sums[1]);
  const double xDelta = valueOf(sums[2]);
  const double deltaM = valueOf(sums[3]);
  const double xM = valueOf(sums[4]);
  const double k2 = k * k;
  const double A = -k * a * xM + 2.0 * k2 * xDelta * xM - k2 * valueOf(squaredX) * deltaM;
  const double AminusB = k * a * deltaM - k2 * s * xM;
  const double D = math::greater(a * b + k * s, 1e-15);
  const V ratio = L::set(static_cast<T>(b / math::greater(a, 1e-15)));
  const V onDelta = L::set(static_cast<T>(2.0 * A / D));
  const V onX = L::set(static_cast<T>(2.0 * AminusB / D));
  forLanes<L>(dim, [&](std::uint32_t i, int n) {
    const V x = loadLanes<L>(row, i, n);
    const V w = y.at(i, n);
    const V turned = L::add(loadLanes<L>(m, i, n), L::add(L::mul(onDelta, L::sub(w, x)), L::mul(onX, x)));
    storeLanes<L>(row, i, w, n);
    storeLanes<L>(m, i, L::mul(ratio, turned), n);
  });
}

/// Riemannian Adam (Becigneul and Ganea 2019, algorithm 1a, with bias corrections and eps as geoopt has them).
/// Row: w[d] m[d] s. s += (1-b2)(|g|^2/lambda^2 - s) as b2 s + (1-b2)|g|^2/lambda^2.
template <class L>
struct RadamRule {
  using V = typename L::V;
  using T = typename L::T;
  const StepParams& p;

  DSA_MATH RadamRule make(const StepParams& q) { return RadamRule{q}; }
  DSA_HOST_DEVICE inline void operator()(T* row, const T* grad) const {
    T* const m = row + p.dim;
    T* const second = m + p.dim;
    Sum first[2];
    sumProducts<L, 2>(p.dim, first, [&](std::uint32_t i, int n, auto add) {
      const auto x = L::widen(loadLanes<L>(row, i, n));
      const auto g = L::widen(loadLanes<L>(grad, i, n));
      add(0, x, x);
      add(1, g, g);
    });
    const double a = p.k > 0 ? oneMinus(p.k, first[0]) : 1.0;
    // 1/lambda^2 on the ball; a flat space has the metric 1.
    const double inverse = p.k > 0 ? math::greater(a, 1e-15) * math::greater(a, 1e-15) / 4.0 : 1.0;
    const double s = p.beta2 * static_cast<double>(second[0]) + (1.0 - p.beta2) * (valueOf(first[1]) * inverse);
    lanesMeet<L>();  // every lane has read it
    second[0] = static_cast<T>(s);
    const V b1 = L::set(static_cast<T>(p.beta1));
    const V onGrad = L::set(static_cast<T>((1.0 - p.beta1) * inverse));
    Sum moment[1];
    sumProducts<L, 1>(p.dim, moment, [&](std::uint32_t i, int n, auto add) {
      const V mNew = L::add(L::mul(b1, loadLanes<L>(m, i, n)), L::mul(onGrad, loadLanes<L>(grad, i, n)));
      storeLanes<L>(m, i, mNew, n);
      const auto mw = L::widen(mNew);
      add(0, mw, mw);
    });
    const double gamma = -p.lr / p.bias1 / (math::root(static_cast<double>(second[0]) / p.bias2) + p.eps);
    move(row, m, gamma, a, first[0], valueOf(moment[0]));
  }
  DSA_HOST_DEVICE inline void move(T* row, T* m, double gamma, double a, const Sum& squaredX, double squaredM) const {
    Combination<L> y{row, m, L::set(T(1)), L::set(static_cast<T>(gamma)), L::set(T(1)), true, false};
    if (!(p.k > 0)) {
      forLanes<L>(p.dim, [&](std::uint32_t i, int n) { storeLanes<L>(row, i, y.at(i, n), n); });
      return;
    }
    if (p.map == BallMap::exponential) {
      const ExponentialStep e = exponentialStep(p.k, a, gamma, squaredM);
      const double q = valueOf(squaredSumWith<L>(row, m, e.rho, p.dim));
      const MobiusCoefficients c = mobiusCoefficients(p.k, a, e.b, e.rho, q);
      y.alpha = L::set(static_cast<T>(c.alpha));
      y.beta = L::set(static_cast<T>(c.beta));
      y.plain = false;
    }
    projectCombination<L>(y, p.k, p.ballMargin, p.dim);
    moveAndTransport<L>(row, m, y, p.k, a, squaredX, p.dim);
  }
};

/// Nickel and Kiela 2017: g' = g (1-K|x|^2)^2/4, no longer than gradientCap, then x - lr g' (or the exponential map),
/// then the ball.
template <class L>
struct RsgdRule {
  using V = typename L::V;
  using T = typename L::T;
  const StepParams& p;

  DSA_MATH RsgdRule make(const StepParams& q) { return RsgdRule{q}; }
  DSA_HOST_DEVICE inline void operator()(T* row, const T* grad) const {
    Combination<L> y{row, grad, L::set(T(1)), L::set(static_cast<T>(-p.lr)), L::set(T(1)), true, false};
    if (p.k > 0) onBall(y, row, grad);
    forLanes<L>(p.dim, [&](std::uint32_t i, int n) { storeLanes<L>(row, i, y.at(i, n), n); });
  }
  DSA_HOST_DEVICE inline void onBall(Combination<L>& y, const T* row, const T* grad) const {
    Sum sums[2];
    sumProducts<L, 2>(p.dim, sums, [&](std::uint32_t i, int n, auto add) {
      const auto x = L::widen(loadLanes<L>(row, i, n));
      const auto g = L::widen(loadLanes<L>(grad, i, n));
      add(0, x, x);
      add(1, g, g);
    });
    const double a = oneMinus(p.k, sums[0]);
    double onGrad = a * a / 4.0;
    const double length = onGrad * math::root(valueOf(sums[1]));
    if (p.gradientCap > 0 && length > p.gradientCap) onGrad = onGrad * (p.gradientCap / length);
    const double gamma = -p.lr * onGrad;
    y.beta = L::set(static_cast<T>(gamma));
    if (p.map == BallMap::exponential) {
      const ExponentialStep e = exponentialStep(p.k, a, gamma, valueOf(sums[1]));
      const double q = valueOf(squaredSumWith<L>(row, grad, e.rho, p.dim));
      const MobiusCoefficients c = mobiusCoefficients(p.k, a, e.b, e.rho, q);
      y.alpha = L::set(static_cast<T>(c.alpha));
      y.beta = L::set(static_cast<T>(c.beta));
      y.plain = false;
    }
    projectCombination<L>(y, p.k, p.ballMargin, p.dim);
  }
};

/// Row Adagrad (PyTorch-BigGraph, DGL-KE): S += mean_j g_j^2; x -= lr g/(sqrt(S)+eps). Row: w[d] S.
template <class L>
struct RowAdagradRule {
  using V = typename L::V;
  using T = typename L::T;
  const StepParams& p;

  DSA_MATH RowAdagradRule make(const StepParams& q) { return RowAdagradRule{q}; }
  DSA_HOST_DEVICE inline void operator()(T* row, const T* grad) const {
    T* const sum = row + p.dim;
    const double grown = static_cast<double>(sum[0]) + valueOf(squaredNorm<L>(grad, p.dim)) / p.dim;
    lanesMeet<L>();  // every lane has read it
    sum[0] = static_cast<T>(grown);
    const V step = L::set(static_cast<T>(-p.lr / (math::root(static_cast<double>(sum[0])) + p.eps)));
    forLanes<L>(p.dim, [&](std::uint32_t i, int n) {
      storeLanes<L>(row, i, L::add(loadLanes<L>(row, i, n), L::mul(step, loadLanes<L>(grad, i, n))), n);
    });
  }
};

/// Rows ahead whose cache lines are asked for while one is computed. In RAM none gave 0.76 of the
/// rows a second, 3 gave 0.87, 12 gave 0.78 (bench rows, 200,000 x 128, one thread, medians of 5 rounds).
inline constexpr std::uint64_t kPrefetchRows = 6;

template <class T>
static inline void prefetchRow(const T* row, std::uint64_t bytes) {
  const char* p = reinterpret_cast<const char*>(row);
  for (std::uint64_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(p + offset, 1, 3);
}

template <class L, class RuleOnRow>
static inline void eachRow(const RuleOnRow& rule, typename L::T* const* rows, const typename L::T* grads,
                           std::uint64_t gradStride, std::uint64_t n, std::uint64_t rowBytes) {
  for (std::uint64_t i = 0; i < n; ++i) {
    if (i + kPrefetchRows < n) prefetchRow(rows[i + kPrefetchRows], rowBytes);
    rule(rows[i], grads + i * gradStride);
  }
}

/// Updates n rows in place. rows [n] distinct pointers; grads [n x gradStride], summed over duplicates, finite.
template <class L>
static void updateRows(const StepParams& p, typename L::T* const* rows, const typename L::T* grads,
                       std::uint64_t gradStride, std::uint64_t n) noexcept {
  const std::uint64_t d = p.dim;
  const std::uint64_t unit = sizeof(typename L::T);
  switch (p.rule) {
    case Rule::sparseAdam:
      return eachRow<L>(SparseAdamRule<L>::make(p), rows, grads, gradStride, n, 3 * d * unit);
    case Rule::dsa:
      return eachRow<L>(DsaRule<L>::make(p), rows, grads, gradStride, n, 3 * d * unit);
    case Rule::radam:
      return eachRow<L>(RadamRule<L>::make(p), rows, grads, gradStride, n, (2 * d + 1) * unit);
    case Rule::rsgd:
      return eachRow<L>(RsgdRule<L>::make(p), rows, grads, gradStride, n, d * unit);
    case Rule::rowAdagrad:
      return eachRow<L>(RowAdagradRule<L>::make(p), rows, grads, gradStride, n, (d + 1) * unit);
  }
}

}  // namespace dsa
