// SPDX-License-Identifier: Apache-2.0
// Loops over a row by lanes: element-wise passes, and sums that go through 32 partial sums and a fixed tree at every
// level.
#pragma once

#include "core/rows/elementary.h"
#include "core/rows/lanes_array.h"

// nvcc's front end does not know GCC's pragma; a warp has one block of lanes and nothing to unroll.
#if defined(__CUDACC__)
#define DSA_UNROLL_BLOCKS
#else
#define DSA_UNROLL_BLOCKS _Pragma("GCC unroll 8")
#endif

namespace dsa {

/// Where lanes are threads of their own (a warp): waits for all of them, so that a value of the whole row may be
/// overwritten.
template <class L>
DSA_MATH void lanesMeet() {
  if constexpr (requires { L::meet(); }) L::meet();
}

/// Calls f(i) once for each i in [0, n), where lanes are threads by one of them each, which all have met afterwards:
/// what f stored may be read then. Before it, lanesMeet() where f overwrites what others may still read.
template <class L, class F>
DSA_MATH void forItems(std::uint32_t n, F&& f) {
  if constexpr (requires { L::lane(); }) {
    for (auto i = static_cast<std::uint32_t>(L::lane()); i < n; i += L::W) f(i);
    L::meet();
  } else {
    for (std::uint32_t i = 0; i < n; ++i) f(i);
  }
}

/// Stores a value that all lanes have, once.
template <class L>
DSA_MATH void storeOnce(double* to, double value) {
  if constexpr (requires { L::lane(); }) {
    if (L::lane() == 0) *to = value;
  } else {
    *to = value;
  }
}

/// The same for item c of a list: doubles in memory, or whatever has put(c, value).
template <class L, class List>
DSA_MATH void putOnce(List& list, std::uint32_t c, double value) {
  if constexpr (requires { list.put(c, value); }) {
    list.put(c, value);
  } else {
    storeOnce<L>(list + c, value);
  }
}

/// Calls f(offset, count) for each group of lanes; count < W only for the last one.
template <class L, class F>
DSA_MATH void forLanes(std::uint32_t dim, F&& f) {
  std::uint32_t i = 0;
  for (; i + L::W <= dim; i += L::W) f(i, L::W);
  if (i < dim) f(i, static_cast<int>(dim - i));
}

template <class L>
DSA_MATH typename L::V loadLanes(const typename L::T* p, std::uint32_t offset, int count) {
  return count == L::W ? L::load(p + offset) : L::loadPart(p + offset, count);
}

template <class L>
DSA_MATH void storeLanes(typename L::T* p, std::uint32_t offset, typename L::V value, int count) {
  if (count == L::W) {
    L::store(p + offset, value);
  } else {
    L::storePart(p + offset, value, count);
  }
}

/// K sums of products over a row at once: f(offset, count, add) calls add(k, a, b) with widened lanes, for sum k += a *
/// b.
template <class L, int K, class F>
DSA_MATH void sumProducts(std::uint32_t dim, Sum (&sums)[K], F&& f) {
  constexpr int kBlocks = kPartialSums / L::W;
  if (dim <= static_cast<std::uint32_t>(L::W)) {  // small rows: one accumulator, a third of the time at d = 5
    typename L::Acc only[K];
    for (int k = 0; k < K; ++k) only[k] = L::zeroAcc();
    f(0u, static_cast<int>(dim),
      [&](int k, const typename L::D& x, const typename L::D& y) { L::accumulate(only[k], x, y); });
    for (int k = 0; k < K; ++k) sums[k] = L::totalOfOne(only[k]);
    return;
  }
  typename L::Acc acc[K][kBlocks];
  for (int k = 0; k < K; ++k) {
    for (int b = 0; b < kBlocks; ++b) acc[k][b] = L::zeroAcc();
  }
  std::uint32_t i = 0;
  for (; i + kPartialSums <= dim; i += kPartialSums) {
    DSA_UNROLL_BLOCKS
    for (int b = 0; b < kBlocks; ++b) {
      f(i + static_cast<std::uint32_t>(b * L::W), L::W,
        [&](int k, const typename L::D& x, const typename L::D& y) { L::accumulate(acc[k][b], x, y); });
    }
  }
  DSA_UNROLL_BLOCKS
  for (int b = 0; b < kBlocks; ++b) {
    const std::uint32_t offset = i + static_cast<std::uint32_t>(b * L::W);
    if (offset < dim) {
      const std::uint32_t left = dim - offset;
      const int count = left < static_cast<std::uint32_t>(L::W) ? static_cast<int>(left) : L::W;
      f(offset, count, [&](int k, const typename L::D& x, const typename L::D& y) { L::accumulate(acc[k][b], x, y); });
    }
  }
  for (int k = 0; k < K; ++k) sums[k] = L::total(acc[k]);
}

DSA_MATH double valueOf(const Sum& s) { return s.high + s.low; }

/// 1 - k * s without losing the small difference near the boundary of the ball.
DSA_MATH double oneMinus(double k, const Sum& s) {
  const TwoProduct product(k, s.high);
  return ((1.0 - product.p) - product.e) - k * s.low;
}

template <class L>
DSA_MATH Sum dotRows(const typename L::T* a, const typename L::T* b, std::uint32_t dim) {
  Sum sums[1];
  sumProducts<L, 1>(dim, sums, [&](std::uint32_t i, int n, auto add) {
    add(0, L::widen(loadLanes<L>(a, i, n)), L::widen(loadLanes<L>(b, i, n)));
  });
  return sums[0];
}

template <class L>
DSA_MATH Sum squaredNorm(const typename L::T* a, std::uint32_t dim) {
  Sum sums[1];
  sumProducts<L, 1>(dim, sums, [&](std::uint32_t i, int n, auto add) {
    const auto x = L::widen(loadLanes<L>(a, i, n));
    add(0, x, x);
  });
  return sums[0];
}

/// |a - b|^2, the difference taken in double.
template <class L>
DSA_MATH Sum squaredDistance(const typename L::T* a, const typename L::T* b, std::uint32_t dim) {
  Sum sums[1];
  sumProducts<L, 1>(dim, sums, [&](std::uint32_t i, int n, auto add) {
    const auto x = L::subWide(L::widen(loadLanes<L>(a, i, n)), L::widen(loadLanes<L>(b, i, n)));
    add(0, x, x);
  });
  return sums[0];
}

}  // namespace dsa
