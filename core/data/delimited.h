// SPDX-License-Identifier: Apache-2.0
// Delimited text: recognising its dialect from the first lines, and cutting lines into fields.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/data/edge_collector.h"
#include "core/data/importer.h"
#include "core/data/line_reader.h"

namespace dsa {

/// How a delimited text is cut and what its columns are.
struct Dialect {
  Separator separator = Separator::tab;
  bool quotes = false;
  bool header = false;
  std::vector<std::string> headerCells;
  std::vector<ColumnRole> columns;
  std::string userWord = "user", itemWord = "item";  ///< what ids of a ratings file are called
  std::vector<std::string> questions;

  [[nodiscard]] bool has(ColumnRole role) const;
  [[nodiscard]] bool isRatings() const { return has(ColumnRole::user); }
};

/// Outcome of cutting one line.
enum class CutState {
  whole,
  openQuote,      ///< a quoted field goes on in the next line
  textAfterQuote  ///< something follows a closing quote
};

/// Cuts a line into fields, trimmed of ASCII blanks unless quoted.
CutState cutFields(const std::string& line, Separator separator, bool quotes, std::vector<std::string>& fields);

/// A reader with the lines taken to recognise the dialect put back, so that a stream is read once.
class PeekedLines {
 public:
  explicit PeekedLines(LineReader reader) : m_reader(std::move(reader)) {}
  /// Up to 1,000 lines and 1 MiB from where reading stands; they will be given again.
  Result<std::vector<std::string>> peek();
  Result<bool> next(std::string& line, std::uint64_t& number);
  void putBack(std::string line, std::uint64_t number) { m_waiting.push_front({std::move(line), number}); }
  [[nodiscard]] const LineReader& reader() const { return m_reader; }

 private:
  struct Numbered {
    std::string text;
    std::uint64_t number;
  };
  LineReader m_reader;
  std::deque<Numbered> m_waiting;
};

/// Decides the dialect of a text from its first lines (the rules are in ImportOptions).
/// Errors input: one column only, or columns that the rules do not name (the message says which option helps).
Result<Dialect> recogniseDialect(const std::vector<std::string>& lines, const ImportOptions& options,
                                 const std::string& label);

/// Whether the first row of another file of the same set is the header again.
bool isHeaderRow(const std::vector<std::string>& cells, const Dialect& dialect);

/// Reads every line into the collector (begin() has been called). Bad lines go to its report.
Result<void> readDelimited(PeekedLines& lines, const Dialect& dialect, const ImportOptions& options,
                           EdgeCollector& collector, ImportReport& report);

}  // namespace dsa
