// SPDX-License-Identifier: Apache-2.0
// Lanes as plain arrays of W values: the scalar level (W = 4), and AVX-512 (16) and a CUDA warp (32) emulated; T double
// is the reference.
//
// A lane policy gives: T; W lanes in a V; element-wise arithmetic; and Acc, W double accumulators of products, summed
// over the 32 partial sums by one fixed tree (i + 16, + 8, + 4, + 2, + 1). Element i of a row belongs to partial sum i
// % 32 at every level, and a missing element adds nothing, hence all levels give the same bits.
#pragma once

#include <cstdint>

#include "core/base/random.h"

namespace dsa {

inline constexpr int kPartialSums = 32;

/// A sum with the rounding error it carries; `low` is 0 for float32 tables, whose products are exact in double.
struct Sum {
  double high = 0;
  double low = 0;
};

namespace {

/// a + b = s + e exactly (Knuth).
struct TwoSum {
  double s, e;
  DSA_HOST_DEVICE TwoSum(double a, double b) : s(a + b), e(0) {
    const double t = s - a;
    e = (a - (s - t)) + (b - t);
  }
};

/// a * b = p + e exactly (Dekker; no fma, which not every level has).
struct TwoProduct {
  double p, e;
  DSA_HOST_DEVICE TwoProduct(double a, double b) : p(a * b), e(0) {
    const double ca = 134217729.0 * a;
    const double cb = 134217729.0 * b;
    const double ah = ca - (ca - a);
    const double bh = cb - (cb - b);
    const double al = a - ah;
    const double bl = b - bh;
    e = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
  }
};

template <class Float, int Width>
struct ArrayLanes {
  using T = Float;
  static constexpr int W = Width;
  static constexpr bool kCompensated = sizeof(Float) == sizeof(double);
  struct V {
    T v[W];
  };
  struct D {
    double v[W];
  };
  struct Acc {
    double v[W];
    double e[kCompensated ? W : 1];
  };

  static V load(const T* p) {
    V r;
    for (int i = 0; i < W; ++i) r.v[i] = p[i];
    return r;
  }
  static V loadPart(const T* p, int n) {
    V r;
    for (int i = 0; i < W; ++i) r.v[i] = i < n ? p[i] : T(0);
    return r;
  }
  static void store(T* p, const V& a) {
    for (int i = 0; i < W; ++i) p[i] = a.v[i];
  }
  static void storePart(T* p, const V& a, int n) {
    for (int i = 0; i < n; ++i) p[i] = a.v[i];
  }
  static V set(T x) {
    V r;
    for (int i = 0; i < W; ++i) r.v[i] = x;
    return r;
  }
  static D setWide(double x) {
    D r;
    for (int i = 0; i < W; ++i) r.v[i] = x;
    return r;
  }
  template <class F>
  static V map(const V& a, const V& b, F f) {
    V r;
    for (int i = 0; i < W; ++i) r.v[i] = f(a.v[i], b.v[i]);
    return r;
  }
  static V add(const V& a, const V& b) {
    return map(a, b, [](T x, T y) { return x + y; });
  }
  static V sub(const V& a, const V& b) {
    return map(a, b, [](T x, T y) { return x - y; });
  }
  static V mul(const V& a, const V& b) {
    return map(a, b, [](T x, T y) { return x * y; });
  }
  static V div(const V& a, const V& b) {
    return map(a, b, [](T x, T y) { return x / y; });
  }
  static V sqrt(const V& a) {
    return map(a, a, [](T x, T) {
      if constexpr (kCompensated) {
        return __builtin_sqrt(x);
      } else {
        return __builtin_sqrtf(x);
      }
    });
  }

  static D widen(const V& a) {
    D r;
    for (int i = 0; i < W; ++i) r.v[i] = static_cast<double>(a.v[i]);
    return r;
  }
  static D addWide(const D& a, const D& b) {
    D r;
    for (int i = 0; i < W; ++i) r.v[i] = a.v[i] + b.v[i];
    return r;
  }
  static D subWide(const D& a, const D& b) {
    D r;
    for (int i = 0; i < W; ++i) r.v[i] = a.v[i] - b.v[i];
    return r;
  }
  static D mulWide(const D& a, const D& b) {
    D r;
    for (int i = 0; i < W; ++i) r.v[i] = a.v[i] * b.v[i];
    return r;
  }
  static Acc zeroAcc() {
    Acc r;
    for (int i = 0; i < W; ++i) r.v[i] = 0;
    for (double& e : r.e) e = 0;
    return r;
  }
  /// acc += a * b, lane by lane.
  static void accumulate(Acc& acc, const D& a, const D& b) {
    for (int i = 0; i < W; ++i) {
      if constexpr (kCompensated) {
        const TwoProduct product(a.v[i], b.v[i]);
        const TwoSum sum(acc.v[i], product.p);
        acc.v[i] = sum.s;
        acc.e[i] += sum.e + product.e;
      } else {
        acc.v[i] += a.v[i] * b.v[i];
      }
    }
  }
  /// The same where only the first W partial sums were added to: the others are +0 and change nothing.
  static Sum totalOfOne(const Acc& acc) {
    Acc all[kPartialSums / W];
    all[0] = acc;
    for (int b = 1; b < kPartialSums / W; ++b) all[b] = zeroAcc();
    return total(all);
  }
  /// The fixed tree over the 32 partial sums, held as 32 / W accumulators.
  static Sum total(const Acc* acc) {
    double v[kPartialSums];
    double e[kPartialSums];
    for (int i = 0; i < kPartialSums; ++i) {
      v[i] = acc[i / W].v[i % W];
      e[i] = kCompensated ? acc[i / W].e[kCompensated ? i % W : 0] : 0;
    }
    for (int width = kPartialSums / 2; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) {
        if constexpr (kCompensated) {
          const TwoSum sum(v[i], v[i + width]);
          v[i] = sum.s;
          e[i] += e[i + width] + sum.e;
        } else {
          v[i] += v[i + width];
        }
      }
    }
    return Sum{v[0], e[0]};
  }
};

}  // namespace
}  // namespace dsa
