// SPDX-License-Identifier: Apache-2.0
#include "core/record/embedding.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/record/queries.h"
#include "core/record/sqlite_guard.h"

namespace dsa {

namespace {

static_assert(std::endian::native == std::endian::little, "the record's arrays are little-endian");

using nlohmann::json;

/// Not copied: the values must live until the statement is run. A trainer's private memory is what runs are compared
/// by.
template <class T>
void bindArray(SQLite::Statement& statement, int index, const std::vector<T>& values) {
  statement.bindNoCopy(index, static_cast<const void*>(values.data()), static_cast<int>(values.size() * sizeof(T)));
}

/// False when the bytes are no whole number of values.
template <class T>
bool takeArray(const SQLite::Column& column, std::vector<T>& values) {
  const auto bytes = static_cast<std::size_t>(column.getBytes());
  values.resize(bytes / sizeof(T));
  if (bytes > 0) std::memcpy(values.data(), column.getBlob(), values.size() * sizeof(T));
  return bytes % sizeof(T) == 0;
}

/// False for a text that is no list of names.
bool takeLabels(const std::string& text, std::vector<std::string>& labels) {
  if (text.empty()) return true;
  const json list = json::parse(text, nullptr, false);
  if (!list.is_array()) return false;
  for (const json& label : list) {
    if (!label.is_string()) return false;
    labels.push_back(label.get<std::string>());
  }
  return true;
}

}  // namespace

void writes::storeEmbedding(SQLite::Database& db, RunId run, const EmbeddingSample& sample) {
  const EmbeddingRows& of = *sample.of;
  DSA_CHECK(!of.rows.empty() && sample.weights.size() == of.rows.size() * of.dim);
  DSA_CHECK(of.labels.empty() || of.labels.size() == of.rows.size());
  SQLite::Statement store(db, R"sql(
INSERT OR REPLACE INTO embedding (run, step, wall_ms, table_name, total_rows, dim, k, rows, weights, labels)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10))sql");
  store.bind(1, run);
  store.bind(2, static_cast<std::int64_t>(sample.step));
  store.bind(3, sample.wallMs);
  store.bind(4, of.table);
  store.bind(5, static_cast<std::int64_t>(of.totalRows));
  store.bind(6, static_cast<std::int64_t>(of.dim));
  store.bind(7, of.k);
  bindArray(store, 8, of.rows);
  bindArray(store, 9, sample.weights);
  // Names come from files of any encoding: what is not UTF-8 is replaced, never an exception.
  store.bind(10, of.labels.empty() ? "" : json(of.labels).dump(-1, ' ', false, json::error_handler_t::replace));
  store.exec();
}

Result<std::optional<EmbeddingSample>> reads::embedding(SQLite::Database& db, RunId run,
                                                        std::optional<std::uint64_t> knownStep) {
  SQLite::Statement row(db, sql::kEmbedding);
  row.bind(1, run);
  bindOptional(row, 2, knownStep);
  if (!row.executeStep()) return std::nullopt;
  EmbeddingSample sample;
  auto of = std::make_shared<EmbeddingRows>();
  sample.step = static_cast<std::uint64_t>(row.getColumn(0).getInt64());
  sample.wallMs = row.getColumn(1).getInt64();
  of->table = row.getColumn(2).getString();
  of->totalRows = static_cast<std::uint64_t>(row.getColumn(3).getInt64());
  of->dim = static_cast<std::uint64_t>(row.getColumn(4).getInt64());
  of->k = row.getColumn(5).getDouble();
  bool whole = takeArray(row.getColumn(6), of->rows) && takeArray(row.getColumn(7), sample.weights) &&
               takeLabels(row.getColumn(8).getString(), of->labels);
  // Divided, not multiplied: a bundle of somebody else may say any dim.
  const std::size_t n = of->rows.size();
  whole = whole && of->dim > 0 && sample.weights.size() % of->dim == 0 && sample.weights.size() / of->dim == n &&
          (of->labels.empty() || of->labels.size() == n);
  if (!whole) {
    return fail(ErrorCode::input, "run {}: its recorded embedding is damaged: {} rows of dim {}, {} weights, {} names",
                run, n, of->dim, sample.weights.size(), of->labels.size());
  }
  sample.of = std::move(of);
  return sample;
}

}  // namespace dsa
