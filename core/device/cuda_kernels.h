// SPDX-License-Identifier: Apache-2.0
// The one entry of what nvcc compiles: no fmt, no Result, so that cuda_rows.cu stays small.
#pragma once

#include <cuda_runtime_api.h>

#include "core/device/cuda_launch.h"
#include "core/rows/rule.h"

namespace dsa {

/// Plain pointers of CudaRows, as the kernel takes them.
struct KernelRows {
  float* table;
  std::uint64_t rowStride;
  const std::uint64_t* ids;
  const float* grads;
  std::uint64_t gradStride;
};

/// Launches the kernel of p.rule; shape.blocks > 0. What the launch answered.
[[nodiscard]] cudaError_t launchUpdateRows(const StepParams& p, const KernelRows& rows, const LaunchShape& shape,
                                           cudaStream_t stream);

}  // namespace dsa
