// SPDX-License-Identifier: Apache-2.0
// The one entry of what nvcc compiles (core/optim/card_kernels.cu).
#pragma once

#include <cuda_runtime_api.h>

namespace dsa {

struct CardWork;

/// Launches the kernel of the work; none where it has no items. What the launch answered.
[[nodiscard]] cudaError_t launchCardWork(const CardWork& work, cudaStream_t stream);

}  // namespace dsa
