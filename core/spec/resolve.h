// SPDX-License-Identifier: Apache-2.0
// Fills in a spec's defaults for its data set, and refuses values that do not fit each other.
#pragma once

#include <cstdint>

#include "core/base/error.h"
#include "core/spec/run_spec.h"

namespace dsa {

/// What the defaults need to know about a data set.
struct DatasetFacts {
  enum class Kind { hierarchy, graph, pairs };
  Kind kind = Kind::hierarchy;
  std::uint64_t entities = 0;
  std::uint64_t relations = 0;   ///< 0 for hierarchies and pairs
  std::uint64_t trainCount = 0;  ///< training samples of one epoch
};

/// Every key that is unset takes its default; then all values are checked, alone and against each other. Resolving a
/// resolved spec again gives it back. A recorded run keeps the resolved spec, so that later defaults do not change it.
/// Errors: usage, names the key, the value, what is allowed; input, the data set is empty. Nothing is touched.
Result<ResolvedSpec> resolve(const RunSpec& spec, const DatasetFacts& facts);

/// Steps of one epoch; the last batch may be short.
std::uint64_t stepsPerEpoch(const ResolvedSpec& spec, const DatasetFacts& facts);

/// Steps of the run: epochs, cut by train.steps where that is set. The end of a linear decay.
std::uint64_t plannedSteps(const ResolvedSpec& spec, const DatasetFacts& facts);

/// Row slots that one batch may name before duplicates are merged: batch x (negatives + 2).
std::uint64_t batchSlots(std::uint64_t batch, std::uint64_t negatives);

/// The run as an arm of a comparison. A budget is of tables on disk: another placement has none.
void setArm(RunSpec& spec, PlacementChoice placement, Rule rule);

/// The direct engine's budget; 0 where tables on disk are mapped: the engine auto is direct under a budget.
[[nodiscard]] std::uint64_t rowCacheBytes(const ResolvedSpec& spec);

}  // namespace dsa
