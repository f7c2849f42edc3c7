// SPDX-License-Identifier: Apache-2.0
// What the data tests share: temporary files, archives, and edges as text.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/data/importer.h"

namespace dsa::test {

/// A folder of its own for one test; files are made by name.
class Folder {
 public:
  Folder() { Q_ASSERT(m_dir.isValid()); }
  [[nodiscard]] std::string path(const std::string& name = {}) const {
    return m_dir.path().toStdString() + (name.empty() ? "" : "/" + name);
  }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }

 private:
  QTemporaryDir m_dir;
};

/// Bytes packed by libarchive. filter: "gzip", "xz", "bzip2", "zstd", "lz4" or "none"; format: "raw", "zip", "ustar".
inline std::string packed(const std::vector<std::pair<std::string, std::string>>& members, const char* format,
                          const char* filter) {
  std::string out(16u << 20, '\0');
  std::size_t used = 0;
  struct archive* writer = archive_write_new();
  archive_write_set_format_by_name(writer, format);
  if (std::string_view(filter) != "none") archive_write_add_filter_by_name(writer, filter);
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open_memory(writer, out.data(), out.size(), &used);
  for (const auto& [name, bytes] : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_write_header(writer, entry);
    archive_write_data(writer, bytes.data(), bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  out.resize(used);
  return out;
}

/// "head relation tail" lines of a list of edges.
inline std::vector<std::string> edgeTexts(const Dataset& dataset, const std::vector<Edge>& edges) {
  std::vector<std::string> texts;
  for (const Edge& edge : edges) {
    texts.push_back(dataset.entities.name(edge.head) + "|" + dataset.relations.name(edge.relation) + "|" +
                    dataset.entities.name(edge.tail));
  }
  return texts;
}

inline std::vector<std::string> names(const Vocabulary& vocabulary) {
  std::vector<std::string> all;
  for (std::uint64_t id = 0; id < vocabulary.size(); ++id) all.push_back(vocabulary.name(id));
  return all;
}

inline std::vector<std::uint64_t> linesOf(const NoteList& notes) {
  std::vector<std::uint64_t> lines;
  for (const LineNote& note : notes.first) lines.push_back(note.line);
  return lines;
}

inline bool anyContains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

}  // namespace dsa::test

/// Fails the test with the error's message.
#define DSA_REQUIRE(result) QVERIFY2((result).has_value(), (result).has_value() ? "" : (result).error().message.c_str())
/// The result is an error whose message has `part`.
#define DSA_REFUSED(result, part)                                                                         \
  do {                                                                                                    \
    QVERIFY2(!(result).has_value(), "expected an error");                                                 \
    QVERIFY2((result).error().message.find(part) != std::string::npos, (result).error().message.c_str()); \
  } while (false)
