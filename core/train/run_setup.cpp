// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_setup.h"

#include <algorithm>

#include "core/device/cuda_device.h"
#include "core/spec/planner.h"
#include "core/store/direct_store.h"

namespace dsa {

namespace {

// Synthetic pairs are a stream: their loss is reported by hundreds of steps.
constexpr std::uint64_t kStreamInterval = 100;

StepParams paramsOf(const ResolvedSpec& spec) {
  StepParams params;
  params.rule = spec.optimizer.rule;
  params.map = spec.optimizer.map;
  params.dim = static_cast<std::uint32_t>(spec.dim);
  params.beta1 = spec.optimizer.beta1;
  params.beta2 = spec.optimizer.beta2;
  params.eps = spec.optimizer.eps;
  params.weightDecay = spec.optimizer.weightDecay;
  params.k = spec.k;
  params.ballMargin = spec.optimizer.ballMargin;
  params.gradientCap = spec.optimizer.gradientCap;
  return params;
}

TableShape tableOf(const ResolvedSpec& spec, const char* name, std::uint64_t rows, std::uint64_t slots) {
  TableShape table;
  table.name = name;
  table.rows = rows;
  table.dim = static_cast<std::uint32_t>(spec.dim);
  table.rule = spec.optimizer.rule;
  table.initScale = static_cast<float>(spec.optimizer.initScale);
  table.stepCapacity = std::min(rows, slots);
  return table;
}

}  // namespace

ModelKind modelKindOf(const ResolvedSpec& spec) {
  const std::optional<ModelKind> model = modelFromName(choiceName(spec.model));
  DSA_CHECK(model.has_value());
  return *model;
}

DiskOptions diskOptionsOf(const ResolvedSpec& spec) {
  DiskOptions options;
  if (spec.checkpoint.durability == DurabilityChoice::power) options.durability = Durability::power;
  options.ramBudget = spec.ramBudget;
  if (const std::uint64_t cache = rowCacheBytes(spec); cache != 0) {
    options.engine = DiskEngine::direct;
    options.ramBudget = cache;
  }
  return options;
}

Result<RunSetup> makeSetup(const RunSpec& spec, std::shared_ptr<const Dataset> dataset) {
  RunSetup setup;
  setup.facts = factsOf(*dataset);
  DSA_ASSIGN(setup.spec, resolve(spec, setup.facts));
  if (setup.facts.entities < 2)
    return fail(ErrorCode::input, "{}: {} entities; at least 2 are needed", setup.spec.dataset, setup.facts.entities);
  setup.dataset = std::move(dataset);
  setup.model = modelKindOf(setup.spec);
  setup.stepsPerEpoch = stepsPerEpoch(setup.spec, setup.facts);
  setup.plannedSteps = plannedSteps(setup.spec, setup.facts);
  setup.lossInterval = setup.facts.kind == DatasetFacts::Kind::pairs ? kStreamInterval : setup.stepsPerEpoch;
  const std::uint64_t batch = setup.spec.train.batch;
  setup.shape.seed = setup.spec.train.seed;
  setup.shape.lossCapacity = (setup.plannedSteps + setup.lossInterval - 1) / setup.lossInterval;
  setup.shape.tables.push_back(
      tableOf(setup.spec, "entities", setup.facts.entities, batch * (2 + setup.spec.train.negatives)));
  if (hasRelations(setup.model))
    setup.shape.tables.push_back(tableOf(setup.spec, "relations", setup.facts.relations, batch));
  setup.params.assign(setup.shape.tables.size(), paramsOf(setup.spec));
  setup.schedule.lr = setup.spec.optimizer.lr;
  setup.schedule.burnInSteps = setup.spec.train.burnIn * setup.stepsPerEpoch;
  setup.schedule.plannedSteps = setup.plannedSteps;
  setup.schedule.linearDecay = setup.spec.optimizer.lrDecay == DecayChoice::linear;
  return setup;
}

namespace {

tl::unexpected<Error> notRun(const std::string& device, const Error& why) {
  return fail(why.code, "device {}: {}. Nothing was run", device, why.message);
}

}  // namespace

Result<std::shared_ptr<Device>> makeDevice(const ResolvedSpec& spec) {
  DSA_ASSIGN(const DeviceChoice choice, parseDevice(spec.device));
  switch (choice.kind) {
    case DeviceChoice::Kind::cpu:
      return Device::cpu();
    case DeviceChoice::Kind::simulated:
      return Device::simulated(choice.bytes);
    case DeviceChoice::Kind::cuda:
      break;
  }
  auto card = openCudaCard(choice.index);
  if (!card) return notRun(spec.device, card.error());
  return Device::onCard(spec.device, std::move(*card));
}

namespace {

/// The rows of a step must fit the row cache.
Result<void> checkBudget(const RunSetup& setup) {
  const DiskOptions options = diskOptionsOf(setup.spec);
  const std::uint64_t budget = options.ramBudget;
  if (options.engine != DiskEngine::direct || budget >= DirectStore::leastBudget(setup.shape)) return {};
  return fail(
      ErrorCode::usage,
      "ram_budget: {} do not hold the rows of one step of the direct engine; nothing was run. Take at least {}, "
      "or a smaller batch",
      formatBytes(budget), formatBytes(DirectStore::leastBudget(setup.shape)));
}

/// What a run can have of the card: all of the simulated one, of another what is free.
Result<std::uint64_t> cardMemory(const DeviceChoice& choice, const std::string& name) {
  if (choice.kind == DeviceChoice::Kind::simulated) return choice.bytes;
  const auto device = cudaDevice(choice.index);
  if (!device) return notRun(name, device.error());
  return device->memoryFree.value_or(device->memoryTotal);
}

}  // namespace

Result<void> checkFits(const RunSetup& setup, std::uint64_t memoryAvailable) {
  if (setup.spec.optimizer.placement == PlacementChoice::disk) return checkBudget(setup);
  DSA_ASSIGN(const DeviceChoice choice, parseDevice(setup.spec.device));
  const bool onCard = setup.spec.optimizer.placement == PlacementChoice::gpu && choice.kind != DeviceChoice::Kind::cpu;
  PlanCapacity capacity;
  // A simulated card takes ordinary memory: both must hold it.
  if (!onCard || choice.kind == DeviceChoice::Kind::simulated) capacity.memory = memoryAvailable;
  if (onCard) {
    DSA_ASSIGN(capacity.card, cardMemory(choice, setup.spec.device));
  }
  DSA_ASSIGN(const Plan planned, plan(planInputFor(setup.spec, setup.facts, capacity)));
  for (const Verdict& verdict : planned.verdicts) {
    if (verdict.fit == Fit::doesNotFit) return fail(ErrorCode::machine, "{}", verdict.message);
  }
  return {};
}

}  // namespace dsa
