// SPDX-License-Identifier: Apache-2.0
// How n rows are spread over a grid of warps: the arithmetic of the launch, callable and tested without a GPU.
#pragma once

#include <cstdint>

#include "core/base/random.h"  // DSA_HOST_DEVICE

namespace dsa {

/// A grid of blocks of kWarpsPerBlock warps; a warp updates one row at a time.
struct LaunchShape {
  std::uint32_t blocks = 0;
  std::uint64_t rows = 0;
};

inline constexpr std::uint32_t kThreadsPerWarp = 32;
inline constexpr std::uint32_t kWarpsPerBlock = 4;
/// Below every card's grid limit (2^31 - 1) and 30 times the warps that the largest card holds at once; further rows
/// are later turns.
inline constexpr std::uint32_t kMostBlocks = 65536;

/// The grid for n rows, any n; 0 blocks for 0 rows, which must not be launched.
[[nodiscard]] constexpr LaunchShape launchShape(std::uint64_t rows) {
  const std::uint64_t blocks = rows / kWarpsPerBlock + (rows % kWarpsPerBlock != 0 ? 1 : 0);
  return LaunchShape{static_cast<std::uint32_t>(blocks < kMostBlocks ? blocks : kMostBlocks), rows};
}

/// Calls f(row) for each row of the warp `warp` of block `block`: over the whole grid each row exactly once.
template <class F>
DSA_HOST_DEVICE inline void rowsOfWarp(const LaunchShape& shape, std::uint32_t block, std::uint32_t warp, F&& f) {
  const std::uint64_t turn = std::uint64_t{shape.blocks} * kWarpsPerBlock;
  for (std::uint64_t row = std::uint64_t{block} * kWarpsPerBlock + warp; row < shape.rows; row += turn) f(row);
}

}  // namespace dsa
