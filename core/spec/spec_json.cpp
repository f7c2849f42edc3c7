// SPDX-License-Identifier: Apache-2.0
// The spec as JSON, both ways, and its canonical line.
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/file.h"
#include "core/spec/spec_table.h"

namespace dsa {
namespace {

using Json = nlohmann::ordered_json;

/// Quoted, escaped and short enough for a message.
std::string shownText(const std::string& text) {
  const std::string head = text.size() <= 60 ? text : text.substr(0, 57) + "...";
  return Json(head).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string preview(const Json& json) {
  // A container is named, not dumped: it may be deep, and its inside is no help.
  if (json.is_object()) return "{...}";
  if (json.is_array()) return "[...]";
  if (json.is_string()) return shownText(json.get<std::string>());
  std::string text = json.dump();
  return text;
}

tl::unexpected<Error> wrongType(const std::string& shown, const Json& json, const std::string& allowed) {
  const char* kind = json.is_null()      ? "null"
                     : json.is_boolean() ? "true or false"
                     : json.is_string()  ? "text"
                     : json.is_object()  ? "an object"
                     : json.is_array()   ? "a list"
                                         : "a number";
  return fail(ErrorCode::usage, "{}: {} is {}; allowed is {}", shown, preview(json), kind, allowed);
}

Result<SpecValue> valueFromJson(const SpecKey& key, const Json& json) {
  if (json.is_null() && !key.noneMeans.empty()) return valueFromText(key, "none", key.path);
  switch (key.type) {
    case SpecType::text:
    case SpecType::choice:
    case SpecType::device:
      if (json.is_string()) return checkValue(key, json.get<std::string>(), key.path);
      break;
    case SpecType::number:
      if (json.is_number()) return checkValue(key, json.get<double>(), key.path);
      break;
    case SpecType::size:
      if (json.is_string()) return valueFromText(key, json.get<std::string>(), key.path);
      [[fallthrough]];
    case SpecType::count:
      if (json.is_number_unsigned()) return checkValue(key, json.get<std::uint64_t>(), key.path);
      if (json.is_number() && key.type == SpecType::count) return valueFromText(key, json.dump(), key.path);
      if (json.is_number())
        return fail(ErrorCode::usage, "{}: {} is out of range; allowed is {}", key.path, json.dump(), allowedText(key));
      break;
  }
  return wrongType(key.path, json, allowedText(key));
}

/// Keys of the group ("optimizer" -> "rule, placement, ..."), or empty when there is no such group.
std::string groupKeys(const std::string& group) {
  std::string keys;
  for (const SpecKey& key : specTable()) {
    if (key.path.rfind(group + ".", 0) != 0) continue;
    keys += (keys.empty() ? "" : ", ") + key.path.substr(group.size() + 1);
  }
  return keys;
}

tl::unexpected<Error> unknownKey(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string leaf = dot == std::string::npos ? path : path.substr(dot + 1);
  std::vector<std::string> paths;
  std::vector<std::string> leaves;
  for (const SpecKey& key : specTable()) {
    paths.push_back(key.path);
    leaves.push_back(key.path.substr(key.path.rfind('.') + 1));
  }
  std::string near;
  for (std::size_t i = 0; i < paths.size() && near.empty(); ++i) {
    if (leaves[i] == leaf) near = paths[i];  // the right name in the wrong group
  }
  if (near.empty()) near = nearestName(path, paths);
  if (near.empty()) {
    const std::string nearLeaf = nearestName(leaf, leaves);
    for (std::size_t i = 0; i < paths.size() && near.empty(); ++i) {
      if (leaves[i] == nearLeaf) near = paths[i];
    }
  }
  const std::string shown = shownText(path);
  if (!near.empty()) return fail(ErrorCode::usage, "{} is not a key of a spec; did you mean {}?", shown, near);
  return fail(
      ErrorCode::usage,
      "{} is not a key of a spec; the keys are name, dataset, model, dim, k, optimizer, train, cache, ram_budget, "
      "device, evaluate, checkpoint",
      shown);
}

/// At most two levels deep: a group holds leaves only.
Result<void> readObject(const Json& object, const std::string& group, RunSpec& spec) {
  for (const auto& [name, json] : object.items()) {
    const std::string path = group.empty() ? name : fmt::format("{}.{}", group, name);
    if (const SpecKey* key = findSpecKey(path)) {
      DSA_ASSIGN(const SpecValue value, valueFromJson(*key, json));
      key->set(spec, value);
      continue;
    }
    const std::string keys = group.empty() ? groupKeys(name) : "";
    if (keys.empty()) return unknownKey(path);
    if (!json.is_object()) return wrongType(path, json, fmt::format("an object with the keys {}", keys));
    DSA_TRY(readObject(json, name, spec));
  }
  return {};
}

/// JSON text to a tree. The library takes the last of two equal keys; which one was meant cannot be known, so it is an
/// error.
Result<Json> readJson(std::string_view text) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto watch = [&](int, Json::parse_event_t event, Json& json) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(json.get<std::string>()).second && twice.empty()) {
      twice = json.dump(-1, ' ', true, Json::error_handler_t::replace);
    }
    return true;
  };
  Json json;
  try {
    json = Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::exception& error) {
    std::string what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const auto bracket = what.find("] "); bracket != std::string::npos) what = what.substr(bracket + 2);
    return fail(ErrorCode::input, "the spec is not JSON: {}", what);
  }
  if (!twice.empty()) return fail(ErrorCode::input, "the spec has the key {} twice; keep one of them", twice);
  return json;
}

Json jsonOf(const SpecKey& key, const SpecValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return text->empty() && !key.noneMeans.empty() ? Json(nullptr) : Json(*text);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    if (*number == 0 && !key.noneMeans.empty()) return Json(nullptr);
    // Whole numbers without ".0", as people write them.
    if (std::abs(*number) < 1e15 && *number == std::floor(*number)) return Json(static_cast<std::int64_t>(*number));
    return Json(*number);
  }
  const std::uint64_t count = std::get<std::uint64_t>(value);
  if (count == 0 && !key.noneMeans.empty()) return Json(nullptr);
  return Json(count);
}

void place(Json& root, const SpecKey& key, const SpecValue& value) {
  const std::size_t dot = key.path.find('.');
  if (dot == std::string::npos) {
    root[key.path] = jsonOf(key, value);
  } else {
    root[key.path.substr(0, dot)][key.path.substr(dot + 1)] = jsonOf(key, value);
  }
}

std::string dumped(const Json& root) { return root.dump(2, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Result<RunSpec> parseSpec(std::string_view text) {
  DSA_ASSIGN(const Json json, readJson(text));
  if (!json.is_object()) return wrongType("the spec", json, "an object such as {\"dataset\": \"wordnet-mammals\"}");
  RunSpec spec;
  DSA_TRY(readObject(json, "", spec));
  return spec;
}

std::string specToJson(const RunSpec& spec) {
  Json root = Json::object();
  for (const SpecKey& key : specTable()) {
    if (const auto value = key.get(spec)) place(root, key, *value);
  }
  return dumped(root);
}

std::string specToJson(const ResolvedSpec& spec) { return specToJson(asRunSpec(spec)); }

std::string canonicalForHash(const ResolvedSpec& spec) {
  std::string line = "{";
  for (const SpecKey& key : specTable()) {
    if (key.effect != SpecEffect::result) continue;
    const SpecValue value = key.getResolved(spec);
    line += (line.size() == 1 ? "\"" : ",\"") + key.path + "\":";
    if (const auto* text = std::get_if<std::string>(&value)) {
      line += Json(*text).dump(-1, ' ', true, Json::error_handler_t::replace);
    } else if (const auto* number = std::get_if<double>(&value)) {
      line += shortestNumber(*number);
    } else {
      line += fmt::to_string(std::get<std::uint64_t>(value));
    }
  }
  return line + "}";
}

RunSpec overlay(const RunSpec& base, const RunSpec& top) {
  RunSpec merged = base;
  for (const SpecKey& key : specTable()) {
    if (const auto value = key.get(top)) key.set(merged, *value);
  }
  return merged;
}

RunSpec asRunSpec(const ResolvedSpec& spec) {
  RunSpec whole;
  for (const SpecKey& key : specTable()) key.set(whole, key.getResolved(spec));
  return whole;
}

}  // namespace dsa
