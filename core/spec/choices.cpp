// SPDX-License-Identifier: Apache-2.0
// Names of the spec's enumerations.
#include "core/spec/choices.h"

namespace dsa {
namespace {

template <class E>
std::string_view nameIn(const ChoiceList<E>& list, E value) {
  for (const auto& [known, name] : list) {
    if (known == value) return name;
  }
  bugAt(__FILE__, __LINE__, "every enumeration value has a name");
}

}  // namespace

const ChoiceList<ModelChoice>& choiceList(ModelChoice) {
  static const ChoiceList<ModelChoice> list = {{ModelChoice::poincare, "poincare"},
                                               {ModelChoice::transe, "transe"},
                                               {ModelChoice::distmult, "distmult"},
                                               {ModelChoice::euclidean, "euclidean"}};
  return list;
}

const ChoiceList<PlacementChoice>& choiceList(PlacementChoice) {
  static const ChoiceList<PlacementChoice> list = {
      {PlacementChoice::disk, "disk"}, {PlacementChoice::ram, "ram"}, {PlacementChoice::gpu, "gpu"}};
  return list;
}

const ChoiceList<EngineChoice>& choiceList(EngineChoice) {
  static const ChoiceList<EngineChoice> list = {
      {EngineChoice::automatic, "auto"}, {EngineChoice::mmap, "mmap"}, {EngineChoice::direct, "direct"}};
  return list;
}

const ChoiceList<UpdateChoice>& choiceList(UpdateChoice) {
  static const ChoiceList<UpdateChoice> list = {
      {UpdateChoice::automatic, "auto"}, {UpdateChoice::cpu, "cpu"}, {UpdateChoice::device, "device"}};
  return list;
}

const ChoiceList<DecayChoice>& choiceList(DecayChoice) {
  static const ChoiceList<DecayChoice> list = {{DecayChoice::none, "none"}, {DecayChoice::linear, "linear"}};
  return list;
}

const ChoiceList<ReductionChoice>& choiceList(ReductionChoice) {
  static const ChoiceList<ReductionChoice> list = {{ReductionChoice::sum, "sum"}, {ReductionChoice::mean, "mean"}};
  return list;
}

const ChoiceList<DurabilityChoice>& choiceList(DurabilityChoice) {
  static const ChoiceList<DurabilityChoice> list = {{DurabilityChoice::process, "process"},
                                                    {DurabilityChoice::power, "power"}};
  return list;
}

const ChoiceList<BallMap>& choiceList(BallMap) {
  static const ChoiceList<BallMap> list = {{BallMap::exponential, "exp"}, {BallMap::retraction, "retraction"}};
  return list;
}

const ChoiceList<Rule>& choiceList(Rule) {
  static const ChoiceList<Rule> list = [] {
    ChoiceList<Rule> rules;
    for (const Rule rule : {Rule::sparseAdam, Rule::dsa, Rule::radam, Rule::rsgd, Rule::rowAdagrad}) {
      rules.emplace_back(rule, ruleName(rule));
    }
    return rules;
  }();
  return list;
}

std::string_view choiceName(ModelChoice value) { return nameIn(choiceList(value), value); }
std::string_view choiceName(PlacementChoice value) { return nameIn(choiceList(value), value); }
std::string_view choiceName(EngineChoice value) { return nameIn(choiceList(value), value); }
std::string_view choiceName(UpdateChoice value) { return nameIn(choiceList(value), value); }
std::string_view choiceName(DecayChoice value) { return nameIn(choiceList(value), value); }
std::string_view choiceName(ReductionChoice value) { return nameIn(choiceList(value), value); }
std::string_view choiceName(DurabilityChoice value) { return nameIn(choiceList(value), value); }
std::string_view choiceName(BallMap value) { return nameIn(choiceList(value), value); }
std::string_view choiceName(Rule value) { return nameIn(choiceList(value), value); }

}  // namespace dsa
