// SPDX-License-Identifier: Apache-2.0
// Hierarchies as edge lists: every ancestor of every node, and a cycle if there is one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/data/dataset.h"

namespace dsa {

/// Edges that transitiveClosure gives at most unless told otherwise: 2.4 GB of them.
inline constexpr std::uint64_t kMaxClosureEdges = 200'000'000;

/// Every (node, ancestor) pair once, without self-loops, of the first edge's relation (a hierarchy has one). Heads in
/// id order; the ancestors of one head nearest first, those equally near in the order of the given edges. Cycles are
/// followed once and end. edges: heads and tails < nodeCount (DSA_CHECK). Errors input: more than maxEdges pairs, or
/// more than 64 x maxEdges steps to find them.
Result<std::vector<Edge>> transitiveClosure(std::span<const Edge> edges, std::uint64_t nodeCount,
                                            std::uint64_t maxEdges = kMaxClosureEdges);

/// The nodes of one cycle in order (each is below the next, the last below the first), found from the lowest id; empty
/// if there is none. A self-loop is a cycle of one node. Linear in edges and nodes, no recursion.
std::vector<std::uint32_t> findCycle(std::span<const Edge> edges, std::uint64_t nodeCount);

}  // namespace dsa
