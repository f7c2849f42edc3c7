// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_device.h"

#include <utility>

namespace dsa {

namespace {

constexpr const char* kWithout =
    "built without CUDA: nvcc was not there when this program was compiled; everything else works";

// Constant-initialised, so that it is there when another file's initialiser plugs a backend in.
constinit const CudaBackend* plugged = nullptr;

}  // namespace

const CudaBackend* setCudaBackend(const CudaBackend* backend) { return std::exchange(plugged, backend); }

Result<std::vector<CudaDevice>> cudaDevices() {
  if (plugged == nullptr) return fail(ErrorCode::machine, "{}", kWithout);
  return plugged->devices();
}

Result<CudaDevice> cudaDevice(std::uint32_t index) {
  DSA_ASSIGN(const std::vector<CudaDevice> devices, cudaDevices());
  for (const CudaDevice& device : devices) {
    if (device.index == static_cast<int>(index)) return device;
  }
  return fail(ErrorCode::machine, "there is no card {} here; the last one is {}", index, devices.back().index);
}

Result<std::shared_ptr<Card>> openCudaCard(std::uint32_t index) {
  DSA_ASSIGN(const CudaDevice device, cudaDevice(index));
  return plugged->open(device);
}

}  // namespace dsa
