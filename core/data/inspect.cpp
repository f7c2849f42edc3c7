// SPDX-License-Identifier: Apache-2.0
#include "core/data/inspect.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/data/dataset_folder.h"

namespace dsa {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFirstRows = 5;
constexpr std::size_t kShownLines = 20;  // of each kind of note in the text; the JSON has all that were kept

bool isOwnFile(const std::string& nameOrPath) {
  const auto& entries = catalogue();
  const bool bundled =
      std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == nameOrPath; });
  return !bundled && !nameOrPath.starts_with("tree:") && !nameOrPath.starts_with("zipf:");
}

Result<Inspection> readIt(const std::string& nameOrPath, const LoadOptions& options) {
  // What is not there is loadDataset's to name: a missing file, or a name near one of the catalogue's.
  std::error_code error;
  if (isOwnFile(nameOrPath) && std::filesystem::exists(nameOrPath, error)) {
    DSA_ASSIGN(Imported imported, importDataset(nameOrPath, options));
    return Inspection{std::move(imported.dataset), std::move(imported.report)};
  }
  DSA_ASSIGN(Dataset dataset, loadDataset(nameOrPath, options));
  return Inspection{std::move(dataset), std::nullopt};
}

Json notesJson(const NoteList& notes) {
  Json first = Json::array();
  for (const LineNote& note : notes.first)
    first.push_back({{"file", note.file}, {"line", note.line}, {"text", note.text}});
  return {{"total", notes.total}, {"first", first}};
}

Json reportJson(const ImportReport& report) {
  Json columns = Json::array();
  for (const ColumnRole role : report.columns) columns.push_back(columnName(role));
  Json json = {{"format", report.format},
               {"reading", report.reading},
               {"encoding", encodingName(report.encoding)},
               {"byte_order_mark", report.byteOrderMark},
               {"separator", separatorName(report.separator)},
               {"header", report.header},
               {"quotes", report.quotes},
               {"columns", columns},
               {"files", report.files},
               {"ignored_files", report.ignored},
               {"lines", report.lines},
               {"comments", report.comments},
               {"blank_lines", report.blankLines},
               {"bad_lines", notesJson(report.badLines)},
               {"duplicates", notesJson(report.duplicates)},
               {"self_loops", notesJson(report.selfLoops)},
               {"not_in_train", notesJson(report.unseen)},
               {"leaks", notesJson(report.leaks)},
               {"near_names", notesJson(report.nearNames)},
               {"below_min_weight", report.belowMinWeight},
               {"obsolete_terms", report.obsoleteTerms},
               {"implicit_relation", report.implicitRelation},
               {"cycle", report.cycle},
               {"questions", report.questions},
               {"notes", report.notes}};
  json["weights"] =
      report.weighted ? Json{{"lowest", report.weightLowest}, {"highest", report.weightHighest}} : Json(nullptr);
  return json;
}

void addNotes(std::string& text, const char* title, const NoteList& notes) {
  if (notes.total == 0) return;
  text += fmt::format("\n{}: {}", title, notes.total);
  for (std::size_t i = 0; i < std::min(notes.first.size(), kShownLines); ++i) {
    const LineNote& note = notes.first[i];
    text += note.line != 0 ? fmt::format("\n  {} line {}: {}", fileStem(note.file), note.line, note.text)
                           : "\n  " + note.text;
  }
  if (notes.total > kShownLines) text += fmt::format("\n  ... and {} more", notes.total - kShownLines);
}

void addReport(std::string& text, const ImportReport& report) {
  text += fmt::format("\nread as     {}, {}{}", report.format, encodingName(report.encoding),
                      report.byteOrderMark ? " with a byte order mark" : "");
  if (report.format == "delimited text") {
    text += fmt::format(", separator {}, {}", separatorName(report.separator),
                        report.header ? "with a header" : "no header");
  }
  text += "\n            " + report.reading;
  if (report.weighted) text += fmt::format("\nweights     {} to {}", report.weightLowest, report.weightHighest);
  text += fmt::format("\nlines       {}, {} blank, {} comments", report.lines, report.blankLines, report.comments);
  if (report.belowMinWeight != 0)
    text += fmt::format("\ndropped     {} edges below the least weight", report.belowMinWeight);
  if (!report.cycle.empty()) text += "\ncycle       " + cycleText(report.cycle);
  for (const std::string& file : report.ignored) text += "\nnot read    " + file;
  addNotes(text, "bad lines skipped", report.badLines);
  addNotes(text, "duplicates dropped", report.duplicates);
  addNotes(text, "self-loops", report.selfLoops);
  addNotes(text, "not in train", report.unseen);
  addNotes(text, "also in another split", report.leaks);
  addNotes(text, "near-equal names", report.nearNames);
  for (const std::string& note : report.notes) text += "\nnote        " + note;
  for (const std::string& question : report.questions) text += "\nto confirm  " + question;
}

}  // namespace

Result<Inspection> inspectDataset(const std::string& nameOrPath, const LoadOptions& options) {
  LoadOptions lenient = options;
  lenient.badLines = BadLines::skip;
  return readIt(nameOrPath, lenient);
}

Result<Inspection> importToFolder(const std::string& nameOrPath, const std::string& folder,
                                  const LoadOptions& options) {
  DSA_ASSIGN(Inspection inspection, readIt(nameOrPath, options));
  DSA_TRY(writeDataset(inspection.dataset, folder));
  return inspection;
}

std::string describeText(const Inspection& inspection) {
  const Dataset& dataset = inspection.dataset;
  std::string text =
      fmt::format("{}\nkind        {}\nentities    {}", dataset.name, kindName(dataset.kind), dataset.entityCount);
  if (dataset.kind == DatasetKind::pairs) {
    text += fmt::format("\npairs       Zipf exponent {}, {} clusters; no list of edges", dataset.zipf.exponent,
                        dataset.zipf.clusters);
  } else {
    text += fmt::format("\nrelations   {}\nedges       {} train, {} valid, {} test", dataset.relations.size(),
                        dataset.train.size(), dataset.valid.size(), dataset.test.size());
  }
  text += "\nsha256      " + dataset.sha256;
  if (!dataset.licence.empty()) text += "\nlicence     " + dataset.licence;
  if (inspection.report) {
    addReport(text, *inspection.report);
  } else {
    for (const std::string& warning : dataset.warnings) text += "\nwarning     " + warning;
  }
  for (std::size_t i = 0; i < std::min(dataset.train.size(), kFirstRows); ++i) {
    const Edge& edge = dataset.train[i];
    text += fmt::format("\n{}{} | {} | {}", i == 0 ? "first rows  " : "            ", dataset.entities.name(edge.head),
                        dataset.relations.name(edge.relation), dataset.entities.name(edge.tail));
    if (!dataset.trainWeights.empty()) text += fmt::format(" | {}", dataset.trainWeights[i]);
  }
  return text;
}

Json describeJson(const Inspection& inspection) {
  const Dataset& dataset = inspection.dataset;
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(dataset.train.size(), kFirstRows); ++i) {
    const Edge& edge = dataset.train[i];
    Json row = {dataset.entities.name(edge.head), dataset.relations.name(edge.relation),
                dataset.entities.name(edge.tail)};
    if (!dataset.trainWeights.empty()) row.push_back(dataset.trainWeights[i]);
    rows.push_back(row);
  }
  Json json = {{"name", dataset.name},
               {"kind", kindName(dataset.kind)},
               {"entities", dataset.entityCount},
               {"relations", dataset.relations.size()},
               {"train", dataset.train.size()},
               {"valid", dataset.valid.size()},
               {"test", dataset.test.size()},
               {"sha256", dataset.sha256},
               {"licence", dataset.licence},
               {"warnings", dataset.warnings},
               {"first_rows", rows}};
  if (dataset.kind == DatasetKind::pairs)
    json["zipf"] = {{"exponent", dataset.zipf.exponent}, {"clusters", dataset.zipf.clusters}};
  if (inspection.report) json["import"] = reportJson(*inspection.report);
  return json;
}

std::string catalogueText() {
  std::string text = fmt::format("{:<16} {:<10} {:>9} {:>9} {:>9} {:>7} {:>7}", "name", "kind", "entities", "relations",
                                 "train", "valid", "test");
  for (const CatalogueEntry& entry : catalogue()) {
    text += fmt::format("\n{:<16} {:<10} {:>9} {:>9} {:>9} {:>7} {:>7}\n    {}\n    {}", entry.name,
                        kindName(entry.kind), entry.entities, entry.relations, entry.train, entry.valid, entry.test,
                        entry.description, entry.licence);
  }
  text +=
      "\ntree:BRANCHING,DEPTH  a complete tree with every node's ancestors\nzipf:ROWS             pairs drawn by a "
      "Zipf law";
  return text;
}

Json catalogueJson() {
  Json list = Json::array();
  for (const CatalogueEntry& entry : catalogue()) {
    list.push_back({{"name", entry.name},
                    {"kind", kindName(entry.kind)},
                    {"entities", entry.entities},
                    {"relations", entry.relations},
                    {"train", entry.train},
                    {"valid", entry.valid},
                    {"test", entry.test},
                    {"licence", entry.licence},
                    {"description", entry.description}});
  }
  return {{"datasets", list}};
}

}  // namespace dsa
