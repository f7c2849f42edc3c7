// SPDX-License-Identifier: Apache-2.0
#include "core/record/reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/record/queries.h"
#include "core/record/sqlite_guard.h"

namespace dsa {

namespace {

constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::max();

void fillSummary(SQLite::Statement& row, RunSummary& run) {
  run.id = row.getColumn(0).getInt64();
  run.uuid = row.getColumn(1).getString();
  run.name = row.getColumn(2).getString();
  run.status = runStatusFromName(row.getColumn(3).getString()).value_or(RunStatus::failed);
  run.reason = row.getColumn(4).getString();
  run.createdMs = row.getColumn(5).getInt64();
  run.startedMs = optionalInt(row.getColumn(6));
  run.endedMs = optionalInt(row.getColumn(7));
  run.heartbeatMs = optionalInt(row.getColumn(8));
  run.archived = row.getColumn(9).getInt() != 0;
  run.colour = row.getColumn(10).getInt();
  run.dataset = row.getColumn(11).getString();
  run.dim = static_cast<std::uint64_t>(row.getColumn(12).getInt64());
  run.k = row.getColumn(13).getDouble();
  run.rule = row.getColumn(14).getString();
  run.placement = row.getColumn(15).getString();
  run.model = row.getColumn(16).getString();
  run.seed = static_cast<std::uint64_t>(row.getColumn(17).getInt64());
  run.progress.step = optionalCount(row.getColumn(18));
  run.progress.epoch = optionalNumber(row.getColumn(19));
  run.progress.lossLast = optionalNumber(row.getColumn(20));
  run.progress.privatePeak = optionalCount(row.getColumn(21));
  run.progress.devicePeak = optionalCount(row.getColumn(22));
  run.progress.cachePeak = optionalCount(row.getColumn(23));
  run.progress.seconds = optionalNumber(row.getColumn(24));
  run.attempts = row.getColumn(25).getInt();
  std::istringstream tags(row.getColumn(26).getString());
  for (std::string tag; std::getline(tags, tag, '\x1f');) run.tags.push_back(tag);
  run.plannedSteps = optionalCount(row.getColumn(27));
  run.hasProcess = row.getColumn(28).getInt() != 0;
  run.hasTable = row.getColumn(29).getInt() != 0;
}

std::vector<AttemptRow> attemptsOf(SQLite::Database& db, RunId run) {
  std::vector<AttemptRow> attempts;
  SQLite::Statement rows(db, sql::kAttempts);
  rows.bind(1, run);
  while (rows.executeStep()) {
    AttemptRow& attempt = attempts.emplace_back();
    attempt.number = rows.getColumn(0).getInt();
    attempt.startStep = static_cast<std::uint64_t>(rows.getColumn(1).getInt64());
    attempt.pid = rows.getColumn(2).getInt64();
    attempt.startedMs = rows.getColumn(3).getInt64();
    attempt.endedMs = optionalInt(rows.getColumn(4));
    attempt.endedHow = rows.getColumn(5).getString();
    attempt.supersededFrom = optionalCount(rows.getColumn(6));
  }
  return attempts;
}

std::int64_t endOf(const AttemptRow& attempt) {
  return attempt.supersededFrom ? static_cast<std::int64_t>(*attempt.supersededFrom) : kNoStep;
}

/// Appends what `attempt` has after page.next, up to `limit` samples in all.
void appendSamples(SQLite::Statement& rows, const AttemptRow& attempt, std::size_t limit, SamplePage& page) {
  const SampleCursor start = page.next.attempt == attempt.number ? page.next : SampleCursor{};
  rows.reset();
  rows.bind(3, attempt.number);
  rows.bind(4, start.step);
  rows.bind(5, start.wallMs);
  rows.bind(6, endOf(attempt));
  rows.bind(7, static_cast<std::int64_t>(limit - page.samples.size()));
  while (rows.executeStep()) {
    Sample& sample = page.samples.emplace_back();
    sample.attempt = attempt.number;
    sample.step = static_cast<std::uint64_t>(rows.getColumn(0).getInt64());
    sample.wallMs = rows.getColumn(1).getInt64();
    const SQLite::Column value = rows.getColumn(2);
    sample.value = value.isNull() ? std::numeric_limits<double>::quiet_NaN() : value.getDouble();
    page.next = SampleCursor{attempt.number, static_cast<std::int64_t>(sample.step), sample.wallMs};
  }
}

}  // namespace

Result<Reader> Reader::open(const std::string& path, const DatabaseOptions& options) {
  DatabaseOptions reading = options;
  reading.access = Access::readOnly;
  auto database = Database::open(path, reading);
  std::error_code error;
  if (!database && options.access == Access::readWrite && std::filesystem::exists(path, error)) {
    // Perhaps an older file: opening it for writing lifts it, or fails with the reason that counts.
    DatabaseOptions writing = options;
    writing.access = Access::readWrite;
    DSA_ASSIGN(Database lifted, Database::open(path, writing));
    return Reader(std::move(lifted));
  }
  if (!database) return tl::unexpected<Error>(database.error());
  return Reader(std::move(*database));
}

Result<std::vector<RunSummary>> Reader::runs(bool withArchived) const {
  std::vector<RunSummary> runs;
  DSA_TRY(m_database.read("list the runs", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement rows(db, sql::kRunList);
    rows.bind(1, withArchived ? 1 : 0);
    while (rows.executeStep()) fillSummary(rows, runs.emplace_back());
    return {};
  }));
  return runs;
}

Result<RunRow> Reader::run(RunId id) const {
  RunRow run;
  DSA_TRY(m_database.read("read the run", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement row(db, sql::kRunOne);
    row.bind(1, id);
    if (!row.executeStep()) return fail(ErrorCode::input, "run {}: there is no such run", id);
    fillSummary(row, run);
    run.spec = row.getColumn(30).getString();
    run.machine = row.getColumn(31).getString();
    run.versions = row.getColumn(32).getString();
    run.notes = row.getColumn(33).getString();
    run.cacheFolder = row.getColumn(34).getString();
    run.result = row.getColumn(35).getString();
    run.pid = row.getColumn(36).getInt64();
    return {};
  }));
  return run;
}

Result<RunId> Reader::find(const std::string& idOrName) const {
  RunId number = 0;
  const auto parsed = std::from_chars(idOrName.data(), idOrName.data() + idOrName.size(), number);
  const bool isNumber = parsed.ec == std::errc() && parsed.ptr == idOrName.data() + idOrName.size();
  std::vector<RunId> found;
  DSA_TRY(m_database.read("find the run", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement byName(db, sql::kRunByName);
    byName.bind(1, idOrName);
    while (byName.executeStep()) found.push_back(byName.getColumn(0).getInt64());
    if (!isNumber) return {};
    SQLite::Statement byId(db, "SELECT 1 FROM run WHERE id = ?1");
    byId.bind(1, number);
    // The number goes before a run that happens to be named so.
    if (byId.executeStep()) found.assign(1, number);
    return {};
  }));
  if (found.empty())
    return fail(ErrorCode::input, "\"{}\": no run has this number or name; dsa runs list shows them", idOrName);
  if (found.size() > 1) {
    std::string ids;
    for (const RunId id : found) ids += fmt::format("{}{}", ids.empty() ? "" : ", ", id);
    return fail(ErrorCode::input, "\"{}\": {} runs have this name; give one of the numbers {}", idOrName, found.size(),
                ids);
  }
  return found.front();
}

Result<std::vector<AttemptRow>> Reader::attempts(RunId run) const {
  std::vector<AttemptRow> attempts;
  DSA_TRY(m_database.read("read the attempts", [&](SQLite::Database& db) -> Result<void> {
    attempts = attemptsOf(db, run);
    return {};
  }));
  return attempts;
}

Result<std::vector<MetricInfo>> Reader::metrics(RunId run) const {
  std::vector<MetricInfo> metrics;
  DSA_TRY(m_database.read("read the metrics", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement rows(db, sql::kMetrics);
    rows.bind(1, run);
    while (rows.executeStep()) {
      MetricInfo& metric = metrics.emplace_back();
      metric.id = rows.getColumn(0).getInt64();
      metric.name = rows.getColumn(1).getString();
      metric.unit = rows.getColumn(2).getString();
      metric.source = rows.getColumn(3).getString();
      metric.axis = rows.getColumn(4).getString() == "time" ? MetricAxis::time : MetricAxis::step;
    }
    return {};
  }));
  return metrics;
}

Result<SamplePage> Reader::samples(RunId run, MetricId metric, const SampleCursor& after, std::size_t limit) const {
  SamplePage page;
  page.next = after;
  DSA_TRY(m_database.read("read the samples", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement rows(db, sql::kSamplePage);
    rows.bind(1, run);
    rows.bind(2, metric);
    // Attempt by attempt, each an index search: one join over all of them would lose the key's order.
    for (const AttemptRow& attempt : attemptsOf(db, run)) {
      page.attempt = attempt.number;
      if (attempt.number >= after.attempt && page.samples.size() < limit) appendSamples(rows, attempt, limit, page);
    }
    page.more = page.samples.size() == limit;
    return {};
  }));
  return page;
}

Result<SampleRange> Reader::range(RunId run, MetricId metric) const {
  SampleRange range;
  DSA_TRY(m_database.read("read the samples", [&](SQLite::Database& db) -> Result<void> {
    for (const AttemptRow& attempt : attemptsOf(db, run)) {
      SQLite::Statement row(db, sql::kSampleRange);
      row.bind(1, run);
      row.bind(2, metric);
      row.bind(3, attempt.number);
      row.bind(4, endOf(attempt));
      row.executeStep();
      range.count += static_cast<std::uint64_t>(row.getColumn(0).getInt64());
      range.notFinite += static_cast<std::uint64_t>(row.getColumn(1).getInt64());
      if (row.isColumnNull(2)) continue;
      range.min = std::min(range.min.value_or(row.getColumn(2).getDouble()), row.getColumn(2).getDouble());
      range.max = std::max(range.max.value_or(row.getColumn(3).getDouble()), row.getColumn(3).getDouble());
    }
    return {};
  }));
  return range;
}

Result<std::vector<EventRow>> Reader::events(RunId run, std::int64_t afterId, std::size_t limit) const {
  std::vector<EventRow> events;
  DSA_TRY(m_database.read("read the events", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement rows(db, sql::kEvents);
    rows.bind(1, run);
    rows.bind(2, afterId);
    rows.bind(3, static_cast<std::int64_t>(limit));
    while (rows.executeStep()) {
      EventRow& event = events.emplace_back();
      event.id = rows.getColumn(0).getInt64();
      event.attempt = rows.getColumn(1).getInt();
      event.wallMs = rows.getColumn(2).getInt64();
      event.step = static_cast<std::uint64_t>(rows.getColumn(3).getInt64());
      event.kind = rows.getColumn(4).getString();
      event.text = rows.getColumn(5).getString();
    }
    return {};
  }));
  return events;
}

Result<std::vector<CommandRow>> Reader::commands(RunId run, std::int64_t afterId) const {
  std::vector<CommandRow> commands;
  DSA_TRY(m_database.read("read the commands", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement rows(db, sql::kCommands);
    rows.bind(1, run);
    rows.bind(2, afterId);
    while (rows.executeStep()) {
      const auto kind = commandKindFromName(rows.getColumn(1).getString());
      if (!kind) continue;  // of a newer version; its event still tells of it
      CommandRow& command = commands.emplace_back();
      command.id = rows.getColumn(0).getInt64();
      command.run = run;
      command.kind = *kind;
      command.value = optionalInt(rows.getColumn(2));
      command.createdMs = rows.getColumn(3).getInt64();
      command.takenMs = optionalInt(rows.getColumn(4));
      command.answeredMs = optionalInt(rows.getColumn(5));
      command.answer = rows.getColumn(6).getString();
    }
    return {};
  }));
  return commands;
}

Result<std::vector<ComparisonArm>> Reader::comparison(std::int64_t comparison) const {
  std::vector<ComparisonArm> arms;
  DSA_TRY(m_database.read("read the comparison", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement rows(db, sql::kComparison);
    rows.bind(1, comparison);
    while (rows.executeStep())
      arms.push_back(ComparisonArm{rows.getColumn(0).getInt64(), rows.getColumn(1).getString()});
    return {};
  }));
  return arms;
}

Result<std::optional<EmbeddingSample>> Reader::embedding(RunId run, std::optional<std::uint64_t> knownStep) const {
  std::optional<EmbeddingSample> sample;
  DSA_TRY(m_database.read("read the embedding", [&](SQLite::Database& db) -> Result<void> {
    DSA_ASSIGN(sample, reads::embedding(db, run, knownStep));
    return {};
  }));
  return sample;
}

}  // namespace dsa
