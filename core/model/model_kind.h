// SPDX-License-Identifier: Apache-2.0
// The names of the models.
#pragma once

#include <optional>
#include <string_view>

namespace dsa {

/// Models. poincare is the ball's distance and, at k = 0, its Euclidean twin |u-v|; euclidean is that twin by name.
/// Values are stored in records by name only.
enum class ModelKind { poincare, euclidean, transe, distmult };

[[nodiscard]] std::string_view modelName(ModelKind model);
[[nodiscard]] std::optional<ModelKind> modelFromName(std::string_view name);
/// Whether samples carry a relation (and the run has a second table).
[[nodiscard]] constexpr bool hasRelations(ModelKind model) {
  return model == ModelKind::transe || model == ModelKind::distmult;
}

}  // namespace dsa
