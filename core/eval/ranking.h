// SPDX-License-Identifier: Apache-2.0
// The course of a ranking, whoever computes it: chunks of queries, their answers' scores, candidates counted against
// them.
#pragma once

#include <atomic>
#include <vector>

#include "core/eval/checked_rows.h"
#include "core/eval/ranker.h"
#include "core/eval/score_counts.h"

namespace dsa {

/// Consecutive groups and what is known of their answers. Levels of a group lie where its answers do.
struct RankChunk {
  std::uint64_t firstGroup = 0;
  std::uint64_t groupCount = 0;
  std::uint64_t firstTarget = 0;
  std::vector<float> rows;  ///< [groups x 2 x dim]: fixed, relation
  std::vector<TargetRank> ranks;
  std::vector<double> levels;
  std::vector<std::uint64_t> above, equal;
  std::vector<std::uint64_t> levelCount;  ///< [groups]
};

/// Thread: run() on the run thread; derived classes use the pool.
class Ranking {
 public:
  /// blockRows: entity rows in memory at a time, at least 1, of which blockRowBytes each count against the budget.
  Ranking(const RankJob& job, const QuerySet& set, ThreadPool& pool, std::uint64_t blockRows,
          std::uint64_t blockRowBytes);
  virtual ~Ranking() = default;
  Ranking(const Ranking&) = delete;
  Ranking& operator=(const Ranking&) = delete;
  Result<void> run(const RankSink& sink);

 protected:
  /// Before the first chunk.
  virtual Result<void> begin() = 0;
  /// Fills the chunk's rows and the scores of its ranks.
  virtual Result<void> scoreAnswers() = 0;
  /// Fills above and equal of the chunk's levels: candidates with a higher score, and with this one.
  virtual Result<void> countCandidates() = 0;

  /// Entity rows [begin, begin + count) to values, checked.
  Result<void> load(std::uint64_t begin, std::uint64_t count, float* values);
  /// scoreAnswers() by the processor; whole: all entity rows where they are in memory, else null.
  Result<void> scoreAnswersHere(const float* whole);
  /// Scores of candidates for the chunk's i-th group; offers the first one that is not finite. ids are first, first +
  /// 1, ..
  void score(std::uint64_t i, const float* const* candidates, std::uint64_t first, std::uint32_t n, double* scores);
  /// Reads the rows of the chunk's i-th group, then scores candidate `row` and offers why that cannot be.
  void offerFaultOf(std::uint64_t i, std::uint64_t row);

  [[nodiscard]] bool isResident() const { return m_blockRows == m_entities.rows(); }
  [[nodiscard]] std::uint32_t dim() const { return m_entities.dim(); }
  /// Fails if a worker met a fault or was told to stop.
  [[nodiscard]] Result<void> outcome() const;
  bool mustEnd();
  [[nodiscard]] std::uint64_t grain() const;
  /// Where the answers of the chunk's i-th group begin in the chunk's arrays.
  [[nodiscard]] std::uint64_t offsetOf(std::uint64_t i) const {
    return m_set.groups[m_chunk.firstGroup + i].targetBegin - m_chunk.firstTarget;
  }
  [[nodiscard]] const QueryGroup& groupOf(std::uint64_t i) const { return m_set.groups[m_chunk.firstGroup + i]; }
  [[nodiscard]] float* fixedRow(std::uint64_t i) { return m_chunk.rows.data() + i * 2 * dim(); }

  const RankJob& m_job;
  const QuerySet& m_set;
  ThreadPool& m_pool;
  CheckedRows m_entities;
  const WeightSource m_none;
  CheckedRows m_relations;
  const std::uint64_t m_blockRows;
  RankChunk m_chunk;
  FirstFault m_fault;

 private:
  void startChunk(std::uint64_t firstGroup);
  void readQuery(std::uint64_t i);
  void scoreTargets(std::uint64_t i, const float* whole, float* buffer);
  /// The distinct scores of the i-th group's answers.
  void makeLevels(std::uint64_t i);
  void finishChunk(const RankSink& sink);

  std::uint64_t m_chunkBytes = 0;
  std::atomic<bool> m_stopped{false};
};

}  // namespace dsa
