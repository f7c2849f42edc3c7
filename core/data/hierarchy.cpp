// SPDX-License-Identifier: Apache-2.0
#include "core/data/hierarchy.h"

#include <algorithm>

namespace dsa {

namespace {

/// Tails of each head, one after another, in the order of the edges.
struct Parents {
  std::vector<std::uint64_t> begin;  ///< node -> first place in tails; nodeCount + 1 entries
  std::vector<std::uint32_t> tails;

  Parents(std::span<const Edge> edges, std::uint64_t nodeCount) : begin(nodeCount + 1, 0), tails(edges.size()) {
    for (const Edge& edge : edges) {
      DSA_CHECK(edge.head < nodeCount && edge.tail < nodeCount);
      ++begin[edge.head + 1];
    }
    for (std::uint64_t node = 0; node < nodeCount; ++node) begin[node + 1] += begin[node];
    std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
    for (const Edge& edge : edges) tails[next[edge.head]++] = edge.tail;
  }

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t node) const {
    return std::span(tails).subspan(begin[node], begin[node + 1] - begin[node]);
  }
};

}  // namespace

Result<std::vector<Edge>> transitiveClosure(std::span<const Edge> edges, std::uint64_t nodeCount,
                                            std::uint64_t maxEdges) {
  const Parents parents(edges, nodeCount);
  std::vector<Edge> closure;
  const std::uint32_t relation = edges.empty() ? 0 : edges.front().relation;
  std::vector<std::uint32_t> seenBy(nodeCount, 0);  // head + 1 of the last walk that met the node
  std::vector<std::uint32_t> queue;
  std::uint64_t steps = 0;
  for (std::uint64_t node = 0; node < nodeCount; ++node) {
    const auto head = static_cast<std::uint32_t>(node);
    seenBy[head] = head + 1;
    queue.assign(1, head);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const std::uint32_t parent : parents.of(queue[i])) {
        ++steps;
        if (seenBy[parent] == head + 1) continue;
        seenBy[parent] = head + 1;
        queue.push_back(parent);
        closure.push_back({head, relation, parent});
      }
      if (closure.size() > maxEdges || steps / 64 > maxEdges) {
        return fail(ErrorCode::input,
                    "the transitive closure of {} edges over {} nodes has more than {} pairs (or takes too long to "
                    "find); train on the "
                    "edges as given, or on a part of the hierarchy",
                    edges.size(), nodeCount, maxEdges);
      }
    }
  }
  return closure;
}

std::vector<std::uint32_t> findCycle(std::span<const Edge> edges, std::uint64_t nodeCount) {
  const Parents parents(edges, nodeCount);
  enum : char { kNew, kOpen, kDone };
  std::vector<char> state(nodeCount, kNew);
  std::vector<std::uint32_t> path;
  std::vector<std::uint64_t> next(parents.begin.begin(), parents.begin.end() - 1);
  for (std::uint64_t start = 0; start < nodeCount; ++start) {
    if (state[start] != kNew) continue;
    path.assign(1, static_cast<std::uint32_t>(start));
    state[start] = kOpen;
    while (!path.empty()) {
      const std::uint32_t node = path.back();
      if (next[node] == parents.begin[node + 1ull]) {
        state[node] = kDone;
        path.pop_back();
        continue;
      }
      const std::uint32_t parent = parents.tails[next[node]++];
      if (state[parent] == kOpen) {
        return {std::find(path.begin(), path.end(), parent), path.end()};
      }
      if (state[parent] == kNew) {
        state[parent] = kOpen;
        path.push_back(parent);
      }
    }
  }
  return {};
}

}  // namespace dsa
