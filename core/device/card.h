// SPDX-License-Identifier: Apache-2.0
// A card behind an interface: its memory, copies and kernels. CUDA is one (cuda_card.cpp, in `dsa` alone); tests run
// the same kernels on the host, a warp's threads as fibers (tests/gpu/host_card.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/error.h"

namespace dsa {

/// A kernel and its arguments (core/optim/card_work.h).
struct CardWork;

/// Copies and kernels are put into a stream, in order, and carried out later; calls do not wait unless they say so.
/// After an error in one of them every later call fails with it. Thread: one at a time.
class Card {
 public:
  enum class Stream { compute, copy };
  enum class Copy { toCard, toHost };

  virtual ~Card() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;  ///< as its driver tells it
  [[nodiscard]] virtual std::uint64_t capacity() const = 0;   ///< bytes, of which others may use some

  /// Memory of the card, zeroed, aligned for any type. Error machine: out of memory; what was there stays.
  [[nodiscard]] virtual Result<std::byte*> allocate(std::uint64_t bytes) = 0;
  virtual void release(std::byte* memory) noexcept = 0;
  /// Memory of the machine that the card reads and writes by itself (page-locked). Error machine: none left.
  [[nodiscard]] virtual Result<std::byte*> allocatePinned(std::uint64_t bytes) = 0;
  virtual void releasePinned(std::byte* memory) noexcept = 0;

  /// Both must stay until the stream has been waited for; host memory that is not pinned is legal, and waited for.
  [[nodiscard]] virtual Result<void> copy(std::byte* to, const std::byte* from, std::uint64_t bytes, Copy direction,
                                          Stream stream) = 0;
  /// No work (0 items) is legal.
  [[nodiscard]] virtual Result<void> launch(const CardWork& work, Stream stream) = 0;
  /// What is put into `after` from now on begins when all that is in `before` now is done.
  [[nodiscard]] virtual Result<void> order(Stream before, Stream after) = 0;
  /// Waits for all that is in the stream. Error machine: a copy or a kernel failed.
  [[nodiscard]] virtual Result<void> wait(Stream stream) = 0;
};

/// Page-locked memory of the machine; given back when it goes.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  static Result<PinnedBuffer> make(const std::shared_ptr<Card>& card, std::uint64_t bytes) {
    PinnedBuffer buffer;
    DSA_ASSIGN(buffer.m_memory, card->allocatePinned(bytes));
    buffer.m_card = card;
    return buffer;
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept : m_card(std::move(other.m_card)), m_memory(other.m_memory) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(m_card, other.m_card);
    std::swap(m_memory, other.m_memory);
    return *this;
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() {
    if (m_card != nullptr) m_card->releasePinned(m_memory);
  }
  [[nodiscard]] std::byte* data() const { return m_memory; }

 private:
  std::shared_ptr<Card> m_card;
  std::byte* m_memory = nullptr;
};

}  // namespace dsa
