// SPDX-License-Identifier: Apache-2.0
// Lanes as the 32 threads of a warp, one float each: element offset + lane is this thread's.
//
// Warp gives the three things that need the hardware: lane(), shuffleXor(x, mask) and meet(). On a device they are
// intrinsics (card_kernels.cu); tests/gpu runs the same policy on the host, each thread a fiber. All 32 threads take
// every branch of the row math together: conditions depend on the step and on totals, which have the same bits in every
// lane.
#pragma once

#include "core/rows/lanes_array.h"

namespace dsa {
namespace {

template <class Warp>
struct WarpLanes {
  using T = float;
  static constexpr int W = 32;
  using V = float;
  using D = double;
  using Acc = double;

  DSA_HOST_DEVICE static int lane() { return Warp::lane(); }
  DSA_HOST_DEVICE static bool has(int n) { return Warp::lane() < n; }
  DSA_HOST_DEVICE static V load(const float* p) { return p[Warp::lane()]; }
  DSA_HOST_DEVICE static V loadPart(const float* p, int n) { return has(n) ? p[Warp::lane()] : 0.0f; }
  DSA_HOST_DEVICE static void store(float* p, V a) { p[Warp::lane()] = a; }
  DSA_HOST_DEVICE static void storePart(float* p, V a, int n) {
    if (has(n)) p[Warp::lane()] = a;
  }
  DSA_HOST_DEVICE static V set(float x) { return x; }
  DSA_HOST_DEVICE static D setWide(double x) { return x; }
  DSA_HOST_DEVICE static V add(V a, V b) { return a + b; }
  DSA_HOST_DEVICE static V sub(V a, V b) { return a - b; }
  DSA_HOST_DEVICE static V mul(V a, V b) { return a * b; }
  DSA_HOST_DEVICE static V div(V a, V b) { return a / b; }
  DSA_HOST_DEVICE static V sqrt(V a) { return __builtin_sqrtf(a); }
  DSA_HOST_DEVICE static D widen(V a) { return static_cast<double>(a); }
  DSA_HOST_DEVICE static D addWide(D a, D b) { return a + b; }
  DSA_HOST_DEVICE static D subWide(D a, D b) { return a - b; }
  DSA_HOST_DEVICE static D mulWide(D a, D b) { return a * b; }
  DSA_HOST_DEVICE static Acc zeroAcc() { return 0; }
  DSA_HOST_DEVICE static void accumulate(Acc& acc, D a, D b) { acc += a * b; }
  DSA_HOST_DEVICE static Sum totalOfOne(Acc acc) { return total(&acc); }
  /// The tree of ArrayLanes<float, 32>: addition commutes, so the xor of lanes gives its bits, and gives them to every
  /// lane.
  DSA_HOST_DEVICE static Sum total(const Acc* acc) {
    double v = *acc;
    for (int width = kPartialSums / 2; width > 0; width /= 2) v += Warp::shuffleXor(v, width);
    return Sum{v, 0};
  }
  DSA_HOST_DEVICE static void meet() { Warp::meet(); }
};

}  // namespace
}  // namespace dsa
