// SPDX-License-Identifier: Apache-2.0
#include "core/data/delimited.h"

#include <algorithm>

#include "core/data/column_words.h"

namespace dsa {

namespace {

constexpr std::size_t kPeekLines = 1000;
constexpr std::size_t kPeekBytes = 1 << 20;
// A quoted field may hold line ends. Names do not go on for pages, and a quote that is never closed must not swallow
// the file.
constexpr std::size_t kRecordLines = 100;
constexpr std::size_t kRecordBytes = 1 << 18;

bool isBlank(char c) { return c == ' ' || c == '\t'; }

char separatorByte(Separator separator) {
  return separator == Separator::tab ? '\t' : separator == Separator::comma ? ',' : ';';
}

/// Cuts a quoted field that begins at line[at] == '"'; leaves `at` after the closing quote and the blanks that follow.
CutState cutQuoted(const std::string& line, std::size_t& at, std::string& field) {
  for (++at;; ++at) {
    if (at >= line.size()) return CutState::openQuote;
    if (line[at] != '"') {
      field.push_back(line[at]);
    } else if (at + 1 < line.size() && line[at + 1] == '"') {
      field.push_back(line[at++]);
    } else {
      break;
    }
  }
  ++at;
  return CutState::whole;
}

/// Where the lines of one text go.
class Records {
 public:
  Records(PeekedLines& lines, const Dialect& dialect, const ImportOptions& options, EdgeCollector& collector,
          ImportReport& report)
      : m_lines(lines), m_dialect(dialect), m_options(options), m_collector(collector), m_report(report) {
    for (std::size_t i = 0; i < dialect.columns.size(); ++i) {
      const auto role = static_cast<std::size_t>(dialect.columns[i]);
      m_column[role] = i;
    }
    m_decimalComma = dialect.separator != Separator::comma;
  }

  Result<void> readAll();

 private:
  bool handleComment(const std::string& line, std::uint64_t number, CutState state);
  Result<CutState> finishQuoted(std::string& line, std::uint64_t number);
  Result<void> handleFields(std::uint64_t number);
  void bad(std::uint64_t number, std::string reason) { m_collector.badLines().add(label(), number, std::move(reason)); }
  [[nodiscard]] const std::string& label() const { return m_lines.reader().label(); }
  [[nodiscard]] const std::string& field(ColumnRole role) const {
    return m_fields[m_column[static_cast<std::size_t>(role)]];
  }

  PeekedLines& m_lines;
  const Dialect& m_dialect;
  const ImportOptions& m_options;
  EdgeCollector& m_collector;
  ImportReport& m_report;
  std::size_t m_column[7] = {};
  bool m_decimalComma = false;
  bool m_atFirstRow = true;
  std::vector<std::string> m_fields;
  std::string m_user, m_item;
  std::uint64_t m_hashData = 0, m_hashDataLine = 0, m_joined = 0;
};

bool Records::handleComment(const std::string& line, std::uint64_t number, CutState state) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (!m_options.comments || (line[first] != '#' && line[first] != '%')) return false;
  bool isData = state == CutState::whole && m_fields.size() == m_dialect.columns.size();
  if (isData) {
    std::vector<std::string> cells = m_fields;
    cells[0].erase(0, 1);
    cells[0] = withoutBlanks(cells[0]);
    isData = !cells[0].empty() && !rolesOfHeader(cells);
  }
  if (!isData) {
    ++m_report.comments;
    return true;
  }
  if (m_hashData++ == 0) m_hashDataLine = number;
  return false;
}

/// Takes further lines until the quote is closed. If it never is, gives them back.
Result<CutState> Records::finishQuoted(std::string& line, std::uint64_t number) {
  const std::string start = line;
  std::vector<std::pair<std::string, std::uint64_t>> taken;
  CutState state = CutState::openQuote;
  std::string more;
  std::uint64_t moreNumber = number;
  while (state == CutState::openQuote && taken.size() < kRecordLines && line.size() < kRecordBytes) {
    DSA_ASSIGN(const bool any, m_lines.next(more, moreNumber));
    if (!any) break;
    line.append(" ").append(
        more);  // a line end inside a name is an artefact of its cell, and would break every list of names
    taken.emplace_back(more, moreNumber);
    if (more.find('"') != std::string::npos) state = cutFields(line, m_dialect.separator, true, m_fields);
  }
  if (state != CutState::whole) {
    for (auto back = taken.rbegin(); back != taken.rend(); ++back)
      m_lines.putBack(std::move(back->first), back->second);
    line = start;
  } else {
    m_report.lines += taken.size();
    ++m_joined;
  }
  return state;
}

Result<void> Records::handleFields(std::uint64_t number) {
  const std::size_t expected = m_dialect.columns.size();
  if (m_fields.size() != expected) {
    bad(number, fmt::format("{} field{}, expected {}", m_fields.size(), m_fields.size() == 1 ? "" : "s", expected));
    return {};
  }
  for (std::size_t i = 0; i < expected; ++i) {
    if (m_dialect.columns[i] == ColumnRole::ignore) continue;
    if (m_fields[i].empty()) {
      bad(number, fmt::format("field {} is empty", i + 1));
      return {};
    }
    if (m_fields[i].size() > m_options.limits.nameBytes) {
      bad(number, fmt::format("field {} has {} bytes, at most {} are read", i + 1, m_fields[i].size(),
                              m_options.limits.nameBytes));
      return {};
    }
    if (m_fields[i].find('\0') != std::string::npos) {
      bad(number, fmt::format("field {} holds a NUL byte", i + 1));
      return {};
    }
  }
  NamedEdge edge;
  if (m_dialect.has(ColumnRole::weight)) {
    const auto weight = parseNumber(field(ColumnRole::weight), m_decimalComma);
    if (!weight) {
      const std::size_t place = m_column[static_cast<std::size_t>(ColumnRole::weight)] + 1;
      bad(number, fmt::format("field {}: the weight `{}` is not a finite number", place,
                              field(ColumnRole::weight).substr(0, 40)));
      return {};
    }
    edge.weight = *weight;
  }
  if (m_dialect.isRatings()) {
    m_user = m_dialect.userWord + " " + field(ColumnRole::user);
    m_item = m_dialect.itemWord + " " + field(ColumnRole::item);
    edge.head = m_user;
    edge.tail = m_item;
  } else {
    edge.head = field(ColumnRole::head);
    edge.tail = field(ColumnRole::tail);
  }
  edge.hasRelation = m_dialect.has(ColumnRole::relation) && m_options.asHierarchy != Choice::yes;
  if (edge.hasRelation) edge.relation = field(ColumnRole::relation);
  return m_collector.add(edge, number);
}

Result<void> Records::readAll() {
  std::string line;
  std::uint64_t number = 0;
  while (true) {
    DSA_ASSIGN(const bool more, m_lines.next(line, number));
    if (!more) break;
    ++m_report.lines;
    if (line.find_first_not_of(" \t") == std::string::npos) {
      ++m_report.blankLines;
      continue;
    }
    CutState state = cutFields(line, m_dialect.separator, m_dialect.quotes, m_fields);
    if (handleComment(line, number, state)) continue;
    if (state == CutState::openQuote) {
      DSA_ASSIGN(state, finishQuoted(line, number));
    }
    if (state != CutState::whole) {
      bad(number, state == CutState::openQuote ? "a quote is opened and never closed" : "text follows a closing quote");
      m_atFirstRow = false;
      continue;
    }
    if (std::exchange(m_atFirstRow, false) && m_dialect.header && isHeaderRow(m_fields, m_dialect)) continue;
    DSA_TRY(handleFields(number));
  }
  if (m_joined != 0) {
    m_report.notes.push_back(
        fmt::format("{} rows have quoted names with line ends in them; these were read as blanks", m_joined));
  }
  if (m_hashData != 0) {
    m_report.notes.push_back(fmt::format(
        "{} line{} beginning with # or % and having all fields read as data, not as comments (the first is line {})",
        m_hashData, m_hashData == 1 ? "" : "s", m_hashDataLine));
  }
  return {};
}

}  // namespace

CutState cutFields(const std::string& line, Separator separator, bool quotes, std::vector<std::string>& fields) {
  fields.clear();
  std::size_t at = 0;
  if (separator == Separator::blanks && !quotes) {
    while (true) {
      while (at < line.size() && isBlank(line[at])) ++at;
      if (at == line.size()) return CutState::whole;
      const std::size_t begin = at;
      while (at < line.size() && !isBlank(line[at])) ++at;
      fields.push_back(line.substr(begin, at - begin));
    }
  }
  const bool atBlanks = separator == Separator::blanks;
  const auto ends = [&](char c) { return atBlanks ? isBlank(c) : c == separatorByte(separator); };
  while (true) {
    std::size_t start = at;
    while (start < line.size() && isBlank(line[start]) && (atBlanks || !ends(line[start]))) ++start;
    if (atBlanks && start == line.size() && !fields.empty()) return CutState::whole;
    fields.emplace_back();
    if (quotes && start < line.size() && line[start] == '"') {
      at = start;
      if (cutQuoted(line, at, fields.back()) == CutState::openQuote) return CutState::openQuote;
      while (at < line.size() && isBlank(line[at]) && !ends(line[at])) ++at;
      if (at < line.size() && !ends(line[at])) return CutState::textAfterQuote;
    } else {
      at = start;
      while (at < line.size() && !ends(line[at])) ++at;
      fields.back() = withoutBlanks(std::string_view(line).substr(start, at - start));
    }
    if (at == line.size()) return CutState::whole;
    ++at;
  }
}

Result<std::vector<std::string>> PeekedLines::peek() {
  std::vector<std::string> lines;
  std::deque<Numbered> taken;
  std::size_t bytes = 0;
  Numbered line;
  while (lines.size() < kPeekLines && bytes < kPeekBytes) {
    auto more = next(line.text, line.number);
    if (!more) return tl::unexpected<Error>(std::move(more).error());
    if (!*more) break;
    bytes += line.text.size();
    lines.push_back(line.text);
    taken.push_back(line);
  }
  m_waiting.insert(m_waiting.begin(), taken.begin(), taken.end());
  return lines;
}

Result<bool> PeekedLines::next(std::string& line, std::uint64_t& number) {
  if (!m_waiting.empty()) {
    line = std::move(m_waiting.front().text);
    number = m_waiting.front().number;
    m_waiting.pop_front();
    return true;
  }
  DSA_ASSIGN(const bool more, m_reader.next(line));
  number = m_reader.number();
  return more;
}

Result<void> readDelimited(PeekedLines& lines, const Dialect& dialect, const ImportOptions& options,
                           EdgeCollector& collector, ImportReport& report) {
  return Records(lines, dialect, options, collector, report).readAll();
}

}  // namespace dsa
