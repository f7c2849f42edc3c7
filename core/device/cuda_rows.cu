// SPDX-License-Identifier: Apache-2.0
// The row updates for CUDA: core/rows/row_math.h over the threads of a warp.
//
// Compiled with --fmad=false, IEEE division and square root, subnormals kept (cmake/cuda.cmake): the bits of the CPU's
// levels.
#include "core/device/cuda_kernels.h"
#include "core/device/lanes_warp.h"
#include "core/rows/row_math.h"

namespace dsa {

namespace {

/// The hardware's warp. The host's half exists because nvcc asks for one; it is never called.
struct CudaWarp {
  DSA_HOST_DEVICE static int lane() {
#if defined(__CUDA_ARCH__)
    return static_cast<int>(threadIdx.x % kThreadsPerWarp);
#else
    return 0;
#endif
  }
  DSA_HOST_DEVICE static double shuffleXor([[maybe_unused]] double x, [[maybe_unused]] int mask) {
#if defined(__CUDA_ARCH__)
    return __shfl_xor_sync(0xffffffffu, x, mask);
#else
    __builtin_trap();
#endif
  }
  DSA_HOST_DEVICE static void meet() {
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
  }
};

using Lanes = WarpLanes<CudaWarp>;

template <class RuleOnRow>
__global__ void __launch_bounds__(kWarpsPerBlock* kThreadsPerWarp)
    updateKernel(const __grid_constant__ StepParams p, const __grid_constant__ KernelRows rows,
                 const __grid_constant__ LaunchShape shape) {
  const RuleOnRow rule = RuleOnRow::make(p);
  rowsOfWarp(shape, blockIdx.x, threadIdx.x / kThreadsPerWarp, [&](std::uint64_t i) {
    const std::uint64_t id = rows.ids != nullptr ? rows.ids[i] : i;
    rule(rows.table + id * rows.rowStride, rows.grads + i * rows.gradStride);
  });
}

}  // namespace

cudaError_t launchUpdateRows(const StepParams& p, const KernelRows& rows, const LaunchShape& shape,
                             cudaStream_t stream) {
  const dim3 grid(shape.blocks);
  const dim3 block(kWarpsPerBlock * kThreadsPerWarp);
  switch (p.rule) {
    case Rule::sparseAdam:
      updateKernel<SparseAdamRule<Lanes>><<<grid, block, 0, stream>>>(p, rows, shape);
      break;
    case Rule::dsa:
      updateKernel<DsaRule<Lanes>><<<grid, block, 0, stream>>>(p, rows, shape);
      break;
    case Rule::radam:
      updateKernel<RadamRule<Lanes>><<<grid, block, 0, stream>>>(p, rows, shape);
      break;
    case Rule::rsgd:
      updateKernel<RsgdRule<Lanes>><<<grid, block, 0, stream>>>(p, rows, shape);
      break;
    case Rule::rowAdagrad:
      updateKernel<RowAdagradRule<Lanes>><<<grid, block, 0, stream>>>(p, rows, shape);
      break;
  }
  return cudaGetLastError();
}

}  // namespace dsa
