// SPDX-License-Identifier: Apache-2.0
#include "core/eval/ranking.h"

#include <algorithm>
#include <cmath>

namespace dsa {

namespace {

constexpr std::uint64_t kGroupsPerTask = 16;  // a tile is scored against so many queries while it is in the cache
constexpr std::uint64_t kRowsPerRead = 1024;

}  // namespace

Ranking::Ranking(const RankJob& job, const QuerySet& set, ThreadPool& pool, std::uint64_t blockRows,
                 std::uint64_t blockRowBytes)
    : m_job(job),
      m_set(set),
      m_pool(pool),
      m_entities(*job.entities, "entity", job.dataset->entities, m_job.kernels, job.onBall ? job.k : 0),
      m_relations(job.relations ? *job.relations : m_none, "relation", job.dataset->relations, m_job.kernels, 0),
      m_blockRows(std::min(blockRows, job.entities->rows)),
      m_chunkBytes(job.budgetBytes - std::min(job.budgetBytes, m_blockRows * blockRowBytes)) {}

Result<void> Ranking::run(const RankSink& sink) {
  DSA_TRY(begin());
  for (std::uint64_t group = 0; group < m_set.groups.size(); group += m_chunk.groupCount) {
    startChunk(group);
    DSA_TRY(scoreAnswers());
    m_pool.parallelFor(m_chunk.groupCount, grain(), [&](std::uint64_t from, std::uint64_t to, unsigned) {
      for (std::uint64_t i = from; i < to; ++i) makeLevels(i);
    });
    DSA_TRY(countCandidates());
    finishChunk(sink);
  }
  return {};
}

Result<void> Ranking::outcome() const {
  DSA_TRY(m_fault.result());
  if (m_stopped.load(std::memory_order_relaxed)) {
    return fail(ErrorCode::stopped,
                "evaluation stopped before its last query; it gives no figures, the table is as it was");
  }
  return {};
}

bool Ranking::mustEnd() {
  if (m_stopped.load(std::memory_order_relaxed) || m_fault.any()) return true;
  if (m_job.shouldStop && m_job.shouldStop()) m_stopped.store(true, std::memory_order_relaxed);
  return m_stopped.load(std::memory_order_relaxed);
}

Result<void> Ranking::load(std::uint64_t begin, std::uint64_t count, float* values) {
  m_pool.parallelFor(count, kRowsPerRead, [&](std::uint64_t from, std::uint64_t to, unsigned) {
    m_entities.read(begin + from, to - from, values + from * dim(), m_fault);
  });
  return outcome();
}

/// As many groups as the budget holds beside the block, at least one.
void Ranking::startChunk(std::uint64_t firstGroup) {
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

std::uint64_t Ranking::grain() const {
  return std::clamp<std::uint64_t>(m_chunk.groupCount / (4 * m_pool.threads()), 1, kGroupsPerTask);
}

void Ranking::score(std::uint64_t i, const float* const* candidates, std::uint64_t first, std::uint32_t n,
                    double* scores) {
  const QueryGroup& group = groupOf(i);
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

void Ranking::readQuery(std::uint64_t i) {
  m_entities.read(groupOf(i).fixed, 1, fixedRow(i), m_fault);
  if (m_job.relations) m_relations.read(groupOf(i).relation, 1, fixedRow(i) + dim(), m_fault);
}

void Ranking::offerFaultOf(std::uint64_t i, std::uint64_t row) {
  std::vector<float> values(dim());
  const float* candidate = values.data();
  double scored = 0;
  readQuery(i);
  m_entities.read(row, 1, values.data(), m_fault);
  if (!m_fault.any()) score(i, &candidate, row, 1, &scored);
}

Result<void> Ranking::scoreAnswersHere(const float* whole) {
  std::vector<float> buffers(m_pool.threads() * dim());
  m_pool.parallelFor(m_chunk.groupCount, grain(), [&](std::uint64_t from, std::uint64_t to, unsigned worker) {
    for (std::uint64_t i = from; i < to && !mustEnd(); ++i) scoreTargets(i, whole, buffers.data() + worker * dim());
  });
  return outcome();
}

void Ranking::scoreTargets(std::uint64_t i, const float* whole, float* buffer) {
  const std::span<const std::uint32_t> targets = m_set.targetsOf(m_chunk.firstGroup + i);
  DSA_CHECK(groupOf(i).fixed < m_entities.rows() && targets.back() < m_entities.rows());
  readQuery(i);
  for (std::uint64_t t = 0; t < targets.size(); ++t) {
    const float* row = buffer;
    if (whole != nullptr) {
      row = whole + std::uint64_t{targets[t]} * dim();
    } else {
      m_entities.read(targets[t], 1, buffer, m_fault);
    }
    if (m_fault.any()) return;
    score(i, &row, targets[t], 1, &m_chunk.ranks[offsetOf(i) + t].score);
  }
}

void Ranking::makeLevels(std::uint64_t i) {
  const std::uint64_t begin = offsetOf(i);
  const std::uint64_t count = m_set.targetsOf(m_chunk.firstGroup + i).size();
  double* const levels = m_chunk.levels.data() + begin;
  for (std::uint64_t t = 0; t < count; ++t) levels[t] = m_chunk.ranks[begin + t].score;
  std::sort(levels, levels + count);
  m_chunk.levelCount[i] = static_cast<std::uint64_t>(std::unique(levels, levels + count) - levels);
}

void Ranking::finishChunk(const RankSink& sink) {
  for (std::uint64_t i = 0; i < m_chunk.groupCount; ++i) {
    const double* const levels = m_chunk.levels.data() + offsetOf(i);
    const std::span<TargetRank> ranks =
        std::span(m_chunk.ranks).subspan(offsetOf(i), m_set.targetsOf(m_chunk.firstGroup + i).size());
    for (TargetRank& rank : ranks) {
      const auto level = std::lower_bound(levels, levels + m_chunk.levelCount[i], rank.score) - levels;
      rank.better = m_chunk.above[offsetOf(i) + static_cast<std::uint64_t>(level)];
      rank.equal = m_chunk.equal[offsetOf(i) + static_cast<std::uint64_t>(level)];
    }
    sink(m_chunk.firstGroup + i, ranks);
  }
}

}  // namespace dsa
