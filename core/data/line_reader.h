// SPDX-License-Identifier: Apache-2.0
// Lines of a text in UTF-8, whatever encoding and line ends it is in, with the places of bytes that do not fit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/byte_source.h"

namespace dsa {

enum class Encoding { automatic, utf8, utf16le, utf16be, windows1252 };

[[nodiscard]] std::string_view encodingName(Encoding encoding);

/// Without the blanks and tabs around it.
[[nodiscard]] inline std::string_view withoutBlanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Reads a text line by line. LF, CRLF and CR end a line; the last one may be unterminated. A byte order mark decides
/// the encoding unless one is chosen, otherwise the text must be UTF-8. Memory: one block of 256 KiB and one line.
class LineReader {
 public:
  static constexpr std::size_t kBlockBytes = 1 << 18;

  /// Reads the first block, of blockBytes (at least 4, the longest mark). Errors input: the text is binary, or looks
  /// like UTF-16 without a mark (the message says what to choose).
  static Result<LineReader> open(std::unique_ptr<ByteSource> source, std::string label, Encoding encoding,
                                 std::uint64_t maxLineBytes, std::size_t blockBytes = kBlockBytes);

  /// The next line without its end; false at the end of the text.
  /// Errors input: bytes that are not in the encoding (line, byte in the line from 1, offset in the file from 0); a
  /// line over the limit.
  Result<bool> next(std::string& line);
  /// Number of the line last given, from 1.
  [[nodiscard]] std::uint64_t number() const { return m_number; }
  [[nodiscard]] Encoding encoding() const { return m_encoding; }
  [[nodiscard]] bool hadMark() const { return m_hadMark; }
  [[nodiscard]] const std::string& label() const { return m_label; }
  [[nodiscard]] std::uint64_t maxLineBytes() const { return m_maxLineBytes; }

 private:
  LineReader() = default;
  Result<void> chooseEncoding(Encoding wanted);
  Result<bool> readBlock();  ///< the next raw block into m_raw; false at the end
  Result<bool> refill();     ///< the next decoded block into m_block; false at the end
  Result<void> decodeUtf16();
  Result<void> checkLine(const std::string& line) const;

  std::unique_ptr<ByteSource> m_source;
  std::string m_label;
  Encoding m_encoding = Encoding::utf8;
  std::uint64_t m_maxLineBytes = 0;
  std::size_t m_blockBytes = kBlockBytes;
  bool m_hadMark = false;
  std::string m_raw;              ///< undecoded; for UTF-16 also what was left of the block before
  std::uint64_t m_rawOffset = 0;  ///< of m_raw in the unpacked file
  std::string m_block;            ///< decoded
  std::size_t m_at = 0;           ///< in m_block
  bool m_skipLf = false;          ///< the last line ended in CR at the end of a block
  bool m_sourceEnded = false;
  std::uint64_t m_number = 0;
  std::uint64_t m_lineOffset = 0;  ///< of the line being read, in decoded bytes; the file's own for UTF-8
  std::uint64_t m_offset = 0;      ///< of m_at
};

}  // namespace dsa
