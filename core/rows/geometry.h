// SPDX-License-Identifier: Apache-2.0
// The Poincare ball of curvature -k (k > 0) and flat space (k = 0): distance, maps, transport. Points are rows of d
// values.
#pragma once

#include "core/rows/row_math.h"

namespace dsa {

/// lambda_x = 2 / (1 - k|x|^2).
template <class L>
DSA_MATH double conformalFactor(const typename L::T* x, std::uint32_t dim, double k) {
  return 2.0 / oneMinus(k, squaredNorm<L>(x, dim));
}

/// Distance from s = |x-y|^2, a = 1-k|x|^2, b = 1-k|y|^2: 2/sqrt(k) asinh(sqrt(k s/(a b))). The acosh form loses small
/// distances.
DSA_MATH double ballDistance(double k, double s, double a, double b) {
  return 2.0 / math::root(k) * math::asinh(math::root(k * s / (a * b)));
}

/// Geodesic distance; |x-y| at k = 0.
template <class L>
DSA_MATH double distance(const typename L::T* x, const typename L::T* y, std::uint32_t dim, double k) {
  const double s = valueOf(squaredDistance<L>(x, y, dim));
  if (!(k > 0)) return math::root(s);
  return ballDistance(k, s, oneMinus(k, squaredNorm<L>(x, dim)), oneMinus(k, squaredNorm<L>(y, dim)));
}

/// out = x (+) y.
template <class L>
DSA_MATH void mobiusAdd(const typename L::T* x, const typename L::T* y, typename L::T* out, std::uint32_t dim,
                        double k) {
  const double q = valueOf(squaredSumWith<L>(x, y, 1.0, dim));
  const double a = oneMinus(k, squaredNorm<L>(x, dim));
  const double b = oneMinus(k, squaredNorm<L>(y, dim));
  // As alpha x + beta y with alpha = (a + k q)/D, beta = a/D; written a (x+y) + k q x, which keeps x (+) -x exactly 0.
  const double D = a * b + k * q;
  for (std::uint32_t i = 0; i < dim; ++i) {
    out[i] = static_cast<typename L::T>((a * (static_cast<double>(x[i]) + y[i]) + k * q * x[i]) / D);
  }
}

/// out = exp_x(u), not projected.
template <class L>
DSA_MATH void exponentialMap(const typename L::T* x, const typename L::T* u, typename L::T* out, std::uint32_t dim,
                             double k) {
  const double a = oneMinus(k, squaredNorm<L>(x, dim));
  const ExponentialStep e = exponentialStep(k, a, 1.0, valueOf(squaredNorm<L>(u, dim)));
  const MobiusCoefficients c = mobiusCoefficients(k, a, e.b, e.rho, valueOf(squaredSumWith<L>(x, u, e.rho, dim)));
  for (std::uint32_t i = 0; i < dim; ++i) out[i] = static_cast<typename L::T>(c.alpha * x[i] + c.beta * u[i]);
}

/// out = log_x(y): (1/lambda_x) d(x,y) w/|w|, w = -x (+) y up to a positive factor = a (y-x) - k|x-y|^2 x.
template <class L>
DSA_MATH void logarithmicMap(const typename L::T* x, const typename L::T* y, typename L::T* out, std::uint32_t dim,
                             double k) {
  const double a = oneMinus(k, squaredNorm<L>(x, dim));
  const double s = valueOf(squaredDistance<L>(x, y, dim));
  const double d = distance<L>(x, y, dim, k);
  double square = 0;
  for (std::uint32_t i = 0; i < dim; ++i) {
    const double w = a * (static_cast<double>(y[i]) - x[i]) - k * s * x[i];
    square += w * w;
  }
  const double factor = square > 0 ? d * a / (2.0 * math::root(square)) : 0.0;
  for (std::uint32_t i = 0; i < dim; ++i) {
    const double w = a * (static_cast<double>(y[i]) - x[i]) - k * s * x[i];
    out[i] = static_cast<typename L::T>(factor * w);
  }
}

/// v [dim], tangent at x, becomes the tangent at y that parallel transport along the geodesic gives; x is overwritten
/// by y.
template <class L>
DSA_MATH void transportAlong(typename L::T* x, const typename L::T* y, typename L::T* v, std::uint32_t dim, double k) {
  const Sum square = squaredNorm<L>(x, dim);
  using V = typename L::V;
  struct Target {
    const typename L::T* y;
    DSA_HOST_DEVICE V at(std::uint32_t i, int n) const { return loadLanes<L>(y, i, n); }
  };
  moveAndTransport<L>(x, v, Target{y}, k, oneMinus(k, square), square, dim);
}

/// out = g / lambda_x^2: the Riemannian gradient.
template <class L>
DSA_MATH void riemannianGradient(const typename L::T* x, const typename L::T* g, typename L::T* out, std::uint32_t dim,
                                 double k) {
  const double a = k > 0 ? oneMinus(k, squaredNorm<L>(x, dim)) : 2.0;
  for (std::uint32_t i = 0; i < dim; ++i) out[i] = static_cast<typename L::T>(g[i] * (a * a / 4.0));
}

}  // namespace dsa
