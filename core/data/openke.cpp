// SPDX-License-Identifier: Apache-2.0
#include "core/data/openke.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/data/line_reader.h"

namespace dsa {

namespace {

constexpr std::string_view kBlanks = " \t";

std::optional<std::uint64_t> wholeNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<LineReader> openLines(const Container& container, std::size_t member, const ImportOptions& options,
                             ImportReport& report) {
  DSA_ASSIGN(auto source, container.openMember(member));
  report.files.push_back(container.label(member));
  return LineReader::open(std::move(source), container.label(member), options.encoding, options.limits.lineBytes,
                          options.limits.blockBytes);
}

Result<std::uint64_t> readCount(LineReader& lines) {
  std::string line;
  DSA_ASSIGN(const bool any, lines.next(line));
  const auto count = wholeNumber(withoutBlanks(line));
  if (any && count) return *count;
  return fail(ErrorCode::input,
              "{}: line 1: \"{}\" is not a count; OpenKE's files begin with the number of their lines", lines.label(),
              line.substr(0, 40));
}

/// The names of an id table, by id.
Result<std::vector<std::string>> readTable(LineReader& lines, const ImportOptions& options) {
  DSA_ASSIGN(const std::uint64_t promised, readCount(lines));
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  std::string line;
  while (true) {
    DSA_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    const std::string_view text = withoutBlanks(line);
    if (text.empty()) continue;
    const std::size_t cut = text.find_last_of(kBlanks);
    const auto id = cut == std::string_view::npos ? std::nullopt : wholeNumber(text.substr(cut + 1));
    if (!id || text.find('\0') != std::string_view::npos || text.size() > options.limits.nameBytes) {
      return fail(ErrorCode::input, "{}: line {}: expected a name and an id", lines.label(), lines.number());
    }
    rows.emplace_back(*id, std::string(withoutBlanks(text.substr(0, cut))));
  }
  if (rows.size() != promised) {
    return fail(ErrorCode::input, "{}: line 1 promises {} names, there are {}; the file is cut short or was edited",
                lines.label(), promised, rows.size());
  }
  std::vector<std::string> names(rows.size());
  std::vector<bool> given(rows.size());
  for (auto& [id, name] : rows) {
    if (id >= rows.size() || given[id]) {
      return fail(ErrorCode::input, "{}: the id {} of `{}` {}; ids must run from 0 to {} without gaps", lines.label(),
                  id, name, id >= rows.size() ? "is too large" : "stands twice", rows.size() - 1);
    }
    given[id] = true;
    names[id] = std::move(name);
  }
  return names;
}

/// Reads the edge files of one set.
class EdgeFiles {
 public:
  EdgeFiles(const ImportOptions& options, EdgeCollector& collector, ImportReport& report,
            const std::vector<std::string>& entities, const std::vector<std::string>& relations)
      : m_options(options), m_collector(collector), m_report(report), m_entities(entities), m_relations(relations) {
    if (!options.columns.empty()) m_columns = options.columns;
    m_report.columns = m_columns;
  }

  Result<void> read(LineReader& lines, Split split);
  void finish();

 private:
  std::optional<std::string> addLine(std::string_view text, std::uint64_t number);
  [[nodiscard]] std::size_t place(ColumnRole role) const {
    return static_cast<std::size_t>(std::find(m_columns.begin(), m_columns.end(), role) - m_columns.begin());
  }

  const ImportOptions& m_options;
  EdgeCollector& m_collector;
  ImportReport& m_report;
  const std::vector<std::string>& m_entities;
  const std::vector<std::string>& m_relations;
  std::vector<ColumnRole> m_columns = {ColumnRole::head, ColumnRole::tail, ColumnRole::relation};
  std::string m_label;
  NoteList m_otherOrder;  ///< lines that would be wrong as head, relation, tail
  std::uint64_t m_edgeLines = 0;
  Error m_error;
  bool m_failed = false;
};

std::optional<std::string> EdgeFiles::addLine(std::string_view text, std::uint64_t number) {
  std::array<std::uint64_t, 3> ids{};
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    const auto id = wholeNumber(text.substr(0, end));
    if (!id) return fmt::format("`{}` is not an id", text.substr(0, std::min<std::size_t>(end, 40)));
    if (count < 3) ids[count] = *id;
    ++count;
    text = withoutBlanks(text.substr(end));
  }
  if (count != 3) return fmt::format("{} fields, expected 3", count);
  ++m_edgeLines;
  if (ids[1] >= m_relations.size() || ids[2] >= m_entities.size()) m_otherOrder.add(m_label, number, "");
  const std::uint64_t head = ids[place(ColumnRole::head)], tail = ids[place(ColumnRole::tail)];
  const std::uint64_t relation = ids[place(ColumnRole::relation)];
  if (std::max(head, tail) >= m_entities.size()) {
    return fmt::format("the entity id {} is not in the table of {}", std::max(head, tail), m_entities.size());
  }
  if (relation >= m_relations.size())
    return fmt::format("the relation id {} is not in the table of {}", relation, m_relations.size());
  const auto added = m_collector.add(
      {m_entities[head], m_relations[relation], m_entities[tail], m_options.asHierarchy != Choice::yes, 1}, number);
  if (!added) {
    m_failed = true;
    m_error = added.error();
  }
  return std::nullopt;
}

Result<void> EdgeFiles::read(LineReader& lines, Split split) {
  m_label = lines.label();
  m_collector.begin(split, m_label);
  DSA_ASSIGN(const std::uint64_t promised, readCount(lines));
  std::uint64_t found = 0;
  std::string line;
  while (true) {
    DSA_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    ++m_report.lines;
    const std::string_view text = withoutBlanks(line);
    if (text.empty()) {
      ++m_report.blankLines;
      continue;
    }
    ++found;
    if (auto reason = addLine(text, lines.number()))
      m_collector.badLines().add(m_label, lines.number(), std::move(*reason));
    if (m_failed) return tl::unexpected<Error>(m_error);
  }
  if (found != promised) {
    m_collector.badLines().add(
        m_label, 1,
        fmt::format("{} edges are promised, there are {}; the file is cut short or was edited", promised, found));
  }
  return {};
}

/// "line 3" or "lines 3-5" or "lines 3, 7 and 20 more".
std::string spanText(const NoteList& notes) {
  if (notes.total == 1) return fmt::format("line {}", notes.first.front().line);
  const LineNote &first = notes.first.front(), &last = notes.first.back();
  if (notes.total == notes.first.size() && first.file == last.file && last.line - first.line + 1 == notes.total) {
    return fmt::format("lines {}-{}", first.line, last.line);
  }
  return fmt::format("lines {}, {} and {} more", first.line, notes.first[1].line, notes.total - 2);
}

void EdgeFiles::finish() {
  const bool ownOrder = m_columns[1] == ColumnRole::tail && m_columns[2] == ColumnRole::relation;
  if (!ownOrder) {
    m_report.notes.emplace_back(
        "the columns were read in the order chosen, not in OpenKE's own (head, tail, relation)");
  } else if (m_otherOrder.total != 0) {
    m_report.notes.push_back(fmt::format(
        "columns are head, tail, relation (OpenKE's order); read as head, relation, tail, ids leave the tables ({})",
        spanText(m_otherOrder)));
  } else if (m_edgeLines != 0) {
    m_report.questions.emplace_back(
        "read as head, tail, relation (OpenKE's order); as head, relation, tail all ids would be in the tables too");
  }
}

Result<void> checkColumns(const ImportOptions& options) {
  if (options.columns.empty()) return {};
  std::vector<ColumnRole> sorted = options.columns;
  std::sort(sorted.begin(), sorted.end());
  if (sorted == std::vector{ColumnRole::head, ColumnRole::relation, ColumnRole::tail}) return {};
  return fail(ErrorCode::usage, "an OpenKE set has the columns head, relation and tail in some order, each once");
}

}  // namespace

std::optional<OpenKeFiles> findOpenKe(const Container& container) {
  std::optional<std::size_t> entities, relations, train, valid, test;
  for (std::size_t i = 0; i < container.members().size(); ++i) {
    const std::string stem = fileStem(container.members()[i].name);
    if (stem == "entity2id") entities = i;
    if (stem == "relation2id") relations = i;
    if (stem == "train2id") train = i;
    if (stem == "valid2id") valid = i;
    if (stem == "test2id") test = i;
  }
  if (!entities || !relations || !train) return std::nullopt;
  return OpenKeFiles{*entities, *relations, *train, valid, test};
}

Result<Imported> importOpenKe(const Container& container, const OpenKeFiles& files, const ImportOptions& options,
                              ImportReport report, const std::string& name) {
  DSA_TRY(checkColumns(options));
  report.format = "OpenKE folder";
  const bool asHierarchy = options.asHierarchy == Choice::yes;
  report.reading = fmt::format("ids in the order head, tail, relation; names from entity2id and relation2id; {}",
                               asHierarchy ? "a hierarchy, head below tail" : "graph of triples");
  report.separator = Separator::blanks;
  EdgeCollector collector(options, asHierarchy ? DatasetKind::hierarchy : DatasetKind::graph, false,
                          asHierarchy ? "is_below" : "");
  std::vector<std::string> tables[2];
  for (const bool isEntity : {true, false}) {
    DSA_ASSIGN(LineReader lines, openLines(container, isEntity ? files.entities : files.relations, options, report));
    DSA_ASSIGN(tables[isEntity ? 0 : 1], readTable(lines, options));
    if (!isEntity && asHierarchy) continue;  // their ids are checked, their names dropped
    for (const std::string& entry : tables[isEntity ? 0 : 1]) {
      const bool isNew = isEntity ? collector.addEntity(entry) : collector.addRelation(entry);
      if (!isNew) return fail(ErrorCode::input, "{}: the name `{}` stands for two ids", lines.label(), entry);
    }
  }
  EdgeFiles edges(options, collector, report, tables[0], tables[1]);
  const std::pair<Split, std::optional<std::size_t>> splits[] = {
      {Split::train, files.train}, {Split::valid, files.valid}, {Split::test, files.test}};
  for (const auto& [split, member] : splits) {
    if (!member) continue;
    DSA_ASSIGN(LineReader lines, openLines(container, *member, options, report));
    DSA_TRY(edges.read(lines, split));
  }
  edges.finish();
  return collector.finish(std::move(report), name);
}

}  // namespace dsa
