// SPDX-License-Identifier: Apache-2.0
#include "app/arms.h"

#include <sstream>

namespace dsa {

std::vector<std::string> splitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

Result<std::vector<Arm>> parseArms(const std::string& text) {
  std::vector<Arm> arms;
  for (const std::string& label : splitAtCommas(text)) {
    const std::size_t colon = label.find(':');
    const std::string place = label.substr(0, colon);
    Arm arm{label};
    if (place == "ram")
      arm.placement = PlacementChoice::ram;
    else if (place == "gpu")
      arm.placement = PlacementChoice::gpu;
    else if (place != "disk")
      return fail(ErrorCode::usage, "--arms: \"{}\": the place is \"{}\"; allowed are ram, disk, gpu", label, place);
    const auto rule = ruleFromName(colon == std::string::npos ? "" : label.substr(colon + 1));
    if (!rule) return fail(ErrorCode::usage, "--arms: \"{}\": write PLACE:RULE; rules are {}", label, allRuleNames());
    arm.rule = *rule;
    arms.push_back(arm);
  }
  if (arms.empty()) return fail(ErrorCode::usage, "--arms: none given; for example ram:sparse_adam,disk:sparse_adam");
  return arms;
}

}  // namespace dsa
