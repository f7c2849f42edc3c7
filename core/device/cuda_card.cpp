// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_card.h"

#include "core/device/cuda_kernels.h"

namespace dsa {

CudaCard::CudaCard(const CudaDevice& device)
    : m_index(device.index), m_name(device.name), m_capacity(device.memoryTotal) {}

Result<std::shared_ptr<Card>> CudaCard::open(const CudaDevice& device) {
  std::shared_ptr<CudaCard> card(new CudaCard(device));
  DSA_TRY(card->worked(cudaSetDevice(card->m_index), "making it the current device"));
  for (cudaStream_t& stream : card->m_streams)
    DSA_TRY(card->worked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"));
  DSA_TRY(card->worked(cudaEventCreateWithFlags(&card->m_event, cudaEventDisableTiming), "making an event"));
  return std::shared_ptr<Card>(std::move(card));
}

CudaCard::~CudaCard() {
  // What is left of errors here has been told by the call that met it.
  static_cast<void>(cudaSetDevice(m_index));
  if (m_event != nullptr) static_cast<void>(cudaEventDestroy(m_event));
  for (cudaStream_t stream : m_streams) {
    if (stream != nullptr) static_cast<void>(cudaStreamDestroy(stream));
  }
}

Result<void> CudaCard::worked(cudaError_t answer, const char* what) const {
  if (answer == cudaSuccess) return {};
  return fail(ErrorCode::machine, "cuda:{}: {} failed: {}", m_index, what, cudaGetErrorString(answer));
}

Result<std::byte*> CudaCard::allocate(std::uint64_t bytes) {
  void* memory = nullptr;
  DSA_TRY(worked(cudaSetDevice(m_index), "making it the current device"));
  if (const cudaError_t answer = cudaMalloc(&memory, bytes); answer != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // told here, not by the next launch
    return fail(ErrorCode::machine, "cuda:{}: {}", m_index, cudaGetErrorString(answer));
  }
  if (auto cleared = worked(cudaMemset(memory, 0, bytes), "clearing memory"); !cleared) {
    static_cast<void>(cudaFree(memory));
    return tl::unexpected(std::move(cleared).error());
  }
  // The streams do not wait for the default one.
  DSA_TRY(worked(cudaDeviceSynchronize(), "clearing memory"));
  return static_cast<std::byte*>(memory);
}

void CudaCard::release(std::byte* memory) noexcept { static_cast<void>(cudaFree(memory)); }

Result<std::byte*> CudaCard::allocatePinned(std::uint64_t bytes) {
  void* memory = nullptr;
  DSA_TRY(worked(cudaSetDevice(m_index), "making it the current device"));
  DSA_TRY(worked(cudaMallocHost(&memory, bytes), "locking memory of the machine"));
  return static_cast<std::byte*>(memory);
}

void CudaCard::releasePinned(std::byte* memory) noexcept { static_cast<void>(cudaFreeHost(memory)); }

Result<void> CudaCard::copy(std::byte* to, const std::byte* from, std::uint64_t bytes, Copy direction, Stream stream) {
  if (bytes == 0) return {};
  DSA_TRY(worked(cudaSetDevice(m_index), "making it the current device"));
  const cudaMemcpyKind kind = direction == Copy::toCard ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  return worked(cudaMemcpyAsync(to, from, bytes, kind, of(stream)), "a copy");
}

Result<void> CudaCard::launch(const CardWork& work, Stream stream) {
  DSA_TRY(worked(cudaSetDevice(m_index), "making it the current device"));
  return worked(launchCardWork(work, of(stream)), "a kernel's launch");
}

Result<void> CudaCard::order(Stream before, Stream after) {
  DSA_TRY(worked(cudaSetDevice(m_index), "making it the current device"));
  DSA_TRY(worked(cudaEventRecord(m_event, of(before)), "marking a stream"));
  return worked(cudaStreamWaitEvent(of(after), m_event, 0), "ordering two streams");
}

Result<void> CudaCard::wait(Stream stream) { return worked(cudaStreamSynchronize(of(stream)), "work on the card"); }

}  // namespace dsa
