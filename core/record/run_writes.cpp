// SPDX-License-Identifier: Apache-2.0
#include "core/record/run_writes.h"

#include <cmath>

#include "core/record/sqlite_guard.h"

namespace dsa::writes {

namespace {

std::string text(std::string_view view) { return std::string(view); }

void bindIdentity(SQLite::Statement& statement, int first, const ProcessIdentity& who) {
  statement.bind(first, who.pid);
  statement.bind(first + 1, static_cast<std::int64_t>(who.startTicks));
  statement.bind(first + 2, who.bootId);
  statement.bind(first + 3, who.pidNamespace);
  statement.bind(first + 4, who.machineId);
}

}  // namespace

RunId insertRun(SQLite::Database& db, const RunRow& row, const ProcessIdentity* self) {
  SQLite::Statement insert(db, R"sql(
INSERT INTO run (uuid, name, spec, status, reason, created_ms, machine, versions, colour, notes, cache_folder, dataset, dim, k, rule,
  placement, model, seed, heartbeat_ms, pid, pid_start, boot_id, pid_namespace, machine_id,
  planned_steps)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?6, ?19, ?20, ?21, ?22, ?23, ?24))sql");
  insert.bind(1, row.uuid.empty() ? newUuid() : row.uuid);
  insert.bind(2, row.name);
  insert.bind(3, row.spec);
  insert.bind(4, text(runStatusName(row.status)));
  insert.bind(5, row.reason);
  insert.bind(6, row.createdMs != 0 ? row.createdMs : wallClockMs());
  insert.bind(7, row.machine);
  insert.bind(8, row.versions);
  insert.bind(9, row.colour);
  insert.bind(10, row.notes);
  insert.bind(11, row.cacheFolder);
  insert.bind(12, row.dataset);
  insert.bind(13, static_cast<std::int64_t>(row.dim));
  insert.bind(14, row.k);
  insert.bind(15, row.rule);
  insert.bind(16, row.placement);
  insert.bind(17, row.model);
  insert.bind(18, static_cast<std::int64_t>(row.seed));
  // A run that waits has no process: nothing finds it interrupted.
  bindIdentity(insert, 19, self != nullptr ? *self : ProcessIdentity{});
  if (self == nullptr) {
    insert.bind(19);
    insert.bind(20);
  }
  bindOptional(insert, 24, row.plannedSteps);
  insert.exec();
  const RunId id = db.getLastInsertRowid();
  SQLite::Statement finish(db, R"sql(
UPDATE run SET name = CASE name WHEN '' THEN 'run-' || id ELSE name END,
  colour = CASE WHEN colour < 0 THEN (id - 1) % 8 ELSE colour END WHERE id = ?1)sql");
  finish.bind(1, id);
  finish.exec();
  return id;
}

Result<std::int64_t> adoptRun(SQLite::Database& db, RunId run, const ProcessIdentity& self) {
  SQLite::Statement find(db, R"sql(
SELECT status, coalesce(pid, 0), coalesce(pid_start, 0), boot_id, pid_namespace, machine_id,
  (SELECT coalesce(max(id), 0) FROM command WHERE run = ?1) FROM run WHERE id = ?1)sql");
  find.bind(1, run);
  if (!find.executeStep()) return fail(ErrorCode::input, "run {}: there is no such run", run);
  const auto status = runStatusFromName(find.getColumn(0).getString());
  ProcessIdentity holder;
  holder.pid = find.getColumn(1).getInt64();
  holder.startTicks = static_cast<std::uint64_t>(find.getColumn(2).getInt64());
  holder.bootId = find.getColumn(3).getString();
  holder.pidNamespace = find.getColumn(4).getString();
  holder.machineId = find.getColumn(5).getString();
  const std::int64_t lastCommand = find.getColumn(6).getInt64();
  const bool mine = holder.pid == self.pid && holder.startTicks == self.startTicks;
  if (status && runStatusIsActive(*status) && !mine && livenessOf(holder) == Liveness::alive) {
    return fail(ErrorCode::machine, "run {}: is being trained by process {}; stop that one first", run, holder.pid);
  }
  SQLite::Statement adopt(db, R"sql(
UPDATE run SET pid = ?2, pid_start = ?3, boot_id = ?4, pid_namespace = ?5, machine_id = ?6, heartbeat_ms = ?7, status = 'queued',
  reason = '', ended_ms = NULL WHERE id = ?1)sql");
  adopt.bind(1, run);
  bindIdentity(adopt, 2, self);
  adopt.bind(7, wallClockMs());
  adopt.exec();
  answerUnreadCommands(db, run, "not read: the process it was meant for had ended");
  return lastCommand;
}

int beginAttempt(SQLite::Database& db, RunId run, std::uint64_t startStep, const ProcessIdentity& self,
                 const std::string& how) {
  const std::int64_t now = wallClockMs();
  SQLite::Statement last(db, "SELECT coalesce(max(number), 0) FROM attempt WHERE run = ?1");
  last.bind(1, run);
  last.executeStep();
  const int number = last.getColumn(0).getInt() + 1;

  SQLite::Statement end(db, R"sql(
UPDATE attempt SET ended_how = ?2, ended_ms = (SELECT coalesce(heartbeat_ms, ?3) FROM run WHERE id = ?1)
WHERE run = ?1 AND ended_ms IS NULL)sql");
  end.bind(1, run);
  end.bind(2, how);
  end.bind(3, now);
  end.exec();

  // Training from step 0 repeats step 0 itself; from a checkpoint it goes on with the step after it.
  const std::int64_t from = startStep == 0 ? 0 : static_cast<std::int64_t>(startStep) + 1;
  SQLite::Statement supersede(db, R"sql(
UPDATE attempt SET superseded_from = min(coalesce(superseded_from, ?2), ?2) WHERE run = ?1)sql");
  supersede.bind(1, run);
  supersede.bind(2, from);
  supersede.exec();

  SQLite::Statement insert(db, R"sql(
INSERT INTO attempt (run, number, start_step, pid, started_ms) VALUES (?1, ?2, ?3, ?4, ?5))sql");
  insert.bind(1, run);
  insert.bind(2, number);
  insert.bind(3, static_cast<std::int64_t>(startStep));
  insert.bind(4, self.pid);
  insert.bind(5, now);
  insert.exec();

  SQLite::Statement start(db, R"sql(
UPDATE run SET status = 'running', reason = '', started_ms = coalesce(started_ms, ?2), ended_ms = NULL, heartbeat_ms = ?2
WHERE id = ?1)sql");
  start.bind(1, run);
  start.bind(2, now);
  start.exec();
  return number;
}

void setStatus(SQLite::Database& db, RunId run, RunStatus status, const std::string& reason) {
  SQLite::Statement update(db, "UPDATE run SET status = ?2, reason = ?3 WHERE id = ?1");
  update.bind(1, run);
  update.bind(2, text(runStatusName(status)));
  update.bind(3, reason);
  update.exec();
}

bool updateProgress(SQLite::Database& db, RunId run, const RunProgress& progress, std::int64_t heartbeatMs) {
  SQLite::Statement update(db, R"sql(
UPDATE run SET heartbeat_ms = ?2, step = coalesce(?3, step), epoch = coalesce(?4, epoch), loss_last = coalesce(?5, loss_last),
  private_peak = coalesce(?6, private_peak), device_peak = coalesce(?7, device_peak), cache_peak = coalesce(?8, cache_peak),
  seconds = coalesce(?9, seconds) WHERE id = ?1)sql");
  update.bind(1, run);
  update.bind(2, heartbeatMs);
  bindOptional(update, 3, progress.step);
  bindOptional(update, 4, progress.epoch);
  bindOptional(update, 5, progress.lossLast);
  bindOptional(update, 6, progress.privatePeak);
  bindOptional(update, 7, progress.devicePeak);
  bindOptional(update, 8, progress.cachePeak);
  bindOptional(update, 9, progress.seconds);
  return update.exec() == 1;
}

MetricId storeMetric(SQLite::Database& db, const MetricInfo& metric) {
  SQLite::Statement insert(db, R"sql(
INSERT INTO metric (name, unit, source, axis) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO NOTHING)sql");
  insert.bind(1, metric.name);
  insert.bind(2, metric.unit);
  insert.bind(3, metric.source);
  insert.bind(4, metric.axis == MetricAxis::step ? "step" : "time");
  insert.exec();
  SQLite::Statement find(db, "SELECT id FROM metric WHERE name = ?1");
  find.bind(1, metric.name);
  find.executeStep();
  return find.getColumn(0).getInt64();
}

void insertSamples(SQLite::Database& db, RunId run, const std::vector<StoredSample>& samples) {
  SQLite::Statement insert(db, R"sql(
INSERT OR REPLACE INTO sample (run, metric, attempt, step, wall_ms, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6))sql");
  insert.bind(1, run);
  for (const StoredSample& stored : samples) {
    insert.bind(2, stored.metric);
    insert.bind(3, stored.sample.attempt);
    insert.bind(4, static_cast<std::int64_t>(stored.sample.step));
    insert.bind(5, stored.sample.wallMs);
    // NULL in this column means NaN and nothing else: there is no sample without a value.
    std::isnan(stored.sample.value) ? insert.bind(6) : insert.bind(6, stored.sample.value);
    insert.exec();
    insert.reset();
  }
}

void insertEvent(SQLite::Database& db, RunId run, const EventRow& event) {
  SQLite::Statement insert(db, R"sql(
INSERT INTO event (run, attempt, wall_ms, step, kind, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6))sql");
  insert.bind(1, run);
  insert.bind(2, event.attempt);
  insert.bind(3, event.wallMs);
  insert.bind(4, static_cast<std::int64_t>(event.step));
  insert.bind(5, event.kind);
  insert.bind(6, event.text);
  insert.exec();
}

void markCommandTaken(SQLite::Database& db, std::int64_t command, std::int64_t wallMs) {
  SQLite::Statement update(db, "UPDATE command SET taken_ms = ?2 WHERE id = ?1 AND taken_ms IS NULL");
  update.bind(1, command);
  update.bind(2, wallMs);
  update.exec();
}

void answerCommand(SQLite::Database& db, std::int64_t command, std::int64_t wallMs, const std::string& answer) {
  SQLite::Statement update(db, R"sql(
UPDATE command SET taken_ms = coalesce(taken_ms, ?2), answered_ms = ?2, answer = ?3 WHERE id = ?1 AND answered_ms IS NULL)sql");
  update.bind(1, command);
  update.bind(2, wallMs);
  update.bind(3, answer);
  update.exec();
}

void answerUnreadCommands(SQLite::Database& db, RunId run, const std::string& answer) {
  SQLite::Statement update(db, R"sql(
UPDATE command SET taken_ms = coalesce(taken_ms, ?2), answered_ms = ?2, answer = ?3 WHERE run = ?1 AND answered_ms IS NULL)sql");
  update.bind(1, run);
  update.bind(2, wallClockMs());
  update.bind(3, answer);
  update.exec();
}

Result<void> finishRun(SQLite::Database& db, RunId run, int attempt, RunStatus status, const std::string& reason,
                       const std::string& result) {
  const std::int64_t now = wallClockMs();
  SQLite::Statement end(db, "UPDATE attempt SET ended_ms = ?3, ended_how = ?4 WHERE run = ?1 AND number = ?2");
  end.bind(1, run);
  end.bind(2, attempt);
  end.bind(3, now);
  end.bind(4, text(runStatusName(status)));
  end.exec();
  SQLite::Statement update(db, R"sql(
UPDATE run SET status = ?2, reason = ?3, result = ?4, ended_ms = ?5, heartbeat_ms = ?5 WHERE id = ?1)sql");
  update.bind(1, run);
  update.bind(2, text(runStatusName(status)));
  update.bind(3, reason);
  update.bind(4, result);
  update.bind(5, now);
  if (update.exec() != 1)
    return fail(ErrorCode::input, "run {}: was removed from the database, its end is not stored", run);
  answerUnreadCommands(db, run, "not read: the run had ended");
  return {};
}

}  // namespace dsa::writes
