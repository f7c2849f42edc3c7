// SPDX-License-Identifier: Apache-2.0
// Recipes: named specs with their source and the figures that they are expected to reach, from
// resources/recipes/NAME.json.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/spec/run_spec.h"

namespace dsa {

/// A band for one figure of the finished run: low <= value <= high.
struct Expectation {
  std::string metric;  ///< a key of the run's metrics ("map", "mean_rank") or "loss_ratio" (loss_last / loss_first)
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

struct Recipe {
  std::string name;    ///< the file's name without .json
  std::string title;   ///< one line for lists
  std::string source;  ///< where the settings and the figures come from
  std::vector<Expectation> expect;
  RunSpec spec;
};

/// One recipe of `folder`. Errors: usage, no such recipe (names the nearest, or all); input, the file is not a recipe.
Result<Recipe> loadRecipe(const std::string& folder, const std::string& name);

/// All recipes of `folder` by name. Errors: input or machine, the folder cannot be read, or one file is not a recipe.
Result<std::vector<Recipe>> listRecipes(const std::string& folder);

/// One recipe from its text; `name` is for messages.
Result<Recipe> parseRecipe(const std::string& text, const std::string& name);

}  // namespace dsa
