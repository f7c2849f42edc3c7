// SPDX-License-Identifier: Apache-2.0
// The distinct rows of a batch, sorted, and which slots each row has, in sample order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dsa {

/// Distinct ids of a list of slots. Memory is reused between calls. Thread: a value.
class BatchIndex {
 public:
  /// slots [n], n < 2^32, in sample order. An empty list is legal.
  void build(std::span<const std::uint64_t> slots);

  /// Sorted, distinct.
  [[nodiscard]] const std::vector<std::uint64_t>& ids() const { return m_ids; }
  /// slot -> place in ids().
  [[nodiscard]] const std::vector<std::uint32_t>& rowOfSlot() const { return m_rowOfSlot; }
  /// The slots of row r, in sample order: slotsByRow()[rowStart()[r] .. rowStart()[r + 1]).
  [[nodiscard]] const std::vector<std::uint32_t>& slotsByRow() const { return m_slots; }
  [[nodiscard]] const std::vector<std::uint32_t>& rowStart() const { return m_rowStart; }
  /// Whether the slot is the only one of its row.
  [[nodiscard]] bool single(std::uint32_t slot) const {
    const std::uint32_t row = m_rowOfSlot[slot];
    return m_rowStart[row + 1] - m_rowStart[row] == 1;
  }

 private:
  std::vector<std::uint64_t> m_ids, m_keys, m_otherKeys;
  std::vector<std::uint32_t> m_rowOfSlot, m_slots, m_otherSlots, m_rowStart;
};

}  // namespace dsa
