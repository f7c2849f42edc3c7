// SPDX-License-Identifier: Apache-2.0
// Names to dense ids in order of first appearance, and back; or N numbered names that take no memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dsa {

/// Memory: the bytes of the names, 8 bytes an id for the offsets and 5.3 to 10.7 for the index (no string object a
/// name). Thread: const calls from any thread, add() from the owner.
class Vocabulary {
 public:
  /// Ids an explicit vocabulary can hold.
  static constexpr std::uint64_t kMaxNames = 0xFFFFFFFEull;

  Vocabulary() = default;
  /// `count` names "0", "1", ...: nothing is stored. count may exceed 32 bits.
  static Vocabulary numbered(std::uint64_t count);

  /// The id of `name`, made if it is new. DSA_CHECK: not a numbered vocabulary, size() < kMaxNames.
  std::uint32_t add(std::string_view name);
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const;
  /// DSA_CHECK: id < size().
  [[nodiscard]] std::string name(std::uint64_t id) const;
  /// As name(), without a copy; `scratch` holds the text of a numbered name. Lives until add() or scratch changes.
  [[nodiscard]] std::string_view view(std::uint64_t id, std::string& scratch) const;
  [[nodiscard]] std::uint64_t size() const { return m_numbered ? m_count : m_ends.size(); }
  [[nodiscard]] bool isNumbered() const { return m_numbered; }
  /// Bytes held.
  [[nodiscard]] std::uint64_t memoryBytes() const;

 private:
  [[nodiscard]] std::string_view stored(std::uint64_t id) const;
  /// Slot of `name`, or of the free slot where it belongs.
  [[nodiscard]] std::size_t slotOf(std::string_view name) const;
  void grow();

  bool m_numbered = false;
  std::uint64_t m_count = 0;           ///< numbered only
  std::string m_arena;                 ///< the names, one after another
  std::vector<std::uint64_t> m_ends;   ///< id -> end in the arena
  std::vector<std::uint32_t> m_slots;  ///< open addressing: id + 1, 0 = free; a power of two, at most 3/4 full
};

}  // namespace dsa
