// SPDX-License-Identifier: Apache-2.0
// Checks of single values: ranges, choices, device and size texts, and the words for what is allowed.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fmt/ranges.h>

#include "core/base/file.h"
#include "core/spec/spec_table.h"

#include "core/base/edit_distance.h"

namespace dsa {
namespace {

constexpr std::size_t kLongestText = 4096;             // PATH_MAX; a longer name is a mistake
constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: above, a double no longer tells neighbours apart

std::string quoted(const std::string& text) {
  if (text.size() <= 60) return "\"" + text + "\"";
  std::size_t cut = 57;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0u) == 0x80u) --cut;  // not inside a UTF-8 sequence
  return "\"" + text.substr(0, cut) + "...\"";
}

tl::unexpected<Error> refuse(const SpecKey& key, std::string_view shown, const std::string& value,
                             std::string_view what) {
  return fail(ErrorCode::usage, "{}: {} {}; allowed is {}", shown, value, what, allowedText(key));
}

bool isNone(const SpecKey& key, const SpecValue& value) {
  if (key.noneMeans.empty()) return false;
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return *count == 0;
  return std::get<double>(value) == 0;
}

Result<SpecValue> checkString(const SpecKey& key, const std::string& text, std::string_view shown) {
  if (key.type == SpecType::choice) {
    if (std::find(key.choices.begin(), key.choices.end(), text) != key.choices.end()) return SpecValue(text);
    const std::string near = nearestName(text, key.choices);
    return refuse(key, shown, quoted(text),
                  near.empty() ? "is not known" : fmt::format("is not known (did you mean {}?)", near));
  }
  if (key.type == SpecType::device) {
    if (auto device = parseDevice(text); !device) return refuse(key, shown, quoted(text), "is not a device");
    return SpecValue(text);
  }
  if (text.size() > kLongestText) {
    return fail(ErrorCode::usage, "{}: the text has {} bytes; allowed are {}", shown, text.size(), kLongestText);
  }
  const bool control =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
  if (control) return fail(ErrorCode::usage, "{}: the text holds a control character; allowed is plain text", shown);
  if (text.empty() && !key.fixedDefault) return refuse(key, shown, "\"\"", "is empty");
  return SpecValue(text);
}

Result<SpecValue> checkNumber(const SpecKey& key, double number, std::string_view shown) {
  const SpecRange& range = key.range;
  if (!std::isfinite(number)) return refuse(key, shown, shortestNumber(number), "is not a finite number");
  const bool low = range.lowExcluded ? number > range.low : number >= range.low;
  const bool high = range.highExcluded ? number < range.high : number <= range.high;
  if (!low || !high) return refuse(key, shown, shortestNumber(number), "is out of range");
  return SpecValue(number + 0.0);  // -0 becomes 0: both mean the same run and must hash alike
}

template <class T>
bool readWhole(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && last == end && !text.empty();
}

Result<SpecValue> countFromText(const SpecKey& key, const std::string& text, std::string_view shown) {
  std::uint64_t count = 0;
  if (readWhole(text, count)) return checkValue(key, count, shown);
  double number = 0;
  if (!readWhole(text, number)) return refuse(key, shown, quoted(text), "is not a whole number");
  if (number < 0 || number > kExactIntegers) return refuse(key, shown, text, "is out of range");
  if (!(number == std::floor(number))) return refuse(key, shown, text, "is not a whole number");
  return checkValue(key, static_cast<std::uint64_t>(number), shown);
}

std::string rangeText(const SpecRange& range) {
  return fmt::format("a number {} {} {} {}", range.lowExcluded ? "above" : "from", shortestNumber(range.low),
                     range.highExcluded ? "to below" : "to", shortestNumber(range.high));
}

}  // namespace

std::string shortestNumber(double value) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  DSA_CHECK(error == std::errc());
  return {text.data(), end};
}

std::string allowedText(const SpecKey& key) {
  std::string allowed;
  switch (key.type) {
    case SpecType::text:
      allowed = "a text";
      break;
    case SpecType::count:
      allowed = fmt::format("a whole number from {} to {}", key.countLow, key.countHigh);
      break;
    case SpecType::number:
      allowed = rangeText(key.range);
      break;
    case SpecType::size:
      allowed = fmt::format("a size of at least {} such as \"256 MiB\"", formatBytes(key.countLow));
      break;
    case SpecType::choice:
      allowed = fmt::format("one of {}", fmt::join(key.choices, ", "));
      break;
    case SpecType::device:
      allowed = "cpu, cuda:N or sim:SIZE such as \"sim:12 GiB\"";
      break;
  }
  if (!key.noneMeans.empty()) allowed += fmt::format(", or none ({})", key.noneMeans);
  return allowed;
}

Result<SpecValue> checkValue(const SpecKey& key, const SpecValue& value, std::string_view shown) {
  if (isNone(key, value)) return value;
  if (const auto* text = std::get_if<std::string>(&value)) return checkString(key, *text, shown);
  if (const auto* number = std::get_if<double>(&value)) return checkNumber(key, *number, shown);
  const std::uint64_t count = std::get<std::uint64_t>(value);
  if (count < key.countLow || count > key.countHigh)
    return refuse(key, shown, fmt::to_string(count), "is out of range");
  return value;
}

Result<SpecValue> valueFromText(const SpecKey& key, const std::string& text, std::string_view shown) {
  if (!key.noneMeans.empty() && text == "none") {
    if (key.type == SpecType::text) return SpecValue(std::string());
    if (key.type == SpecType::number) return SpecValue(0.0);
    return SpecValue(std::uint64_t{0});
  }
  switch (key.type) {
    case SpecType::text:
    case SpecType::choice:
    case SpecType::device:
      return checkValue(key, text, shown);
    case SpecType::count:
      return countFromText(key, text, shown);
    case SpecType::size: {
      const auto bytes = parseBytes(text);
      if (!bytes) return refuse(key, shown, quoted(text), "is not a size");
      return checkValue(key, *bytes, shown);
    }
    case SpecType::number:
      break;
  }
  double number = 0;
  if (!readWhole(text, number)) return refuse(key, shown, quoted(text), "is not a number");
  return checkValue(key, number, shown);
}

std::string nearestName(std::string_view text, const std::vector<std::string>& candidates) {
  if (text.empty() || text.size() > 64) return {};  // nothing of ours is that long
  std::string best;
  std::size_t bestDistance = std::max<std::size_t>(2, text.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = editDistance(text, candidate);
    if (distance < bestDistance && distance < text.size()) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

Result<DeviceChoice> parseDevice(const std::string& text) {
  DeviceChoice device;
  if (text == "cpu") return device;
  if (text.rfind("cuda:", 0) == 0 && readWhole(text.substr(5), device.index) && device.index < 1024) {
    device.kind = DeviceChoice::Kind::cuda;
    return device;
  }
  if (text.rfind("sim:", 0) == 0) {
    const auto bytes = parseBytes(text.substr(4));
    if (bytes && *bytes > 0) {
      device.kind = DeviceChoice::Kind::simulated;
      device.bytes = *bytes;
      return device;
    }
  }
  return fail(ErrorCode::usage, "device: {} is not known; allowed is cpu, cuda:N or sim:SIZE such as \"sim:12 GiB\"",
              quoted(text));
}

}  // namespace dsa
