// SPDX-License-Identifier: Apache-2.0
// A Card on the host: the kernels of a card by fibers, in the grid that a card would get. What is put into a stream is
// carried out only when the stream is waited for, or when an order says so: a copy or a kernel whose memory is used
// again too early gives wrong results here, as it may on a card.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <set>
#include <vector>

#include "core/device/card.h"
#include "core/device/cuda_launch.h"
#include "core/optim/card_work.h"
#include "tests/gpu/fibers.h"

namespace dsa::test {

/// Runs a kernel as a grid of warps of fibers. False: the lanes of a warp did not stay together.
template <class Warp = FiberWarp>
bool runOnHost(const CardWork& work, bool backwards = false) {
  static thread_local Fibers fibers;
  bool met = true;
  withBody<Warp>(work, [&](const auto& body, std::uint64_t items) {
    const LaunchShape shape = launchShape(items);
    for (std::uint32_t block = 0; block < shape.blocks; ++block) {
      for (std::uint32_t warp = 0; warp < kWarpsPerBlock; ++warp) {
        met = met &&
              fibers.run([&] { rowsOfWarp(shape, block, warp, [&](std::uint64_t item) { body(item); }); }, backwards);
      }
    }
  });
  return met;
}

class HostCard : public Card {
 public:
  explicit HostCard(std::uint64_t capacity = 1ull << 30) : m_capacity(capacity) {}
  ~HostCard() override {
    for (std::byte* memory : m_memory) ::operator delete (memory, std::align_val_t{256});
  }

  const std::string& name() const override { return m_name; }
  std::uint64_t capacity() const override { return m_capacity; }
  Result<std::byte*> allocate(std::uint64_t bytes) override {
    if (refuseAllocations) return fail(ErrorCode::machine, "out of memory");
    auto* const memory = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{256}));
    std::memset(memory, 0, bytes);
    m_memory.insert(memory);
    return memory;
  }
  void release(std::byte* memory) noexcept override {
    m_memory.erase(memory);
    ::operator delete (memory, std::align_val_t{256});
  }
  Result<std::byte*> allocatePinned(std::uint64_t bytes) override {
    pinned += bytes;
    return allocate(bytes);
  }
  void releasePinned(std::byte* memory) noexcept override { release(memory); }

  Result<void> copy(std::byte* to, const std::byte* from, std::uint64_t bytes, Copy, Stream stream) override {
    put(stream, [to, from, bytes] {
      std::memcpy(to, from, bytes);
      return true;
    });
    return {};
  }
  Result<void> launch(const CardWork& work, Stream stream) override {
    if (failLaunches) return fail(ErrorCode::machine, "cuda:0: a kernel's launch failed: unspecified launch failure");
    ++launches;
    // Lanes from the last to the first in every other launch or so, whatever kernels take turns.
    const bool backwards = (launches * 2654435761u >> 16 & 1) != 0;
    put(stream, [work, backwards] { return runOnHost(work, backwards); });
    return {};
  }
  Result<void> order(Stream before, Stream after) override {
    // Everything in `before` now is done before what `after` gets from now on.
    const std::uint64_t mark = m_put[index(before)];
    put(after, [this, before, mark] {
      runUntil(before, mark);
      return true;
    });
    return {};
  }
  Result<void> wait(Stream stream) override {
    runUntil(stream, m_put[index(stream)]);
    if (m_apart) return fail(ErrorCode::machine, "the lanes of a warp branched apart");
    return {};
  }

  bool refuseAllocations = false;
  bool failLaunches = false;
  std::uint64_t launches = 0;
  std::uint64_t pinned = 0;  // bytes, in all

 private:
  static std::size_t index(Stream stream) { return static_cast<std::size_t>(stream); }
  void put(Stream stream, std::function<bool()> work) {
    m_queue[index(stream)].push_back(std::move(work));
    ++m_put[index(stream)];
  }
  void runUntil(Stream stream, std::uint64_t mark) {
    auto& queue = m_queue[index(stream)];
    while (m_done[index(stream)] < mark && !queue.empty()) {
      const auto work = std::move(queue.front());
      queue.pop_front();
      ++m_done[index(stream)];
      if (!work()) m_apart = true;
    }
  }

  std::string m_name = "host card";
  std::uint64_t m_capacity;
  std::set<std::byte*> m_memory;
  std::deque<std::function<bool()>> m_queue[2];
  std::uint64_t m_put[2] = {}, m_done[2] = {};
  bool m_apart = false;
};

}  // namespace dsa::test
