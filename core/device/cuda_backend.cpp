// SPDX-License-Identifier: Apache-2.0
// CUDA plugged into core/device/cuda_device.h. Part of dsa_cuda alone: it exists where nvcc does, and only `dsa` links
// it.
#include <cuda_runtime_api.h>

#include "core/device/cuda_card.h"
#include "core/device/cuda_device.h"

namespace dsa {

namespace {

/// 13000 is "13.0", as CUDA writes its versions.
std::string versionText(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// Why there is no device to use, from what counting them answered.
tl::unexpected<Error> noDevices(cudaError_t answer) {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (driver == 0) {
    return fail(ErrorCode::machine,
                "no CUDA driver (libcuda.so.1 is missing or does not load); install NVIDIA's driver to use a card");
  }
  if (answer == cudaErrorInsufficientDriver) {
    return fail(ErrorCode::machine,
                "the CUDA driver is too old: it is for CUDA {}, this program needs {}; update NVIDIA's driver",
                versionText(driver), versionText(CUDART_VERSION));
  }
  if (answer == cudaErrorNoDevice || answer == cudaSuccess) {
    return fail(ErrorCode::machine,
                "no CUDA device, though the driver (CUDA {}) is there; CUDA_VISIBLE_DEVICES may hide it",
                versionText(driver));
  }
  return fail(ErrorCode::machine, "the CUDA driver ({}) does not answer: {}", versionText(driver),
              cudaGetErrorString(answer));
}

Result<CudaDevice> describe(int index) {
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, index); error != cudaSuccess) {
    return fail(ErrorCode::machine, "cuda:{}: the driver does not describe it: {}", index, cudaGetErrorString(error));
  }
  CudaDevice device;
  device.index = index;
  device.name = properties.name;
  device.memoryTotal = properties.totalGlobalMem;
  device.major = properties.major;
  device.minor = properties.minor;
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaSetDevice(index) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess) device.memoryFree = free;
  return device;
}

Result<std::vector<CudaDevice>> devices() {
  int count = 0;
  const cudaError_t answer = cudaGetDeviceCount(&count);
  if (answer != cudaSuccess || count == 0) {
    static_cast<void>(cudaGetLastError());  // answered here, not by the next launch
    return noDevices(answer);
  }
  int current = 0;
  const bool restores = cudaGetDevice(&current) == cudaSuccess;
  std::vector<CudaDevice> found;
  for (int index = 0; index < count; ++index) {
    auto device = describe(index);
    if (device) {
      found.push_back(*std::move(device));
    } else if (index + 1 == count && found.empty()) {
      return tl::unexpected<Error>(std::move(device).error());
    }
  }
  if (restores) static_cast<void>(cudaSetDevice(current));
  static_cast<void>(cudaGetLastError());
  return found;
}

constexpr CudaBackend kBackend{devices, CudaCard::open};
[[maybe_unused]] const CudaBackend* const replaced = setCudaBackend(&kBackend);

}  // namespace

}  // namespace dsa
