// SPDX-License-Identifier: Apache-2.0
// The planner: bytes of a run by place before anything is touched, whether they fit, and the honest rivals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/spec/resolve.h"
#include "core/spec/run_spec.h"

namespace dsa {

struct PlanTable {
  std::string name;  ///< "entities", "relations"
  std::uint64_t rows = 0;
  Rule rule = Rule::sparseAdam;
  std::uint64_t dim = 0;
};

/// What there is to fit into; an absent one gets no verdict.
struct PlanCapacity {
  std::optional<std::uint64_t> card;    ///< memory of the GPU, or the size that the user asks about
  std::optional<std::uint64_t> memory;  ///< available memory of the machine
  std::optional<std::uint64_t> disk;    ///< free space where the table would lie
};

struct PlanInput {
  std::vector<PlanTable> tables;
  std::uint64_t batchRows = 0;  ///< unique rows of a step; a table is counted with at most all of its rows
  PlacementChoice placement = PlacementChoice::disk;
  double k = 0;
  std::uint64_t samples = 0;         ///< of a step, where they are known: a card has buffers for each
  std::uint64_t slotsPerSample = 0;  ///< 2 + negatives
  bool updatesOnCard = false;        ///< the card steps rows of a table that lies elsewhere
  bool evaluates = false;            ///< the dataset has edges to rank, which takes memory of a card
  std::uint64_t rowCache = 0;        ///< of placement disk with the direct engine: its budget
  std::uint64_t contextBytes = 0;    ///< what the card's driver takes for itself, where it is known
  PlanCapacity capacity;
};

enum class Fit { fits, tight, doesNotFit };
/// "fits", "tight", "does not fit".
std::string_view fitName(Fit fit);

/// tight: fits with less than 15% of the place to spare.
struct Verdict {
  Fit fit = Fit::fits;
  std::string against;  ///< "card", "machine's memory", "disk"
  std::uint64_t needs = 0;
  std::uint64_t capacity = 0;
  std::string message;  ///< "needs 14.31 GiB, card has 12.00 GiB; nothing was run"
};

/// What else could be done, with its cost.
struct Rival {
  std::string name;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> dim;  ///< for the rival with a smaller dim; 0 when none fits
  std::optional<Verdict> verdict;
};

struct Plan {
  std::uint64_t weights = 0;
  std::uint64_t moments = 0;
  std::uint64_t total = 0;  ///< weights + moments: the logical table
  std::uint64_t batch = 0;  ///< weights and moments of one step's rows
  std::uint64_t context = 0;
  std::uint64_t cardBesides = 0;  ///< what a card that holds the tables needs more: these buffers, and the context
  std::uint64_t device = 0;       ///< on the card that computes, context included: buffers of a step and of evaluations
                                  ///< (card_bytes.h), and the whole table under placement gpu
  std::uint64_t pinned = 0;       ///< page-locked memory of the machine beside them, where a card computes
  std::uint64_t memory = 0;       ///< private memory for rows: the batch; the whole table under placement ram, the row
                                  ///< cache under placement disk, at most the table
  std::uint64_t disk = 0;         ///< file size of the table under placement disk, else 0; the file is sparse
  std::vector<Verdict> verdicts;  ///< the table whole against card, memory, disk: each one that is known
  std::optional<Verdict> placement;  ///< of these, the one that decides for the placement asked for
  std::vector<Rival> rivals;
};

/// Errors: usage, no rows, an impossible dim, a rule that does not fit k, or sizes beyond 2^63 - 1 bytes: names table
/// and value.
Result<Plan> plan(const PlanInput& input);

/// `needs` is the table; `besides` (buffers, and the context where it is known) must fit too and is told apart.
Verdict judge(std::uint64_t needs, std::uint64_t besides, std::uint64_t capacity, const std::string& against);

/// Largest dim at which the tables fit `capacity` with 15% to spare; 0 when not even dim 1 does.
std::uint64_t largestDimThatFits(const PlanInput& input, std::uint64_t capacity);

/// The tables and batch of a run, ready to plan.
PlanInput planInputFor(const ResolvedSpec& spec, const DatasetFacts& facts, const PlanCapacity& capacity);

}  // namespace dsa
