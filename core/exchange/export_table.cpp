// SPDX-License-Identifier: Apache-2.0
#include "core/exchange/export_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "core/exchange/part_file.h"
#include "core/store/row_scan.h"

namespace dsa {

namespace {

constexpr std::array<std::pair<ExportFormat, std::string_view>, 4> kExportFormats = {{
    {ExportFormat::npy, "npy"},
    {ExportFormat::word2vec, "word2vec"},
    {ExportFormat::tsv, "tsv"},
    {ExportFormat::raw, "raw"},
}};

/// A part of each record that becomes an array of its own.
struct Segment {
  std::string name;
  std::uint64_t offset = 0, width = 0;  // floats
  bool perRow = false;                  // one value a row: a vector, not a matrix
};

/// What the rule keeps beside the weights (FORMAT.md).
std::vector<Segment> stateOf(const TableShape& table) {
  const std::uint64_t d = table.dim;
  switch (table.rule) {
    case Rule::sparseAdam:
    case Rule::dsa:
      return {{"m", d, d, false}, {"v", 2 * d, d, false}};
    case Rule::radam:
      return {{"m", d, d, false}, {"v", 2 * d, 1, true}};
    case Rule::rowAdagrad:
      return {{"accumulator", d, 1, true}};
    case Rule::rsgd:
      break;
  }
  return {};
}

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

/// Text: numbers, and names before them or in a file of their own.
class TextWriter final : public Writer {
 public:
  TextWriter(std::uint32_t dim, const Vocabulary* names, bool word2vec)
      : m_dim(dim), m_names(names), m_word2vec(word2vec) {}
  Result<void> add(const RowBlock& block) override {
    for (std::uint64_t i = 0; i < block.count; ++i) {
      m_line.clear();
      if (m_word2vec) {
        appendName(m_line, block.first + i);
      } else {
        std::string name;
        appendName(name, block.first + i);
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
  void appendName(std::string& text, std::uint64_t row) {
    std::string scratch;
    const std::string_view name = m_names != nullptr ? m_names->view(row, scratch) : (scratch = std::to_string(row));
    for (const char c : name) {
      const bool lineEnd = c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
      text += m_word2vec && (lineEnd || c == ' ') ? '_' : lineEnd ? ' ' : c;
    }
    if (name.empty()) text += '_';
  }
  std::uint32_t m_dim;
  const Vocabulary* m_names;
  bool m_word2vec;
  std::string m_line;
};

/// "a.npy" and "m": "a-m.npy".
std::string stateFile(const std::string& out, const std::string& name) {
  const bool ending = out.ends_with(".npy");
  return (ending ? out.substr(0, out.size() - 4) : out) + "-" + name + ".npy";
}

Result<void> addFile(Writer& writer, const std::string& path, const std::string& begin) {
  DSA_ASSIGN(PartFile file, PartFile::create(path));
  DSA_TRY(file.add(begin));
  writer.files.push_back(std::move(file));
  return {};
}

Result<std::unique_ptr<Writer>> makeArrays(const TableShape& table, const std::string& out, const ExportOptions& o) {
  std::vector<Segment> segments = {{"w", 0, table.dim, false}};
  const bool raw = o.format == ExportFormat::raw;
  if (raw || o.state) {
    const std::vector<Segment> state = stateOf(table);
    if (state.empty()) {
      return fail(ErrorCode::usage, "rule {} keeps no state beside the weights; leave out --state, or raw",
                  ruleName(table.rule));
    }
    if (raw && (state.size() != 2 || state[1].perRow)) {
      return fail(ErrorCode::usage,
                  "raw holds two moments of every coordinate, which rule {} does not keep; take --format npy --state",
                  ruleName(table.rule));
    }
    segments.insert(segments.end(), state.begin(), state.end());
  }
  std::unique_ptr<Writer> writer = std::make_unique<ArrayWriter>(segments);
  for (const Segment& segment : segments) {
    const bool weights = segment.offset == 0;
    const std::string path = raw ? out + "_" + segment.name + ".dat" : weights ? out : stateFile(out, segment.name);
    DSA_TRY(addFile(*writer, path, raw ? std::string() : npyHeader(table.rows, segment)));
  }
  return writer;
}

Result<std::unique_ptr<Writer>> makeText(const TableShape& table, const std::string& out, const ExportOptions& o) {
  if (o.state) {
    return fail(ErrorCode::usage, "{} holds no optimizer state; take --format npy or raw, or leave out --state",
                exportFormatName(o.format));
  }
  if (o.names != nullptr && o.names->size() != table.rows) {
    return fail(ErrorCode::input, "{}: {} rows, but the dataset has {} names; nothing was written", table.name,
                table.rows, o.names->size());
  }
  const bool word2vec = o.format == ExportFormat::word2vec;
  std::unique_ptr<Writer> writer = std::make_unique<TextWriter>(table.dim, o.names, word2vec);
  DSA_TRY(addFile(*writer, out, word2vec ? fmt::format("{} {}\n", table.rows, table.dim) : std::string()));
  if (!word2vec) DSA_TRY(addFile(*writer, out + ".metadata.tsv", ""));
  return writer;
}

}  // namespace

std::string_view exportFormatName(ExportFormat format) {
  return std::find_if(kExportFormats.begin(), kExportFormats.end(), [&](const auto& f) { return f.first == format; })
      ->second;
}

std::optional<ExportFormat> exportFormatFromName(std::string_view name) {
  for (const auto& [format, text] : kExportFormats) {
    if (text == name) return format;
  }
  if (name == "projector") return ExportFormat::tsv;  // who reads it
  return std::nullopt;
}

Result<Exported> exportTable(const RowStore& store, const std::string& out, const ExportOptions& options) {
  DSA_CHECK(options.table < store.shape().tables.size());
  const TableShape& table = store.shape().tables[options.table];
  const bool arrays = options.format == ExportFormat::npy || options.format == ExportFormat::raw;
  DSA_ASSIGN(const std::unique_ptr<Writer> writer,
             arrays ? makeArrays(table, out, options) : makeText(table, out, options));
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
