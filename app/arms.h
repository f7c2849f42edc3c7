// SPDX-License-Identifier: Apache-2.0
// --arms of `dsa compare` and `dsa bench train`: the places and rules that one run is trained with in turn.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/spec/run_spec.h"

namespace dsa {

struct Arm {
  std::string label;  ///< as it was written, "disk:sparse_adam"
  PlacementChoice placement = PlacementChoice::disk;
  Rule rule = Rule::sparseAdam;
};

[[nodiscard]] std::vector<std::string> splitAtCommas(const std::string& text);
/// "ram:sparse_adam,disk:sparse_adam". Error usage: names the part that is none.
Result<std::vector<Arm>> parseArms(const std::string& text);

}  // namespace dsa
