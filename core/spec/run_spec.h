// SPDX-License-Identifier: Apache-2.0
// The run spec: what one run trains, on what, where its rows lie, and how; as the user wrote it and with defaults
// filled in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/rows/rule.h"

namespace dsa {

enum class ModelChoice { poincare, transe, distmult, euclidean };
enum class PlacementChoice { disk, ram, gpu };
/// The row cache of the direct engine where no budget is set.
inline constexpr std::uint64_t kDirectRowCache = std::uint64_t{1} << 30;
enum class EngineChoice { automatic, mmap, direct };  ///< "auto" in JSON
enum class UpdateChoice { automatic, cpu, device };   ///< who steps the rows; "auto" in JSON
enum class DecayChoice { none, linear };
enum class ReductionChoice { sum, mean };
enum class DurabilityChoice { process, power };  ///< what a checkpoint survives: SIGKILL, or loss of power too

/// Every key of a spec. Field is std::optional (RunSpec: a key may be left out) or the value itself (ResolvedSpec).
/// Ranges, defaults, flags and help of each key stand in spec_table.cpp and nowhere else.
template <template <class> class Field>
struct SpecOf {
  struct Optimizer {
    Field<Rule> rule{};
    Field<PlacementChoice> placement{};
    Field<EngineChoice> engine{};
    Field<UpdateChoice> update{};
    Field<double> lr{};
    Field<DecayChoice> lrDecay{};
    Field<double> beta1{};
    Field<double> beta2{};
    Field<double> eps{};
    Field<double> weightDecay{};
    Field<double> ballMargin{};
    Field<BallMap> map{};
    Field<double> gradientCap{};  ///< 0 = none
    Field<ReductionChoice> reduction{};
    Field<double> initScale{};  ///< weights start uniform in [-initScale, initScale)
    bool operator==(const Optimizer&) const = default;
  };
  struct Train {
    Field<std::uint64_t> epochs{};
    Field<std::uint64_t> steps{};  ///< 0 = whole epochs
    Field<std::uint64_t> batch{};
    Field<std::uint64_t> negatives{};
    Field<std::uint64_t> burnIn{};  ///< epochs
    Field<std::uint64_t> seed{};
    Field<std::uint64_t> threads{};
    bool operator==(const Train&) const = default;
  };
  struct Evaluate {
    Field<std::uint64_t> every{};  ///< epochs; 0 = only at the end
    bool operator==(const Evaluate&) const = default;
  };
  struct Checkpoint {
    Field<std::uint64_t> everySteps{};  ///< 0 = not by steps
    Field<double> everyS{};             ///< seconds; 0 = not by time
    Field<DurabilityChoice> durability{};
    bool operator==(const Checkpoint&) const = default;
  };

  Field<std::string> name{};
  Field<std::string> dataset{};
  Field<ModelChoice> model{};
  Field<std::uint64_t> dim{};
  Field<double> k{};  ///< magnitude of the curvature; 0 = Euclidean
  Optimizer optimizer;
  Train train;
  Field<std::string> cache{};        ///< folder; empty = the user's data folder
  Field<std::uint64_t> ramBudget{};  ///< bytes; 0 = none
  Field<std::string> device{};       ///< see parseDevice
  Evaluate evaluate;
  Checkpoint checkpoint;
  bool operator==(const SpecOf&) const = default;
};

template <class T>
using PlainField = T;

/// What was written: in a file, a recipe or flags. A key that is unset takes its default in resolve().
using RunSpec = SpecOf<std::optional>;
/// Every key has its value, and the values fit each other. Only resolve() makes one.
using ResolvedSpec = SpecOf<PlainField>;

/// Reads a spec from JSON text. Errors: input, the text is not JSON or a key stands twice (line and column); usage, an
/// unknown key (with the nearest known one), a wrong type or an impossible value: names the key, the value and what is
/// allowed.
Result<RunSpec> parseSpec(std::string_view json);

/// Indented JSON of the keys that are set, in the table's order; parseSpec reads it back to an equal spec.
std::string specToJson(const RunSpec& spec);
std::string specToJson(const ResolvedSpec& spec);

/// One line with the keys that change the result, in fixed order, numbers in their shortest round-trip form. Equal for
/// runs that must end in the same bits whatever their name, cache, placement, engine, threads, device, budget,
/// evaluation, checkpoints.
std::string canonicalForHash(const ResolvedSpec& spec);

/// `base` with every key that `top` sets replaced.
RunSpec overlay(const RunSpec& base, const RunSpec& top);

/// The same spec with every key set, for changing one key of it and resolving again.
RunSpec asRunSpec(const ResolvedSpec& spec);

/// Where the arithmetic runs: "cpu", "cuda:0", "sim:12 GiB".
struct DeviceChoice {
  enum class Kind { cpu, cuda, simulated };
  Kind kind = Kind::cpu;
  std::uint32_t index = 0;  ///< cuda only
  std::uint64_t bytes = 0;  ///< simulated only
};

/// Errors: usage, names the text and the three forms.
Result<DeviceChoice> parseDevice(const std::string& text);

/// Names as they stand in JSON and flags.
std::string_view choiceName(ModelChoice value);
std::string_view choiceName(PlacementChoice value);
std::string_view choiceName(EngineChoice value);
std::string_view choiceName(UpdateChoice value);
std::string_view choiceName(DecayChoice value);
std::string_view choiceName(ReductionChoice value);
std::string_view choiceName(DurabilityChoice value);
std::string_view choiceName(BallMap value);
std::string_view choiceName(Rule value);

}  // namespace dsa
