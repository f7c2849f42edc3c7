// SPDX-License-Identifier: Apache-2.0
// The rows of the table of spec keys.
#include "core/spec/spec_table.h"

#include <type_traits>
#include <utility>

#include "core/spec/choices.h"

namespace dsa {
namespace {

template <class T>
SpecValue toValue(const T& field) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(choiceName(field));
  } else {
    return field;
  }
}

template <class T>
T fromValue(const SpecValue& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto* name = std::get_if<std::string>(&value);
    DSA_CHECK(name != nullptr);
    const auto choice = choiceFromName<T>(*name);
    DSA_CHECK(choice.has_value());
    return *choice;
  } else {
    const auto* field = std::get_if<T>(&value);
    DSA_CHECK(field != nullptr);
    return *field;
  }
}

template <class T>
constexpr SpecType typeOf() {
  if constexpr (std::is_enum_v<T>) return SpecType::choice;
  if constexpr (std::is_same_v<T, std::uint64_t>) return SpecType::count;
  if constexpr (std::is_same_v<T, double>) return SpecType::number;
  return SpecType::text;
}

/// Ties a row of the table to its field; Access is a captureless lambda from a spec of either kind to the field.
template <class Access>
SpecKey bind(SpecKey key, Access) {
  using T = std::remove_cvref_t<decltype(Access{}(std::declval<ResolvedSpec&>()))>;
  if (key.type == SpecType::text) key.type = typeOf<T>();  // size and device are named in the row
  if constexpr (std::is_enum_v<T>) key.choices = choiceNames<T>();
  key.get = [](const RunSpec& spec) -> std::optional<SpecValue> {
    const auto& field = Access{}(spec);
    if (!field.has_value()) return std::nullopt;
    return toValue<T>(*field);
  };
  key.set = [](RunSpec& spec, const SpecValue& value) { Access{}(spec) = fromValue<T>(value); };
  key.getResolved = [](const ResolvedSpec& spec) { return toValue<T>(Access{}(spec)); };
  key.setResolved = [](ResolvedSpec& spec, const SpecValue& value) { Access{}(spec) = fromValue<T>(value); };
  return key;
}

#define DSA_FIELD(member) ([](auto& spec) -> auto& { return spec.member; })

SpecValue text(const char* value) { return std::string(value); }
SpecValue count(std::uint64_t value) { return value; }

void addHead(std::vector<SpecKey>& table) {
  table.push_back(bind({.path = "name",
                        .flags = "--name",
                        .help = "name of the run in lists",
                        .fixedDefault = text(""),
                        .defaultText = "empty",
                        .effect = SpecEffect::none},
                       DSA_FIELD(name)));
  table.push_back(bind({.path = "dataset",
                        .flags = "--dataset",
                        .help = "bundled data set, path of a file or folder, or zipf:ROWS",
                        .defaultText = "none, must be given"},
                       DSA_FIELD(dataset)));
  table.push_back(bind({.path = "model",
                        .flags = "--model",
                        .help = "what scores a pair or triple",
                        .defaultText = "by data: hierarchy poincare, graph distmult, pairs euclidean"},
                       DSA_FIELD(model)));
  table.push_back(bind({.path = "dim",
                        .flags = "--dim",
                        .help = "coordinates of a row",
                        .defaultText = "10, pairs 128",
                        .countLow = 1,
                        .countHigh = 65536},
                       DSA_FIELD(dim)));
  table.push_back(bind({.path = "k",
                        .flags = "--k",
                        .help = "magnitude of the curvature, 0 is Euclidean",
                        .fixedDefault = 0.0,
                        .defaultText = "0",
                        .range = {0, 1e6}},
                       DSA_FIELD(k)));
}

void addOptimizerWhere(std::vector<SpecKey>& table) {
  table.push_back(bind({.path = "optimizer.rule",
                        .flags = "--rule",
                        .help = "update rule",
                        .defaultText = "sparse_adam at k = 0, radam at k > 0"},
                       DSA_FIELD(optimizer.rule)));
  table.push_back(bind({.path = "optimizer.placement",
                        .flags = "--placement",
                        .help = "where the table lies",
                        .fixedDefault = text("disk"),
                        .defaultText = "disk",
                        .effect = SpecEffect::none},
                       DSA_FIELD(optimizer.placement)));
  table.push_back(
      bind({.path = "optimizer.engine",
            .flags = "--engine",
            .help = "how tables on disk are reached: mapped, or by a row cache of its own past the page cache",
            .fixedDefault = text("auto"),
            .defaultText = "direct under a budget, else mmap",
            .effect = SpecEffect::none},
           DSA_FIELD(optimizer.engine)));
  table.push_back(bind({.path = "optimizer.update",
                        .flags = "--update",
                        .help = "who steps the rows of a table on disk or in RAM: the processor, or the device that "
                                "computes, to which their state goes and from which it comes back",
                        .fixedDefault = text("auto"),
                        .defaultText = "the device under placement gpu, else the processor",
                        .effect = SpecEffect::none},
                       DSA_FIELD(optimizer.update)));
}

void addOptimizerStep(std::vector<SpecKey>& table) {
  table.push_back(bind({.path = "optimizer.lr",
                        .flags = "--lr",
                        .help = "learning rate",
                        .defaultText = "by rule: Adam 0.01, on the ball 0.1; rsgd 0.3; row_adagrad 0.1",
                        .range = {0, 1e6, true, false}},
                       DSA_FIELD(optimizer.lr)));
  table.push_back(bind({.path = "optimizer.lr_decay",
                        .flags = "--lr-decay",
                        .help = "linear: the rate falls to 0 at the last step",
                        .defaultText = "linear for radam and dsa on the ball, else none"},
                       DSA_FIELD(optimizer.lrDecay)));
  table.push_back(bind({.path = "optimizer.beta1",
                        .flags = "--beta1",
                        .help = "decay of the first moment",
                        .fixedDefault = 0.9,
                        .defaultText = "0.9",
                        .range = {0, 1, false, true}},
                       DSA_FIELD(optimizer.beta1)));
  table.push_back(bind({.path = "optimizer.beta2",
                        .flags = "--beta2",
                        .help = "decay of the second moment",
                        .fixedDefault = 0.999,
                        .defaultText = "0.999",
                        .range = {0, 1, false, true}},
                       DSA_FIELD(optimizer.beta2)));
  // Below 1e-30 the float32 denominator is 0 where a gradient is 0, and the first such row is NaN.
  table.push_back(bind({.path = "optimizer.eps",
                        .flags = "--eps",
                        .help = "added to the root of the second moment",
                        .defaultText = "by rule: Adam 1e-8, on the ball 1; row_adagrad 1e-10",
                        .range = {1e-30, 1e6}},
                       DSA_FIELD(optimizer.eps)));
  table.push_back(bind({.path = "optimizer.weight_decay",
                        .flags = "--weight-decay",
                        .help = "decoupled weight decay, rule dsa only",
                        .fixedDefault = 0.0,
                        .defaultText = "0",
                        .range = {0, 1, false, true}},
                       DSA_FIELD(optimizer.weightDecay)));
}

void addOptimizerBall(std::vector<SpecKey>& table) {
  // 1 - 1e-6 is the closest to the boundary that float32 tells from 1 with some room.
  table.push_back(bind({.path = "optimizer.ball_margin",
                        .flags = "--ball-margin",
                        .help = "how near the ball's boundary a row may come",
                        .fixedDefault = 1e-5,
                        .defaultText = "1e-5",
                        .range = {1e-6, 0.5}},
                       DSA_FIELD(optimizer.ballMargin)));
  table.push_back(bind({.path = "optimizer.map",
                        .flags = "--map",
                        .help = "how radam and rsgd move on the ball",
                        .defaultText = "retraction for rsgd, else exp"},
                       DSA_FIELD(optimizer.map)));
  table.push_back(bind({.path = "optimizer.gradient_cap",
                        .flags = "--gradient-cap",
                        .help = "longest gradient of a row under rsgd, 0 is no cap",
                        .fixedDefault = 5.0,
                        .defaultText = "5",
                        .range = {0, 1e9}},
                       DSA_FIELD(optimizer.gradientCap)));
  table.push_back(bind({.path = "optimizer.reduction",
                        .flags = "--reduction",
                        .help = "loss of a batch over its samples",
                        .fixedDefault = text("sum"),
                        .defaultText = "sum"},
                       DSA_FIELD(optimizer.reduction)));
  table.push_back(
      bind({.path = "optimizer.init_scale",
            .flags = "--init-scale",
            .help = "weights start uniform between minus and plus this",
            .defaultText = "0.001 for distances (less in a small ball), sqrt(3 / dim) for transe and distmult",
            .range = {0, 100, true, false}},
           DSA_FIELD(optimizer.initScale)));
}

void addTrain(std::vector<SpecKey>& table) {
  table.push_back(bind({.path = "train.epochs",
                        .flags = "--epochs",
                        .help = "passes over the training samples",
                        .defaultText = "hierarchy 300, graph 100, pairs 1; as many as --steps needs",
                        .countLow = 1,
                        .countHigh = 1'000'000'000},
                       DSA_FIELD(train.epochs)));
  table.push_back(bind({.path = "train.steps",
                        .flags = "--steps",
                        .help = "end after this many batches, 0 is whole epochs",
                        .fixedDefault = count(0),
                        .defaultText = "0",
                        .countHigh = 1'000'000'000'000'000},
                       DSA_FIELD(train.steps)));
  table.push_back(bind({.path = "train.batch",
                        .flags = "--batch",
                        .help = "training samples of a step",
                        .defaultText = "hierarchy 10, graph 512, pairs 1000",
                        .countLow = 1,
                        .countHigh = 16'777'216},
                       DSA_FIELD(train.batch)));
  table.push_back(bind({.path = "train.negatives",
                        .flags = "--negatives",
                        .help = "corrupted samples for each true one",
                        .defaultText = "hierarchy 50, graph 32, pairs 8",
                        .countLow = 1,
                        .countHigh = 65536},
                       DSA_FIELD(train.negatives)));
  table.push_back(bind({.path = "train.burn_in",
                        .flags = "--burn-in",
                        .help = "first epochs, run at a hundredth of the rate",
                        .defaultText = "20 on the ball (at most a tenth of the epochs), else 0",
                        .countHigh = 1'000'000'000},
                       DSA_FIELD(train.burnIn)));
  table.push_back(bind({.path = "train.seed",
                        .flags = "--seed",
                        .help = "seed of all random numbers",
                        .fixedDefault = count(1),
                        .defaultText = "1"},
                       DSA_FIELD(train.seed)));
  table.push_back(bind({.path = "train.threads",
                        .flags = "--threads",
                        .help = "threads; changes nothing in the result",
                        .defaultText = "all cores",
                        .countLow = 1,
                        .countHigh = 1024,
                        .effect = SpecEffect::none},
                       DSA_FIELD(train.threads)));
}

void addMachine(std::vector<SpecKey>& table) {
  table.push_back(bind({.path = "cache",
                        .flags = "--cache",
                        .help = "folder of the table files",
                        .fixedDefault = text(""),
                        .defaultText = "the user's data folder",
                        .noneMeans = "the user's data folder",
                        .effect = SpecEffect::none},
                       DSA_FIELD(cache)));
  table.push_back(bind({.path = "ram_budget",
                        .flags = "--ram-budget",
                        .help = "most memory for rows of a table on disk, page cache or row cache",
                        .fixedDefault = count(0),
                        .defaultText = "none; 1 GiB with engine direct",
                        .countLow = 1u << 20,
                        .countHigh = std::uint64_t{1} << 62,
                        .noneMeans = "no budget",
                        .effect = SpecEffect::none,
                        .type = SpecType::size},
                       DSA_FIELD(ramBudget)));
  table.push_back(bind({.path = "device",
                        .flags = "--device",
                        .help = "where the arithmetic runs",
                        .defaultText = "cpu, cuda:0 with placement gpu",
                        .effect = SpecEffect::none,
                        .type = SpecType::device},
                       DSA_FIELD(device)));
  table.push_back(bind({.path = "evaluate.every",
                        .flags = "--eval-every,--evaluate-every",
                        .help = "epochs between evaluations, 0 is only at the end",
                        .fixedDefault = count(0),
                        .defaultText = "0",
                        .countHigh = 1'000'000'000,
                        .noneMeans = "only at the end",
                        .effect = SpecEffect::none},
                       DSA_FIELD(evaluate.every)));
  table.push_back(bind({.path = "checkpoint.every_steps",
                        .flags = "--checkpoint-steps,--checkpoint-every-steps",
                        .help = "batches between checkpoints",
                        .fixedDefault = count(0),
                        .defaultText = "none",
                        .countLow = 1,
                        .countHigh = 1'000'000'000'000'000,
                        .noneMeans = "not by steps",
                        .effect = SpecEffect::none},
                       DSA_FIELD(checkpoint.everySteps)));
  table.push_back(bind({.path = "checkpoint.every_s",
                        .flags = "--checkpoint-every-s,--checkpoint-s",
                        .help = "seconds between checkpoints",
                        .fixedDefault = 60.0,
                        .defaultText = "60",
                        .range = {0.01, 1e9},
                        .noneMeans = "not by time",
                        .effect = SpecEffect::none},
                       DSA_FIELD(checkpoint.everyS)));
  table.push_back(bind({.path = "checkpoint.durability",
                        .flags = "--durability",
                        .help = "what a checkpoint survives: a killed process, or loss of power too",
                        .fixedDefault = text("process"),
                        .defaultText = "process",
                        .effect = SpecEffect::none},
                       DSA_FIELD(checkpoint.durability)));
}

#undef DSA_FIELD

}  // namespace

const std::vector<SpecKey>& specTable() {
  static const std::vector<SpecKey> table = [] {
    std::vector<SpecKey> rows;
    addHead(rows);
    addOptimizerWhere(rows);
    addOptimizerStep(rows);
    addOptimizerBall(rows);
    addTrain(rows);
    addMachine(rows);
    return rows;
  }();
  return table;
}

const SpecKey* findSpecKey(std::string_view path) {
  for (const SpecKey& key : specTable()) {
    if (key.path == path) return &key;
  }
  return nullptr;
}

}  // namespace dsa
