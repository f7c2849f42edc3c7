// SPDX-License-Identifier: Apache-2.0
// The metrics of a table: reconstruction of a hierarchy (mean rank, MAP), filtered link prediction of a graph (MRR,
// Hits).
//
// Reconstruction (Nickel and Kiela 2017). A query is a node u with training edges u -> v; the candidates are all other
// nodes, best score first. Mean rank is the mean over edges of 1 + the candidates above v that are not themselves
// ancestors of u, so a perfect mean rank is 1. MAP is the mean over nodes of average precision.
//
// Link prediction (Bordes et al. 2013, "filtered"). A query is one edge of the split and one side of it: (h, r, ?) with
// answer t, (?, r, t) with answer h. The candidates are all entities, less those that make another known edge: train,
// valid and test, same relation, same side. Entities that no training edge names stay in, as in the published figures.
//
// Ties. Ranks are realistic (the mean over all orders of the tied): 1 + better + equal / 2; the optimistic 1 + better
// and the pessimistic 1 + better + equal stand beside it. Hits@n counts ranks <= n. Average precision takes tied
// candidates as one group, as scikit-learn does: a positive of score s counts (positives >= s) / (candidates >= s). So
// no order of ids enters any figure.
//
// The figures have the same bits for every thread count, memory budget, kernel level and device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "core/data/dataset.h"
#include "core/eval/weight_source.h"
#include "core/model/model.h"

namespace dsa {

class CardRankMemory;

enum class EvalSplit { train, valid, test };

struct EvalOptions {
  EvalSplit split = EvalSplit::test;  ///< of a graph; a hierarchy is always measured on its training edges
  std::uint64_t maxQueries = 0;  ///< 0: all. Else so many, chosen by `seed`; a larger number contains a smaller one's
  std::uint64_t seed = 1;
  std::uint64_t budgetBytes = 64ull << 20;  ///< rows and scores held at a time; the index of edges comes on top
  std::function<bool()> shouldStop;         ///< asked every few hundred microseconds, from any thread; may be empty
  const CardRankMemory* card = nullptr;     ///< of the device that evaluates; null: the processor
};

/// Absent figures are not defined for the kind of the dataset, or there was nothing to measure (`note` says why).
struct EvalMetrics {
  std::optional<double> map;                            ///< hierarchies
  std::optional<double> meanRank;                       ///< realistic
  std::optional<double> mrr, hits1, hits3, hits10;      ///< graphs; realistic
  std::optional<double> mrrOptimistic, mrrPessimistic;  ///< graphs
  std::uint64_t queries = 0;                            ///< measured: nodes of a hierarchy, edges x 2 sides of a graph
  std::uint64_t queriesTotal = 0;                       ///< how many there are
  std::uint64_t ranks = 0;        ///< ranks in the means: edges of a hierarchy, queries of a graph
  std::uint64_t filterEdges = 0;  ///< edges that the filter was made from, as given
  std::uint64_t filteredOut = 0;  ///< candidates left out by the filter, over all ranks
  std::string note;
};

/// Measures a table. relations may be null for models without relations.
/// Memory: options.budgetBytes, at least one row and one query; and an index of 20 to 40 bytes a query and 4 bytes a
/// known answer of a chosen query.
/// Errors input: the table has other rows than the dataset has names; a row is not finite or not inside the ball (the
/// row is named; no figure is made from it). stopped: shouldStop said so.
/// Thread: the run thread (it uses the pool).
Result<EvalMetrics> evaluate(const Dataset& dataset, ModelKind model, double k, const WeightSource& entities,
                             const WeightSource* relations, KernelLevel level, ThreadPool& pool,
                             const EvalOptions& options = {});

}  // namespace dsa
