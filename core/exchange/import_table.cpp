// SPDX-License-Identifier: Apache-2.0
#include "core/exchange/import_table.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "core/exchange/row_reader.h"
#include "core/store/row_writer.h"
#include "core/store/store_names.h"

namespace dsa {

namespace {

bool fileThere(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// "a_w.dat" of "a", and of itself.
std::string rawName(const std::string& file) {
  const std::string ending = rawFile("", "w");
  return file.ends_with(ending) ? file.substr(0, file.size() - ending.size()) : file;
}

Result<TableFormat> formatOf(const std::string& file, const TableImportOptions& options) {
  if (options.format) return *options.format;
  const auto ends = [&](std::initializer_list<std::string_view> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view end) { return file.ends_with(end); });
  };
  if (ends({".npy"})) return TableFormat::npy;
  if (ends({".tsv"})) return TableFormat::tsv;
  if (ends({".vec", ".w2v", ".word2vec", ".txt"})) return TableFormat::word2vec;
  if (fileThere(rawFile(rawName(file), "w"))) return TableFormat::raw;
  return fail(ErrorCode::usage, "{}: the name does not tell the format; give --format npy, word2vec, tsv or raw", file);
}

/// One file of the table: which part of a record its rows are.
struct Part {
  Segment segment;
  std::string path;
  std::unique_ptr<RowReader> rows;
};

class Import {
 public:
  Import(const std::string& file, const TableImportOptions& options) : m_file(file), m_options(options) {}

  Result<void> open() {
    DSA_ASSIGN(m_out.format, formatOf(m_file, m_options));
    DSA_TRY(checkOptions());
    const bool raw = m_out.format == TableFormat::raw;
    const std::string path = raw ? rawFile(rawName(m_file), "w") : m_file;
    DSA_ASSIGN(std::unique_ptr<RowReader> rows, openPart(path, m_options.dim));
    if (rows->shape().vector) {
      return fail(ErrorCode::input, "{}: an array of {} single numbers, expected two dimensions, rows x columns", path,
                  rows->shape().rows);
    }
    m_out.shape = {m_options.table, rows->shape().rows, static_cast<std::uint32_t>(rows->shape().dim), m_options.rule};
    m_out.shape.stepCapacity = 1;
    m_parts.push_back({weightsOf(m_out.shape), path, std::move(rows)});
    DSA_TRY(openState());
    return openNames();
  }

  Result<void> fill(RowWriter& writer) {
    const std::uint64_t rows = m_out.shape.rows;
    const std::uint64_t often = std::max<std::uint64_t>(1, (1u << 20) / (m_out.shape.recordFloats() * sizeof(float)));
    std::vector<float> record(m_out.shape.recordFloats(), 0.0f);
    for (std::uint64_t row = 0; row < rows; ++row) {
      if (row % often == 0 && m_options.shouldStop && m_options.shouldStop())
        return fail(ErrorCode::stopped, "stopped");
      DSA_TRY(readRecord(row, record));
      DSA_TRY(addName(row, writer));
      DSA_TRY(writer.add(record));
      if (m_options.progress && ((row + 1) % often == 0 || row + 1 == rows)) m_options.progress(row + 1, rows);
    }
    for (Part& part : m_parts) {
      DSA_TRY(part.rows->end());
      m_out.rounded += part.rows->rounded();
    }
    return {};
  }

  ImportedTable& out() { return m_out; }

 private:
  Result<void> checkOptions() const {
    const bool raw = m_out.format == TableFormat::raw;
    if (raw && m_options.dim == 0)
      return fail(ErrorCode::usage, "{}: a raw file does not say how long its rows are; give --dim", m_file);
    if (!raw && m_options.dim != 0) {
      return fail(ErrorCode::usage, "--dim {}: {} says itself how long its rows are; leave out --dim", m_options.dim,
                  tableFormatName(m_out.format));
    }
    if (m_options.dim > kMostImportedDim)
      return fail(ErrorCode::usage, "--dim {}: at most {}", m_options.dim, kMostImportedDim);
    if (!names::isTableName(m_options.table)) {
      return fail(ErrorCode::usage, "--table {}: no name of a table; take at most 15 of a-z, 0-9 and _",
                  m_options.table);
    }
    return {};
  }

  Result<std::unique_ptr<RowReader>> openPart(const std::string& path, std::uint64_t rawDim) {
    DSA_ASSIGN(std::unique_ptr<SeekableBytes> bytes, fileBytes(path));
    m_out.files.push_back(path);
    return openRows(m_out.format, ByteReader(std::move(bytes), path), rawDim);
  }

  /// All files of the state, or none.
  Result<void> openState() {
    const bool raw = m_out.format == TableFormat::raw;
    if (!raw && m_out.format != TableFormat::npy) return {};
    const std::vector<Segment> state = stateOf(m_out.shape);
    const auto pathOf = [&](const Segment& segment) {
      return raw ? rawFile(rawName(m_file), segment.name) : npyStateFile(m_file, segment.name);
    };
    const auto missing = [&](const Segment& segment) { return !fileThere(pathOf(segment)); };
    const auto lacking = std::find_if(state.begin(), state.end(), missing);
    if (std::all_of(state.begin(), state.end(), missing)) return {};
    if (lacking != state.end()) {
      return fail(ErrorCode::input, "{}: not there, but other state of {} is; the files of the state, all or none",
                  pathOf(*lacking), m_file);
    }
    if (raw && !rawHolds(state)) {
      return fail(ErrorCode::usage, "--rule {}: does not keep two moments of every coordinate, as raw files hold them",
                  ruleName(m_options.rule));
    }
    for (const Segment& segment : state) DSA_TRY(openSegment(segment, pathOf(segment)));
    m_out.state = true;
    return {};
  }

  Result<void> openSegment(const Segment& segment, const std::string& path) {
    DSA_ASSIGN(std::unique_ptr<RowReader> rows, openPart(path, m_options.dim));
    const ImportedShape& found = rows->shape();
    if (found.rows != m_out.shape.rows || found.dim != segment.width) {
      return fail(ErrorCode::input, "{}: {} x {}, expected {} x {} as {} has it under rule {}", path, found.rows,
                  found.dim, m_out.shape.rows, segment.width, m_parts[0].path, ruleName(m_options.rule));
    }
    m_parts.push_back({segment, path, std::move(rows)});
    return {};
  }

  Result<void> openNames() {
    m_out.names = m_out.format == TableFormat::word2vec;
    const std::string path = metadataFile(m_file);
    if (m_out.format != TableFormat::tsv || !fileThere(path)) return {};
    DSA_ASSIGN(std::unique_ptr<SeekableBytes> bytes, fileBytes(path));
    m_out.files.push_back(path);
    m_names.emplace(std::move(bytes), path);
    DSA_ASSIGN(const std::uint64_t lines, countLines(*m_names));
    if (lines != m_out.shape.rows) {
      return fail(ErrorCode::input, "{}: {} lines, expected {}, a name for each row of {}; no line of headings", path,
                  lines, m_out.shape.rows, m_file);
    }
    m_out.names = true;
    return {};
  }

  Result<void> readRecord(std::uint64_t row, std::span<float> record) {
    for (Part& part : m_parts) {
      const std::span<float> values = record.subspan(part.segment.offset, part.segment.width);
      DSA_TRY(part.rows->next(values));
      if (!part.segment.accumulator) continue;
      const auto negative = std::find_if(values.begin(), values.end(), [](float value) { return value < 0; });
      if (negative == values.end()) continue;
      return fail(ErrorCode::input, "{}: row {}, column {}: {}, expected no negative number in a second moment",
                  part.path, row, negative - values.begin(), *negative);
    }
    return {};
  }

  Result<void> addName(std::uint64_t row, RowWriter& writer) {
    if (!m_out.names) return {};
    if (!m_names) return writer.addName(m_parts[0].rows->rowName());
    DSA_ASSIGN(const std::optional<std::string_view> name, m_names->line());
    if (!name) return fail(ErrorCode::input, "{}: ends after {} names; it was changed meanwhile", m_names->name(), row);
    DSA_TRY(checkName(m_names->name(), m_names->lineNumber(), *name));
    return writer.addName(*name);
  }

  const std::string& m_file;
  const TableImportOptions& m_options;
  ImportedTable m_out;
  std::vector<Part> m_parts;
  std::optional<ByteReader> m_names;  // of tsv
};

/// What is safe, behind what happened.
tl::unexpected<Error> nothingImported(const Error& error) {
  return fail(error.code, "{}. Nothing was imported, and nothing of it is left", error.message);
}

}  // namespace

Result<ImportedTable> importTable(const std::string& file, const std::string& folder,
                                  const TableImportOptions& options) {
  Import import(file, options);
  if (auto opened = import.open(); !opened) return nothingImported(opened.error());
  StoreShape shape;
  shape.tables = {import.out().shape};
  const auto fill = [&](std::uint32_t, RowWriter& rows) { return import.fill(rows); };
  if (auto made = RowStore::create(folder, shape, fill); !made) return nothingImported(made.error());
  return import.out();
}

}  // namespace dsa
