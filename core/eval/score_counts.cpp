// SPDX-License-Identifier: Apache-2.0
#include "core/eval/score_counts.h"

#include <algorithm>

namespace dsa {

namespace {

void countByPasses(const ScoreCounts& counts, const double* scores, std::uint32_t n) noexcept {
  for (std::uint64_t i = 0; i < counts.count; ++i) {
    const double level = counts.levels[i];
    std::uint64_t above = 0;
    std::uint64_t equal = 0;
    for (std::uint32_t c = 0; c < n; ++c) {
      above += scores[c] > level ? 1 : 0;
      equal += scores[c] == level ? 1 : 0;
    }
    counts.above[i] += above;
    counts.equal[i] += equal;
  }
}

/// above[i] takes the scores between level i and the next one; finishCounts() sums them up.
void countBySearch(const ScoreCounts& counts, const double* scores, std::uint32_t n) noexcept {
  const double* const end = counts.levels + counts.count;
  for (std::uint32_t c = 0; c < n; ++c) {
    if (scores[c] < counts.levels[0]) continue;
    const auto i = std::upper_bound(counts.levels, end, scores[c]) - counts.levels - 1;
    ++(counts.levels[i] == scores[c] ? counts.equal : counts.above)[i];
  }
}

}  // namespace

void countScores(const ScoreCounts& counts, const double* scores, std::uint32_t n) noexcept {
  if (counts.count <= kPassLevels) {
    countByPasses(counts, scores, n);
  } else {
    countBySearch(counts, scores, n);
  }
}

void finishCounts(const ScoreCounts& counts) noexcept {
  if (counts.count <= kPassLevels) return;
  std::uint64_t higher = 0;
  for (std::uint64_t i = counts.count; i-- > 0;) {
    counts.above[i] += higher;
    higher = counts.above[i] + counts.equal[i];
  }
}

}  // namespace dsa
