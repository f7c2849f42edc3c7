// SPDX-License-Identifier: Apache-2.0
// Rankings by the processor; by a card: card_ranking.cpp.
#include "core/eval/ranker.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/eval/card_ranking.h"
#include "core/eval/ranking.h"

namespace dsa {

namespace {

constexpr std::uint64_t kTileBytes = 128ull << 10;  // half of the smallest L2 in use
constexpr std::uint64_t kMaxTileRows = 512;         // of scores: 4 KiB a worker, and an answer to shouldStop in time

constexpr std::uint64_t blockRowBytes(std::uint32_t dim) { return dim * sizeof(float) + sizeof(const float*); }

class HostRanking final : public Ranking {
 public:
  HostRanking(const RankJob& job, const QuerySet& set, ThreadPool& pool)
      : Ranking(job, set, pool, std::max<std::uint64_t>(1, job.budgetBytes / 2 / blockRowBytes(job.entities->dim)),
                blockRowBytes(job.entities->dim)),
        m_tileRows(std::clamp<std::uint64_t>(kTileBytes / (job.entities->dim * sizeof(float)), 16, kMaxTileRows)),
        m_scores(pool.threads() * m_tileRows) {}

 private:
  Result<void> begin() override { return isResident() ? loadBlock(0) : Result<void>(); }
  Result<void> scoreAnswers() override { return scoreAnswersHere(isResident() ? m_values.data() : nullptr); }
  Result<void> countCandidates() override {
    for (std::uint64_t begin = 0; begin < m_entities.rows(); begin += m_count) {
      if (!isResident()) DSA_TRY(loadBlock(begin));
      DSA_TRY(scan());
    }
    for (std::uint64_t i = 0; i < m_chunk.groupCount; ++i) finishCounts(countsOf(i));
    return {};
  }

  Result<void> loadBlock(std::uint64_t begin) {
    m_begin = begin;
    m_count = std::min(m_blockRows, m_entities.rows() - begin);
    m_values.resize(m_blockRows * dim());
    m_rows.resize(m_blockRows);
    for (std::uint64_t i = 0; i < m_count; ++i) m_rows[i] = m_values.data() + i * dim();
    return load(begin, m_count, m_values.data());
  }

  [[nodiscard]] ScoreCounts countsOf(std::uint64_t i) {
    const std::uint64_t at = offsetOf(i);
    return {m_chunk.levels.data() + at, m_chunk.above.data() + at, m_chunk.equal.data() + at, m_chunk.levelCount[i]};
  }

  Result<void> scan() {
    m_pool.parallelFor(m_chunk.groupCount, grain(), [&](std::uint64_t from, std::uint64_t to, unsigned worker) {
      for (std::uint64_t tile = 0; tile < m_count && !mustEnd(); tile += m_tileRows) {
        const auto n = static_cast<std::uint32_t>(std::min(m_tileRows, m_count - tile));
        for (std::uint64_t i = from; i < to; ++i) scanTile(i, tile, n, m_scores.data() + worker * m_tileRows);
      }
    });
    return outcome();
  }

  void scanTile(std::uint64_t i, std::uint64_t tile, std::uint32_t n, double* scores) {
    const std::uint64_t first = m_begin + tile;
    score(i, m_rows.data() + tile, first, n, scores);
    const std::span<const std::uint32_t> hidden = m_set.hiddenOf(m_chunk.firstGroup + i);
    for (auto id = std::lower_bound(hidden.begin(), hidden.end(), first); id != hidden.end() && *id < first + n; ++id) {
      scores[*id - first] = -HUGE_VAL;
    }
    countScores(countsOf(i), scores, n);
  }

  const std::uint64_t m_tileRows;
  std::vector<double> m_scores;  // [threads x tile]
  // Rows [m_begin, m_begin + m_count).
  std::uint64_t m_begin = 0;
  std::uint64_t m_count = 0;
  std::vector<float> m_values;
  std::vector<const float*> m_rows;
};

}  // namespace

Result<void> rankAll(const RankJob& job, const QuerySet& set, ThreadPool& pool, const RankSink& sink) {
  if (set.groups.empty()) return {};
  if (job.card != nullptr && job.card->card() != nullptr) return rankOnCard(job, set, pool, sink);
  return HostRanking(job, set, pool).run(sink);
}

}  // namespace dsa
