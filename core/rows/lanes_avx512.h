// SPDX-License-Identifier: Apache-2.0
// Sixteen float32 lanes in AVX-512 registers. Included only by files compiled with -mavx512f -mavx512dq -mavx512vl.
#pragma once

#include <immintrin.h>

#include "core/rows/lanes_array.h"

namespace dsa {
namespace {

struct Avx512Lanes {
  using T = float;
  static constexpr int W = 16;
  using V = __m512;
  struct D {
    __m512d low, high;
  };
  using Acc = D;

  static __mmask16 mask(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
  static V load(const float* p) { return _mm512_loadu_ps(p); }
  static V loadPart(const float* p, int n) { return _mm512_maskz_loadu_ps(mask(n), p); }
  static void store(float* p, V a) { _mm512_storeu_ps(p, a); }
  static void storePart(float* p, V a, int n) { _mm512_mask_storeu_ps(p, mask(n), a); }
  static V set(float x) { return _mm512_set1_ps(x); }
  static D setWide(double x) { return D{_mm512_set1_pd(x), _mm512_set1_pd(x)}; }
  static V add(V a, V b) { return _mm512_add_ps(a, b); }
  static V sub(V a, V b) { return _mm512_sub_ps(a, b); }
  static V mul(V a, V b) { return _mm512_mul_ps(a, b); }
  static V div(V a, V b) { return _mm512_div_ps(a, b); }
  // maskz forms: the plain ones read an undefined register in g++ 12's headers and warn.
  static V sqrt(V a) { return _mm512_maskz_sqrt_ps(static_cast<__mmask16>(0xffff), a); }
  static D widen(V a) {
    const __mmask8 all = static_cast<__mmask8>(0xff);
    return D{_mm512_maskz_cvtps_pd(all, _mm512_castps512_ps256(a)),
             _mm512_maskz_cvtps_pd(all, _mm512_maskz_extractf32x8_ps(all, a, 1))};
  }
  static D addWide(const D& a, const D& b) { return D{_mm512_add_pd(a.low, b.low), _mm512_add_pd(a.high, b.high)}; }
  static D subWide(const D& a, const D& b) { return D{_mm512_sub_pd(a.low, b.low), _mm512_sub_pd(a.high, b.high)}; }
  static D mulWide(const D& a, const D& b) { return D{_mm512_mul_pd(a.low, b.low), _mm512_mul_pd(a.high, b.high)}; }
  static Acc zeroAcc() { return Acc{_mm512_setzero_pd(), _mm512_setzero_pd()}; }
  static void accumulate(Acc& acc, const D& a, const D& b) {
    acc.low = _mm512_add_pd(acc.low, _mm512_mul_pd(a.low, b.low));
    acc.high = _mm512_add_pd(acc.high, _mm512_mul_pd(a.high, b.high));
  }
  static Sum totalOfOne(const Acc& acc) {
    const Acc all[2] = {acc, zeroAcc()};
    return total(all);
  }
  static Sum total(const Acc* acc) {
    const __m512d low = _mm512_add_pd(acc[0].low, acc[1].low);  // i + 16
    const __m512d high = _mm512_add_pd(acc[0].high, acc[1].high);
    const __m512d eight = _mm512_add_pd(low, high);  // + 8
    const __mmask8 all = static_cast<__mmask8>(0xff);
    const __m256d four =
        _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_maskz_extractf64x4_pd(all, eight, 1));  // + 4
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));   // + 2
    return Sum{_mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two))), 0};                       // + 1
  }
};

}  // namespace
}  // namespace dsa
