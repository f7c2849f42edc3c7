// SPDX-License-Identifier: Apache-2.0
// The kernels of card_work.h for CUDA.
//
// Compiled with --fmad=false, IEEE division and square root, subnormals kept (cmake/cuda.cmake): the bits of the CPU's
// levels.
#include "core/device/cuda_kernels.h"
#include "core/device/cuda_launch.h"
#include "core/optim/card_work.h"

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
  DSA_HOST_DEVICE static void least([[maybe_unused]] std::uint64_t* at, [[maybe_unused]] std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    atomicMin(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
#endif
  }
  DSA_HOST_DEVICE static void add([[maybe_unused]] std::uint64_t* at, [[maybe_unused]] std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
#endif
  }
};

template <class Body>
__global__ void __launch_bounds__(kWarpsPerBlock* kThreadsPerWarp)
    warpKernel(const __grid_constant__ Body body, const __grid_constant__ LaunchShape shape) {
  rowsOfWarp(shape, blockIdx.x, threadIdx.x / kThreadsPerWarp, [&](std::uint64_t item) { body(item); });
}

}  // namespace

cudaError_t launchCardWork(const CardWork& work, cudaStream_t stream) {
  cudaError_t answer = cudaSuccess;
  withBody<CudaWarp>(work, [&](const auto& body, std::uint64_t items) {
    if (items == 0) return;
    const LaunchShape shape = launchShape(items);
    warpKernel<<<dim3(shape.blocks), dim3(kWarpsPerBlock * kThreadsPerWarp), 0, stream>>>(body, shape);
    answer = cudaGetLastError();
  });
  return answer;
}

}  // namespace dsa
