// SPDX-License-Identifier: Apache-2.0
// The words for the import options on a command line, and small texts of the report.
#include <array>

#include "core/data/importer.h"

namespace dsa {

namespace {

constexpr std::array kSeparators = {Separator::automatic, Separator::tab, Separator::comma, Separator::semicolon,
                                    Separator::blanks};
constexpr std::array kEncodings = {Encoding::automatic, Encoding::utf8, Encoding::utf16le, Encoding::utf16be,
                                   Encoding::windows1252};
constexpr std::array kRoles = {ColumnRole::ignore, ColumnRole::head, ColumnRole::relation, ColumnRole::tail,
                               ColumnRole::weight, ColumnRole::user, ColumnRole::item};

}  // namespace

std::string_view separatorName(Separator separator) {
  static constexpr std::string_view kNames[] = {"auto", "tab", "comma", "semicolon", "blanks"};
  return kNames[static_cast<std::size_t>(separator)];
}

std::string_view columnName(ColumnRole role) {
  static constexpr std::string_view kNames[] = {"-", "head", "relation", "tail", "weight", "user", "item"};
  return kNames[static_cast<std::size_t>(role)];
}

Result<Separator> parseSeparator(const std::string& text) {
  for (const Separator separator : kSeparators) {
    if (separatorName(separator) == text) return separator;
  }
  return fail(ErrorCode::usage, "separator \"{}\": must be auto, tab, comma, semicolon or blanks", text);
}

Result<Encoding> parseEncoding(const std::string& text) {
  for (const Encoding encoding : kEncodings) {
    if (encodingName(encoding) == text) return encoding;
  }
  return fail(ErrorCode::usage, "encoding \"{}\": must be auto, utf-8, utf-16le, utf-16be or windows-1252", text);
}

Result<std::vector<ColumnRole>> parseColumns(const std::string& text) {
  std::vector<ColumnRole> columns;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::size_t before = columns.size();
    for (const ColumnRole role : kRoles) {
      if (columnName(role) == word) columns.push_back(role);
    }
    if (columns.size() == before) {
      return fail(ErrorCode::usage,
                  "columns \"{}\": \"{}\" must be head, relation, tail, weight, user, item or - (ignore)", text, word);
    }
    begin = end + 1;
  }
  return columns;
}

std::string cycleText(const std::vector<std::string>& cycle) {
  std::string text;
  for (const std::string& name : cycle) text += name + " > ";
  return cycle.empty() ? text : text + cycle.front();
}

void NoteList::add(const std::string& file, std::uint64_t line, std::string text) {
  ++total;
  if (first.size() < kKept) first.push_back({file, line, std::move(text)});
}

}  // namespace dsa
