// SPDX-License-Identifier: Apache-2.0
// The row updates on a CUDA device: one warp a row, any rule, the bits of every other kernel level.
#pragma once

#include <cstdint>

#include "core/base/error.h"
#include "core/rows/rule.h"

namespace dsa {

/// Rows of a table in device memory and their gradients. All pointers are device pointers; nothing here owns.
struct CudaRows {
  float* table = nullptr;              ///< row r starts at table + r * rowStride
  std::uint64_t rowStride = 0;         ///< floats, at least rowFloats(rule, dim)
  const std::uint64_t* ids = nullptr;  ///< [count] distinct rows; null: rows 0 .. count-1
  const float* grads = nullptr;        ///< [count x gradStride], summed over duplicates, finite; one a row
  std::uint64_t gradStride = 0;        ///< floats, at least dim
  std::uint64_t count = 0;
};

/// A cudaStream_t, named without CUDA's headers; null is the default stream of the current device.
using CudaStream = void*;

/// Puts one step of p.rule over `rows` into `stream` of the calling thread's current device and returns without waiting
/// for it. An empty batch puts nothing there. Errors machine: the launch was refused, rows unchanged; or this program
/// has no CUDA code. A fault inside the kernel shows when the stream is waited for. Thread: any; batches in different
/// streams must name distinct rows.
[[nodiscard]] Result<void> cudaUpdateRows(const StepParams& p, const CudaRows& rows, CudaStream stream);

}  // namespace dsa
