// SPDX-License-Identifier: Apache-2.0
#include "core/eval/evaluate.h"

#include <algorithm>
#include <span>

#include "core/eval/query_set.h"
#include "core/eval/ranker.h"

namespace dsa {

namespace {

/// Ranks in halves, so that their sums are whole numbers and exact.
std::uint64_t twiceRank(const TargetRank& rank) { return 2 + 2 * rank.better + rank.equal; }

/// Ties as one group: see the header. Sorts the ranks by score; equal scores have equal terms, so ids play no part.
double averagePrecision(std::vector<TargetRank>& positives) {
  std::sort(positives.begin(), positives.end(),
            [](const TargetRank& a, const TargetRank& b) { return a.score > b.score; });
  double sum = 0;
  for (std::uint64_t i = 0; i < positives.size();) {
    std::uint64_t next = i;
    while (next < positives.size() && positives[next].score == positives[i].score) ++next;
    const auto found = static_cast<double>(next);
    const double precision = found / (found + static_cast<double>(positives[i].better + positives[i].equal));
    for (; i < next; ++i) sum += precision;
  }
  return sum / static_cast<double>(positives.size());
}

class ReconstructionSums {
 public:
  void add(std::span<const TargetRank> positives) {
    for (const TargetRank& positive : positives) m_twiceRanks += twiceRank(positive);
    m_ranks += positives.size();
    ++m_nodes;
    m_scratch.assign(positives.begin(), positives.end());
    m_precisions += averagePrecision(m_scratch);
  }
  void fill(EvalMetrics& metrics) const {
    metrics.ranks = m_ranks;
    metrics.meanRank = static_cast<double>(m_twiceRanks) / 2 / static_cast<double>(m_ranks);
    metrics.map = m_precisions / static_cast<double>(m_nodes);
  }

 private:
  std::uint64_t m_twiceRanks = 0;
  std::uint64_t m_ranks = 0;
  std::uint64_t m_nodes = 0;
  double m_precisions = 0;
  std::vector<TargetRank> m_scratch;
};

class LinkSums {
 public:
  void add(std::span<const TargetRank> answers) {
    for (const TargetRank& answer : answers) {
      const std::uint64_t twice = twiceRank(answer);
      m_twiceRanks += twice;
      m_hits1 += twice <= 2 ? 1 : 0;
      m_hits3 += twice <= 6 ? 1 : 0;
      m_hits10 += twice <= 20 ? 1 : 0;
      m_reciprocal += 2.0 / static_cast<double>(twice);
      m_optimistic += 1.0 / static_cast<double>(1 + answer.better);
      m_pessimistic += 1.0 / static_cast<double>(1 + answer.better + answer.equal);
    }
    m_ranks += answers.size();
  }
  void fill(EvalMetrics& metrics) const {
    const auto n = static_cast<double>(m_ranks);
    metrics.ranks = m_ranks;
    metrics.meanRank = static_cast<double>(m_twiceRanks) / 2 / n;
    metrics.mrr = m_reciprocal / n;
    metrics.mrrOptimistic = m_optimistic / n;
    metrics.mrrPessimistic = m_pessimistic / n;
    metrics.hits1 = static_cast<double>(m_hits1) / n;
    metrics.hits3 = static_cast<double>(m_hits3) / n;
    metrics.hits10 = static_cast<double>(m_hits10) / n;
  }

 private:
  std::uint64_t m_twiceRanks = 0;
  std::uint64_t m_ranks = 0;
  std::uint64_t m_hits1 = 0, m_hits3 = 0, m_hits10 = 0;
  double m_reciprocal = 0, m_optimistic = 0, m_pessimistic = 0;
};

Result<void> checkTable(const char* what, const WeightSource& table, std::uint64_t rows, std::uint32_t dim) {
  if (table.rows != rows) {
    return fail(ErrorCode::input, "the {} table has {} rows, the dataset {}: it was trained on another dataset", what,
                table.rows, rows);
  }
  if (table.dim != dim) {
    return fail(ErrorCode::input, "the {} table has rows of {} coordinates, the entity table of {}", what, table.dim,
                dim);
  }
  return {};
}

template <class Sums>
Result<EvalMetrics> measure(const RankJob& job, const QuerySet& set, ThreadPool& pool, bool selfIsHidden) {
  EvalMetrics metrics;
  metrics.queries = set.queries;
  metrics.queriesTotal = set.queriesTotal;
  metrics.filterEdges = set.filterEdges;
  Sums sums;
  DSA_TRY(rankAll(job, set, pool, [&](std::uint64_t group, std::span<const TargetRank> ranks) {
    sums.add(ranks);
    // The answer itself, and a hierarchy's own node, are no candidates that the filter takes out.
    metrics.filteredOut += ranks.size() * (set.hiddenOf(group).size() - (selfIsHidden ? 2 : 1));
  }));
  sums.fill(metrics);
  return metrics;
}

EvalMetrics nothing(std::string note) {
  EvalMetrics metrics;
  metrics.note = std::move(note);
  return metrics;
}

const char* splitText(EvalSplit split) {
  switch (split) {
    case EvalSplit::train:
      return "training";
    case EvalSplit::valid:
      return "validation";
    case EvalSplit::test:
      return "test";
  }
  return "";
}

}  // namespace

Result<EvalMetrics> evaluate(const Dataset& dataset, ModelKind model, double k, const WeightSource& entities,
                             const WeightSource* relations, KernelLevel level, ThreadPool& pool,
                             const EvalOptions& options) {
  if (dataset.kind == DatasetKind::pairs) {
    return nothing("pairs drawn by a law have no list of edges to rank: the loss is their only figure");
  }
  DSA_CHECK(entities.dim > 0);
  DSA_CHECK(!hasRelations(model) || relations != nullptr);
  DSA_TRY(checkTable("entity", entities, dataset.entityCount, entities.dim));
  if (hasRelations(model)) DSA_TRY(checkTable("relation", *relations, dataset.relations.size(), entities.dim));

  RankJob job;
  job.model = model;
  job.kernels = modelKernels(model, level);
  job.onBall = model == ModelKind::poincare && k > 0;
  job.k = job.onBall ? k : 0;
  job.entities = &entities;
  job.relations = hasRelations(model) ? relations : nullptr;
  job.dataset = &dataset;
  job.budgetBytes = options.budgetBytes;
  job.shouldStop = options.shouldStop;
  job.card = options.card;
  if (dataset.kind == DatasetKind::hierarchy) {
    const QuerySet set = reconstructionQueries(dataset, options);
    if (set.groups.empty()) return nothing("the hierarchy has no training edges: there is nothing to rank");
    return measure<ReconstructionSums>(job, set, pool, true);
  }
  const QuerySet set = linkQueries(dataset, options);
  if (set.groups.empty())
    return nothing(fmt::format("the dataset has no {} edges: there is nothing to rank", splitText(options.split)));
  return measure<LinkSums>(job, set, pool, false);
}

}  // namespace dsa
