// SPDX-License-Identifier: Apache-2.0
// A CUDA device as a Card. Part of dsa_cuda alone.
#pragma once

#include <cuda_runtime_api.h>

#include <array>

#include "core/device/card.h"
#include "core/device/cuda_device.h"

namespace dsa {

/// Two streams that do not wait for the default one. Thread: one at a time; any thread, each call makes the device the
/// calling thread's own.
class CudaCard final : public Card {
 public:
  static Result<std::shared_ptr<Card>> open(const CudaDevice& device);
  CudaCard(const CudaCard&) = delete;
  CudaCard& operator=(const CudaCard&) = delete;
  ~CudaCard() override;

  const std::string& name() const override { return m_name; }
  std::uint64_t capacity() const override { return m_capacity; }
  Result<std::byte*> allocate(std::uint64_t bytes) override;
  void release(std::byte* memory) noexcept override;
  Result<std::byte*> allocatePinned(std::uint64_t bytes) override;
  void releasePinned(std::byte* memory) noexcept override;
  Result<void> copy(std::byte* to, const std::byte* from, std::uint64_t bytes, Copy direction, Stream stream) override;
  Result<void> launch(const CardWork& work, Stream stream) override;
  Result<void> order(Stream before, Stream after) override;
  Result<void> wait(Stream stream) override;

 private:
  explicit CudaCard(const CudaDevice& device);
  [[nodiscard]] Result<void> worked(cudaError_t answer, const char* what) const;
  [[nodiscard]] cudaStream_t of(Stream stream) const { return m_streams[static_cast<std::size_t>(stream)]; }

  int m_index;
  std::string m_name;
  std::uint64_t m_capacity;
  std::array<cudaStream_t, 2> m_streams{};
  cudaEvent_t m_event = nullptr;
};

}  // namespace dsa
