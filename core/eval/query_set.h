// SPDX-License-Identifier: Apache-2.0
// What is asked of a table: queries that share their candidates' scores, their answers, and the candidates left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/data/dataset.h"
#include "core/eval/evaluate.h"

namespace dsa {

/// One row of scores: (fixed, relation, ?) or (?, relation, fixed). All of its answers are ranked by it.
struct QueryGroup {
  std::uint32_t fixed = 0;
  std::uint32_t relation = 0;
  bool candidatesAreHeads = false;
  std::uint64_t targetBegin = 0;  ///< into QuerySet::targets; ends where the next group's begins
  std::uint64_t hiddenBegin = 0;  ///< into QuerySet::hidden
};

/// Groups in a fixed order that depends on the dataset, the split and the choice only. Thread: a value.
class QuerySet {
 public:
  std::vector<QueryGroup> groups;
  std::vector<std::uint32_t> targets;  ///< answers to rank, ascending in a group; an edge given twice stands twice
  std::vector<std::uint32_t> hidden;   ///< candidates not counted, ascending and unique in a group; holds the answers
  std::uint64_t queries = 0;
  std::uint64_t queriesTotal = 0;
  std::uint64_t filterEdges = 0;

  [[nodiscard]] std::span<const std::uint32_t> targetsOf(std::uint64_t group) const;
  [[nodiscard]] std::span<const std::uint32_t> hiddenOf(std::uint64_t group) const;
};

/// A group for each node with training edges; hidden are its ancestors and itself. Edges given twice count once, an
/// edge from a node to itself does not count.
[[nodiscard]] QuerySet reconstructionQueries(const Dataset& dataset, const EvalOptions& options);

/// Both sides of each edge of the split; hidden are the known answers in all splits.
[[nodiscard]] QuerySet linkQueries(const Dataset& dataset, const EvalOptions& options);

/// min(wanted, total) of 0 .. total-1, ascending; all when wanted is 0. A function of (seed, total, wanted) only.
[[nodiscard]] std::vector<std::uint64_t> chooseQueries(std::uint64_t total, std::uint64_t wanted, std::uint64_t seed);

}  // namespace dsa
