// SPDX-License-Identifier: Apache-2.0
// Reads runs, series, events and commands; never writes, never blocks a trainer.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/record/database.h"
#include "core/record/embedding.h"
#include "core/record/records.h"

namespace dsa {

/// A place in a series: what lies after it was not read yet. Default: before everything.
struct SampleCursor {
  int attempt = 0;
  std::int64_t step = -1;
  std::int64_t wallMs = std::numeric_limits<std::int64_t>::min();
};

/// Some of a series, in order: on the step axis strictly rising in step over all attempts, on the time axis rising in
/// (step, wall_ms).
struct SamplePage {
  std::vector<Sample> samples;
  SampleCursor next;  ///< give this for the next page; unchanged when the page is empty
  bool more = false;  ///< the page is full, there may be more now
  /// Latest attempt. When it grows, samples read before may have been superseded: read the series again from the start.
  int attempt = 0;
};

/// Over the samples that are plotted. min and max are of the finite values; absent when there is none.
struct SampleRange {
  std::uint64_t count = 0;
  std::uint64_t notFinite = 0;
  std::optional<double> min;
  std::optional<double> max;
};

/// One read-only connection. Thread: one at a time.
class Reader {
 public:
  /// Errors: as Database::open. An older file is migrated first where it may be written.
  static Result<Reader> open(const std::string& path, const DatabaseOptions& options = {});

  /// Why the file is read-only (newer version), or which backup a migration left.
  [[nodiscard]] const std::string& notice() const { return m_database.notice(); }
  [[nodiscard]] const Database& database() const { return m_database; }

  /// Newest last. Reads no sample.
  Result<std::vector<RunSummary>> runs(bool withArchived = false) const;
  /// Errors input: no such run.
  Result<RunRow> run(RunId run) const;
  /// A number, or a name that only one run has. Errors input: none, or several (their numbers are named).
  Result<RunId> find(const std::string& idOrName) const;

  Result<std::vector<AttemptRow>> attempts(RunId run) const;
  /// The metrics that the run has samples of, by name.
  Result<std::vector<MetricInfo>> metrics(RunId run) const;
  /// At most `limit` samples after the cursor, superseded ones left out.
  Result<SamplePage> samples(RunId run, MetricId metric, const SampleCursor& after = {},
                             std::size_t limit = 10000) const;
  Result<SampleRange> range(RunId run, MetricId metric) const;
  /// Events with id > afterId.
  Result<std::vector<EventRow>> events(RunId run, std::int64_t afterId = 0, std::size_t limit = 10000) const;
  Result<std::vector<CommandRow>> commands(RunId run, std::int64_t afterId = 0) const;
  Result<std::vector<ComparisonArm>> comparison(std::int64_t comparison) const;
  /// The latest state of the run's rows; nothing where none was recorded, or where it still stands at `knownStep`. A
  /// state of an earlier step is given, too: a run may have gone back. Errors input: the stored arrays are damaged.
  Result<std::optional<EmbeddingSample>> embedding(RunId run,
                                                   std::optional<std::uint64_t> knownStep = std::nullopt) const;

 private:
  explicit Reader(Database database) : m_database(std::move(database)) {}
  Database m_database;
};

}  // namespace dsa
