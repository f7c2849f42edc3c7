// SPDX-License-Identifier: Apache-2.0
// A spec whose keys can each change alone, and other values for each key.
#pragma once

#include <QtGlobal>
#include <optional>
#include <vector>

#include "core/spec/resolve.h"
#include "core/spec/spec_table.h"

namespace dsa {

inline const DatasetFacts kGraph{DatasetFacts::Kind::graph, 135, 46, 5216};

/// A spec in which every key may change alone without a clash with another.
inline ResolvedSpec baseSpec() {
  const auto spec = parseSpec(R"({"dataset": "umls", "model": "poincare", "dim": 5, "k": 0, "train": {"threads": 2},
                                  "optimizer": {"rule": "dsa", "map": "exp"}})");
  if (!spec) qFatal("%s", spec.error().message.c_str());
  const auto resolved = resolve(*spec, kGraph);
  if (!resolved) qFatal("%s", resolved.error().message.c_str());
  return *resolved;
}

/// Other values for a key, most likely first; not all are allowed.
inline std::vector<SpecValue> otherValues(const SpecKey& key, const SpecValue& now) {
  std::vector<SpecValue> values;
  if (const auto* number = std::get_if<double>(&now)) {
    values = {*number * 2, *number / 2, 0.25, 1.0};
  } else if (const auto* count = std::get_if<std::uint64_t>(&now)) {
    values = {*count + 1, std::uint64_t{1} << 30};
  } else if (key.type == SpecType::choice) {
    for (const std::string& choice : key.choices) values.emplace_back(choice);
  } else if (key.type == SpecType::device) {
    values = {std::string("sim:1 GiB")};
  } else {
    values = {std::get<std::string>(now) + "x"};
  }
  return values;
}

/// The base spec with one key changed.
inline std::optional<ResolvedSpec> changedIn(const SpecKey& key, const ResolvedSpec& base) {
  for (const SpecValue& value : otherValues(key, key.getResolved(base))) {
    if (value == key.getResolved(base) || !checkValue(key, value, key.path)) continue;
    RunSpec changed = asRunSpec(base);
    key.set(changed, value);
    if (auto resolved = resolve(changed, kGraph)) return *resolved;
  }
  return std::nullopt;
}

}  // namespace dsa
