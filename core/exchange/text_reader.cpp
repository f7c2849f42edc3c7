// SPDX-License-Identifier: Apache-2.0
// word2vec's text and the projector's TSV, line by line.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "core/exchange/row_reader.h"

namespace dsa {

namespace {

enum class Number { good, notOne, notFinite, tooLarge };

Number numberOf(std::string_view text, float& value) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || at != end) return Number::notOne;
  const bool digits = text.find_first_of("0123456789") != std::string_view::npos;
  if (error == std::errc()) {
    // libstdc++ 12 gives infinity, and no error, for what is too large.
    return std::isfinite(value) ? Number::good : digits ? Number::tooLarge : Number::notFinite;
  }
  // Out of range, one way or the other; the nearest float32 of what is too small is 0.
  double wide = 0;
  const auto wideError = std::from_chars(text.data(), end, wide).ec;
  const bool negative = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
  const bool small = wideError == std::errc() ? std::abs(wide) < 1 : negative;
  if (!small || !std::isfinite(wide)) return Number::tooLarge;
  value = static_cast<float>(wide);
  return Number::good;
}

bool asCount(std::string_view text, std::uint64_t& value) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && at == text.data() + text.size();
}

class TextReader final : public RowReader {
 public:
  TextReader(TableFormat format, ByteReader reader)
      : m_word2vec(format == TableFormat::word2vec),
        m_separator(m_word2vec ? ' ' : '\t'),
        m_reader(std::move(reader)) {}

  Result<void> begin() { return m_word2vec ? readFirstLine() : countRows(); }

  Result<void> next(std::span<float> out) override {
    DSA_CHECK(out.size() == m_shape.dim);
    DSA_ASSIGN(const std::optional<std::string_view> found, m_reader.line());
    if (!found) {
      return fail(ErrorCode::input, "{}: ends after {} rows, expected {}; the file is cut short, or line 1 is wrong",
                  file(), m_row, m_shape.rows);
    }
    DSA_ASSIGN(std::string_view text, checked(*found));
    if (m_word2vec) {
      DSA_TRY(takeName(text));
      // word2vec.c writes a blank after every number.
      if (text.ends_with(' ')) text.remove_suffix(1);
    }
    ++m_row;
    return numbers(text, out);
  }
  [[nodiscard]] std::string_view rowName() const override { return m_name; }

  Result<void> end() override {
    DSA_ASSIGN(const std::optional<std::string_view> more, m_reader.line());
    if (!more) return {};
    return fail(ErrorCode::input, "{}: line {}: \"{}\" follows the {} rows that were expected", file(), line(),
                shownText(*more), m_shape.rows);
  }

 private:
  [[nodiscard]] const std::string& file() const { return m_reader.name(); }
  [[nodiscard]] std::uint64_t line() const { return m_reader.lineNumber(); }

  Result<std::string_view> checked(std::string_view text) const {
    if (text.ends_with('\r')) {
      return fail(ErrorCode::input, "{}: line {}: ends in CR LF, expected LF; convert it, for example with dos2unix",
                  file(), line());
    }
    return text;
  }

  /// "rows dim"; no more rows than the rest of the file could hold.
  Result<void> readFirstLine() {
    DSA_ASSIGN(const std::optional<std::string_view> found, m_reader.line());
    DSA_ASSIGN(std::string_view text, checked(found.value_or("")));
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos || !asCount(text.substr(0, blank), m_shape.rows) ||
        !asCount(text.substr(blank + 1), m_shape.dim)) {
      return fail(ErrorCode::input,
                  "{}: line 1: \"{}\", expected two numbers, \"ROWS DIM\"; GloVe's files lack it, put it before",
                  file(), shownText(text));
    }
    DSA_TRY(checkShape());
    const std::uint64_t least = 2 + 2 * m_shape.dim;  // a letter, a blank and a digit each, a line end
    if (m_shape.rows > (m_reader.left() + 1) / least) {
      return fail(ErrorCode::input, "{}: line 1 promises {} rows of {} numbers, but only {} bytes follow", file(),
                  m_shape.rows, m_shape.dim, m_reader.left());
    }
    return {};
  }

  Result<void> countRows() {
    DSA_ASSIGN(m_shape.rows, countLines(m_reader));
    DSA_ASSIGN(const std::optional<std::string_view> first, m_reader.line());
    DSA_ASSIGN(const std::string_view text, checked(first.value_or("")));
    m_shape.dim = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\t')) + 1;
    m_reader.seek(0);
    DSA_TRY(checkShape());
    const std::uint64_t least = 2 * m_shape.dim;  // a digit each, and a tab or the line end
    return m_shape.rows > (m_reader.left() + 1) / least ? wrongLine() : Result<void>();
  }

  /// The file cannot hold as many numbers as line 1 has on each line: where one is wrong, found before the import takes
  /// space for them all.
  Result<void> wrongLine() {
    std::vector<float> row(m_shape.dim);
    while (true) DSA_TRY(next(row));
  }

  Result<void> checkShape() const {
    if (m_shape.rows > 0 && m_shape.dim > 0 && m_shape.dim <= kMostImportedDim) return {};
    return fail(ErrorCode::input, "{}: {} rows of {} numbers, expected at least one row and 1 to {} numbers", file(),
                m_shape.rows, m_shape.dim, kMostImportedDim);
  }

  /// The first word; what is left begins after its blank.
  Result<void> takeName(std::string_view& text) {
    const std::size_t blank = text.find(' ');
    if (blank == 0 || blank == std::string_view::npos) {
      return fail(ErrorCode::input, "{}: line {}: \"{}\", expected a name, a blank and {} numbers", file(), line(),
                  shownText(text), m_shape.dim);
    }
    m_name = text.substr(0, blank);
    text.remove_prefix(blank + 1);
    return checkName(file(), line(), m_name);
  }

  Result<void> numbers(std::string_view text, std::span<float> out) {
    const auto count = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), m_separator)) + 1;
    if (text.empty() || count != out.size()) {
      return fail(ErrorCode::input, "{}: line {}: {} numbers, expected {}{}", file(), line(), text.empty() ? 0 : count,
                  out.size(), m_word2vec && count > out.size() ? "; has the name a blank in it?" : "");
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::string_view word = text.substr(0, text.find(m_separator));
      const Number number = numberOf(word, out[i]);
      if (number != Number::good) return refuse(i, word, number);
      text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    return {};
  }

  [[nodiscard]] Result<void> refuse(std::size_t i, std::string_view word, Number number) const {
    const char* const what = number == Number::notFinite  ? "expected a finite number"
                             : number == Number::tooLarge ? "expected a number of at most 3.4e38"
                                                          : "expected a number";
    return fail(ErrorCode::input, "{}: line {}, number {}: \"{}\", {}", file(), line(), i + 1, shownText(word), what);
  }

  bool m_word2vec;
  char m_separator;
  ByteReader m_reader;
  std::string m_name;
  std::uint64_t m_row = 0;
};

}  // namespace

Result<std::unique_ptr<RowReader>> openText(TableFormat format, ByteReader reader) {
  auto text = std::make_unique<TextReader>(format, std::move(reader));
  DSA_TRY(text->begin());
  return text;
}

Result<void> checkName(const std::string& file, std::uint64_t line, std::string_view name) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const auto bad = std::find_if(name.begin(), name.end(), control);
  if (bad == name.end()) return {};
  return fail(ErrorCode::input, "{}: line {}: the name \"{}\" has the byte 0x{:02x} in it, expected text{}", file, line,
              shownText(name), static_cast<unsigned char>(*bad),
              *bad == '\t'   ? " without tabs (one column of names)"
              : *bad == '\r' ? " and LF at its end, not CR LF"
                             : "");
}

std::string shownText(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string shown;
  for (const char c : text.substr(0, kMost)) shown += c >= 0x20 && c < 0x7f ? c : '?';
  return text.size() > kMost ? shown + "..." : shown;
}

Result<std::unique_ptr<RowReader>> openRows(TableFormat format, ByteReader reader, std::uint64_t rawDim) {
  DSA_CHECK((format == TableFormat::raw) == (rawDim > 0));
  if (format == TableFormat::npy || format == TableFormat::raw) return openArray(std::move(reader), rawDim);
  return openText(format, std::move(reader));
}

Result<ImportedShape> readHeader(TableFormat format, std::span<const std::byte> file, std::uint64_t rawDim) {
  DSA_ASSIGN(const auto rows, openRows(format, ByteReader(memoryBytes(file), "memory"), rawDim));
  return rows->shape();
}

}  // namespace dsa
