// SPDX-License-Identifier: Apache-2.0
#include "core/device/device.h"

#include <algorithm>

namespace dsa {

std::string_view purposeName(Purpose purpose) {
  switch (purpose) {
    case Purpose::weights:
      return "weights";
    case Purpose::moments:
      return "moments";
    case Purpose::batch:
      return "batch";
    case Purpose::model:
      return "model";
    case Purpose::workspace:
      return "workspace";
  }
  return "unknown";
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : m_memory(std::move(other.m_memory)), m_device(std::move(other.m_device)), m_purpose(other.m_purpose) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(m_memory, other.m_memory);
  std::swap(m_device, other.m_device);
  std::swap(m_purpose, other.m_purpose);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (m_device == nullptr) return;
  m_device->m_used -= m_memory.size();
  m_device->m_byPurpose[static_cast<std::size_t>(m_purpose)] -= m_memory.size();
}

std::shared_ptr<Device> Device::cpu() { return std::shared_ptr<Device>(new Device("cpu", 0)); }

std::shared_ptr<Device> Device::simulated(std::uint64_t bytes) {
  return std::shared_ptr<Device>(new Device(fmt::format("simulated card of {}", formatBytes(bytes)), bytes));
}

Result<DeviceBuffer> Device::allocate(std::uint64_t bytes, Purpose purpose) {
  DSA_CHECK(bytes > 0);
  if (m_capacity > 0 && bytes > m_capacity - m_used) {
    return fail(ErrorCode::machine, "{}: out of memory: {} for {} on top of {} in use, the card has {}", m_name,
                formatBytes(bytes), purposeName(purpose), formatBytes(m_used), formatBytes(m_capacity));
  }
  DeviceBuffer buffer;
  DSA_ASSIGN(buffer.m_memory, Mapping::anonymous(bytes));
  buffer.m_device = shared_from_this();
  buffer.m_purpose = purpose;
  m_used += bytes;
  m_peak = std::max(m_peak, m_used);
  m_byPurpose[static_cast<std::size_t>(purpose)] += bytes;
  return buffer;
}

}  // namespace dsa
