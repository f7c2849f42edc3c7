// SPDX-License-Identifier: Apache-2.0
#include "core/data/batch_index.h"

#include <algorithm>
#include <bit>

#include "core/base/error.h"

namespace dsa {

namespace {

// 11 bits a pass: one pass for 2,000 rows, three for 10 million.
constexpr int kBits = 11;
constexpr std::uint32_t kBuckets = 1u << kBits;

}  // namespace

void BatchIndex::build(std::span<const std::uint64_t> slots) {
  DSA_CHECK(slots.size() < (1ull << 32));
  const auto n = static_cast<std::uint32_t>(slots.size());
  m_keys.assign(slots.begin(), slots.end());
  m_slots.resize(n);
  m_otherKeys.resize(n);
  m_otherSlots.resize(n);
  std::uint64_t most = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    m_slots[i] = i;
    most = std::max(most, m_keys[i]);
  }
  // A stable radix sort by id: equal ids stay in sample order, which fixes the order of the gradient sums.
  for (int shift = 0; shift < static_cast<int>(std::bit_width(most)); shift += kBits) {
    std::uint32_t start[kBuckets + 1] = {};
    for (std::uint32_t i = 0; i < n; ++i) ++start[((m_keys[i] >> shift) & (kBuckets - 1)) + 1];
    for (std::uint32_t b = 0; b < kBuckets; ++b) start[b + 1] += start[b];
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t place = start[(m_keys[i] >> shift) & (kBuckets - 1)]++;
      m_otherKeys[place] = m_keys[i];
      m_otherSlots[place] = m_slots[i];
    }
    m_keys.swap(m_otherKeys);
    m_slots.swap(m_otherSlots);
  }
  m_ids.clear();
  m_rowStart.clear();
  m_rowOfSlot.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (i == 0 || m_keys[i] != m_keys[i - 1]) {
      m_ids.push_back(m_keys[i]);
      m_rowStart.push_back(i);
    }
    m_rowOfSlot[m_slots[i]] = static_cast<std::uint32_t>(m_ids.size() - 1);
  }
  m_rowStart.push_back(n);
}

}  // namespace dsa
