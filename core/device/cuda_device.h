// SPDX-License-Identifier: Apache-2.0
// The CUDA devices of this machine. Callable in every program; only `dsa`, compiled where nvcc was found, has CUDA
// behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/device/card.h"

namespace dsa {

/// One card, as the driver tells it.
struct CudaDevice {
  int index = 0;  ///< the 0 of cuda:0
  std::string name;
  std::uint64_t memoryTotal = 0;  ///< bytes
  std::optional<std::uint64_t>
      memoryFree;  ///< bytes; nothing where the card gave this process no context (in exclusive use, say)
  int major = 0;   ///< compute capability
  int minor = 0;
};

/// Never empty: a machine without a usable card is an error of code machine whose message is for the user, "no CUDA
/// driver ...", "the CUDA driver ... is too old ...", "no CUDA device", "built without CUDA". Costs a context a card.
/// Thread: any.
[[nodiscard]] Result<std::vector<CudaDevice>> cudaDevices();

/// One of them. Errors machine: as cudaDevices(); there is no such card (the message says which there are).
[[nodiscard]] Result<CudaDevice> cudaDevice(std::uint32_t index);

/// The card of this index, made ready: a context and two streams. Errors machine: as cudaDevice(); the
/// card gives this process no context.
[[nodiscard]] Result<std::shared_ptr<Card>> openCudaCard(std::uint32_t index);

/// What a program with CUDA code plugs in before main. dsa_cuda does (cuda_backend.cpp); tests may.
struct CudaBackend {
  Result<std::vector<CudaDevice>> (*devices)() = nullptr;
  Result<std::shared_ptr<Card>> (*open)(const CudaDevice& device) = nullptr;
};

/// Takes effect for later calls; null takes CUDA out again. Returns what was there. Thread: before others start.
const CudaBackend* setCudaBackend(const CudaBackend* backend);

}  // namespace dsa
