// SPDX-License-Identifier: Apache-2.0
// Our own exp, log, tanh, asinh, sin, cos in double: + - * / sqrt only, hence the same bits on every CPU and on CUDA.
//
// libm is not used in core/rows and core/model (tests/arch checks the symbols): glibc picks a variant by the CPU's
// features and its last bit moves. These run once a row or a pair, not once an element, so double costs little. Stated
// largest errors, against 80-bit results over the ranges that tst_elementary walks: exp 1, log 1, expm1 1.5, log1p 2,
// tanh 2.5, asinh 2.5, sin and cos 1 ulp. Reductions and coefficients of exp, expm1, log, sin, cos are those of
// FreeBSD's msun:
//   Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunPro, a Sun Microsystems, Inc.
//   business. Permission to use, copy, modify, and distribute this software is freely granted, provided that this
//   notice is preserved.
#pragma once

#include <cstdint>

#include "core/base/random.h"  // DSA_HOST_DEVICE

// Internal linkage, so that each instruction set has its own copy.
#define DSA_MATH DSA_HOST_DEVICE static inline

namespace dsa::math {

DSA_MATH double fromBits(std::uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

DSA_MATH std::uint64_t toBits(double x) {
  std::uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// sqrt, correctly rounded (an instruction everywhere).
DSA_MATH double root(double x) { return __builtin_sqrt(x); }

DSA_MATH double absolute(double x) { return fromBits(toBits(x) & 0x7fffffffffffffffull); }
DSA_MATH double withSign(double magnitude, double sign) {
  return fromBits((toBits(magnitude) & 0x7fffffffffffffffull) | (toBits(sign) & 0x8000000000000000ull));
}
DSA_MATH double lesser(double a, double b) { return a < b ? a : b; }
DSA_MATH double greater(double a, double b) { return a > b ? a : b; }
DSA_MATH double infinity() { return fromBits(0x7ff0000000000000ull); }
DSA_MATH double notANumber() { return fromBits(0x7ff8000000000000ull); }

/// x * 2^k for |k| <= 1100, in two exact steps (one rounding, where the result is subnormal).
DSA_MATH double scale(double x, int k) {
  const int half = k / 2;
  return x * fromBits(static_cast<std::uint64_t>(1023 + half) << 52) *
         fromBits(static_cast<std::uint64_t>(1023 + k - half) << 52);
}

/// Nearest whole number for |x| < 2^31, ties to even.
DSA_MATH double nearest(double x) {
  const double magic = 6755399441055744.0;  // 1.5 * 2^52
  return (x + magic) - magic;
}

inline constexpr double kLn2High = 6.93147180369123816490e-01;
inline constexpr double kLn2Low = 1.90821492927058770002e-10;
inline constexpr double kInvLn2 = 1.44269504088896338700e+00;

/// e^x; 0 below -745.13, infinity above 709.78.
DSA_MATH double exp(double x) {
  if (!(x <= 709.782712893383973096)) return x > 0 ? infinity() : x;  // NaN passes through
  if (x < -745.13321910194110842) return 0;
  const double k = nearest(x * kInvLn2);
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double t = r * r;
  const double c =
      r -
      t * (1.66666666666666019037e-01 +
           t * (-2.77777777770155933842e-03 +
                t * (6.61375632143793436117e-05 + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
  const double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
  return scale(y, static_cast<int>(k));
}

/// e^x - 1, accurate near 0.
DSA_MATH double expm1(double x) {
  if (!(x <= 709.782712893383973096)) return x > 0 ? infinity() : x;
  if (x < -40) return -1;
  if (absolute(x) < 5.5e-17) return x;
  const double k = absolute(x) <= 0.34657359027997264 ? 0.0 : nearest(x * kInvLn2);
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double c = (high - r) - low;
  const double halfR = 0.5 * r;
  const double hxs = r * halfR;
  const double r1 =
      1.0 + hxs * (-3.33333333333331316428e-02 +
                   hxs * (1.58730158725481460165e-03 +
                          hxs * (-7.93650757867487942473e-05 +
                                 hxs * (4.00821782732936239552e-06 + hxs * -2.01099218183624371326e-07))));
  const double t = 3.0 - r1 * halfR;
  double e = hxs * ((r1 - t) / (6.0 - r * t));
  if (k == 0) return r - (r * e - hxs);
  e = (r * (e - c) - c) - hxs;
  const int n = static_cast<int>(k);
  if (n == -1) return 0.5 * (r - e) - 0.5;
  if (n == 1) return r < -0.25 ? -2.0 * (e - (r + 0.5)) : 1.0 + 2.0 * (r - e);
  if (n <= -2 || n > 56) return scale(1.0 - (e - r), n) - 1.0;
  const double twoMinusK = scale(1.0, -n);
  if (n < 20) return scale((1.0 - twoMinusK) - (e - r), n);
  return scale((r - (e + twoMinusK)) + 1.0, n);
}

/// Natural logarithm; -infinity at 0, NaN below.
DSA_MATH double log(double x) {
  if (!(x > 0)) return x == 0 ? -infinity() : notANumber();
  if (x == infinity()) return x;
  int k = 0;
  if (x < 2.2250738585072014e-308) {  // subnormal
    x *= 18014398509481984.0;         // 2^54
    k = -54;
  }
  std::uint64_t bits = toBits(x);
  k += static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull;
  double m = fromBits(bits);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++k;
  }
  const double f = m - 1.0;
  const double dk = k;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double w = z * z;
  const double t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double t2 =
      z * (6.666666666666735130e-01 +
           w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double r = t1 + t2;
  const double halfSquare = 0.5 * f * f;
  return dk * kLn2High - ((halfSquare - (s * (halfSquare + r) + dk * kLn2Low)) - f);
}

/// log(1 + x), accurate near 0; x > -1.
DSA_MATH double log1p(double x) {
  if (absolute(x) < 1.1e-16) return x;
  const double u = 1.0 + x;
  if (u == infinity()) return u;
  const double lost = x - (u - 1.0);  // exact for the ranges used here: |x| < 2^53
  return log(u) + lost / u;
}

/// Hyperbolic tangent.
DSA_MATH double tanh(double x) {
  const double a = absolute(x);
  if (!(a < 22)) return a >= 22 ? withSign(1.0, x) : x;
  if (a >= 1) return withSign(1.0 - 2.0 / (expm1(2.0 * a) + 2.0), x);
  const double t = expm1(-2.0 * a);
  return withSign(-t / (t + 2.0), x);
}

/// Inverse hyperbolic sine.
DSA_MATH double asinh(double x) {
  const double a = absolute(x);
  if (!(a >= 3.7e-9)) return x;
  if (!(a < 268435456.0)) return withSign(log(a) + 0.693147180559945286, x);
  const double square = a * a;
  if (a > 2) return withSign(log(2.0 * a + 1.0 / (root(square + 1.0) + a)), x);
  return withSign(log1p(a + square / (1.0 + root(1.0 + square))), x);
}

/// The quadrant and remainder of x by pi/2 in three parts. |x| <= 800,000.
struct Reduced {
  double high, low;
  int quadrant;
};

DSA_MATH Reduced reduceByHalfPi(double x) {
  const double n = nearest(x * 6.36619772367581382433e-01);
  double r = x - n * 1.57079632673412561417e+00;
  double w = n * 6.07710050650619224932e-11;
  // The first part leaves 85 good bits; where many cancelled, take the second and third parts as well.
  if (absolute(r) < 1e-2) {
    const double t = r;
    w = n * 6.07710050630396597660e-11;
    r = t - w;
    w = n * 2.02226624879595063154e-21 - ((t - r) - w);
    if (absolute(r) < 1e-9) {
      const double t2 = r;
      w = n * 2.02226624871116645580e-21;
      r = t2 - w;
      w = n * 8.47842766036889956997e-32 - ((t2 - r) - w);
    }
  }
  const double high = r - w;
  return Reduced{high, (r - high) - w, static_cast<int>(static_cast<std::int64_t>(n) & 3)};
}

DSA_MATH double sinKernel(double x, double y) {
  const double z = x * x;
  const double v = z * x;
  const double r =
      8.33333333332248946124e-03 +
      z * (-1.98412698298579493134e-04 +
           z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  return x - ((z * (0.5 * y - v * r) - y) - v * -1.66666666666666324348e-01);
}

DSA_MATH double cosKernel(double x, double y) {
  const double z = x * x;
  const double r = z * (4.16666666666666019037e-02 +
                        z * (-1.38888888888741095749e-03 +
                             z * (2.48015872894767294178e-05 +
                                  z * (-2.75573143513906633035e-07 +
                                       z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const double half = 0.5 * z;
  const double w = 1.0 - half;
  return w + (((1.0 - w) - half) + (z * r - x * y));
}

/// Sine for |x| <= 800,000 (NaN outside: the reduction is not made for more).
DSA_MATH double sin(double x) {
  if (!(absolute(x) <= 800000.0)) return notANumber();
  const Reduced r = reduceByHalfPi(x);
  const double value = (r.quadrant & 1) == 0 ? sinKernel(r.high, r.low) : cosKernel(r.high, r.low);
  return (r.quadrant & 2) == 0 ? value : -value;
}

/// Cosine for |x| <= 800,000 (NaN outside).
DSA_MATH double cos(double x) {
  if (!(absolute(x) <= 800000.0)) return notANumber();
  const Reduced r = reduceByHalfPi(x);
  const double value = (r.quadrant & 1) == 0 ? cosKernel(r.high, r.low) : sinKernel(r.high, r.low);
  return r.quadrant == 1 || r.quadrant == 2 ? -value : value;
}

}  // namespace dsa::math
