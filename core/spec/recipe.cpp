// SPDX-License-Identifier: Apache-2.0
// Reads recipes.
#include "core/spec/recipe.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/file.h"
#include "core/spec/spec_table.h"

namespace dsa {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uint64_t kLargestRecipe = 1u << 20;  // a recipe is a page of text

Result<std::vector<std::string>> recipeNames(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".json") names.push_back(entry->path().stem().string());
  }
  if (error) return fail(ErrorCode::input, "{}: the folder of recipes cannot be read: {}", folder, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

Result<double> bound(const Json& json, const std::string& shown) {
  if (!json.is_number() || !std::isfinite(json.get<double>())) {
    return fail(ErrorCode::input, "{}: a number is expected", shown);
  }
  return json.get<double>();
}

Result<Expectation> readExpectation(const std::string& metric, const Json& json, const std::string& name) {
  const std::string shown = fmt::format("recipe {}: expect.{}", name, metric);
  Expectation expectation;
  expectation.metric = metric;
  if (!json.is_object() || json.empty())
    return fail(ErrorCode::input, "{}: an object with at_least or at_most is expected", shown);
  for (const auto& [key, value] : json.items()) {
    DSA_ASSIGN(const double number, bound(value, fmt::format("{}.{}", shown, key)));
    if (key == "at_least") {
      expectation.low = number;
    } else if (key == "at_most") {
      expectation.high = number;
    } else {
      return fail(ErrorCode::input, "{}.{}: is not known; allowed are at_least, at_most", shown, key);
    }
  }
  if (expectation.low > expectation.high) {
    return fail(ErrorCode::input, "{}: at_least {} is above at_most {}", shown, expectation.low, expectation.high);
  }
  return expectation;
}

Result<std::string> readText(const Json& json, const std::string& shown) {
  if (!json.is_string() || json.get<std::string>().empty())
    return fail(ErrorCode::input, "{}: a text is expected", shown);
  return json.get<std::string>();
}

Result<void> readMember(const std::string& key, const Json& json, Recipe& recipe) {
  const std::string shown = fmt::format("recipe {}: {}", recipe.name, key);
  if (key == "title") {
    DSA_ASSIGN(recipe.title, readText(json, shown));
  } else if (key == "source") {
    DSA_ASSIGN(recipe.source, readText(json, shown));
  } else if (key == "spec") {
    auto spec = parseSpec(json.dump(-1, ' ', true, Json::error_handler_t::replace));
    if (!spec) return fail(ErrorCode::input, "recipe {}: {}", recipe.name, spec.error().message);
    recipe.spec = std::move(*spec);
  } else if (key == "expect") {
    if (!json.is_object()) return fail(ErrorCode::input, "{}: an object is expected", shown);
    for (const auto& [metric, band] : json.items()) {
      DSA_ASSIGN(recipe.expect.emplace_back(), readExpectation(metric, band, recipe.name));
    }
  } else {
    return fail(ErrorCode::input, "{}: is not known; allowed are title, source, expect, spec", shown);
  }
  return {};
}

}  // namespace

Result<Recipe> parseRecipe(const std::string& text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return fail(ErrorCode::input, "recipe {}: the file is not a JSON object", name);
  Recipe recipe;
  recipe.name = name;
  for (const auto& [key, value] : json.items()) DSA_TRY(readMember(key, value, recipe));
  if (recipe.title.empty() || recipe.source.empty() || !recipe.spec.dataset) {
    return fail(ErrorCode::input, "recipe {}: title, source and spec with a dataset are needed", name);
  }
  return recipe;
}

Result<Recipe> loadRecipe(const std::string& folder, const std::string& name) {
  DSA_ASSIGN(const auto names, recipeNames(folder));
  // Only a listed name is opened, so that "../x" never leaves the folder.
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string near = nearestName(name, names);
    return fail(ErrorCode::usage, "recipe \"{}\" is not known;{} the recipes are {}", name,
                near.empty() ? "" : fmt::format(" did you mean {}?", near), fmt::join(names, ", "));
  }
  DSA_ASSIGN(const std::string text, readTextFile((fs::path(folder) / (name + ".json")).string(), kLargestRecipe));
  return parseRecipe(text, name);
}

Result<std::vector<Recipe>> listRecipes(const std::string& folder) {
  DSA_ASSIGN(const auto names, recipeNames(folder));
  std::vector<Recipe> recipes;
  for (const std::string& name : names) {
    DSA_ASSIGN(recipes.emplace_back(), loadRecipe(folder, name));
  }
  return recipes;
}

}  // namespace dsa
