// SPDX-License-Identifier: Apache-2.0
// Where arithmetic runs and what its memory holds: every allocation counted by purpose. CPU, a card, a simulated card.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/device/card.h"

namespace dsa {

/// What device memory is for; the planner predicts each, the records show each.
enum class Purpose { weights, moments, batch, model, workspace };
inline constexpr std::size_t kPurposes = 5;
[[nodiscard]] std::string_view purposeName(Purpose purpose);

class Device;

/// Bytes of one allocation that serve a purpose.
struct Share {
  Purpose purpose = Purpose::workspace;
  std::uint64_t bytes = 0;
};

/// One allocation; given back when it goes. A span of ordinary memory on the CPU and on the simulated card; on a card
/// data() is an address of the card's, not to be read through.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();
  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t bytes = 0;
    for (const std::uint64_t share : m_bytes) bytes += share;
    return bytes;
  }
  [[nodiscard]] std::byte* data() const { return m_cardMemory != nullptr ? m_cardMemory : m_memory.data(); }
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data());
  }

 private:
  friend class Device;
  Mapping m_memory;
  std::byte* m_cardMemory = nullptr;
  std::shared_ptr<Device> m_device;
  std::array<std::uint64_t, kPurposes> m_bytes{};
};

/// A device and its accounts. Thread: allocate and the accounts from one thread (the run thread).
class Device : public std::enable_shared_from_this<Device> {
 public:
  /// The processor itself: memory is ordinary, unlimited, and not counted as device memory.
  static std::shared_ptr<Device> cpu();
  /// Stands in for a card of `bytes`: takes the same allocations from ordinary memory and refuses what does not fit,
  /// with the error of a card. Simulated, and called so wherever it appears.
  static std::shared_ptr<Device> simulated(std::uint64_t bytes);
  /// A card; name: "cuda:0".
  static std::shared_ptr<Device> onCard(const std::string& name, std::shared_ptr<Card> card);

  [[nodiscard]] const std::string& name() const { return m_name; }  ///< "cpu", "simulated card of 12.00 GiB"
  [[nodiscard]] bool hasOwnMemory() const { return m_capacity > 0; }
  /// Null on the CPU and on the simulated card, where the processor computes.
  [[nodiscard]] const std::shared_ptr<Card>& card() const { return m_card; }
  [[nodiscard]] std::uint64_t capacity() const { return m_capacity; }
  [[nodiscard]] std::uint64_t used() const { return m_used; }
  [[nodiscard]] std::uint64_t peak() const { return m_peak; }
  [[nodiscard]] std::uint64_t usedFor(Purpose purpose) const { return m_byPurpose[static_cast<std::size_t>(purpose)]; }

  /// Zeroed memory, page-aligned, not empty. Error machine: "out of memory: 14.31 GiB for weights ..."; nothing was
  /// allocated.
  Result<DeviceBuffer> allocate(std::initializer_list<Share> shares);
  Result<DeviceBuffer> allocate(std::uint64_t bytes, Purpose purpose) { return allocate({{purpose, bytes}}); }

 private:
  friend class DeviceBuffer;
  Device(std::string name, std::uint64_t capacity) : m_name(std::move(name)), m_capacity(capacity) {}
  std::string m_name;
  std::shared_ptr<Card> m_card;
  std::uint64_t m_capacity = 0;
  std::uint64_t m_used = 0;
  std::uint64_t m_peak = 0;
  std::array<std::uint64_t, kPurposes> m_byPurpose{};
};

}  // namespace dsa
