// SPDX-License-Identifier: Apache-2.0
#include "core/data/unicode.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "core/data/unicode_tables.h"

namespace dsa {

namespace {

// Hangul syllables are arithmetic, not in the table (Unicode chapter 3.12).
constexpr std::uint32_t kSyllable = 0xAC00, kLead = 0x1100, kVowel = 0x1161, kTrail = 0x11A7;
constexpr std::uint32_t kVowels = 21, kTrails = 28, kSyllables = 19 * kVowels * kTrails;

/// Next code point of valid UTF-8; moves `at`.
std::uint32_t nextCodePoint(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(at++);
  if (lead < 0x80) return lead;
  const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  std::uint32_t point = lead & (0x3Fu >> more);
  for (int i = 0; i < more; ++i) point = (point << 6) | (byte(at++) & 0x3F);
  return point;
}

std::uint32_t combiningClass(std::uint32_t point) {
  if (point < 0x300) return 0;
  const auto ranges = unicode::classRanges();
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), point,
                                      [](std::uint32_t value, const auto& range) { return value < range.first; });
  if (after == ranges.begin()) return 0;
  const auto& range = *(after - 1);
  return point <= range.last ? range.combiningClass : 0;
}

void decompose(std::uint32_t point, std::vector<std::uint32_t>& out) {
  if (point < 0xC0) {
    out.push_back(point);
    return;
  }
  if (point - kSyllable < kSyllables) {
    const std::uint32_t index = point - kSyllable;
    out.push_back(kLead + index / (kVowels * kTrails));
    out.push_back(kVowel + index % (kVowels * kTrails) / kTrails);
    if (index % kTrails != 0) out.push_back(kTrail + index % kTrails);
    return;
  }
  const auto table = unicode::decompositions();
  const auto found = std::lower_bound(table.begin(), table.end(), point,
                                      [](const auto& entry, std::uint32_t value) { return entry.whole < value; });
  if (found == table.end() || found->whole != point) {
    out.push_back(point);
    return;
  }
  decompose(found->first, out);
  if (found->second != 0) decompose(found->second, out);
}

std::vector<std::uint32_t> decomposed(std::string_view text) {
  std::vector<std::uint32_t> points;
  for (std::size_t at = 0; at < text.size();) decompose(nextCodePoint(text, at), points);
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i;
    while (end < points.size() && combiningClass(points[end]) != 0) ++end;
    const auto byClass = [](std::uint32_t a, std::uint32_t b) { return combiningClass(a) < combiningClass(b); };
    std::stable_sort(points.begin() + static_cast<std::ptrdiff_t>(i), points.begin() + static_cast<std::ptrdiff_t>(end),
                     byClass);
    i = end + 1;
  }
  return points;
}

/// The code point that `first` and `second` compose to, or 0.
std::uint32_t composed(std::uint32_t first, std::uint32_t second) {
  if (first - kLead < 19 && second - kVowel < kVowels) {
    return kSyllable + ((first - kLead) * kVowels + (second - kVowel)) * kTrails;
  }
  if (first - kSyllable < kSyllables && (first - kSyllable) % kTrails == 0 && second - kTrail - 1 < kTrails - 1) {
    return first + (second - kTrail);
  }
  static const auto pairs = [] {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> map;
    for (const auto& entry : unicode::decompositions()) {
      if (entry.composes != 0) map[{entry.first, entry.second}] = entry.whole;
    }
    return map;
  }();
  const auto found = pairs.find({first, second});
  return found == pairs.end() ? 0 : found->second;
}

void compose(std::vector<std::uint32_t>& points) {
  std::size_t kept = 0;
  std::size_t starter = points.size();  // none yet
  std::uint32_t lastClass = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint32_t own = combiningClass(points[i]);
    // A mark is blocked from the starter by a kept mark of the same or a higher class.
    const bool adjacent = starter < kept && kept == starter + 1;
    if (starter < kept && (adjacent || (lastClass != 0 && lastClass < own))) {
      if (const std::uint32_t joined = composed(points[starter], points[i]); joined != 0) {
        points[starter] = joined;
        continue;
      }
    }
    if (own == 0) starter = kept;
    lastClass = own;
    points[kept++] = points[i];
  }
  points.resize(kept);
}

std::string encoded(const std::vector<std::uint32_t>& points) {
  std::string text;
  for (const std::uint32_t point : points) appendUtf8(text, point);
  return text;
}

bool isAscii(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080ull) != 0) return false;
  }
  for (; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  }
  return true;
}

std::uint32_t folded(std::uint32_t point) {
  if (point < 0x80) return point >= 'A' && point <= 'Z' ? point + 32 : point;
  const auto table = unicode::foldings();
  const auto found = std::lower_bound(table.begin(), table.end(), point,
                                      [](const auto& entry, std::uint32_t value) { return entry.from < value; });
  return found != table.end() && found->from == point ? found->to : point;
}

bool isBlank(std::uint32_t point) {
  return point == ' ' || (point >= 9 && point <= 13) || point == 0xA0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200A) || point == 0x202F || point == 0x205F || point == 0x3000;
}

bool isInvisible(std::uint32_t point) {
  return point == 0xAD || point == 0xFEFF || (point >= 0x200B && point <= 0x200F) || point == 0x2060;
}

}  // namespace

std::size_t firstInvalidUtf8(std::string_view text) {
  if (isAscii(text)) return std::string_view::npos;
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    if (lead < 0xC2 || lead > 0xF4) return i;
    // The second byte's range shuts out overlong forms, surrogates and what lies past U+10FFFF.
    const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(i + 1) < low || byte(i + 1) > high) return i;
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    for (std::size_t k = 2; k < length; ++k) {
      if (byte(i + k) < 0x80 || byte(i + k) > 0xBF) return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

void appendUtf8(std::string& text, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | (point >> 6));
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3F));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

std::string toNfd(std::string_view text) { return isAscii(text) ? std::string(text) : encoded(decomposed(text)); }

std::string toNfc(std::string_view text) {
  if (isAscii(text)) return std::string(text);
  std::vector<std::uint32_t> points = decomposed(text);
  compose(points);
  return encoded(points);
}

std::string nearKey(std::string_view text) {
  std::vector<std::uint32_t> points;
  if (isAscii(text)) {
    points.assign(text.begin(), text.end());
  } else {
    points = decomposed(text);
  }
  std::string key;
  key.reserve(text.size());
  bool blank = false;
  for (const std::uint32_t point : points) {
    if (isInvisible(point)) continue;
    if (isBlank(point)) {
      blank = true;
      continue;
    }
    if (blank && !key.empty()) key.push_back(' ');
    blank = false;
    appendUtf8(key, folded(point));
  }
  return key;
}

std::uint32_t fromWindows1252(unsigned char byte) {
  static constexpr std::uint16_t kHigh[32] = {0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021,
                                              0x2C6,  0x2030, 0x160,  0x2039, 0x152,  0x8D,   0x17D,  0x8F,
                                              0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                              0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};
  return byte >= 0x80 && byte < 0xA0 ? kHigh[byte - 0x80] : byte;
}

}  // namespace dsa
