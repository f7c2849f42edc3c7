// SPDX-License-Identifier: Apache-2.0
#include "core/data/line_reader.h"

#include <algorithm>
#include <cstring>

#include "core/base/file.h"
#include "core/data/unicode.h"

namespace dsa {

namespace {

std::string asWindows1252(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) appendUtf8(text, fromWindows1252(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string_view encodingName(Encoding encoding) {
  switch (encoding) {
    case Encoding::automatic:
      return "auto";
    case Encoding::utf8:
      return "utf-8";
    case Encoding::utf16le:
      return "utf-16le";
    case Encoding::utf16be:
      return "utf-16be";
    case Encoding::windows1252:
      return "windows-1252";
  }
  return "";
}

Result<LineReader> LineReader::open(std::unique_ptr<ByteSource> source, std::string label, Encoding encoding,
                                    std::uint64_t maxLineBytes, std::size_t blockBytes) {
  DSA_CHECK(blockBytes >= 4);
  LineReader reader;
  reader.m_source = std::move(source);
  reader.m_label = std::move(label);
  reader.m_maxLineBytes = maxLineBytes;
  reader.m_blockBytes = blockBytes;
  DSA_ASSIGN(const bool any, reader.readBlock());
  if (!any) return fail(ErrorCode::input, "{}: the file is empty", reader.m_label);
  DSA_TRY(reader.chooseEncoding(encoding));
  return reader;
}

Result<bool> LineReader::readBlock() {
  if (m_sourceEnded) return false;
  const std::size_t kept = m_raw.size();
  m_raw.resize(kept + m_blockBytes);
  std::size_t filled = kept;
  while (filled < m_raw.size() && !m_sourceEnded) {
    DSA_ASSIGN(const std::size_t got, m_source->read(std::span(m_raw).subspan(filled)));
    m_sourceEnded = got == 0;
    filled += got;
  }
  m_raw.resize(filled);
  return filled > kept;
}

Result<void> LineReader::chooseEncoding(Encoding wanted) {
  struct Mark {
    std::string_view bytes;
    Encoding encoding;
  };
  static constexpr Mark kMarks[] = {{"\xEF\xBB\xBF", Encoding::utf8},
                                    {std::string_view("\xFF\xFE", 2), Encoding::utf16le},
                                    {std::string_view("\xFE\xFF", 2), Encoding::utf16be}};
  if (m_raw.starts_with(std::string_view("\xFF\xFE\0\0", 4)) ||
      m_raw.starts_with(std::string_view("\0\0\xFE\xFF", 4))) {
    return fail(ErrorCode::input, "{}: the text is in UTF-32, which is not read; save it as UTF-8", m_label);
  }
  m_encoding = wanted == Encoding::automatic ? Encoding::utf8 : wanted;
  for (const Mark& mark : kMarks) {
    if (!m_raw.starts_with(mark.bytes) || (wanted != Encoding::automatic && wanted != mark.encoding)) continue;
    m_encoding = mark.encoding;
    m_hadMark = true;
    m_raw.erase(0, mark.bytes.size());
    m_rawOffset = mark.bytes.size();
  }
  m_offset = m_lineOffset = m_rawOffset;
  if (m_encoding == Encoding::utf16le || m_encoding == Encoding::utf16be) return {};
  const std::string_view head = std::string_view(m_raw).substr(0, 4096);
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < head.size(); ++i) zeros[i % 2] += head[i] == '\0';
  // A stray NUL is a bad line; more than one byte in 32 is no text.
  if ((zeros[0] + zeros[1]) * 32 <= head.size()) return {};
  for (const int parity : {0, 1}) {
    if (zeros[parity] * 4 < head.size() || zeros[1 - parity] * 16 > zeros[parity]) continue;
    return fail(ErrorCode::input, "{}: looks like UTF-16 without a byte order mark; choose the encoding {}", m_label,
                parity == 1 ? "utf-16le" : "utf-16be");
  }
  return fail(ErrorCode::input, "{}: not a text: {} of its first {} bytes are NUL", m_label, zeros[0] + zeros[1],
              head.size());
}

Result<void> LineReader::decodeUtf16() {
  const std::size_t high = m_encoding == Encoding::utf16be ? 0 : 1;
  const auto unit = [&](std::size_t i) {
    return static_cast<std::uint32_t>((static_cast<unsigned char>(m_raw[i + high]) << 8) |
                                      static_cast<unsigned char>(m_raw[i + 1 - high]));
  };
  std::size_t at = 0;
  for (; at + 2 <= m_raw.size(); at += 2) {
    const std::uint32_t first = unit(at);
    if (first - 0xD800u >= 0x800u) {
      appendUtf8(m_block, first);
      continue;
    }
    if (at + 4 > m_raw.size() && !m_sourceEnded) break;  // the other half comes with the next block
    const std::uint32_t second = at + 4 <= m_raw.size() ? unit(at + 2) : 0;
    if (first >= 0xDC00 || second - 0xDC00u >= 0x400u) {
      return fail(ErrorCode::input, "{}: file offset {}: half a surrogate pair, not valid {}; save the file as UTF-8",
                  m_label, m_rawOffset + at, encodingName(m_encoding));
    }
    appendUtf8(m_block, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
    at += 2;
  }
  if (m_sourceEnded && at < m_raw.size()) {
    return fail(ErrorCode::input,
                "{}: ends in half a character at file offset {}: {} has two bytes a unit; the file is cut short",
                m_label, m_rawOffset + at, encodingName(m_encoding));
  }
  m_rawOffset += at;
  m_raw.erase(0, at);
  return {};
}

Result<bool> LineReader::refill() {
  m_block.clear();
  m_at = 0;
  while (m_block.empty()) {
    if (m_raw.size() < 4) DSA_TRY(readBlock());  // 4: a surrogate pair
    if (m_raw.empty()) return false;
    if (m_encoding == Encoding::utf16le || m_encoding == Encoding::utf16be) {
      DSA_TRY(decodeUtf16());
      continue;
    }
    m_rawOffset += m_raw.size();
    if (m_encoding == Encoding::windows1252) {
      m_block = asWindows1252(m_raw);
    } else {
      m_block.swap(m_raw);
    }
    m_raw.clear();
  }
  return true;
}

Result<void> LineReader::checkLine(const std::string& line) const {
  if (m_encoding != Encoding::utf8) return {};
  const std::size_t bad = firstInvalidUtf8(line);
  if (bad == std::string::npos) return {};
  std::string reading = asWindows1252(std::string_view(line).substr(0, 200));
  std::replace_if(
      reading.begin(), reading.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return fail(ErrorCode::input,
              "{}: line {}, byte {} (file offset {}): 0x{:02X} is not UTF-8. In Windows-1252 the line reads \"{}\": if "
              "that is right, "
              "choose the encoding windows-1252, otherwise save the file as UTF-8",
              m_label, m_number, bad + 1, m_lineOffset + bad,
              static_cast<unsigned>(static_cast<unsigned char>(line[bad])), reading);
}

Result<bool> LineReader::next(std::string& line) {
  line.clear();
  m_lineOffset = m_offset;
  while (true) {
    if (m_at == m_block.size()) {
      DSA_ASSIGN(const bool more, refill());
      if (!more) break;
    }
    if (m_skipLf) {
      m_skipLf = false;
      if (m_block[m_at] == '\n') {
        ++m_at;
        m_lineOffset = ++m_offset;
        continue;
      }
    }
    const std::string_view rest = std::string_view(m_block).substr(m_at);
    const auto* lf = static_cast<const char*>(std::memchr(rest.data(), '\n', rest.size()));
    const std::size_t toLf = lf != nullptr ? static_cast<std::size_t>(lf - rest.data()) : rest.size();
    const auto* cr = static_cast<const char*>(std::memchr(rest.data(), '\r', toLf));
    const std::size_t length = cr != nullptr ? static_cast<std::size_t>(cr - rest.data()) : toLf;
    if (line.size() + length > m_maxLineBytes) {
      return fail(ErrorCode::input,
                  "{}: line {} is longer than {}, which is the limit; is this a text with one edge a line?", m_label,
                  m_number + 1, formatBytes(m_maxLineBytes));
    }
    line.append(rest.substr(0, length));
    const bool ended = length < rest.size();
    m_at += length + (ended ? 1 : 0);
    m_offset += length + (ended ? 1 : 0);
    if (!ended) continue;
    m_skipLf = cr != nullptr;
    ++m_number;
    DSA_TRY(checkLine(line));
    return true;
  }
  if (line.empty()) return false;
  ++m_number;
  DSA_TRY(checkLine(line));
  return true;
}

}  // namespace dsa
