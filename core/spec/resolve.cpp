// SPDX-License-Identifier: Apache-2.0
// Defaults that depend on the data set or on other keys, and the checks between keys.
#include "core/spec/resolve.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "core/spec/spec_table.h"

namespace dsa {
namespace {

// The sampler keeps the upper 8 of its 32 bits for draws that are made again (core/data/sampler.cpp).
constexpr std::uint64_t kMostBatchSlots = (std::uint64_t{1} << 24) - 1;
// Below this, float32 no longer sees the curvature, and 1/sqrt(k) is out of all proportion to the data.
constexpr double kLeastCurvature = 1e-9;

template <class T>
void setDefault(std::optional<T>& field, const T& value) {
  if (!field) field = value;
}

std::uint64_t byKind(const DatasetFacts& facts, std::uint64_t hierarchy, std::uint64_t graph, std::uint64_t pairs) {
  if (facts.kind == DatasetFacts::Kind::hierarchy) return hierarchy;
  return facts.kind == DatasetFacts::Kind::graph ? graph : pairs;
}

ModelChoice defaultModel(const DatasetFacts& facts, double k) {
  if (facts.kind == DatasetFacts::Kind::hierarchy) return ModelChoice::poincare;
  if (facts.kind == DatasetFacts::Kind::graph) return ModelChoice::distmult;
  return k > 0 ? ModelChoice::poincare : ModelChoice::euclidean;
}

/// On the ball an Adam step of the usual epsilon has the length lr however small the gradient, and leaves jitter:
/// mammals reach MAP .87 with lr 0.01 and eps 1e-8, .96 with lr 0.1, eps 1 and linear decay.
void setRateDefaults(RunSpec::Optimizer& optimizer, bool onBall) {
  const bool ballAdam = onBall && (optimizer.rule == Rule::radam || optimizer.rule == Rule::dsa);
  double lr = ballAdam ? 0.1 : 0.01;
  double eps = ballAdam ? 1.0 : 1e-8;
  if (optimizer.rule == Rule::rsgd) lr = 0.1;
  if (optimizer.rule == Rule::rowAdagrad) {
    lr = 0.1;
    eps = 1e-10;
  }
  setDefault(optimizer.lr, lr);
  setDefault(optimizer.eps, eps);
  setDefault(optimizer.lrDecay, ballAdam ? DecayChoice::linear : DecayChoice::none);
  setDefault(optimizer.map, optimizer.rule == Rule::rsgd ? BallMap::retraction : BallMap::exponential);
}

double defaultInitScale(ModelChoice model, double dim, double k) {
  // Unit length on average, so that scores start of order 1 for every dim.
  if (model == ModelChoice::distmult || model == ModelChoice::transe) return std::sqrt(3 / dim);
  return k > 0 ? std::min(1e-3, 0.1 / std::sqrt(k * dim)) : 1e-3;
}

std::uint64_t ceilDiv(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

void setTrainDefaults(RunSpec::Train& train, const DatasetFacts& facts, bool onBall) {
  setDefault(train.batch, byKind(facts, 10, 512, 1000));
  setDefault(train.negatives, byKind(facts, 50, 32, 8));
  std::uint64_t epochs = byKind(facts, 300, 100, 1);
  if (train.steps.value_or(0) > 0) epochs = ceilDiv(*train.steps, ceilDiv(facts.trainCount, *train.batch));
  setDefault(train.epochs, std::clamp<std::uint64_t>(epochs, 1, 1'000'000'000));
  setDefault(train.burnIn, onBall ? std::min<std::uint64_t>(20, *train.epochs / 10) : 0);
  setDefault(train.threads, std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, 1024));
}

void setDefaults(RunSpec& spec, const DatasetFacts& facts) {
  setDefault(spec.k, 0.0);
  const bool onBall = *spec.k > 0;
  setDefault(spec.model, defaultModel(facts, *spec.k));
  setDefault(spec.dim, byKind(facts, 10, 10, 128));
  setDefault(spec.optimizer.rule, onBall ? Rule::radam : Rule::sparseAdam);
  setRateDefaults(spec.optimizer, onBall);
  setDefault(spec.optimizer.initScale, defaultInitScale(*spec.model, static_cast<double>(*spec.dim), *spec.k));
  setTrainDefaults(spec.train, facts, onBall);
  setDefault(spec.device, std::string(spec.optimizer.placement == PlacementChoice::gpu ? "cuda:0" : "cpu"));
  for (const SpecKey& key : specTable()) {
    if (!key.get(spec) && key.fixedDefault) key.set(spec, *key.fixedDefault);
  }
}

/// Values set by a program (the window) have not been through a parser: the same ranges hold.
Result<RunSpec> checkRanges(const RunSpec& spec) {
  RunSpec checked;
  for (const SpecKey& key : specTable()) {
    if (const auto value = key.get(spec)) {
      DSA_ASSIGN(const SpecValue normal, checkValue(key, *value, key.path));
      key.set(checked, normal);
    }
  }
  return checked;
}

Result<void> checkRule(const ResolvedSpec& spec) {
  const auto& optimizer = spec.optimizer;
  if (spec.k > 0 && spec.k < kLeastCurvature) {
    return fail(ErrorCode::usage,
                "k: {} is too small to be told from flat; allowed is 0, or a number from {} up to 1e+06",
                shortestNumber(spec.k), shortestNumber(kLeastCurvature));
  }
  if (!ruleAllows(optimizer.rule, spec.k)) {
    std::string fitting;
    for (const Rule rule : {Rule::dsa, Rule::radam, Rule::rsgd, Rule::sparseAdam, Rule::rowAdagrad}) {
      if (ruleAllows(rule, spec.k)) fitting += (fitting.empty() ? "" : ", ") + std::string(ruleName(rule));
    }
    return fail(ErrorCode::usage,
                "optimizer.rule: {} is Euclidean and does not fit k = {}; the rules that fit are {}; or set k to 0",
                ruleName(optimizer.rule), shortestNumber(spec.k), fitting);
  }
  if (optimizer.weightDecay > 0 && optimizer.rule != Rule::dsa) {
    return fail(ErrorCode::usage,
                "optimizer.weight_decay: {} does not fit rule {}; only rule dsa has weight decay, else set it to 0",
                shortestNumber(optimizer.weightDecay), ruleName(optimizer.rule));
  }
  return {};
}

Result<void> checkModel(const ResolvedSpec& spec, const DatasetFacts& facts) {
  if (spec.k > 0 && spec.model != ModelChoice::poincare) {
    return fail(ErrorCode::usage, "model: {} is Euclidean and does not fit k = {}; set k to 0, or take model poincare",
                choiceName(spec.model), shortestNumber(spec.k));
  }
  const bool needsRelations = spec.model == ModelChoice::transe || spec.model == ModelChoice::distmult;
  if (needsRelations && facts.relations == 0) {
    return fail(ErrorCode::usage,
                "model: {} needs relations and the data set {} has none; the models that fit are poincare, euclidean",
                choiceName(spec.model), spec.dataset);
  }
  const double corner = spec.optimizer.initScale * std::sqrt(static_cast<double>(spec.dim));
  if (spec.k > 0 && corner > (1 - spec.optimizer.ballMargin) / std::sqrt(spec.k)) {
    return fail(ErrorCode::usage,
                "optimizer.init_scale: {} lets rows start outside the ball; for dim {} and k = {} allowed is up to {}",
                shortestNumber(spec.optimizer.initScale), spec.dim, shortestNumber(spec.k),
                shortestNumber((1 - spec.optimizer.ballMargin) / std::sqrt(spec.k * static_cast<double>(spec.dim))));
  }
  return {};
}

Result<void> checkPlace(const ResolvedSpec& spec) {
  const auto placement = spec.optimizer.placement;
  DSA_ASSIGN(const DeviceChoice device, parseDevice(spec.device));
  if (placement == PlacementChoice::gpu && device.kind == DeviceChoice::Kind::cpu) {
    return fail(
        ErrorCode::usage,
        "optimizer.placement: gpu does not fit device {}; set device to cuda:N or to sim:SIZE such as \"sim:12 GiB\"",
        spec.device);
  }
  if (spec.optimizer.update == UpdateChoice::device && device.kind == DeviceChoice::Kind::cpu) {
    return fail(ErrorCode::usage,
                "optimizer.update: device does not fit device {}, which has no memory of its own; set device to cuda:N "
                "or to sim:SIZE such as \"sim:12 GiB\", or update to auto",
                spec.device);
  }
  if (spec.optimizer.update == UpdateChoice::cpu && placement == PlacementChoice::gpu) {
    return fail(
        ErrorCode::usage,
        "optimizer.update: cpu does not fit placement gpu, whose rows are stepped where they lie; set update to "
        "auto, or take placement disk or ram");
  }
  if (spec.ramBudget != 0 && placement != PlacementChoice::disk) {
    return fail(ErrorCode::usage,
                "ram_budget: a budget does not fit placement {}, whose table is in memory whole; take placement disk, "
                "or ram_budget none",
                choiceName(placement));
  }
  return {};
}

Result<void> checkSizes(const ResolvedSpec& spec, const DatasetFacts& facts) {
  const std::uint64_t slots = batchSlots(spec.train.batch, spec.train.negatives);
  if (slots > kMostBatchSlots) {
    return fail(ErrorCode::usage, "train.batch: {} with {} negatives makes {} row slots a step; allowed are {}",
                spec.train.batch, spec.train.negatives, slots, kMostBatchSlots);
  }
  const std::uint64_t perEpoch = stepsPerEpoch(spec, facts);
  if (perEpoch > UINT64_MAX / spec.train.epochs) {
    return fail(ErrorCode::usage,
                "train.epochs: {} of {} steps each are more steps than can be counted; allowed are {} epochs",
                spec.train.epochs, perEpoch, UINT64_MAX / perEpoch);
  }
  return {};
}

}  // namespace

std::uint64_t batchSlots(std::uint64_t batch, std::uint64_t negatives) { return batch * (negatives + 2); }

std::uint64_t stepsPerEpoch(const ResolvedSpec& spec, const DatasetFacts& facts) {
  return ceilDiv(facts.trainCount, spec.train.batch);
}

std::uint64_t plannedSteps(const ResolvedSpec& spec, const DatasetFacts& facts) {
  const std::uint64_t whole = spec.train.epochs * stepsPerEpoch(spec, facts);  // resolve() has checked the product
  return spec.train.steps > 0 ? std::min(spec.train.steps, whole) : whole;
}

Result<ResolvedSpec> resolve(const RunSpec& spec, const DatasetFacts& facts) {
  DSA_ASSIGN(RunSpec filled, checkRanges(spec));
  if (!filled.dataset) {
    return fail(ErrorCode::usage,
                "dataset: nothing is set; name a bundled data set (wordnet-mammals), a file, or zipf:ROWS");
  }
  if (facts.entities == 0 || facts.trainCount == 0) {
    return fail(ErrorCode::input,
                "dataset {}: it has {} entities and {} training samples; at least one of each is needed",
                *filled.dataset, facts.entities, facts.trainCount);
  }
  setDefaults(filled, facts);
  ResolvedSpec resolved;
  for (const SpecKey& key : specTable()) {
    const auto value = key.get(filled);
    DSA_CHECK(value.has_value());
    key.setResolved(resolved, *value);
  }
  DSA_TRY(checkRule(resolved));
  DSA_TRY(checkModel(resolved, facts));
  DSA_TRY(checkPlace(resolved));
  DSA_TRY(checkSizes(resolved, facts));
  return resolved;
}

void setArm(RunSpec& spec, PlacementChoice placement, Rule rule) {
  spec.optimizer.placement = placement;
  spec.optimizer.rule = rule;
  if (placement != PlacementChoice::disk) spec.ramBudget = std::nullopt;
}

std::uint64_t rowCacheBytes(const ResolvedSpec& spec) {
  if (spec.optimizer.placement != PlacementChoice::disk || spec.optimizer.engine == EngineChoice::mmap) return 0;
  if (spec.ramBudget != 0) return spec.ramBudget;
  return spec.optimizer.engine == EngineChoice::direct ? kDirectRowCache : 0;
}

}  // namespace dsa
