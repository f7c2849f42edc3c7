// SPDX-License-Identifier: Apache-2.0
// Ranks the answers of every query among all rows of a table, a bounded number of rows and scores at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "core/data/dataset.h"
#include "core/eval/query_set.h"
#include "core/eval/weight_source.h"
#include "core/model/model.h"

namespace dsa {

/// One answer among the candidates that are not hidden.
struct TargetRank {
  double score = 0;
  std::uint64_t better = 0;  ///< candidates with a higher score
  std::uint64_t equal = 0;   ///< other candidates with the same score
};

class CardRankMemory;

/// What to rank by. All pointers outlive the call.
struct RankJob {
  ModelKind model = ModelKind::poincare;
  ModelKernels kernels;
  double k = 0;         ///< as the model takes it
  bool onBall = false;  ///< rows must lie inside the ball of k
  const WeightSource* entities = nullptr;
  const WeightSource* relations = nullptr;  ///< null: scores have none
  const Dataset* dataset = nullptr;         ///< names, for messages
  std::uint64_t budgetBytes = 0;
  std::function<bool()> shouldStop;
  const CardRankMemory* card = nullptr;  ///< where given and on a card, that one ranks
};

/// Takes the groups in order, on the calling thread; ranks are those of set.targetsOf(group), valid for the call.
using RankSink = std::function<void(std::uint64_t group, std::span<const TargetRank> ranks)>;

/// Queries are taken in chunks, and for each chunk the entities in blocks, each read once: a table of at most half the
/// budget is read once in all. Held at a time: one block of rows, and for each query of the chunk two rows and 48 bytes
/// an answer; never a score for each row and query. On a card blocks are of its memory (card_bytes.h), and tables that
/// lie there are ranked in place.
/// Errors as evaluate(); input also: a score is not finite (both rows are named).
Result<void> rankAll(const RankJob& job, const QuerySet& set, ThreadPool& pool, const RankSink& sink);

}  // namespace dsa
