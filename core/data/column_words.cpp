// SPDX-License-Identifier: Apache-2.0
#include "core/data/column_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace dsa {

namespace {

/// Lower case letters and digits only: "From_Node" -> "fromnode".
std::string plainWord(std::string_view cell) {
  std::string word;
  for (const char c : cell) {
    if (c >= 'A' && c <= 'Z') word.push_back(static_cast<char>(c - 'A' + 'a'));
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) word.push_back(c);
    if (static_cast<unsigned char>(c) >= 0x80) return {};
  }
  return word;
}

const std::map<std::string, ColumnRole, std::less<>>& headings() {
  static const auto map = [] {
    std::map<std::string, ColumnRole, std::less<>> words;
    const auto add = [&](ColumnRole role, std::initializer_list<const char*> list) {
      for (const char* word : list) words.emplace(word, role);
    };
    add(ColumnRole::head,
        {"head",       "headid", "headentity", "subject", "subj",      "subjectid",  "source",     "sourceid",
         "sourcenode", "src",    "from",       "fromid",  "fromnode",  "fromnodeid", "child",      "childid",
         "entity1",    "node1",  "id1",        "start",   "startnode", "hyponym",    "descendant", "startid"});
    add(ColumnRole::tail,
        {"tail",    "tailid", "tailentity",  "object", "obj",     "objectid", "target",   "targetid", "targetnode",
         "dst",     "dest",   "destination", "to",     "toid",    "tonode",   "tonodeid", "parent",   "parentid",
         "entity2", "node2",  "id2",         "end",    "endnode", "hypernym", "ancestor", "endid"});
    add(ColumnRole::relation, {"relation", "relationid", "rel", "relationship", "relationtype", "predicate", "pred",
                               "predicateid", "property", "edge", "edgetype", "edgelabel", "type", "link", "linktype"});
    add(ColumnRole::weight,
        {"weight", "weights", "value", "score", "confidence", "strength", "count", "rating", "ratings", "stars"});
    add(ColumnRole::user, {"user", "userid", "username", "reviewerid", "customer", "customerid"});
    add(ColumnRole::item, {"item", "itemid", "movie", "movieid", "product", "productid", "book", "bookid", "artist",
                           "artistid", "song", "songid", "track", "trackid", "film", "filmid"});
    return words;
  }();
  return map;
}

std::optional<std::vector<ColumnRole>> rolesOfLetters(const std::vector<std::string>& cells) {
  if (cells.size() != 3) return std::nullopt;
  const std::string row = plainWord(cells[0]) + plainWord(cells[1]) + plainWord(cells[2]);
  if (row != "hrt" && row != "spo" && row != "sro") return std::nullopt;
  return std::vector<ColumnRole>{ColumnRole::head, ColumnRole::relation, ColumnRole::tail};
}

}  // namespace

std::optional<ColumnRole> roleOfHeading(std::string_view cell) {
  const auto found = headings().find(plainWord(cell));
  return found == headings().end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::vector<ColumnRole>> rolesOfHeader(const std::vector<std::string>& cells) {
  if (auto letters = rolesOfLetters(cells)) return letters;
  std::vector<ColumnRole> roles;
  const auto has = [&](ColumnRole role) { return std::find(roles.begin(), roles.end(), role) != roles.end(); };
  for (const std::string& cell : cells) {
    ColumnRole role = roleOfHeading(cell).value_or(ColumnRole::ignore);
    if (has(role)) role = ColumnRole::ignore;  // the first of two columns of a role counts
    roles.push_back(role);
  }
  const bool edges = has(ColumnRole::head) && has(ColumnRole::tail);
  const bool ratings = has(ColumnRole::user) && has(ColumnRole::item);
  if (!edges && !ratings) return std::nullopt;
  for (ColumnRole& role : roles) {
    const bool ofRatings = role == ColumnRole::user || role == ColumnRole::item;
    const bool ofEdges = role == ColumnRole::head || role == ColumnRole::tail || role == ColumnRole::relation;
    if ((edges && ofRatings) || (!edges && ofEdges)) role = ColumnRole::ignore;
  }
  return roles;
}

std::string wordOfHeading(std::string_view cell) {
  std::string word = plainWord(cell);
  if (word.size() > 2 && word.ends_with("id")) word.resize(word.size() - 2);
  return word;
}

std::optional<double> parseNumber(std::string_view text, bool decimalComma) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.size() > 64) return std::nullopt;
  std::string plain(text);
  if (decimalComma && std::count(plain.begin(), plain.end(), ',') == 1 && plain.find('.') == std::string::npos) {
    std::replace(plain.begin(), plain.end(), ',', '.');
  }
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace dsa
