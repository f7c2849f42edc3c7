// SPDX-License-Identifier: Apache-2.0
#include "core/eval/query_set.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/base/random.h"

namespace dsa {

namespace {

/// A stream of its own, far from those of training: the choice of queries shares no number with a run.
constexpr Stream kChoice = static_cast<Stream>(0x6576616Cu);

struct Query {
  bool candidatesAreHeads;
  std::uint32_t relation, fixed, answer;
  [[nodiscard]] std::uint64_t key() const { return (std::uint64_t{relation} << 32) | fixed; }
};

Query queryOf(const Edge& edge, bool candidatesAreHeads) {
  if (candidatesAreHeads) return {true, edge.relation, edge.tail, edge.head};
  return {false, edge.relation, edge.head, edge.tail};
}

std::span<const Edge> splitOf(const Dataset& dataset, EvalSplit split) {
  switch (split) {
    case EvalSplit::train:
      return dataset.train;
    case EvalSplit::valid:
      return dataset.valid;
    case EvalSplit::test:
      return dataset.test;
  }
  return {};
}

/// Finds the group that a query belongs to: groups are sorted by (side, relation, fixed).
class GroupIndex {
 public:
  explicit GroupIndex(const std::vector<QueryGroup>& groups) {
    for (const QueryGroup& group : groups) {
      m_keys[group.candidatesAreHeads ? 1 : 0].push_back((std::uint64_t{group.relation} << 32) | group.fixed);
    }
  }
  /// groups.size() or more if there is none.
  [[nodiscard]] std::uint64_t find(const Query& query) const {
    const auto& keys = m_keys[query.candidatesAreHeads ? 1 : 0];
    const auto at = std::lower_bound(keys.begin(), keys.end(), query.key());
    if (at == keys.end() || *at != query.key()) return UINT64_MAX;
    return static_cast<std::uint64_t>(at - keys.begin()) + (query.candidatesAreHeads ? m_keys[0].size() : 0);
  }

 private:
  std::vector<std::uint64_t> m_keys[2];
};

/// Calls f(group, answer) for every known edge and side that a group asks for.
template <class F>
void forKnownAnswers(const Dataset& dataset, const GroupIndex& index, F&& f) {
  for (const std::vector<Edge>* edges : {&dataset.train, &dataset.valid, &dataset.test}) {
    for (const Edge& edge : *edges) {
      for (const bool heads : {false, true}) {
        const Query query = queryOf(edge, heads);
        if (const std::uint64_t group = index.find(query); group != UINT64_MAX) f(group, query.answer);
      }
    }
  }
}

/// Sorts each group's part of `hidden` and drops repetitions, closing the gaps.
void sortHidden(QuerySet& set) {
  std::uint64_t kept = 0;
  for (std::uint64_t g = 0; g < set.groups.size(); ++g) {
    const std::uint64_t begin = set.groups[g].hiddenBegin;
    const std::uint64_t end = g + 1 < set.groups.size() ? set.groups[g + 1].hiddenBegin : set.hidden.size();
    const auto first = set.hidden.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = set.hidden.begin() + static_cast<std::ptrdiff_t>(end);
    std::sort(first, last);
    const auto unique = std::unique(first, last);
    std::copy(first, unique, set.hidden.begin() + static_cast<std::ptrdiff_t>(kept));
    set.groups[g].hiddenBegin = kept;
    kept += static_cast<std::uint64_t>(unique - first);
  }
  set.hidden.resize(kept);
}

/// Two passes, count and fill: no more memory than the answers of the chosen queries need.
void fillHidden(const Dataset& dataset, QuerySet& set) {
  const GroupIndex index(set.groups);
  std::vector<std::uint64_t> next(set.groups.size() + 1, 0);
  forKnownAnswers(dataset, index, [&](std::uint64_t group, std::uint32_t) { ++next[group + 1]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::uint64_t g = 0; g < set.groups.size(); ++g) set.groups[g].hiddenBegin = next[g];
  set.hidden.resize(next.back());
  forKnownAnswers(dataset, index,
                  [&](std::uint64_t group, std::uint32_t answer) { set.hidden[next[group]++] = answer; });
  sortHidden(set);
}

}  // namespace

std::span<const std::uint32_t> QuerySet::targetsOf(std::uint64_t group) const {
  const std::uint64_t end = group + 1 < groups.size() ? groups[group + 1].targetBegin : targets.size();
  return std::span(targets).subspan(groups[group].targetBegin, end - groups[group].targetBegin);
}

std::span<const std::uint32_t> QuerySet::hiddenOf(std::uint64_t group) const {
  const std::uint64_t end = group + 1 < groups.size() ? groups[group + 1].hiddenBegin : hidden.size();
  return std::span(hidden).subspan(groups[group].hiddenBegin, end - groups[group].hiddenBegin);
}

std::vector<std::uint64_t> chooseQueries(std::uint64_t total, std::uint64_t wanted, std::uint64_t seed) {
  std::vector<std::uint64_t> chosen(total);
  std::iota(chosen.begin(), chosen.end(), std::uint64_t{0});
  if (wanted == 0 || wanted >= total) return chosen;
  // The queries with the smallest numbers: each query's number is its own, so more queries contain fewer.
  const auto number = [seed](std::uint64_t query) {
    const Random4 r = philox(seed, kChoice, query, 0);
    return (std::uint64_t{r.word[1]} << 32) | r.word[0];
  };
  std::vector<std::pair<std::uint64_t, std::uint64_t>> numbered(total);
  for (std::uint64_t q = 0; q < total; ++q) numbered[q] = {number(q), q};
  std::nth_element(numbered.begin(), numbered.begin() + static_cast<std::ptrdiff_t>(wanted), numbered.end());
  chosen.resize(wanted);
  for (std::uint64_t i = 0; i < wanted; ++i) chosen[i] = numbered[i].second;
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

QuerySet reconstructionQueries(const Dataset& dataset, const EvalOptions& options) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  edges.reserve(dataset.train.size());
  for (const Edge& edge : dataset.train) {
    if (edge.head != edge.tail) edges.emplace_back(edge.head, edge.tail);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<std::uint64_t> begins;
  for (std::uint64_t i = 0; i < edges.size(); ++i) {
    if (i == 0 || edges[i].first != edges[i - 1].first) begins.push_back(i);
  }

  QuerySet set;
  set.queriesTotal = begins.size();
  set.filterEdges = dataset.train.size();
  for (const std::uint64_t chosen : chooseQueries(begins.size(), options.maxQueries, options.seed)) {
    const std::uint64_t begin = begins[chosen];
    const std::uint64_t end = chosen + 1 < begins.size() ? begins[chosen + 1] : edges.size();
    const std::uint32_t node = edges[begin].first;
    set.groups.push_back({node, 0, false, set.targets.size(), set.hidden.size()});
    set.hidden.push_back(node);
    for (std::uint64_t i = begin; i < end; ++i) {
      set.targets.push_back(edges[i].second);
      set.hidden.push_back(edges[i].second);
    }
  }
  set.queries = set.groups.size();
  sortHidden(set);
  return set;
}

QuerySet linkQueries(const Dataset& dataset, const EvalOptions& options) {
  const std::span<const Edge> split = splitOf(dataset, options.split);
  QuerySet set;
  set.queriesTotal = 2 * split.size();
  set.filterEdges = dataset.train.size() + dataset.valid.size() + dataset.test.size();
  std::vector<Query> queries;
  for (const std::uint64_t chosen : chooseQueries(set.queriesTotal, options.maxQueries, options.seed)) {
    queries.push_back(queryOf(split[chosen / 2], chosen % 2 == 1));
  }
  set.queries = queries.size();
  std::sort(queries.begin(), queries.end(), [](const Query& a, const Query& b) {
    return std::tuple(a.candidatesAreHeads, a.key(), a.answer) < std::tuple(b.candidatesAreHeads, b.key(), b.answer);
  });
  for (std::uint64_t i = 0; i < queries.size(); ++i) {
    const Query& query = queries[i];
    const bool first =
        i == 0 || query.key() != queries[i - 1].key() || query.candidatesAreHeads != queries[i - 1].candidatesAreHeads;
    if (first) set.groups.push_back({query.fixed, query.relation, query.candidatesAreHeads, i, 0});
    set.targets.push_back(query.answer);
  }
  fillHidden(dataset, set);
  return set;
}

}  // namespace dsa
