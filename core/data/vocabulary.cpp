// SPDX-License-Identifier: Apache-2.0
#include "core/data/vocabulary.h"

#include <charconv>

#include "core/base/error.h"

namespace dsa {

namespace {

/// FNV-1a with a final mix: the low bits choose the slot.
std::uint64_t hashName(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  hash ^= hash >> 32;
  return hash * 0x9E3779B97F4A7C15ull >> 16;
}

}  // namespace

Vocabulary Vocabulary::numbered(std::uint64_t count) {
  Vocabulary vocabulary;
  vocabulary.m_numbered = true;
  vocabulary.m_count = count;
  return vocabulary;
}

std::string_view Vocabulary::stored(std::uint64_t id) const {
  const std::uint64_t begin = id == 0 ? 0 : m_ends[id - 1];
  return std::string_view(m_arena).substr(begin, m_ends[id] - begin);
}

std::string_view Vocabulary::view(std::uint64_t id, std::string& scratch) const {
  DSA_CHECK(id < size());
  if (!m_numbered) return stored(id);
  scratch = fmt::format("{}", id);
  return scratch;
}

std::string Vocabulary::name(std::uint64_t id) const {
  std::string scratch;
  return std::string(view(id, scratch));
}

std::size_t Vocabulary::slotOf(std::string_view name) const {
  const std::size_t mask = m_slots.size() - 1;
  std::size_t slot = hashName(name) & mask;
  while (m_slots[slot] != 0 && stored(m_slots[slot] - 1) != name) slot = (slot + 1) & mask;
  return slot;
}

void Vocabulary::grow() {
  m_slots.assign(m_slots.empty() ? 16 : m_slots.size() * 2, 0);
  for (std::uint64_t id = 0; id < m_ends.size(); ++id) {
    m_slots[slotOf(stored(id))] = static_cast<std::uint32_t>(id + 1);
  }
}

std::uint32_t Vocabulary::add(std::string_view name) {
  DSA_CHECK(!m_numbered);
  if ((m_ends.size() + 1) * 4 > m_slots.size() * 3) grow();
  const std::size_t slot = slotOf(name);
  if (m_slots[slot] != 0) return m_slots[slot] - 1;
  DSA_CHECK(m_ends.size() < kMaxNames);
  m_arena.append(name);
  m_ends.push_back(m_arena.size());
  m_slots[slot] = static_cast<std::uint32_t>(m_ends.size());
  return m_slots[slot] - 1;
}

std::optional<std::uint64_t> Vocabulary::find(std::string_view name) const {
  if (m_numbered) {
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    const bool canonical =
        error == std::errc() && end == name.data() + name.size() && (name.size() == 1 || name[0] != '0');
    return canonical && id < m_count ? std::optional(id) : std::nullopt;
  }
  if (m_slots.empty()) return std::nullopt;
  const std::uint32_t slot = m_slots[slotOf(name)];
  return slot == 0 ? std::nullopt : std::optional<std::uint64_t>(slot - 1);
}

std::uint64_t Vocabulary::memoryBytes() const {
  return m_arena.capacity() + m_ends.capacity() * sizeof(std::uint64_t) + m_slots.capacity() * sizeof(std::uint32_t);
}

}  // namespace dsa
