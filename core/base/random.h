// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: a pure function of (seed, stream, step, slot), the same on every machine and thread.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define DSA_HOST_DEVICE __host__ __device__
#else
#define DSA_HOST_DEVICE
#endif

namespace dsa {

/// What a number is for; streams never share numbers.
enum class Stream : std::uint32_t {
  rowInit = 1,    ///< initial weights; step = row, slot = element / 4
  shuffle = 2,    ///< order of the samples within an epoch
  negatives = 3,  ///< corrupted rows; slot = place in the batch
  pairs = 4,      ///< synthetic positives
  side = 5,       ///< which side of a triple is corrupted
  tests = 100,
};

/// Four independent 32-bit words.
struct Random4 {
  std::uint32_t word[4];
};

/// Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
DSA_HOST_DEVICE constexpr Random4 philox(std::uint64_t seed, Stream stream, std::uint64_t step, std::uint32_t slot) {
  std::uint32_t c0 = static_cast<std::uint32_t>(step);
  std::uint32_t c1 = static_cast<std::uint32_t>(step >> 32);
  std::uint32_t c2 = slot;
  std::uint32_t c3 = static_cast<std::uint32_t>(stream);
  std::uint32_t k0 = static_cast<std::uint32_t>(seed);
  std::uint32_t k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2;
    const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const std::uint32_t n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return Random4{{c0, c1, c2, c3}};
}

__extension__ typedef unsigned __int128 Uint128;

/// Uniform in [0, n) by multiply-shift on 64 bits (bias below n / 2^64). n > 0.
DSA_HOST_DEVICE constexpr std::uint64_t belowFrom(std::uint32_t low, std::uint32_t high, std::uint64_t n) {
  const std::uint64_t x = (std::uint64_t{high} << 32) | low;
  return static_cast<std::uint64_t>((static_cast<Uint128>(x) * n) >> 64);
}

/// Uniform in [0, 1) with 53 bits.
DSA_HOST_DEVICE constexpr double unitFrom(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t x = (std::uint64_t{high} << 32) | low;
  return static_cast<double>(x >> 11) * (1.0 / 9007199254740992.0);
}

/// Uniform in [-scale, scale) with 24 bits, for initial weights.
DSA_HOST_DEVICE constexpr float symmetricFrom(std::uint32_t word, float scale) {
  return (static_cast<float>(word >> 8) * (1.0f / 8388608.0f) - 1.0f) * scale;
}

}  // namespace dsa
