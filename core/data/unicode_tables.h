// SPDX-License-Identifier: Apache-2.0
// The tables behind core/data/unicode.h; sorted by code point.
#pragma once

#include <cstdint>
#include <span>

namespace dsa::unicode {

/// One step of a canonical decomposition; `second` is 0 for a singleton, `composes` says that NFC joins the pair again.
struct Decomposition {
  std::uint32_t whole, first, second, composes;
};
/// Code points of one canonical combining class that is not 0.
struct ClassRange {
  std::uint32_t first, last, combiningClass;
};
/// Simple case folding, one code point to one.
struct Folding {
  std::uint32_t from, to;
};

std::span<const Decomposition> decompositions();
std::span<const ClassRange> classRanges();
std::span<const Folding> foldings();

}  // namespace dsa::unicode
