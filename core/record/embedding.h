// SPDX-License-Identifier: Apache-2.0
// Some rows of a run's table as they stood after a step: what a window draws as points.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/record/records.h"

namespace SQLite {
class Database;
}

namespace dsa {

/// Which rows are looked at; the same for every state of a run.
struct EmbeddingRows {
  std::string table;            ///< "entities"
  std::uint64_t totalRows = 0;  ///< of the table; rows.size() of them are here
  std::uint64_t dim = 0;
  double k = 0;                     ///< magnitude of the curvature, as RunSummary::k
  std::vector<std::uint64_t> rows;  ///< [n] row numbers, rising
  std::vector<std::string> labels;  ///< [n] their names, or empty where the data has none
};

/// One state of them. A value that threads share: `of` never changes.
struct EmbeddingSample {
  std::uint64_t step = 0;  ///< steps applied
  std::int64_t wallMs = 0;
  std::shared_ptr<const EmbeddingRows> of;
  std::vector<float> weights;  ///< [n x dim]
};

namespace writes {
/// Stores it in place of the run's earlier state; inside a transaction, may throw SQLite::Exception. DSA_CHECK: there
/// is a row, and the sizes fit each other.
void storeEmbedding(SQLite::Database& db, RunId run, const EmbeddingSample& sample);
}  // namespace writes

namespace reads {
/// The run's state; nothing where there is none, or where it stands at `knownStep`. Inside a transaction, may throw
/// SQLite::Exception. Errors input: sizes that do not fit each other.
Result<std::optional<EmbeddingSample>> embedding(SQLite::Database& db, RunId run,
                                                 std::optional<std::uint64_t> knownStep);
}  // namespace reads

}  // namespace dsa
