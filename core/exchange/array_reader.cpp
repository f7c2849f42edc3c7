// SPDX-License-Identifier: Apache-2.0
// NumPy's files and plain arrays. The header is a Python dictionary of three known entries; nothing else is taken.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/exchange/row_reader.h"

namespace dsa {

namespace {

constexpr std::size_t kLongestHeader = 1u << 16;

/// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderText {
 public:
  HeaderText(const std::string& file, std::string_view text) : m_file(file), m_text(text) {}

  std::string descr;
  bool fortran = false;
  std::vector<std::uint64_t> lengths;

  Result<void> parse() {
    DSA_TRY(expect('{'));
    bool seen[3] = {};
    while (!accept('}')) {
      DSA_ASSIGN(const std::string key, text());
      DSA_TRY(expect(':'));
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0 || seen[which]) return wrong("one each of descr, fortran_order and shape");
      seen[which] = true;
      DSA_TRY(value(which));
      if (!accept(',') && peek() != '}') return wrong("a comma or }");
    }
    if (!seen[0] || !seen[1] || !seen[2]) return wrong("descr, fortran_order and shape before the }");
    return peek() == '\0' ? Result<void>() : wrong("nothing after the }");
  }

 private:
  Result<void> value(int which) {
    if (which == 2) return shape();
    if (which == 1) {
      fortran = word("True");
      return fortran || word("False") ? Result<void>() : wrong("True or False");
    }
    if (peek() == '[') return wrong("the type of a plain array; one of fields cannot be a table");
    DSA_ASSIGN(descr, text());
    return {};
  }

  Result<void> shape() {
    DSA_TRY(expect('('));
    while (!accept(')')) {
      skipBlanks();
      std::uint64_t length = 0;
      const auto [end, error] = std::from_chars(m_text.data() + m_at, m_text.data() + m_text.size(), length);
      if (error != std::errc() || lengths.size() == 32) return wrong("a length of at most 64 bits");
      m_at = static_cast<std::size_t>(end - m_text.data());
      if (m_at < m_text.size() && m_text[m_at] == 'L') ++m_at;  // written by Python 2
      lengths.push_back(length);
      if (!accept(',') && peek() != ')') return wrong("a comma or )");
    }
    return {};
  }

  Result<std::string> text() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return wrongText("a text in quotes");
    const std::size_t end = m_text.find(quote, m_at + 1);
    if (end == std::string_view::npos) return wrongText("an end of the quotes");
    std::string found(m_text.substr(m_at + 1, end - m_at - 1));
    m_at = end + 1;
    return found;
  }

  void skipBlanks() {
    while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\n')) ++m_at;
  }
  char peek() {
    skipBlanks();
    return m_at < m_text.size() ? m_text[m_at] : '\0';
  }
  bool accept(char c) {
    const bool there = peek() == c;
    if (there) ++m_at;
    return there;
  }
  Result<void> expect(char c) { return accept(c) ? Result<void>() : wrong(fmt::format("{}", c)); }
  bool word(std::string_view expected) {
    skipBlanks();
    const bool there = m_text.substr(m_at).starts_with(expected);
    if (there) m_at += expected.size();
    return there;
  }
  [[nodiscard]] tl::unexpected<Error> wrongText(std::string_view expected) {
    skipBlanks();
    return fail(ErrorCode::input, "{}: NumPy header, at \"{}\" (byte {} of it): expected {}", m_file,
                shownText(m_text.substr(std::min(m_at, m_text.size()))), m_at, expected);
  }
  [[nodiscard]] Result<void> wrong(std::string_view expected) { return wrongText(expected); }

  const std::string& m_file;
  std::string_view m_text;
  std::size_t m_at = 0;
};

/// Rows of values, one after another.
class ArrayReader final : public RowReader {
 public:
  ArrayReader(ByteReader reader, ImportedShape shape, std::size_t valueBytes)
      : m_reader(std::move(reader)), m_valueBytes(valueBytes) {
    m_shape = shape;
  }

  Result<void> next(std::span<float> out) override {
    DSA_CHECK(out.size() == m_shape.dim);
    for (std::size_t done = 0; done < out.size();) {
      const std::size_t count = std::min(out.size() - done, ByteReader::kPieceBytes / m_valueBytes);
      DSA_ASSIGN(const std::span<const std::byte> bytes, m_reader.take(count * m_valueBytes));
      DSA_TRY(m_valueBytes == 4 ? take4(bytes, out.subspan(done, count), done)
                                : take8(bytes, out.subspan(done, count), done));
      done += count;
    }
    ++m_row;
    return {};
  }
  Result<void> end() override { return {}; }  // the length was right

 private:
  Result<void> take4(std::span<const std::byte> bytes, std::span<float> out, std::size_t column) const {
    std::memcpy(out.data(), bytes.data(), bytes.size());
    const auto bad = std::find_if(out.begin(), out.end(), [](float x) { return !std::isfinite(x); });
    return bad == out.end() ? Result<void>() : refuse(column + static_cast<std::size_t>(bad - out.begin()), *bad);
  }
  Result<void> take8(std::span<const std::byte> bytes, std::span<float> out, std::size_t column) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      double value = 0;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      out[i] = static_cast<float>(value);
      if (!std::isfinite(out[i])) return refuse(column + i, value);
      if (static_cast<double>(out[i]) != value) ++m_rounded;
    }
    return {};
  }
  [[nodiscard]] Result<void> refuse(std::size_t column, double value) const {
    return fail(ErrorCode::input, "{}: row {}, column {}: {}, expected a finite number of at most 3.4e38",
                m_reader.name(), m_row, column, value);
  }

  ByteReader m_reader;
  std::size_t m_valueBytes;
  std::uint64_t m_row = 0;
};

Result<std::size_t> valueBytesOf(const std::string& file, const std::string& descr) {
  if (descr == "<f4" || descr == "<f8") return descr == "<f4" ? std::size_t{4} : std::size_t{8};
  const bool big = !descr.empty() && descr[0] == '>';
  return fail(ErrorCode::input, "{}: its values are of type {}, expected <f4 or <f8{}; save it with .astype('<f4')",
              file, shownText(descr), big ? " (these are big-endian)" : "");
}

/// rows x dim values of so many bytes are all that is left of the file.
Result<void> checkLength(const ByteReader& reader, const ImportedShape& shape, std::size_t valueBytes) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(shape.rows, shape.dim * valueBytes, &bytes)) bytes = ~std::uint64_t{0};
  if (bytes == reader.left()) return {};
  return fail(ErrorCode::input, "{}: {} bytes follow the header, expected {} x {} x {}; the file is {}", reader.name(),
              reader.left(), shape.rows, shape.dim, valueBytes,
              reader.left() < bytes ? "cut short" : "longer than its array");
}

Result<void> checkDim(const std::string& file, std::uint64_t rows, std::uint64_t dim) {
  if (rows > 0 && dim > 0 && dim <= kMostImportedDim) return {};
  return fail(ErrorCode::input, "{}: {} rows x {}, expected at least one row and 1 to {} columns", file, rows, dim,
              kMostImportedDim);
}

/// Bytes of the header's text; it comes next.
Result<std::size_t> npyHeaderLength(ByteReader& reader) {
  const std::string file = reader.name();
  constexpr char kMagic[] = "\x93NUMPY";
  if (reader.left() < 10) return fail(ErrorCode::input, "{}: {} bytes long, too short for NumPy", file, reader.size());
  DSA_ASSIGN(const std::span<const std::byte> start, reader.take(8));
  if (std::memcmp(start.data(), kMagic, 6) != 0) {
    return fail(ErrorCode::input, "{}: does not begin with \"\\x93NUMPY\"; not a file of numpy.save", file);
  }
  const auto version = static_cast<unsigned>(start[6]), minor = static_cast<unsigned>(start[7]);
  if (version < 1 || version > 3 || minor != 0)
    return fail(ErrorCode::input, "{}: NumPy format {}.{}, expected 1.0, 2.0 or 3.0", file, version, minor);
  DSA_ASSIGN(const std::span<const std::byte> field, reader.take(version == 1 ? 2 : 4));
  std::size_t length = 0;
  for (std::size_t i = 0; i < field.size(); ++i) length |= static_cast<std::size_t>(field[i]) << (8 * i);
  if (length > kLongestHeader || length > reader.left()) {
    return fail(ErrorCode::input, "{}: NumPy header of {} bytes, {} follow; at most {} are read", file, length,
                reader.left(), kLongestHeader);
  }
  return length;
}

Result<std::unique_ptr<RowReader>> openNpy(ByteReader reader) {
  const std::string file = reader.name();
  DSA_ASSIGN(const std::size_t length, npyHeaderLength(reader));
  DSA_ASSIGN(const std::span<const std::byte> bytes, reader.take(length));
  HeaderText header(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  DSA_TRY(header.parse());
  DSA_ASSIGN(const std::size_t valueBytes, valueBytesOf(file, header.descr));
  if (header.fortran)
    return fail(ErrorCode::input, "{}: in Fortran order, expected C order; save numpy.ascontiguousarray(...) of it",
                file);
  if (header.lengths.empty() || header.lengths.size() > 2) {
    return fail(ErrorCode::input, "{}: an array of {} dimensions, expected 2: rows x columns", file,
                header.lengths.size());
  }
  ImportedShape shape{header.lengths[0], 1, header.lengths.size() == 1};
  if (!shape.vector) shape.dim = header.lengths[1];
  DSA_TRY(checkDim(file, shape.rows, shape.dim));
  DSA_TRY(checkLength(reader, shape, valueBytes));
  return std::make_unique<ArrayReader>(std::move(reader), shape, valueBytes);
}

}  // namespace

Result<std::unique_ptr<RowReader>> openArray(ByteReader reader, std::uint64_t rawDim) {
  if (rawDim == 0) return openNpy(std::move(reader));
  ImportedShape shape{reader.size() / sizeof(float) / rawDim, rawDim, false};
  DSA_TRY(checkDim(reader.name(), shape.rows, rawDim));
  const std::uint64_t rowBytes = rawDim * sizeof(float);
  if (reader.size() % rowBytes != 0) {
    return fail(ErrorCode::input,
                "{}: {} bytes are {} rows of {} float32 and {} bytes more; the file is cut short, or --dim is another",
                reader.name(), reader.size(), shape.rows, rawDim, reader.size() % rowBytes);
  }
  return std::make_unique<ArrayReader>(std::move(reader), shape, sizeof(float));
}

}  // namespace dsa
