// SPDX-License-Identifier: Apache-2.0
#include "core/device/device.h"

#include <algorithm>
#include <utility>

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
    : m_memory(std::move(other.m_memory)),
      m_cardMemory(std::exchange(other.m_cardMemory, nullptr)),
      m_device(std::move(other.m_device)),
      m_bytes(other.m_bytes) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(m_memory, other.m_memory);
  std::swap(m_cardMemory, other.m_cardMemory);
  std::swap(m_device, other.m_device);
  std::swap(m_bytes, other.m_bytes);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (m_device == nullptr) return;
  if (m_cardMemory != nullptr) m_device->m_card->release(m_cardMemory);
  for (std::size_t i = 0; i < kPurposes; ++i) {
    m_device->m_used -= m_bytes[i];
    m_device->m_byPurpose[i] -= m_bytes[i];
  }
}

std::shared_ptr<Device> Device::cpu() { return std::shared_ptr<Device>(new Device("cpu", 0)); }

std::shared_ptr<Device> Device::simulated(std::uint64_t bytes) {
  return std::shared_ptr<Device>(new Device(fmt::format("simulated card of {}", formatBytes(bytes)), bytes));
}

std::shared_ptr<Device> Device::onCard(const std::string& name, std::shared_ptr<Card> card) {
  std::shared_ptr<Device> device(new Device(fmt::format("{} ({})", name, card->name()), card->capacity()));
  device->m_card = std::move(card);
  return device;
}

Result<DeviceBuffer> Device::allocate(std::initializer_list<Share> shares) {
  std::uint64_t bytes = 0;
  std::string purposes;
  for (const Share& share : shares) {
    bytes += share.bytes;
    purposes += (purposes.empty() ? "" : " and ") + std::string(purposeName(share.purpose));
  }
  DSA_CHECK(bytes > 0);
  const auto refused = [&](const std::string& more) {
    return fail(ErrorCode::machine, "{}: out of memory: {} for {} on top of {} in use, the card has {}{}", m_name,
                formatBytes(bytes), purposes, formatBytes(m_used), formatBytes(m_capacity), more);
  };
  if (m_capacity > 0 && bytes > m_capacity - m_used) return refused("");
  DeviceBuffer buffer;
  if (m_card != nullptr) {
    auto memory = m_card->allocate(bytes);
    if (!memory) return refused(fmt::format(", other programs some of it ({})", memory.error().message));
    buffer.m_cardMemory = *memory;
  } else {
    DSA_ASSIGN(buffer.m_memory, Mapping::anonymous(bytes));
  }
  buffer.m_device = shared_from_this();
  for (const Share& share : shares) {
    buffer.m_bytes[static_cast<std::size_t>(share.purpose)] += share.bytes;
    m_byPurpose[static_cast<std::size_t>(share.purpose)] += share.bytes;
  }
  m_used += bytes;
  m_peak = std::max(m_peak, m_used);
  return buffer;
}

}  // namespace dsa
