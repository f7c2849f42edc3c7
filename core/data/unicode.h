// SPDX-License-Identifier: Apache-2.0
// What the importer needs of Unicode: checking UTF-8, the forms NFC and NFD, and a key that near-equal names share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dsa {

/// Offset of the first byte that is not well-formed UTF-8 (overlong forms and surrogates are not), or npos.
std::size_t firstInvalidUtf8(std::string_view text);

/// Appends one code point (< 0x110000, no surrogate) as UTF-8.
void appendUtf8(std::string& text, std::uint32_t codePoint);

/// Normalisation forms C and D of valid UTF-8 (Unicode Standard Annex 15).
std::string toNfc(std::string_view text);
std::string toNfd(std::string_view text);

/// A key that names share which a reader could take for the same: NFD, case folded, every kind of blank one blank,
/// invisible characters (zero width, byte order mark, soft hyphen) dropped. `text` is valid UTF-8.
std::string nearKey(std::string_view text);

/// Code point of Windows-1252 byte `byte`; the five unused bytes are the C1 controls of the same number, as in
/// browsers.
std::uint32_t fromWindows1252(unsigned char byte);

}  // namespace dsa
