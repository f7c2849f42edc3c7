// SPDX-License-Identifier: Apache-2.0
#include "core/data/dataset_folder.h"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/data/delimited.h"
#include "core/data/import_sets.h"

namespace dsa {

namespace {

constexpr const char* kFormat = "dsa-lab dataset 1";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Whether a reader that does not know quotes would give back another name.
bool needsQuotes(std::string_view name) {
  return name.find('\t') != std::string_view::npos || name.front() == ' ' || name.back() == ' ' ||
         name.starts_with(kByteOrderMark);
}

bool anyNeedsQuotes(const Vocabulary& names) {
  std::string scratch;
  for (std::uint64_t id = 0; id < names.size(); ++id) {
    if (needsQuotes(names.view(id, scratch))) return true;
  }
  return false;
}

/// A file being written in pieces.
class TextWriter {
 public:
  static Result<TextWriter> create(const std::string& path, bool quoted) {
    TextWriter writer;
    writer.m_quoted = quoted;
    DSA_ASSIGN(writer.m_file, File::open(path, File::Mode::createNew));
    return writer;
  }
  void field(std::string_view text, char end) {
    if (m_quoted && (needsQuotes(text) || text.front() == '"')) {
      m_buffer.push_back('"');
      for (const char c : text) m_buffer.append(c == '"' ? 2 : 1, c);
      m_buffer.push_back('"');
    } else {
      m_buffer.append(text);
    }
    m_buffer.push_back(end);
  }
  Result<void> flush(std::size_t above = 0) {
    if (m_buffer.size() <= above) return {};
    DSA_TRY(m_file.writeAt(std::as_bytes(std::span(m_buffer)), m_offset));
    m_offset += m_buffer.size();
    m_buffer.clear();
    return {};
  }
  Result<void> finish() {
    DSA_TRY(flush());
    return m_file.sync();
  }

 private:
  File m_file;
  std::string m_buffer;
  std::uint64_t m_offset = 0;
  bool m_quoted = false;
};

constexpr std::size_t kPiece = 1 << 18;

Result<void> writeNames(const Vocabulary& names, const std::string& path, bool quoted) {
  DSA_ASSIGN(TextWriter writer, TextWriter::create(path, quoted));
  std::string scratch;
  for (std::uint64_t id = 0; id < names.size(); ++id) {
    writer.field(names.view(id, scratch), '\n');
    DSA_TRY(writer.flush(kPiece));
  }
  return writer.finish();
}

Result<void> writeEdges(const Dataset& dataset, const std::vector<Edge>& edges, bool weighted, const std::string& path,
                        bool quoted) {
  DSA_ASSIGN(TextWriter writer, TextWriter::create(path, quoted));
  std::string scratch;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    writer.field(dataset.entities.view(edge.head, scratch), '\t');
    if (dataset.kind == DatasetKind::graph) writer.field(dataset.relations.view(edge.relation, scratch), '\t');
    writer.field(dataset.entities.view(edge.tail, scratch), weighted ? '\t' : '\n');
    // Only training edges keep their weights; evaluation does not use them.
    if (weighted)
      writer.field(fmt::format("{}", i < dataset.trainWeights.size() ? dataset.trainWeights[i] : 1.0), '\n');
    DSA_TRY(writer.flush(kPiece));
  }
  return writer.finish();
}

Result<void> writeAll(const Dataset& dataset, const std::string& folder) {
  const bool quoted = anyNeedsQuotes(dataset.entities) || anyNeedsQuotes(dataset.relations);
  const bool weighted = !dataset.trainWeights.empty();
  DSA_TRY(writeNames(dataset.entities, folder + "/entities.tsv", quoted));
  DSA_TRY(writeNames(dataset.relations, folder + "/relations.tsv", quoted));
  DSA_TRY(writeEdges(dataset, dataset.train, weighted, folder + "/train.tsv", quoted));
  if (!dataset.valid.empty()) DSA_TRY(writeEdges(dataset, dataset.valid, weighted, folder + "/valid.tsv", quoted));
  if (!dataset.test.empty()) DSA_TRY(writeEdges(dataset, dataset.test, weighted, folder + "/test.tsv", quoted));
  const nlohmann::ordered_json json = {
      {"format", kFormat},
      {"name", dataset.name},
      {"kind", kindName(dataset.kind)},
      {"weighted", weighted},
      {"quoted", quoted},
      {"entities", dataset.entityCount},
      {"relations", dataset.relations.size()},
      {"train", dataset.train.size()},
      {"valid", dataset.valid.size()},
      {"test", dataset.test.size()},
      {"sha256", dataset.sha256},
      {"licence", dataset.licence},
      {"warnings", dataset.warnings},
  };
  return writeTextFileAtomically(folder + "/dataset.json",
                                 json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Result<std::vector<std::string>> readNames(const std::string& path, bool quoted, const ImportOptions& options) {
  DSA_ASSIGN(const Container container, Container::open(path, options.limits.unpack));
  DSA_ASSIGN(auto source, container.openMember(0));
  DSA_ASSIGN(LineReader lines, LineReader::open(std::move(source), path, Encoding::utf8, options.limits.lineBytes,
                                                options.limits.blockBytes));
  std::vector<std::string> names, fields;
  std::string line;
  while (true) {
    DSA_ASSIGN(const bool more, lines.next(line));
    if (!more) return names;
    if (cutFields(line, Separator::tab, quoted, fields) != CutState::whole || fields.size() != 1 || fields[0].empty()) {
      return fail(ErrorCode::input, "{}: line {}: expected one name", path, lines.number());
    }
    names.push_back(fields[0]);
  }
}

}  // namespace

Result<void> writeDataset(const Dataset& dataset, const std::string& folder) {
  namespace fs = std::filesystem;
  if (dataset.kind == DatasetKind::pairs) {
    return fail(ErrorCode::input, "{}: a synthetic set of pairs has no edges to write; its name is all there is",
                dataset.name);
  }
  std::error_code error;
  const fs::path target = fs::absolute(folder, error).lexically_normal();
  const fs::path place = target.has_filename() ? target : target.parent_path();
  if (fs::exists(place, error) && !(fs::is_directory(place, error) && fs::is_empty(place, error))) {
    return fail(ErrorCode::input,
                "{}: there is something there already; nothing was written. Remove it or choose another folder",
                folder);
  }
  DSA_TRY(makeFolder(place.parent_path().string()));
  std::string partial = (place.parent_path() / ("." + place.filename().string() + ".partial-XXXXXX")).string();
  if (::mkdtemp(partial.data()) == nullptr) return failErrno(partial, "create", errno);
  Result<void> written = writeAll(dataset, partial);
  if (written) written = syncFolder(partial);
  if (written) {
    fs::permissions(partial, fs::perms(0755), error);  // mkdtemp makes it 0700
    if (::rename(partial.c_str(), place.c_str()) != 0) written = failErrno(folder, "write", errno);
  }
  if (!written) {
    fs::remove_all(partial, error);
    return written;
  }
  return syncFolder(place.parent_path().string());
}

Result<std::optional<DatasetFolder>> readDatasetFolder(const std::string& folder) {
  const std::string path = folder + "/dataset.json";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::optional<DatasetFolder>();
  DSA_ASSIGN(const std::string text, readTextFile(path, 64u << 20));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto word = [&](const char* key) -> std::optional<std::string> {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_string() ? std::optional(found->get<std::string>()) : std::nullopt;
  };
  const auto flag = [&](const char* key) {
    return json.contains(key) && json[key].is_boolean() && json[key].get<bool>();
  };
  const auto format = word("format");
  if (!format) return std::optional<DatasetFolder>();  // someone else's dataset.json
  const auto kind = kindFromName(word("kind").value_or(""));
  if (*format != kFormat || !kind || *kind == DatasetKind::pairs) {
    return fail(
        ErrorCode::input,
        "{}: format \"{}\", kind \"{}\"; expected \"{}\" and hierarchy or graph. It is damaged or of a newer version",
        path, *format, word("kind").value_or(""), kFormat);
  }
  return std::optional(DatasetFolder{word("name").value_or(""), *kind, flag("weighted"), flag("quoted"),
                                     word("sha256").value_or(""), word("licence").value_or("")});
}

Result<Imported> importDatasetFolder(const std::string& path, const DatasetFolder& folder,
                                     const ImportOptions& options) {
  using enum ColumnRole;
  DSA_ASSIGN(const Container container, Container::open(path, options.limits.unpack));
  DSA_ASSIGN(const std::vector<SetFile> files, chooseFiles(container, ""));
  Dialect dialect;
  dialect.quotes = folder.quoted;
  dialect.columns = folder.kind == DatasetKind::graph ? std::vector{head, relation, tail} : std::vector{head, tail};
  if (folder.weighted) dialect.columns.push_back(weight);
  ImportOptions pinned = options;
  pinned.comments = false;
  // A name may be of two parts ("user" and an id, a term's name and its id): longer than what is read from others.
  pinned.limits.nameBytes = pinned.limits.lineBytes;
  ImportReport report;
  report.format = "DSA Lab dataset folder";
  const bool dropsRelations = folder.kind == DatasetKind::graph && options.asHierarchy == Choice::yes;
  const DatasetKind kind = dropsRelations ? DatasetKind::hierarchy : folder.kind;
  report.reading = fmt::format("a {} as an import wrote it{}", kindName(folder.kind),
                               dropsRelations ? ", read as a hierarchy: head below tail" : "");
  report.columns = dialect.columns;
  report.quotes = folder.quoted;
  EdgeCollector collector(pinned, kind, folder.weighted, kind == DatasetKind::graph ? "" : "is_below");
  for (const bool isEntity : {true, false}) {
    if (!isEntity && dropsRelations) continue;
    DSA_ASSIGN(const auto names,
               readNames(path + (isEntity ? "/entities.tsv" : "/relations.tsv"), folder.quoted, pinned));
    for (const std::string& name : names) isEntity ? collector.addEntity(name) : collector.addRelation(name);
  }
  for (const SetFile& file : files) {
    const std::string label = container.label(file.member);
    DSA_ASSIGN(auto source, container.openMember(file.member));
    DSA_ASSIGN(LineReader reader, LineReader::open(std::move(source), label, Encoding::utf8, pinned.limits.lineBytes,
                                                   pinned.limits.blockBytes));
    PeekedLines lines(std::move(reader));
    report.files.push_back(label);
    collector.begin(file.split, label);
    DSA_TRY(readDelimited(lines, dialect, pinned, collector, report));
  }
  DSA_ASSIGN(Imported imported, collector.finish(std::move(report), folder.name));
  imported.dataset.licence = folder.licence;
  const bool asWritten =
      !options.closure && !options.minWeight && !dropsRelations && options.unicode == UnicodeForm::asIs;
  if (asWritten && imported.dataset.sha256 != folder.sha256) {
    imported.dataset.warnings.push_back(
        fmt::format("{}: the content has changed since it was written (sha256 {}, dataset.json says {})", path,
                    imported.dataset.sha256, folder.sha256));
  }
  return imported;
}

}  // namespace dsa
