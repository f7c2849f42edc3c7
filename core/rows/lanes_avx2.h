// SPDX-License-Identifier: Apache-2.0
// Eight float32 lanes in AVX2 registers. Included only by files compiled with -mavx2.
#pragma once

#include <immintrin.h>

#include "core/rows/lanes_array.h"

namespace dsa {
namespace {

struct Avx2Lanes {
  using T = float;
  static constexpr int W = 8;
  using V = __m256;
  struct D {
    __m256d low, high;
  };
  using Acc = D;

  static __m256i mask(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static V load(const float* p) { return _mm256_loadu_ps(p); }
  static V loadPart(const float* p, int n) { return _mm256_maskload_ps(p, mask(n)); }
  static void store(float* p, V a) { _mm256_storeu_ps(p, a); }
  static void storePart(float* p, V a, int n) {
    // Not maskstore: it is microcoded on AMD, and loads after it wait for it.
    __m128 left = _mm256_castps256_ps128(a);
    if ((n & 4) != 0) {
      _mm_storeu_ps(p, left);
      left = _mm256_extractf128_ps(a, 1);
      p += 4;
    }
    if ((n & 2) != 0) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), left);
      left = _mm_movehl_ps(left, left);
      p += 2;
    }
    if ((n & 1) != 0) _mm_store_ss(p, left);
  }
  static V set(float x) { return _mm256_set1_ps(x); }
  static D setWide(double x) { return D{_mm256_set1_pd(x), _mm256_set1_pd(x)}; }
  static V add(V a, V b) { return _mm256_add_ps(a, b); }
  static V sub(V a, V b) { return _mm256_sub_ps(a, b); }
  static V mul(V a, V b) { return _mm256_mul_ps(a, b); }
  static V div(V a, V b) { return _mm256_div_ps(a, b); }
  static V sqrt(V a) { return _mm256_sqrt_ps(a); }
  static D widen(V a) {
    return D{_mm256_cvtps_pd(_mm256_castps256_ps128(a)), _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1))};
  }
  static D addWide(const D& a, const D& b) { return D{_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)}; }
  static D subWide(const D& a, const D& b) { return D{_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)}; }
  static D mulWide(const D& a, const D& b) { return D{_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)}; }
  static Acc zeroAcc() { return Acc{_mm256_setzero_pd(), _mm256_setzero_pd()}; }
  static void accumulate(Acc& acc, const D& a, const D& b) {
    acc.low = _mm256_add_pd(acc.low, _mm256_mul_pd(a.low, b.low));
    acc.high = _mm256_add_pd(acc.high, _mm256_mul_pd(a.high, b.high));
  }
  static Sum totalOfOne(const Acc& acc) {
    const __m256d four = _mm256_add_pd(acc.low, acc.high);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return Sum{_mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two))), 0};
  }
  static Sum total(const Acc* acc) {
    const __m256d low0 = _mm256_add_pd(acc[0].low, acc[2].low);  // i + 16
    const __m256d high0 = _mm256_add_pd(acc[0].high, acc[2].high);
    const __m256d low1 = _mm256_add_pd(acc[1].low, acc[3].low);
    const __m256d high1 = _mm256_add_pd(acc[1].high, acc[3].high);
    const __m256d low = _mm256_add_pd(low0, low1);  // + 8
    const __m256d high = _mm256_add_pd(high0, high1);
    const __m256d four = _mm256_add_pd(low, high);                                                 // + 4
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));  // + 2
    return Sum{_mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two))), 0};                      // + 1
  }
};

}  // namespace
}  // namespace dsa
