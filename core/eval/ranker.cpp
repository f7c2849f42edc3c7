// SPDX-License-Identifier: Apache-2.0
#include "core/eval/ranker.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/eval/checked_rows.h"
#include "core/eval/score_counts.h"

namespace dsa {

namespace {

constexpr std::uint64_t kTileBytes = 128ull << 10;  // half of the smallest L2 in use
constexpr std::uint64_t kMaxTileRows = 512;         // of scores: 4 KiB a worker, and an answer to shouldStop in time
constexpr std::uint64_t kGroupsPerTask = 16;        // a tile is scored against so many queries while it is in the cache
constexpr std::uint64_t kRowsPerRead = 1024;

/// Consecutive entity rows in memory.
struct Block {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::vector<float> values;
  std::vector<const float*> rows;
};

/// Consecutive groups, their own rows, and what is known of their answers. Levels of a group lie where its answers do.
struct Chunk {
  std::uint64_t firstGroup = 0;
  std::uint64_t groupCount = 0;
  std::uint64_t firstTarget = 0;
  std::vector<float> rows;  ///< [groups x 2 x dim]: fixed, relation
  std::vector<TargetRank> ranks;
  std::vector<double> levels;
  std::vector<std::uint64_t> above, equal;
  std::vector<std::uint64_t> levelCount;  ///< [groups]
};

class Ranking {
 public:
  Ranking(const RankJob& job, const QuerySet& set, ThreadPool& pool)
      : m_job(job),
        m_set(set),
        m_pool(pool),
        m_entities(*job.entities, "entity", job.dataset->entities, m_job.kernels, job.onBall ? job.k : 0),
        m_relations(job.relations ? *job.relations : m_none, "relation", job.dataset->relations, m_job.kernels, 0) {
    const std::uint64_t rowBytes = job.entities->dim * sizeof(float);
    m_tileRows = std::clamp<std::uint64_t>(kTileBytes / rowBytes, 16, kMaxTileRows);
    const std::uint64_t blockRowBytes = rowBytes + sizeof(const float*);
    m_blockRows = std::clamp<std::uint64_t>(job.budgetBytes / 2 / blockRowBytes, 1, job.entities->rows);
    m_chunkBytes = job.budgetBytes - std::min(job.budgetBytes, m_blockRows * blockRowBytes);
    m_scores.resize(m_pool.threads() * m_tileRows);
    m_targetRows.resize(m_pool.threads() * job.entities->dim);
  }

  Result<void> run(const RankSink& sink) {
    if (isResident()) DSA_TRY(load(0));
    for (std::uint64_t group = 0; group < m_set.groups.size(); group += m_chunk.groupCount) {
      startChunk(group);
      DSA_TRY(scoreTargets());
      for (std::uint64_t begin = 0; begin < m_entities.rows(); begin += m_block.count) {
        if (!isResident()) DSA_TRY(load(begin));
        DSA_TRY(scan());
      }
      finishChunk(sink);
    }
    return {};
  }

 private:
  [[nodiscard]] bool isResident() const { return m_blockRows == m_entities.rows(); }
  [[nodiscard]] std::uint32_t dim() const { return m_entities.dim(); }

  /// Fails if a worker met a fault or was told to stop.
  Result<void> outcome() const {
    DSA_TRY(m_fault.result());
    if (m_stopped.load(std::memory_order_relaxed)) {
      return fail(ErrorCode::stopped,
                  "evaluation stopped before its last query; it gives no figures, the table is as it was");
    }
    return {};
  }
  bool mustEnd() {
    if (m_stopped.load(std::memory_order_relaxed) || m_fault.any()) return true;
    if (m_job.shouldStop && m_job.shouldStop()) m_stopped.store(true, std::memory_order_relaxed);
    return m_stopped.load(std::memory_order_relaxed);
  }

  Result<void> load(std::uint64_t begin) {
    m_block.begin = begin;
    m_block.count = std::min(m_blockRows, m_entities.rows() - begin);
    m_block.values.resize(m_blockRows * dim());
    m_block.rows.resize(m_blockRows);
    m_pool.parallelFor(m_block.count, kRowsPerRead, [&](std::uint64_t from, std::uint64_t to, unsigned) {
      m_entities.read(begin + from, to - from, m_block.values.data() + from * dim(), m_fault);
      for (std::uint64_t i = from; i < to; ++i) m_block.rows[i] = m_block.values.data() + i * dim();
    });
    return outcome();
  }

  /// As many groups as the budget holds beside the block, at least one.
  void startChunk(std::uint64_t firstGroup) {
    const std::uint64_t groupBytes = 2 * dim() * sizeof(float) + sizeof(std::uint64_t);
    const std::uint64_t targetBytes = sizeof(TargetRank) + sizeof(double) + 2 * sizeof(std::uint64_t);
    std::uint64_t bytes = 0;
    std::uint64_t targets = 0;
    std::uint64_t end = firstGroup;
    for (; end < m_set.groups.size(); ++end) {
      const std::uint64_t more = m_set.targetsOf(end).size();
      bytes += groupBytes + more * targetBytes;
      if (end > firstGroup && bytes > m_chunkBytes) break;
      targets += more;
    }
    m_chunk.firstGroup = firstGroup;
    m_chunk.groupCount = end - firstGroup;
    m_chunk.firstTarget = m_set.groups[firstGroup].targetBegin;
    m_chunk.rows.resize(m_chunk.groupCount * 2 * dim());
    m_chunk.ranks.assign(targets, {});
    m_chunk.levels.resize(targets);
    m_chunk.above.assign(targets, 0);
    m_chunk.equal.assign(targets, 0);
    m_chunk.levelCount.assign(m_chunk.groupCount, 0);
  }

  [[nodiscard]] std::uint64_t grain() const {
    return std::clamp<std::uint64_t>(m_chunk.groupCount / (4 * m_pool.threads()), 1, kGroupsPerTask);
  }
  /// Where the answers of the chunk's i-th group begin in the chunk's arrays.
  [[nodiscard]] std::uint64_t offsetOf(std::uint64_t i) const {
    return m_set.groups[m_chunk.firstGroup + i].targetBegin - m_chunk.firstTarget;
  }
  [[nodiscard]] float* fixedRow(std::uint64_t i) { return m_chunk.rows.data() + i * 2 * dim(); }
  [[nodiscard]] ScoreCounts countsOf(std::uint64_t i) {
    const std::uint64_t at = offsetOf(i);
    return {m_chunk.levels.data() + at, m_chunk.above.data() + at, m_chunk.equal.data() + at, m_chunk.levelCount[i]};
  }

  /// Scores of candidates for the chunk's i-th group; offers the first one that is not finite. ids are first, first +
  /// 1, ..
  void score(std::uint64_t i, const float* const* candidates, std::uint64_t first, std::uint32_t n, double* scores) {
    const QueryGroup& group = m_set.groups[m_chunk.firstGroup + i];
    const float* const relation = m_job.relations ? fixedRow(i) + dim() : nullptr;
    m_job.kernels.score({fixedRow(i), relation, candidates, n, dim(), m_job.k, group.candidatesAreHeads}, scores);
    std::uint32_t notFinite = 0;
    for (std::uint32_t c = 0; c < n; ++c) notFinite += scores[c] - scores[c] == 0 ? 0 : 1;
    if (notFinite == 0) return;
    const double* const bad = std::find_if(scores, scores + n, [](double x) { return !std::isfinite(x); });
    const std::uint64_t row = first + static_cast<std::uint64_t>(bad - scores);
    m_fault.offer(row, ErrorCode::input,
                  fmt::format("{}: its score against {} is {}; such a score has no rank, so nothing was measured and "
                              "the table is as it was.",
                              m_entities.text(row), m_entities.text(group.fixed), *bad));
  }

  Result<void> scoreTargets() {
    m_pool.parallelFor(m_chunk.groupCount, grain(), [&](std::uint64_t from, std::uint64_t to, unsigned worker) {
      for (std::uint64_t i = from; i < to && !mustEnd(); ++i) scoreTargets(i, m_targetRows.data() + worker * dim());
    });
    return outcome();
  }

  void scoreTargets(std::uint64_t i, float* buffer) {
    const QueryGroup& group = m_set.groups[m_chunk.firstGroup + i];
    const std::span<const std::uint32_t> targets = m_set.targetsOf(m_chunk.firstGroup + i);
    DSA_CHECK(group.fixed < m_entities.rows() && targets.back() < m_entities.rows());
    m_entities.read(group.fixed, 1, fixedRow(i), m_fault);
    if (m_job.relations) m_relations.read(group.relation, 1, fixedRow(i) + dim(), m_fault);
    double* const levels = m_chunk.levels.data() + offsetOf(i);
    for (std::uint64_t t = 0; t < targets.size(); ++t) {
      const float* row = buffer;
      if (isResident()) {
        row = m_block.rows[targets[t]];
      } else {
        m_entities.read(targets[t], 1, buffer, m_fault);
      }
      if (m_fault.any()) return;  // before a NaN is sorted
      score(i, &row, targets[t], 1, &levels[t]);
      m_chunk.ranks[offsetOf(i) + t].score = levels[t];
    }
    if (m_fault.any()) return;
    std::sort(levels, levels + targets.size());
    m_chunk.levelCount[i] = static_cast<std::uint64_t>(std::unique(levels, levels + targets.size()) - levels);
  }

  Result<void> scan() {
    m_pool.parallelFor(m_chunk.groupCount, grain(), [&](std::uint64_t from, std::uint64_t to, unsigned worker) {
      for (std::uint64_t tile = 0; tile < m_block.count && !mustEnd(); tile += m_tileRows) {
        const auto n = static_cast<std::uint32_t>(std::min(m_tileRows, m_block.count - tile));
        for (std::uint64_t i = from; i < to; ++i) scanTile(i, tile, n, m_scores.data() + worker * m_tileRows);
      }
    });
    return outcome();
  }

  void scanTile(std::uint64_t i, std::uint64_t tile, std::uint32_t n, double* scores) {
    const std::uint64_t first = m_block.begin + tile;
    score(i, m_block.rows.data() + tile, first, n, scores);
    const std::span<const std::uint32_t> hidden = m_set.hiddenOf(m_chunk.firstGroup + i);
    for (auto id = std::lower_bound(hidden.begin(), hidden.end(), first); id != hidden.end() && *id < first + n; ++id) {
      scores[*id - first] = -HUGE_VAL;
    }
    countScores(countsOf(i), scores, n);
  }

  void finishChunk(const RankSink& sink) {
    for (std::uint64_t i = 0; i < m_chunk.groupCount; ++i) {
      const ScoreCounts counts = countsOf(i);
      finishCounts(counts);
      const std::span<TargetRank> ranks =
          std::span(m_chunk.ranks).subspan(offsetOf(i), m_set.targetsOf(m_chunk.firstGroup + i).size());
      for (TargetRank& rank : ranks) {
        const auto level = std::lower_bound(counts.levels, counts.levels + counts.count, rank.score) - counts.levels;
        rank.better = counts.above[level];
        rank.equal = counts.equal[level];
      }
      sink(m_chunk.firstGroup + i, ranks);
    }
  }

  const RankJob& m_job;
  const QuerySet& m_set;
  ThreadPool& m_pool;
  const WeightSource m_none;
  CheckedRows m_entities;
  CheckedRows m_relations;
  std::uint64_t m_tileRows = 0;
  std::uint64_t m_blockRows = 0;
  std::uint64_t m_chunkBytes = 0;
  std::vector<double> m_scores;     // [threads x tile]
  std::vector<float> m_targetRows;  // [threads x dim]
  Block m_block;
  Chunk m_chunk;
  FirstFault m_fault;
  std::atomic<bool> m_stopped{false};
};

}  // namespace

Result<void> rankAll(const RankJob& job, const QuerySet& set, ThreadPool& pool, const RankSink& sink) {
  if (set.groups.empty()) return {};
  return Ranking(job, set, pool).run(sink);
}

}  // namespace dsa
