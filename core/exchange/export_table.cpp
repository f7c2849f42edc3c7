// SPDX-License-Identifier: Apache-2.0
#include "core/exchange/export_table.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "core/exchange/part_file.h"
#include "core/store/row_names.h"
#include "core/store/row_scan.h"

namespace dsa {

namespace {

std::string npyHeader(std::uint64_t rows, const Segment& segment) {
  const std::string shape = segment.perRow ? fmt::format("({},)", rows) : fmt::format("({}, {})", rows, segment.width);
  std::string dictionary = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}", shape);
  // 10 bytes before it; data begins at a multiple of 64, after a line end.
  while ((10 + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

void appendNumber(std::string& text, float value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

/// What becomes of each block of rows; owns the files.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual Result<void> add(const RowBlock& block) = 0;
  std::vector<PartFile> files;
};

/// Each segment an array in a file of its own.
class ArrayWriter final : public Writer {
 public:
  explicit ArrayWriter(std::vector<Segment> segments) : m_segments(std::move(segments)) {}
  Result<void> add(const RowBlock& block) override {
    for (std::size_t s = 0; s < m_segments.size(); ++s) {
      for (std::uint64_t i = 0; i < block.count; ++i) {
        const auto part = block.record(i).subspan(m_segments[s].offset, m_segments[s].width);
        DSA_TRY(files[s].add(std::as_bytes(part)));
      }
    }
    return {};
  }

 private:
  std::vector<Segment> m_segments;
};

/// Of the rows, asked in order: the dataset's, the table's own (it was imported), or numbers.
class NameSource {
 public:
  static Result<NameSource> open(const RowStore& store, const ExportOptions& options) {
    NameSource source;
    source.m_given = options.names;
    if (options.names != nullptr) return source;
    DSA_ASSIGN(source.m_own, RowNames::open(store, options.table));
    return source;
  }
  /// Lives until the next call.
  Result<std::string_view> of(std::uint64_t row) {
    if (m_given != nullptr) return m_given->view(row, m_scratch);
    if (m_own) return m_own->next();
    m_scratch = std::to_string(row);
    return std::string_view(m_scratch);
  }

 private:
  const Vocabulary* m_given = nullptr;
  std::optional<RowNames> m_own;
  std::string m_scratch;
};

/// Text: numbers, and names before them or in a file of their own.
class TextWriter final : public Writer {
 public:
  TextWriter(std::uint32_t dim, NameSource names, bool word2vec)
      : m_dim(dim), m_names(std::move(names)), m_word2vec(word2vec) {}
  Result<void> add(const RowBlock& block) override {
    for (std::uint64_t i = 0; i < block.count; ++i) {
      m_line.clear();
      if (m_word2vec) {
        DSA_TRY(appendName(m_line, block.first + i));
      } else {
        std::string name;
        DSA_TRY(appendName(name, block.first + i));
        DSA_TRY(files[1].add(name += '\n'));
      }
      const char separator = m_word2vec ? ' ' : '\t';
      for (std::uint32_t c = 0; c < m_dim; ++c) {
        if (c > 0 || m_word2vec) m_line += separator;
        appendNumber(m_line, block.record(i)[c]);
      }
      m_line += '\n';
      DSA_TRY(files[0].add(m_line));
    }
    return {};
  }

 private:
  /// As the format takes it: one word, or one line without tabs. An empty one would shift what follows.
  Result<void> appendName(std::string& text, std::uint64_t row) {
    DSA_ASSIGN(const std::string_view name, m_names.of(row));
    for (const char c : name) {
      const bool lineEnd = c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
      text += m_word2vec && (lineEnd || c == ' ') ? '_' : lineEnd ? ' ' : c;
    }
    if (name.empty()) text += '_';
    return {};
  }
  std::uint32_t m_dim;
  NameSource m_names;
  bool m_word2vec;
  std::string m_line;
};

Result<void> addFile(Writer& writer, const std::string& path, const std::string& begin) {
  DSA_ASSIGN(PartFile file, PartFile::create(path));
  DSA_TRY(file.add(begin));
  writer.files.push_back(std::move(file));
  return {};
}

Result<std::unique_ptr<Writer>> makeArrays(const TableShape& table, const std::string& out, const ExportOptions& o) {
  std::vector<Segment> segments = {weightsOf(table)};
  const bool raw = o.format == TableFormat::raw;
  if (raw || o.state) {
    const std::vector<Segment> state = stateOf(table);
    if (state.empty()) {
      return fail(ErrorCode::usage, "rule {} keeps no state beside the weights; leave out --state, or raw",
                  ruleName(table.rule));
    }
    if (raw && !rawHolds(state)) {
      return fail(ErrorCode::usage,
                  "raw holds two moments of every coordinate, which rule {} does not keep; take --format npy --state",
                  ruleName(table.rule));
    }
    segments.insert(segments.end(), state.begin(), state.end());
  }
  std::unique_ptr<Writer> writer = std::make_unique<ArrayWriter>(segments);
  for (const Segment& segment : segments) {
    const bool weights = segment.offset == 0;
    const std::string path = raw ? rawFile(out, segment.name) : weights ? out : npyStateFile(out, segment.name);
    DSA_TRY(addFile(*writer, path, raw ? std::string() : npyHeader(table.rows, segment)));
  }
  return writer;
}

Result<std::unique_ptr<Writer>> makeText(const RowStore& store, const std::string& out, const ExportOptions& o) {
  const TableShape& table = store.shape().tables[o.table];
  if (o.state) {
    return fail(ErrorCode::usage, "{} holds no optimizer state; take --format npy or raw, or leave out --state",
                tableFormatName(o.format));
  }
  if (o.names != nullptr && o.names->size() != table.rows) {
    return fail(ErrorCode::input, "{}: {} rows, but the dataset has {} names; nothing was written", table.name,
                table.rows, o.names->size());
  }
  DSA_ASSIGN(NameSource names, NameSource::open(store, o));
  const bool word2vec = o.format == TableFormat::word2vec;
  std::unique_ptr<Writer> writer = std::make_unique<TextWriter>(table.dim, std::move(names), word2vec);
  DSA_TRY(addFile(*writer, out, word2vec ? fmt::format("{} {}\n", table.rows, table.dim) : std::string()));
  if (!word2vec) DSA_TRY(addFile(*writer, metadataFile(out), ""));
  return writer;
}

}  // namespace

Result<Exported> exportTable(const RowStore& store, const std::string& out, const ExportOptions& options) {
  DSA_CHECK(options.table < store.shape().tables.size());
  const TableShape& table = store.shape().tables[options.table];
  const bool arrays = options.format == TableFormat::npy || options.format == TableFormat::raw;
  DSA_ASSIGN(const std::unique_ptr<Writer> writer,
             arrays ? makeArrays(table, out, options) : makeText(store, out, options));
  DSA_ASSIGN(const auto scan, RowScan::open(store, options.table, ScanRows::all));
  for (;;) {
    if (options.shouldStop && options.shouldStop())
      return fail(ErrorCode::stopped, "stopped; the table is as it was, and nothing of the export is left");
    DSA_ASSIGN(const std::optional<RowBlock> block, scan->next());
    if (!block) break;
    DSA_TRY(writer->add(*block));
    if (options.progress) options.progress(block->first + block->count, table.rows);
  }
  Exported exported;
  for (PartFile& file : writer->files) {
    DSA_TRY(file.finish());
    exported.files.push_back(file.path());
    exported.bytes += file.bytes();
  }
  DSA_TRY(publishAll(writer->files));
  const std::string folder = std::filesystem::absolute(out).parent_path().string();
  if (auto synced = syncFolder(folder); !synced) {
    return fail(synced.error().code,
                "{}. The files are there and whole, but a power loss now could take their names; export again into "
                "another folder to be sure",
                synced.error().message);
  }
  return exported;
}

}  // namespace dsa
