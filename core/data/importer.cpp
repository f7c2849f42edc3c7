// SPDX-License-Identifier: Apache-2.0
#include "core/data/importer.h"

#include <algorithm>

#include "core/data/dataset_folder.h"
#include "core/data/delimited.h"
#include "core/data/import_sets.h"
#include "core/data/obo.h"
#include "core/data/openke.h"

namespace dsa {

namespace {

Result<void> checkOptions(const ImportOptions& options) {
  if (options.columns.empty()) return {};
  const auto count = [&](ColumnRole role) { return std::count(options.columns.begin(), options.columns.end(), role); };
  const bool edges = count(ColumnRole::head) == 1 && count(ColumnRole::tail) == 1 &&
                     count(ColumnRole::user) + count(ColumnRole::item) == 0;
  const bool ratings = count(ColumnRole::user) == 1 && count(ColumnRole::item) == 1 &&
                       count(ColumnRole::head) + count(ColumnRole::tail) + count(ColumnRole::relation) == 0;
  if ((edges || ratings) && count(ColumnRole::relation) <= 1 && count(ColumnRole::weight) <= 1) return {};
  return fail(ErrorCode::usage,
              "columns: head and tail (with relation and weight if there are any), or user and item (with weight), "
              "each once; the other "
              "columns -");
}

/// What the edges of a delimited text mean.
struct Meaning {
  DatasetKind kind = DatasetKind::graph;
  bool weighted = false;
  std::string implicitRelation;
  std::string sentence;
};

Meaning meaningOf(const Dialect& dialect, const ImportOptions& options) {
  Meaning meaning;
  meaning.weighted = dialect.has(ColumnRole::weight);
  std::string columns;
  for (const ColumnRole role : dialect.columns)
    columns += (columns.empty() ? "" : ", ") + std::string(columnName(role));
  const bool plainPairs = !dialect.has(ColumnRole::relation) && !meaning.weighted && !dialect.isRatings();
  if (options.asHierarchy == Choice::yes || (plainPairs && options.asHierarchy == Choice::automatic)) {
    meaning.kind = DatasetKind::hierarchy;
    meaning.implicitRelation = "is_below";
    meaning.sentence = fmt::format("columns {}: a hierarchy, head (child) below tail (parent)", columns);
  } else if (dialect.isRatings()) {
    meaning.implicitRelation = "rated";
    meaning.sentence = fmt::format("columns {}: ratings; {} and {} ids are different things", columns, dialect.userWord,
                                   dialect.itemWord);
  } else if (dialect.has(ColumnRole::relation)) {
    meaning.sentence = fmt::format("columns {}: a graph of triples", columns);
  } else {
    meaning.implicitRelation = "linked_to";
    meaning.sentence = fmt::format("columns {}: a graph with one implicit relation", columns);
  }
  return meaning;
}

Result<PeekedLines> openText(const Container& container, std::size_t member, const ImportOptions& options,
                             ImportReport& report) {
  const std::string label = container.label(member);
  DSA_ASSIGN(auto source, container.openMember(member));
  DSA_ASSIGN(LineReader reader, LineReader::open(std::move(source), label, options.encoding, options.limits.lineBytes,
                                                 options.limits.blockBytes));
  if (report.files.empty()) {
    report.encoding = reader.encoding();
    report.byteOrderMark = reader.hadMark();
  }
  report.files.push_back(label);
  return PeekedLines(std::move(reader));
}

Result<Imported> importObo(PeekedLines& lines, const ImportOptions& options, ImportReport report,
                           const std::string& name) {
  const bool asHierarchy = options.asHierarchy == Choice::yes;
  report.format = "OBO";
  report.reading =
      asHierarchy ? "is_a edges: a hierarchy, head below tail" : "is_a and relationship edges: a graph of triples";
  EdgeCollector collector(options, asHierarchy ? DatasetKind::hierarchy : DatasetKind::graph, false,
                          asHierarchy ? "is_below" : "");
  collector.begin(Split::train, report.files.front());
  DSA_TRY(readObo(lines, options, collector, report));
  return collector.finish(std::move(report), name);
}

Result<Imported> importText(const Container& container, const std::vector<SetFile>& files, const ImportOptions& options,
                            ImportReport report, const std::string& name) {
  DSA_ASSIGN(PeekedLines lines, openText(container, files.front().member, options, report));
  DSA_ASSIGN(const std::vector<std::string> first, lines.peek());
  if (looksLikeObo(first)) return importObo(lines, options, std::move(report), name);
  DSA_ASSIGN(const Dialect dialect, recogniseDialect(first, options, report.files.front()));
  const Meaning meaning = meaningOf(dialect, options);
  report.format = "delimited text";
  report.reading = meaning.sentence;
  report.separator = dialect.separator;
  report.header = dialect.header;
  report.quotes = dialect.quotes;
  report.columns = dialect.columns;
  report.questions = dialect.questions;
  if (options.minWeight && !meaning.weighted) {
    return fail(ErrorCode::usage, "{}: min_weight is {} but the file has no weight column", report.files.front(),
                *options.minWeight);
  }
  EdgeCollector collector(options, meaning.kind, meaning.weighted, meaning.implicitRelation);
  collector.begin(Split::train, report.files.front());
  DSA_TRY(readDelimited(lines, dialect, options, collector, report));
  for (std::size_t i = 1; i < files.size(); ++i) {
    DSA_ASSIGN(PeekedLines more, openText(container, files[i].member, options, report));
    collector.begin(files[i].split, report.files.back());
    DSA_TRY(readDelimited(more, dialect, options, collector, report));
  }
  const auto& weights = collector.dataset().trainWeights;
  if (dialect.isRatings() && meaning.weighted && !options.minWeight) {
    const auto good = std::count_if(weights.begin(), weights.end(), [](double weight) { return weight >= 4; });
    report.questions.push_back(fmt::format(
        "all {} ratings are kept as edges; keeping those of at least 4 would leave {}", weights.size(), good));
  }
  return collector.finish(std::move(report), name);
}

std::string countsText(const Dataset& dataset) {
  std::string text = fmt::format("{} entities, {} relations, {} edges", dataset.entityCount, dataset.relations.size(),
                                 dataset.train.size());
  if (!dataset.valid.empty() || !dataset.test.empty()) {
    text += fmt::format(" to train, {} to validate, {} to test", dataset.valid.size(), dataset.test.size());
  }
  return text;
}

/// Bad lines under BadLines::stop, and sets that nothing can be trained on, are errors.
Result<void> checkOutcome(const std::string& path, const Imported& imported, const ImportOptions& options) {
  const NoteList& bad = imported.report.badLines;
  std::string listed;
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < std::min(bad.first.size(), kShown); ++i) {
    const LineNote& note = bad.first[i];
    const std::string file = imported.report.files.size() > 1 ? fileStem(note.file) + " " : "";
    listed += fmt::format("{}{}line {}: {}", i == 0 ? "" : "; ", file, note.line, note.text);
  }
  if (bad.total > kShown) listed += fmt::format("; and {} more", bad.total - kShown);
  const std::string badText = fmt::format("{} bad line{} ({})", bad.total, bad.total == 1 ? "" : "s", listed);
  if (imported.dataset.train.empty()) {
    if (bad.total != 0) return fail(ErrorCode::input, "{}: no edge to train on: {}", path, badText);
    if (imported.report.belowMinWeight != 0) {
      return fail(ErrorCode::input, "{}: no edge to train on: all {} are below the least weight", path,
                  imported.report.belowMinWeight);
    }
    return fail(ErrorCode::input, "{}: no edge to train on in its {} lines", path, imported.report.lines);
  }
  if (bad.total != 0 && options.badLines == BadLines::stop) {
    return fail(ErrorCode::input, "{}: {}. Nothing was imported. Correct them, or skip bad lines: that leaves {}", path,
                badText, countsText(imported.dataset));
  }
  return {};
}

Result<Imported> importContainer(const std::string& path, const Container& container, const ImportOptions& options,
                                 const std::string& name) {
  if (container.kind() == Container::Kind::folder && options.member.empty()) {
    DSA_ASSIGN(const auto folder, readDatasetFolder(container.path()));
    if (folder) {
      DatasetFolder named = *folder;
      if (!options.name.empty() || named.name.empty()) named.name = name;
      return importDatasetFolder(path, named, options);
    }
  }
  ImportReport report;
  if (const auto openKe = findOpenKe(container); openKe && options.member.empty()) {
    return importOpenKe(container, *openKe, options, std::move(report), name);
  }
  DSA_ASSIGN(const std::vector<SetFile> files, chooseFiles(container, options.member));
  for (std::size_t i = 0; i < container.members().size(); ++i) {
    const bool read = std::any_of(files.begin(), files.end(), [&](const SetFile& file) { return file.member == i; });
    if (!read) report.ignored.push_back(container.members()[i].name);
  }
  return importText(container, files, options, std::move(report), name);
}

}  // namespace

Result<Imported> importDataset(const std::string& path, const ImportOptions& options) {
  DSA_TRY(checkOptions(options));
  DSA_ASSIGN(const Container container, Container::open(path, options.limits.unpack));
  const std::string name = options.name.empty() ? fileStem(container.path()) : options.name;
  DSA_ASSIGN(Imported imported, importContainer(path, container, options, name));
  DSA_TRY(checkOutcome(path, imported, options));
  if (options.closure && imported.dataset.kind != DatasetKind::hierarchy) {
    return fail(ErrorCode::usage,
                "{}: a closure is made of hierarchies only; this was read as a graph. Read it as a hierarchy too",
                path);
  }
  return imported;
}

}  // namespace dsa
