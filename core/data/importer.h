// SPDX-License-Identifier: Apache-2.0
// Reads a dataset from a file or folder of the user's: what to assume, what was recognised, what was wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/data/byte_source.h"
#include "core/data/dataset.h"
#include "core/data/hierarchy.h"
#include "core/data/line_reader.h"

namespace dsa {

enum class Separator { automatic, tab, comma, semicolon, blanks };
enum class Choice { automatic, yes, no };
enum class ColumnRole { ignore, head, relation, tail, weight, user, item };
enum class BadLines { stop, skip };
enum class UnicodeForm { asIs, nfc };

struct ImportLimits {
  UnpackLimits unpack;
  std::uint64_t lineBytes = 16ull << 20;  ///< one line, and one quoted record over several lines
  std::uint64_t nameBytes = 1ull << 16;
  /// Of text, read at once; fewer in tests, so that lines and letters go over the ends of blocks.
  std::size_t blockBytes = LineReader::kBlockBytes;
  std::uint64_t edges = 0xFFFFFFF0ull;  ///< of one split; ids and places are 32-bit
  std::uint64_t closureEdges = kMaxClosureEdges;
};

/// How to read. Every `automatic` is decided from the first lines and told in the report. The rules:
/// - A header is a first row that names a head and a tail (or user and item) column by usual words.
/// - Two columns are child, parent of a hierarchy. Three are head, relation, tail; or head, tail, weight if the third
/// holds numbers only and
///   the others do not, or not all its numbers are whole. Four are head, relation, tail, weight if the fourth holds
///   numbers only. Anything else needs a header or `columns`.
/// - A line that begins with # or % is a comment unless it has as many fields as the others.
/// - Quotes (RFC 4180) count in comma and semicolon files; in others they are letters unless `quotes` is yes.
struct ImportOptions {
  Encoding encoding = Encoding::automatic;
  Separator separator = Separator::automatic;
  Choice header = Choice::automatic;
  Choice quotes = Choice::automatic;
  bool comments = true;
  std::vector<ColumnRole> columns;  ///< empty: decided by the rules
  BadLines badLines = BadLines::stop;
  Choice weights = Choice::automatic;      ///< no: a weight column is ignored
  std::optional<double> minWeight;         ///< keep edges of at least this weight (ratings >= 4)
  Choice asHierarchy = Choice::automatic;  ///< yes: relations are dropped, head is below tail; of an OBO file only is_a
  bool closure = false;                    ///< hierarchies: train on every (node, ancestor) pair
  UnicodeForm unicode = UnicodeForm::asIs;
  std::string member;  ///< which file of an archive or folder
  std::string name;    ///< of the dataset; empty: the path's stem
  ImportLimits limits;
};

/// Something about one line.
struct LineNote {
  std::string file;        ///< as in Container::label()
  std::uint64_t line = 0;  ///< from 1
  std::string text;
};

/// The first notes of a kind and how many there were.
struct NoteList {
  static constexpr std::size_t kKept = 100;
  std::vector<LineNote> first;
  std::uint64_t total = 0;
  void add(const std::string& file, std::uint64_t line, std::string text);
};

struct ImportReport {
  std::string format;   ///< "delimited text", "OBO", "OpenKE folder"
  std::string reading;  ///< how the columns were understood, in a sentence
  Encoding encoding = Encoding::utf8;
  bool byteOrderMark = false;
  Separator separator = Separator::tab;
  bool header = false;
  bool quotes = false;
  std::vector<ColumnRole> columns;
  std::vector<std::string> files;    ///< read, in order
  std::vector<std::string> ignored;  ///< files of a folder or archive that were not
  std::uint64_t lines = 0, comments = 0, blankLines = 0;
  NoteList badLines;                 ///< number and reason
  NoteList duplicates;               ///< dropped; text says which edge
  NoteList selfLoops;                ///< kept in graphs, dropped in hierarchies
  NoteList unseen;                   ///< names of valid and test that train lacks
  NoteList leaks;                    ///< edges of valid and test that stand in train too
  NoteList nearNames;                ///< names that differ only in case, Unicode form or blanks; also relations
  std::uint64_t belowMinWeight = 0;  ///< dropped by minWeight
  std::uint64_t obsoleteTerms = 0;   ///< OBO
  bool weighted = false;
  double weightLowest = 0, weightHighest = 0;
  bool implicitRelation = false;
  std::vector<std::string> cycle;      ///< hierarchies: the names round one cycle
  std::uint64_t closureEdges = 0;      ///< 0: not closed
  std::vector<std::string> questions;  ///< where the file could be read in another way: a preview asks
  std::vector<std::string> notes;      ///< other findings, as sentences
};

struct Imported {
  Dataset dataset;
  ImportReport report;
};

/// Reads a file, an archive or a folder. Files: delimited text or OBO, packed or not. Folders and archives:
/// train/valid/test files, OpenKE's id files, what `writeDataset` wrote, or one data file. Bad lines never end the
/// reading; with BadLines::stop they end it in an error afterwards that lists the first and tells what skipping them
/// would leave. Memory: names, edges and one block of text. Errors input: missing, empty, damaged, over a limit, not
/// understood, bad lines. Errors machine: I/O.
Result<Imported> importDataset(const std::string& path, const ImportOptions& options);

[[nodiscard]] std::string_view separatorName(Separator separator);
[[nodiscard]] std::string_view columnName(ColumnRole role);
/// The same from command-line words: "tab", "comma", ...; "head,relation,tail,-". Errors usage: names the word and what
/// is allowed.
Result<Separator> parseSeparator(const std::string& text);
Result<Encoding> parseEncoding(const std::string& text);
Result<std::vector<ColumnRole>> parseColumns(const std::string& text);

/// `dog > canine > mammal > dog`.
std::string cycleText(const std::vector<std::string>& cycle);

}  // namespace dsa
