// SPDX-License-Identifier: Apache-2.0
// Byte arithmetic of the planner; every product and sum is checked.
#include "core/spec/planner.h"

#include <algorithm>
#include <limits>

#include "core/base/file.h"
#include "core/rows/card_bytes.h"

namespace dsa {
namespace {

constexpr std::uint64_t kLargestDim = 65536;
constexpr std::uint64_t kMostSlots = 1ull << 24;  // of a step, as in a spec
// off_t: no file, mapping or allocation can be larger.
constexpr std::uint64_t kMostBytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result > kMostBytes) return std::nullopt;
  return result;
}

std::optional<std::uint64_t> sum(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  std::uint64_t result = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &result) || result > kMostBytes) return std::nullopt;
  return result;
}

std::uint64_t rowBytes(const PlanTable& table) { return 4 * rowFloats(table.rule, table.dim); }

/// Bytes of all tables whole, or none when beyond what can be.
std::optional<std::uint64_t> totalBytes(const PlanInput& input) {
  std::optional<std::uint64_t> total = 0;
  for (const PlanTable& table : input.tables) total = sum(total, product(table.rows, rowBytes(table)));
  return total;
}

Result<void> checkTable(const PlanTable& table, double k) {
  if (table.rows == 0) return fail(ErrorCode::usage, "table {}: 0 rows; at least 1 is needed", table.name);
  if (table.dim == 0 || table.dim > kLargestDim) {
    return fail(ErrorCode::usage, "table {}: dim {} is out of range; allowed is a whole number from 1 to {}",
                table.name, table.dim, kLargestDim);
  }
  if (!ruleAllows(table.rule, k)) {
    return fail(ErrorCode::usage, "table {}: rule {} is Euclidean and does not fit k = {}", table.name,
                ruleName(table.rule), k);
  }
  if (!product(table.rows, rowBytes(table))) {
    return fail(ErrorCode::usage,
                "table {}: {} rows of {} bytes each are more than 2^63 - 1 bytes, which no file can hold; take fewer "
                "rows or a smaller dim",
                table.name, table.rows, rowBytes(table));
  }
  return {};
}

/// What a card holds besides the tables, and the machine for it.
struct CardBuffers {
  std::uint64_t device = 0;
  std::uint64_t pinned = 0;
};

/// Buffers of a step and of evaluations; of tables that lie on the card, the row numbers and gradients of a step, too.
CardBuffers cardBuffers(const PlanInput& input, bool tablesOnCard) {
  CardBuffers bytes;
  if (input.samples == 0) {
    // Rows are known and samples are not: weights of the rows, their gradients, and those slot by slot; which slot is
    // whose, and what a sample needs, come on top.
    for (const PlanTable& table : input.tables)
      bytes.device += 3 * std::min({input.batchRows, table.rows, kMostSlots}) * table.dim * 4;
    return bytes;
  }
  const PlanTable& entities = input.tables.front();
  CardStepShape shape;
  shape.batch = input.samples;
  shape.slotsPerSample = input.slotsPerSample;
  shape.dim = entities.dim;
  shape.tables = static_cast<std::uint32_t>(input.tables.size());
  shape.tablesOnCard = tablesOnCard;
  shape.updatesOnCard = input.updatesOnCard && !tablesOnCard;
  for (std::uint32_t t = 0; t < shape.tables; ++t)
    shape.recordFloats[t] = rowFloats(input.tables[t].rule, input.tables[t].dim);
  bytes.device = cardStepBytes(shape).total();
  bytes.pinned = cardStepPinnedBytes(shape);
  if (tablesOnCard) {
    std::uint64_t scan = kCardScanBytes;
    for (std::uint32_t t = 0; t < shape.tables; ++t) {
      const PlanTable& table = input.tables[t];
      const CardTableBytes whole = cardTableBytes(table.rows, table.dim, rowFloats(table.rule, table.dim),
                                                  std::min(table.rows, shape.slotsOf(t)));
      bytes.device += whole.ids + whole.gradients;
      scan = std::max(scan, rowBytes(table));
    }
    bytes.pinned += scan;
  }
  if (input.evaluates) {
    const std::uint64_t rank = cardRankBytes({entities.rows, entities.dim, tablesOnCard}).total();
    bytes.device += rank;
    bytes.pinned += rank;
  }
  return bytes;
}

/// The bytes that do not depend on what there is to fit into.
Result<Plan> countBytes(const PlanInput& input) {
  if (input.tables.empty()) return fail(ErrorCode::usage, "the plan has no table");
  if (input.batchRows == 0) return fail(ErrorCode::usage, "batch rows: 0; at least 1 is needed");
  Plan result;
  for (const PlanTable& table : input.tables) DSA_TRY(checkTable(table, input.k));
  const auto total = totalBytes(input);
  // The batch is at most the tables; the sum of both and the context must stay countable too.
  const auto most = sum(sum(total, total), input.contextBytes);
  if (!total || !most) {
    return fail(
        ErrorCode::usage,
        "the tables together are more than 2^63 - 1 bytes, which no disk can hold; take fewer rows or a smaller dim");
  }
  for (const PlanTable& table : input.tables) {
    result.weights += table.rows * 4 * table.dim;
    result.batch += std::min(input.batchRows, table.rows) * rowBytes(table);
  }
  result.total = *total;
  result.moments = result.total - result.weights;
  result.context = input.contextBytes;
  result.cardBesides = cardBuffers(input, true).device + input.contextBytes;
  return result;
}

Verdict judgeDisk(std::uint64_t needs, std::uint64_t capacity) {
  Verdict verdict = judge(needs, 0, capacity, "disk");
  // The file is sparse: only touched rows take space, so the store warns and does not refuse.
  if (verdict.fit == Fit::doesNotFit) {
    verdict.message = fmt::format(
        "needs {}, disk has {} free; the file takes space only as rows are touched, so a run may start, and stops with "
        "an error when the disk is full",
        formatBytes(needs), formatBytes(capacity));
  }
  return verdict;
}

void judgePlaces(const PlanInput& input, Plan& plan) {
  const PlanCapacity& capacity = input.capacity;
  std::optional<Verdict> card;
  std::optional<Verdict> memory;
  std::optional<Verdict> disk;
  if (capacity.card) card = judge(plan.total, plan.cardBesides, *capacity.card, "card");
  if (capacity.memory) memory = judge(plan.total, plan.batch, *capacity.memory, "machine's memory");
  if (capacity.disk) disk = judgeDisk(plan.total, *capacity.disk);
  for (const auto& verdict : {card, memory, disk}) {
    if (verdict) plan.verdicts.push_back(*verdict);
  }
  if (input.placement == PlacementChoice::gpu) plan.placement = card;
  if (input.placement == PlacementChoice::ram) plan.placement = memory;
  if (input.placement == PlacementChoice::disk) plan.placement = disk;
}

PlanInput withRule(PlanInput input, Rule rule) {
  for (PlanTable& table : input.tables) table.rule = rule;
  return input;
}

PlanInput withDim(PlanInput input, std::uint64_t dim) {
  for (PlanTable& table : input.tables) table.dim = dim;
  return input;
}

std::optional<Verdict> judgeIf(std::uint64_t needs, std::uint64_t besides, std::optional<std::uint64_t> capacity,
                               const char* against) {
  if (!capacity) return std::nullopt;
  return judge(needs, besides, *capacity, against);
}

void addRivals(const PlanInput& input, Plan& plan) {
  const PlanCapacity& capacity = input.capacity;
  if (input.placement != PlacementChoice::ram) {
    plan.rivals.push_back({"table in host RAM", plan.total, std::nullopt,
                           judgeIf(plan.total, plan.batch, capacity.memory, "machine's memory")});
  }
  if (input.placement != PlacementChoice::gpu) {
    plan.rivals.push_back({"the same rule on the GPU", plan.total, std::nullopt,
                           judgeIf(plan.total, plan.cardBesides, capacity.card, "card")});
  }
  const bool adagradAlready = input.tables.front().rule == Rule::rowAdagrad;
  if (ruleAllows(Rule::rowAdagrad, input.k) && !adagradAlready) {
    // A bad size cannot come out of this: row_adagrad keeps fewer floats than any rule but rsgd, and one more than
    // that.
    if (const auto bytes = countBytes(withRule(input, Rule::rowAdagrad))) {
      plan.rivals.push_back({"row_adagrad on the GPU", bytes->total, std::nullopt,
                             judgeIf(bytes->total, bytes->cardBesides, capacity.card, "card")});
    }
  }
  if (capacity.card) {
    const std::uint64_t dim = largestDimThatFits(input, *capacity.card);
    if (dim >= input.tables.front().dim) return;  // the dim asked for fits
    const std::uint64_t bytes = dim == 0 ? 0 : totalBytes(withDim(input, dim)).value_or(0);
    plan.rivals.push_back({"the largest dim that fits the card", bytes, dim, std::nullopt});
  }
}

}  // namespace

std::string_view fitName(Fit fit) {
  if (fit == Fit::fits) return "fits";
  return fit == Fit::tight ? "tight" : "does not fit";
}

Verdict judge(std::uint64_t needs, std::uint64_t besides, std::uint64_t capacity, const std::string& against) {
  Verdict verdict{Fit::fits, against, needs, capacity, {}};
  const std::string head = fmt::format("needs {}, {} has {}", formatBytes(needs), against, formatBytes(capacity));
  const std::string apart = besides == 0 ? "" : fmt::format("; buffers take {} more", formatBytes(besides));
  if (needs > capacity) {
    verdict.fit = Fit::doesNotFit;
    verdict.message = head + "; nothing was run";
    return verdict;
  }
  if (besides > capacity - needs) {
    verdict.fit = Fit::doesNotFit;
    verdict.message = head + apart + "; nothing was run";
    return verdict;
  }
  const std::uint64_t spare = capacity - needs;
  // spare < capacity x 3/20, rounded up, in parts that cannot overflow.
  const bool tight = spare < capacity / 20 * 3 + (capacity % 20 * 3 + 19) / 20;
  verdict.fit = tight ? Fit::tight : Fit::fits;
  verdict.message = fmt::format("{}: {}, {} to spare{}", head, fitName(verdict.fit), formatBytes(spare), apart);
  return verdict;
}

std::uint64_t largestDimThatFits(const PlanInput& input, std::uint64_t capacity) {
  std::uint64_t low = 0;  // fits (no table at all)
  std::uint64_t high = kLargestDim + 1;
  while (high - low > 1) {
    const std::uint64_t dim = low + (high - low) / 2;
    const auto bytes = countBytes(withDim(input, dim));
    const bool fits = bytes && judge(bytes->total, bytes->cardBesides, capacity, "card").fit == Fit::fits;
    (fits ? low : high) = dim;
  }
  return low;
}

Result<Plan> plan(const PlanInput& input) {
  DSA_ASSIGN(Plan result, countBytes(input));
  const bool onDevice = input.placement == PlacementChoice::gpu;
  result.device = onDevice ? result.total + result.cardBesides : cardBuffers(input, false).device + result.context;
  result.pinned = cardBuffers(input, onDevice).pinned;
  result.memory = result.batch;
  if (input.placement == PlacementChoice::ram) result.memory += result.total;
  if (input.placement == PlacementChoice::disk) result.memory += std::min(result.total, input.rowCache);
  result.disk = input.placement == PlacementChoice::disk ? result.total : 0;
  judgePlaces(input, result);
  addRivals(input, result);
  return result;
}

PlanInput planInputFor(const ResolvedSpec& spec, const DatasetFacts& facts, const PlanCapacity& capacity) {
  PlanInput input;
  input.tables.push_back({"entities", facts.entities, spec.optimizer.rule, spec.dim});
  if (spec.model == ModelChoice::transe || spec.model == ModelChoice::distmult) {
    input.tables.push_back({"relations", facts.relations, spec.optimizer.rule, spec.dim});
  }
  input.batchRows = batchSlots(spec.train.batch, spec.train.negatives);
  input.samples = spec.train.batch;
  input.slotsPerSample = 2 + spec.train.negatives;
  input.updatesOnCard = spec.optimizer.update == UpdateChoice::device;
  input.evaluates = facts.kind != DatasetFacts::Kind::pairs;
  input.placement = spec.optimizer.placement;
  input.k = spec.k;
  input.rowCache = rowCacheBytes(spec);
  input.capacity = capacity;
  return input;
}

}  // namespace dsa
