// SPDX-License-Identifier: Apache-2.0
// Recognises the separator, the header and the columns of a delimited text from its first lines.
#include <algorithm>
#include <map>

#include "core/data/column_words.h"
#include "core/data/delimited.h"

namespace dsa {

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// The first lines cut by one candidate separator.
struct Candidate {
  Separator separator = Separator::tab;
  bool quotes = false;
  std::size_t fields = 0;  ///< the commonest number of fields from 2 up
  double share = 0;        ///< of the lines that have it
};

bool isBlankLine(const std::string& line) { return line.find_first_not_of(" \t") == std::string::npos; }

bool looksLikeComment(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && (line[first] == '#' || line[first] == '%');
}

/// Lines that say something about the separator: not blank, and no comment if there is anything else.
std::vector<std::string> telling(const std::vector<std::string>& lines, bool comments) {
  std::vector<std::string> all, data;
  for (const std::string& line : lines) {
    if (isBlankLine(line)) continue;
    all.push_back(line);
    if (!comments || !looksLikeComment(line)) data.push_back(line);
  }
  return data.empty() ? all : data;
}

bool quotesIn(Separator separator, const ImportOptions& options) {
  if (options.quotes != Choice::automatic) return options.quotes == Choice::yes;
  return separator == Separator::comma || separator == Separator::semicolon;
}

Candidate measure(const std::vector<std::string>& lines, Separator separator, const ImportOptions& options) {
  Candidate candidate{separator, quotesIn(separator, options), 0, 0};
  std::map<std::size_t, std::size_t> linesWith;
  std::vector<std::string> fields;
  std::size_t counted = 0;
  for (const std::string& line : lines) {
    if (cutFields(line, separator, candidate.quotes, fields) == CutState::openQuote) continue;
    ++counted;
    if (fields.size() >= 2) ++linesWith[fields.size()];
  }
  std::size_t most = 0;
  for (const auto& [count, number] : linesWith) {
    if (number >= most) {
      most = number;
      candidate.fields = count;
    }
  }
  candidate.share = counted == 0 ? 0 : static_cast<double>(most) / static_cast<double>(counted);
  return candidate;
}

Result<Candidate> chooseSeparator(const std::vector<std::string>& lines, const ImportOptions& options,
                                  const std::string& label) {
  if (options.separator != Separator::automatic) {
    const Candidate chosen = measure(lines, options.separator, options);
    if (chosen.fields != 0 || options.columns.size() == 1) return chosen;
    return fail(ErrorCode::input, "{}: no line has two fields with the separator {}; choose another", label,
                separatorName(options.separator));
  }
  const Candidate tab = measure(lines, Separator::tab, options);
  const Candidate comma = measure(lines, Separator::comma, options);
  const Candidate semicolon = measure(lines, Separator::semicolon, options);
  const Candidate blanks = measure(lines, Separator::blanks, options);
  if (tab.share >= 0.5) return tab;
  // "a;b;0,5" has two fields by comma on every line: the one with more fields is meant.
  const bool semicolonWins =
      semicolon.share > comma.share || (semicolon.share == comma.share && semicolon.fields > comma.fields);
  const Candidate& csv = semicolonWins ? semicolon : comma;
  if (csv.share >= 0.5 && csv.share >= blanks.share - 0.1) return csv;
  if (blanks.share >= 0.5) return blanks;
  const Candidate best = std::max({tab, csv, blanks}, [](const auto& a, const auto& b) { return a.share < b.share; });
  if (best.fields != 0) return best;
  return fail(ErrorCode::input,
              "{}: no separator found: its lines have one column, an edge needs two (the first line is \"{}\")", label,
              lines.front().substr(0, 80));
}

bool allNumbers(const Rows& rows, std::size_t column, bool decimalComma) {
  return !rows.empty() && std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
    return parseNumber(row[column], decimalComma).has_value();
  });
}

bool allWhole(const Rows& rows, std::size_t column) {
  return std::all_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row[column].find_first_not_of("0123456789") == std::string::npos; });
}

/// Roles when nothing names them.
Result<std::vector<ColumnRole>> rolesByRule(const Rows& rows, std::size_t fields, Dialect& dialect,
                                            const std::string& label) {
  using enum ColumnRole;
  const bool decimalComma = dialect.separator != Separator::comma;
  if (fields == 2) return std::vector{head, tail};
  if (fields == 3) {
    if (!allNumbers(rows, 2, decimalComma)) return std::vector{head, relation, tail};
    const bool onlyIds = allWhole(rows, 0) && allWhole(rows, 1) && allWhole(rows, 2);
    if (onlyIds) {
      dialect.questions.emplace_back(
          "read as head, relation, tail; all columns are numbers, so it could also be head, tail, weight");
      return std::vector{head, relation, tail};
    }
    dialect.questions.emplace_back(
        "read as weighted edges (head, tail, weight); it could also be triples (head, relation, tail)");
    return std::vector{head, tail, weight};
  }
  if (fields == 4 && allNumbers(rows, 3, decimalComma)) {
    if (allNumbers(rows, 2, decimalComma) && allWhole(rows, 3)) {
      dialect.questions.emplace_back(
          "read as ratings (user, item, rating, time); it could also be head, relation, tail, weight");
      return std::vector{user, item, weight, ignore};
    }
    dialect.questions.emplace_back("read as triples with a weight in column 4");
    return std::vector{head, relation, tail, weight};
  }
  return fail(ErrorCode::input,
              "{}: {} columns and no header that names them; say what they are, as in --columns head,relation,tail,- "
              "(roles: head, "
              "relation, tail, weight, user, item, - to ignore)",
              label, fields);
}

/// Looks for a header among the first row and the comments before it.
std::optional<std::vector<ColumnRole>> findHeader(const std::vector<std::string>& lines, const Rows& rows,
                                                  std::size_t fields, const ImportOptions& options, Dialect& dialect) {
  if (rows.empty() || options.header == Choice::no) return std::nullopt;
  auto roles = rolesOfHeader(rows.front());
  if (roles || options.header == Choice::yes) {
    dialect.header = true;
    dialect.headerCells = rows.front();
    if (roles && options.header == Choice::automatic && rows.front().front().size() == 1) {
      dialect.questions.emplace_back(
          "the first row of single letters was taken for a header; it could also be an edge");
    }
    return roles;
  }
  for (const std::string& cell : rows.front()) {
    const auto role = roleOfHeading(cell);
    if (role == ColumnRole::head || role == ColumnRole::tail || role == ColumnRole::user || role == ColumnRole::item) {
      dialect.questions.push_back(
          fmt::format("the first row was read as an edge; `{}` in it could also head a column", cell));
      break;
    }
  }
  std::vector<std::string> cells;
  for (const std::string& line : lines) {
    if (!options.comments || !looksLikeComment(line)) break;
    cutFields(line.substr(line.find_first_of("#%") + 1), dialect.separator, dialect.quotes, cells);
    if (cells.size() == fields) roles = rolesOfHeader(cells);
  }
  return roles;
}

void nameRatings(Dialect& dialect) {
  for (std::size_t i = 0; i < dialect.headerCells.size() && i < dialect.columns.size(); ++i) {
    if (dialect.columns[i] == ColumnRole::user) dialect.userWord = wordOfHeading(dialect.headerCells[i]);
    if (dialect.columns[i] == ColumnRole::item) dialect.itemWord = wordOfHeading(dialect.headerCells[i]);
  }
  if (dialect.userWord.empty()) dialect.userWord = "user";
  if (dialect.itemWord.empty() || dialect.itemWord == dialect.userWord) dialect.itemWord = "item";
}

}  // namespace

bool Dialect::has(ColumnRole role) const { return std::find(columns.begin(), columns.end(), role) != columns.end(); }

bool isHeaderRow(const std::vector<std::string>& cells, const Dialect& dialect) {
  return cells == dialect.headerCells || rolesOfHeader(cells).has_value();
}

Result<Dialect> recogniseDialect(const std::vector<std::string>& lines, const ImportOptions& options,
                                 const std::string& label) {
  const std::vector<std::string> data = telling(lines, options.comments);
  if (data.empty()) return fail(ErrorCode::input, "{}: the file has only blank lines", label);
  DSA_ASSIGN(const Candidate candidate, chooseSeparator(data, options, label));
  Dialect dialect;
  dialect.separator = candidate.separator;
  dialect.quotes = candidate.quotes;
  const std::size_t fields = options.columns.empty() ? candidate.fields : options.columns.size();
  Rows rows;
  std::vector<std::string> cells;
  for (const std::string& line : data) {
    if (cutFields(line, dialect.separator, dialect.quotes, cells) == CutState::whole && cells.size() == fields)
      rows.push_back(cells);
  }
  // The header must be the very first row, whatever its width says.
  cutFields(data.front(), dialect.separator, dialect.quotes, cells);
  const bool firstFits = cells.size() == fields;
  const auto named = firstFits ? findHeader(lines, rows, fields, options, dialect) : std::nullopt;
  if (dialect.header) rows.erase(rows.begin());
  if (!options.columns.empty()) {
    dialect.columns = options.columns;
  } else if (named) {
    dialect.columns = *named;
    if (!dialect.header && dialect.has(ColumnRole::weight) && fields == 3) {
      dialect.questions.emplace_back(
          "read as weighted edges (head, tail, weight); it could also be triples (head, relation, tail)");
    }
  } else {
    DSA_ASSIGN(dialect.columns, rolesByRule(rows, fields, dialect, label));
  }
  if (options.weights == Choice::no)
    std::replace(dialect.columns.begin(), dialect.columns.end(), ColumnRole::weight, ColumnRole::ignore);
  nameRatings(dialect);
  return dialect;
}

}  // namespace dsa
