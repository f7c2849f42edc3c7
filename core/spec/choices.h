// SPDX-License-Identifier: Apache-2.0
// Names of the spec's enumerations, one list each, both ways.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/spec/run_spec.h"

namespace dsa {

template <class E>
using ChoiceList = std::vector<std::pair<E, std::string_view>>;

const ChoiceList<ModelChoice>& choiceList(ModelChoice);
const ChoiceList<PlacementChoice>& choiceList(PlacementChoice);
const ChoiceList<EngineChoice>& choiceList(EngineChoice);
const ChoiceList<UpdateChoice>& choiceList(UpdateChoice);
const ChoiceList<DecayChoice>& choiceList(DecayChoice);
const ChoiceList<ReductionChoice>& choiceList(ReductionChoice);
const ChoiceList<DurabilityChoice>& choiceList(DurabilityChoice);
const ChoiceList<BallMap>& choiceList(BallMap);
const ChoiceList<Rule>& choiceList(Rule);

template <class E>
std::vector<std::string> choiceNames() {
  std::vector<std::string> names;
  for (const auto& entry : choiceList(E{})) names.emplace_back(entry.second);
  return names;
}

template <class E>
std::optional<E> choiceFromName(std::string_view name) {
  for (const auto& [value, known] : choiceList(E{})) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace dsa
