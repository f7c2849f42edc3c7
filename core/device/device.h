// SPDX-License-Identifier: Apache-2.0
// Where arithmetic runs and what its memory holds: every allocation counted by purpose. CPU, and a simulated card.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file.h"

namespace dsa {

/// What device memory is for; the planner predicts each, the records show each.
enum class Purpose { weights, moments, batch, model, workspace };
inline constexpr std::size_t kPurposes = 5;
[[nodiscard]] std::string_view purposeName(Purpose purpose);

class Device;

/// One allocation; given back when it goes. A span of ordinary memory on the CPU and on the simulated card.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();
  [[nodiscard]] std::byte* data() const { return m_memory.data(); }
  [[nodiscard]] std::uint64_t size() const { return m_memory.size(); }

 private:
  friend class Device;
  Mapping m_memory;
  std::shared_ptr<Device> m_device;
  Purpose m_purpose = Purpose::workspace;
};

/// A device and its accounts. Thread: allocate and the accounts from one thread (the run thread).
class Device : public std::enable_shared_from_this<Device> {
 public:
  /// The processor itself: memory is ordinary, unlimited, and not counted as device memory.
  static std::shared_ptr<Device> cpu();
  /// Stands in for a card of `bytes`: takes the same allocations from ordinary memory and refuses what does not fit,
  /// with the error of a card. Simulated, and called so wherever it appears.
  static std::shared_ptr<Device> simulated(std::uint64_t bytes);

  [[nodiscard]] const std::string& name() const { return m_name; }  ///< "cpu", "simulated card of 12.00 GiB"
  [[nodiscard]] bool hasOwnMemory() const { return m_capacity > 0; }
  [[nodiscard]] std::uint64_t capacity() const { return m_capacity; }
  [[nodiscard]] std::uint64_t used() const { return m_used; }
  [[nodiscard]] std::uint64_t peak() const { return m_peak; }
  [[nodiscard]] std::uint64_t usedFor(Purpose purpose) const { return m_byPurpose[static_cast<std::size_t>(purpose)]; }

  /// Zeroed memory, page-aligned. Error machine: "needs 14.31 GiB, card has 12.00 GiB"; nothing was allocated.
  Result<DeviceBuffer> allocate(std::uint64_t bytes, Purpose purpose);

 private:
  friend class DeviceBuffer;
  Device(std::string name, std::uint64_t capacity) : m_name(std::move(name)), m_capacity(capacity) {}
  std::string m_name;
  std::uint64_t m_capacity = 0;
  std::uint64_t m_used = 0;
  std::uint64_t m_peak = 0;
  std::array<std::uint64_t, kPurposes> m_byPurpose{};
};

}  // namespace dsa
