// SPDX-License-Identifier: Apache-2.0
// The one table of spec keys: path, flag, type, range, default, help; parsing, flags, checks, help and the canonical
// form follow it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/spec/run_spec.h"

namespace dsa {

enum class SpecType { text, count, number, size, choice, device };
/// Whether a key changes the bits that a run ends in; those that do are in canonicalForHash().
enum class SpecEffect { result, none };

/// A value on its way between text, JSON and the struct: text, choice and device are strings; count and size integers.
using SpecValue = std::variant<std::string, std::uint64_t, double>;

struct SpecRange {
  double low = 0;
  double high = 0;
  bool lowExcluded = false;
  bool highExcluded = false;
};

struct SpecKey {
  std::string path{};   ///< "optimizer.lr_decay"
  std::string flags{};  ///< "--lr-decay"; further spellings after commas
  std::string help{};
  std::optional<SpecValue>
      fixedDefault{};          ///< none: the default depends on the data set or on other keys (resolve.cpp)
  std::string defaultText{};   ///< for help
  SpecRange range{};           ///< number
  std::uint64_t countLow = 0;  ///< count, size
  std::uint64_t countHigh = UINT64_MAX;
  std::string noneMeans{};  ///< not empty: null in JSON and "none" as a flag stand for 0 or "", which means this
  SpecEffect effect = SpecEffect::result;
  SpecType type = SpecType::text;
  std::vector<std::string> choices{};  ///< choice
  std::optional<SpecValue> (*get)(const RunSpec&) = nullptr;
  void (*set)(RunSpec&, const SpecValue&) = nullptr;  ///< the value has passed checkValue
  SpecValue (*getResolved)(const ResolvedSpec&) = nullptr;
  void (*setResolved)(ResolvedSpec&, const SpecValue&) = nullptr;
};

/// All leaf keys, in the order of files, help and the canonical form. Never reorder the keys that change the result:
/// hashes would change.
const std::vector<SpecKey>& specTable();

/// nullptr when there is none.
const SpecKey* findSpecKey(std::string_view path);

/// "a whole number from 1 to 65536", "one of exp, retraction": for messages and help.
std::string allowedText(const SpecKey& key);

/// Checks range, choice and form; gives the value back in normal form. `shown` is how the user knows the key ("--lr",
/// "optimizer.lr"). Errors: usage, names shown, the value and what is allowed.
Result<SpecValue> checkValue(const SpecKey& key, const SpecValue& value, std::string_view shown);

/// The same from a flag's text.
Result<SpecValue> valueFromText(const SpecKey& key, const std::string& text, std::string_view shown);

/// Of `candidates` the one that `text` most likely meant, or "" when none is near.
std::string nearestName(std::string_view text, const std::vector<std::string>& candidates);

/// Shortest text that reads back to the same double.
std::string shortestNumber(double value);

}  // namespace dsa
