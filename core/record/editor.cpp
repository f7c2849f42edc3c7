// SPDX-License-Identifier: Apache-2.0
#include "core/record/editor.h"

#include <algorithm>
#include <utility>

#include "core/record/process_identity.h"
#include "core/record/queries.h"
#include "core/record/run_writes.h"
#include "core/record/sqlite_guard.h"

namespace dsa {

namespace {

struct ActiveRun {
  RunId id = 0;
  ProcessIdentity process;
  std::int64_t heartbeatMs = 0;
};

std::vector<ActiveRun> activeRuns(SQLite::Database& db) {
  std::vector<ActiveRun> runs;
  SQLite::Statement rows(db, sql::kActiveRuns);
  while (rows.executeStep()) {
    ActiveRun& run = runs.emplace_back();
    run.id = rows.getColumn(0).getInt64();
    run.process.pid = rows.getColumn(1).getInt64();
    run.process.startTicks = static_cast<std::uint64_t>(rows.getColumn(2).getInt64());
    run.process.bootId = rows.getColumn(3).getString();
    run.process.pidNamespace = rows.getColumn(4).getString();
    run.process.machineId = rows.getColumn(5).getString();
    run.heartbeatMs = rows.getColumn(6).getInt64();
  }
  return runs;
}

bool isGone(const ActiveRun& run, std::int64_t foreignSilenceMs) {
  const Liveness liveness = livenessOf(run.process);
  if (liveness == Liveness::unknown) return wallClockMs() - run.heartbeatMs > foreignSilenceMs;
  return liveness == Liveness::gone;
}

std::vector<ActiveRun> goneRuns(SQLite::Database& db, std::int64_t foreignSilenceMs) {
  std::vector<ActiveRun> runs = activeRuns(db);
  std::erase_if(runs, [&](const ActiveRun& run) { return !isGone(run, foreignSilenceMs); });
  return runs;
}

/// An event of the latest attempt, now, at the step that the run has reached.
void tellOf(SQLite::Database& db, RunId run, const std::string& kind, const std::string& text) {
  SQLite::Statement event(db, R"sql(
INSERT INTO event (run, attempt, wall_ms, step, kind, text)
SELECT ?1, coalesce((SELECT max(number) FROM attempt WHERE run = ?1), 0), ?2, coalesce(step, 0), ?3, ?4
FROM run WHERE id = ?1)sql");
  event.bind(1, run);
  event.bind(2, wallClockMs());
  event.bind(3, kind);
  event.bind(4, text);
  event.exec();
}

void markInterrupted(SQLite::Database& db, const ActiveRun& run) {
  const std::string reason = fmt::format("process {} ended without saying so", run.process.pid);
  SQLite::Statement update(db, R"sql(
UPDATE run SET status = 'interrupted', reason = ?2, ended_ms = ?3 WHERE id = ?1)sql");
  update.bind(1, run.id);
  update.bind(2, reason);
  update.bind(3, run.heartbeatMs);
  update.exec();
  SQLite::Statement attempt(db, R"sql(
UPDATE attempt SET ended_ms = ?2, ended_how = 'interrupted' WHERE run = ?1 AND ended_ms IS NULL)sql");
  attempt.bind(1, run.id);
  attempt.bind(2, run.heartbeatMs);
  attempt.exec();
  tellOf(db, run.id, "interrupted", reason);
}

tl::unexpected<Error> failNoRun(RunId run) { return fail(ErrorCode::input, "run {}: there is no such run", run); }

/// Status of a run inside a transaction.
Result<RunStatus> statusOf(SQLite::Database& db, RunId run) {
  SQLite::Statement row(db, "SELECT status FROM run WHERE id = ?1");
  row.bind(1, run);
  if (!row.executeStep()) return failNoRun(run);
  return runStatusFromName(row.getColumn(0).getString()).value_or(RunStatus::failed);
}

Result<void> checkRemovable(SQLite::Database& db, RunId run) {
  DSA_ASSIGN(const RunStatus status, statusOf(db, run));
  if (!runStatusIsActive(status)) return {};
  for (const ActiveRun& active : activeRuns(db)) {
    if (active.id == run && livenessOf(active.process) != Liveness::gone) {
      return fail(ErrorCode::input, "run {}: is {} (process {}); stop it first", run, runStatusName(status),
                  active.process.pid);
    }
  }
  return {};
}

}  // namespace

Result<Editor> Editor::open(const std::string& path, const DatabaseOptions& options) {
  DSA_ASSIGN(Database database, Database::open(path, options));
  return Editor(std::move(database));
}

Result<std::vector<RunId>> Editor::reconcile(std::int64_t foreignSilenceMs) {
  std::vector<RunId> interrupted;
  // Called every second or two: the lock is only taken when there is something to mark.
  bool any = false;
  DSA_TRY(m_database.read("look for interrupted runs", [&](SQLite::Database& db) -> Result<void> {
    any = !goneRuns(db, foreignSilenceMs).empty();
    return {};
  }));
  if (!any) return interrupted;
  // Looked at again under the lock: a process that was alive at the first look may have finished properly since.
  DSA_TRY(m_database.write("mark interrupted runs", [&](SQLite::Database& db) -> Result<void> {
    interrupted.clear();
    for (const ActiveRun& run : goneRuns(db, foreignSilenceMs)) {
      markInterrupted(db, run);
      interrupted.push_back(run.id);
    }
    return {};
  }));
  return interrupted;
}

Result<void> Editor::updateRun(RunId run, const std::string& column, const std::string& value) {
  return m_database.write("change the run's " + column, [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement update(db, "UPDATE run SET " + column + " = ?2 WHERE id = ?1");
    update.bind(1, run);
    update.bind(2, value);
    if (update.exec() != 1) return failNoRun(run);
    return {};
  });
}

Result<void> Editor::updateRun(RunId run, const std::string& column, std::int64_t value) {
  return m_database.write("change the run's " + column, [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement update(db, "UPDATE run SET " + column + " = ?2 WHERE id = ?1");
    update.bind(1, run);
    update.bind(2, value);
    if (update.exec() != 1) return failNoRun(run);
    return {};
  });
}

Result<void> Editor::watch(RunId run) { return updateRun(run, "watched_ms", wallClockMs()); }
Result<void> Editor::setNotes(RunId run, const std::string& notes) { return updateRun(run, "notes", notes); }
Result<void> Editor::setColour(RunId run, int slot) { return updateRun(run, "colour", std::int64_t{slot}); }
Result<void> Editor::setArchived(RunId run, bool archived) {
  return updateRun(run, "archived", std::int64_t{archived ? 1 : 0});
}

Result<void> Editor::rename(RunId run, const std::string& name) {
  if (name.empty()) return fail(ErrorCode::input, "run {}: the new name is empty", run);
  return updateRun(run, "name", name);
}

Result<std::int64_t> Editor::sendCommand(RunId run, CommandKind kind, std::optional<std::int64_t> value) {
  if (value && (kind != CommandKind::setRamBudget || *value < 0)) {
    return fail(ErrorCode::input, "{}: the value {} is not allowed; only set_ram_budget takes one, in bytes, from 0",
                commandKindName(kind), *value);
  }
  std::int64_t id = 0;
  DSA_TRY(m_database.write("send the command", [&](SQLite::Database& db) -> Result<void> {
    DSA_ASSIGN(const RunStatus status, statusOf(db, run));
    if (!runStatusIsActive(status)) {
      return fail(ErrorCode::input, "run {}: is {}, nobody would read the command {}", run, runStatusName(status),
                  commandKindName(kind));
    }
    SQLite::Statement insert(db, "INSERT INTO command (run, kind, value, created_ms) VALUES (?1, ?2, ?3, ?4)");
    insert.bind(1, run);
    insert.bind(2, std::string(commandKindName(kind)));
    bindOptional(insert, 3, value);
    insert.bind(4, wallClockMs());
    insert.exec();
    id = db.getLastInsertRowid();
    return {};
  }));
  return id;
}

Result<void> Editor::addTag(RunId run, const std::string& tag) {
  const bool control = std::any_of(tag.begin(), tag.end(), [](char c) { return static_cast<unsigned char>(c) < 32; });
  if (tag.empty() || control) {
    return fail(ErrorCode::input, "run {}: a tag is one line of text, and not empty", run);
  }
  return m_database.write("add the tag", [&](SQLite::Database& db) -> Result<void> {
    DSA_TRY(statusOf(db, run));
    SQLite::Statement insert(db, "INSERT INTO tag (run, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING");
    insert.bind(1, run);
    insert.bind(2, tag);
    insert.exec();
    return {};
  });
}

Result<void> Editor::removeTag(RunId run, const std::string& tag) {
  return m_database.write("remove the tag", [&](SQLite::Database& db) -> Result<void> {
    DSA_TRY(statusOf(db, run));
    SQLite::Statement remove(db, "DELETE FROM tag WHERE run = ?1 AND name = ?2");
    remove.bind(1, run);
    remove.bind(2, tag);
    remove.exec();
    return {};
  });
}

Result<RunId> Editor::addQueued(const RunRow& row) {
  RunId id = 0;
  DSA_TRY(m_database.write("record the run", [&](SQLite::Database& db) -> Result<void> {
    id = writes::insertRun(db, row, nullptr);
    return {};
  }));
  return id;
}

Result<std::int64_t> Editor::addComparison(const std::vector<ComparisonArm>& arms) {
  std::int64_t id = 0;
  const Database::Work store = [&](SQLite::Database& db) -> Result<void> {
    id = db.execAndGet("SELECT coalesce(max(id), 0) + 1 FROM comparison").getInt64();
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      DSA_TRY(statusOf(db, arms[arm].run));
      SQLite::Statement insert(db,
                               "INSERT INTO comparison (id, arm, run, label, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)");
      insert.bind(1, id);
      insert.bind(2, static_cast<std::int64_t>(arm));
      insert.bind(3, arms[arm].run);
      insert.bind(4, arms[arm].label);
      insert.bind(5, wallClockMs());
      insert.exec();
    }
    return {};
  };
  DSA_TRY(m_database.write("store the comparison", store));
  return id;
}

Result<void> Editor::checkEnded(RunId run) const {
  return m_database.read("look at the run", [&](SQLite::Database& db) { return checkRemovable(db, run); });
}

Result<void> Editor::tableDeleted(RunId run) {
  return m_database.write("record that the table was deleted", [&](SQLite::Database& db) -> Result<void> {
    DSA_TRY(checkRemovable(db, run));
    SQLite::Statement update(db, "UPDATE run SET cache_folder = '' WHERE id = ?1");
    update.bind(1, run);
    update.exec();
    tellOf(db, run, "table", "its table was deleted");
    return {};
  });
}

Result<void> Editor::remove(RunId run) {
  // Out of sight first: what is half removed after a crash is archived and has no process, and can be removed again.
  const Database::Work begin = [&](SQLite::Database& db) -> Result<void> {
    DSA_TRY(checkRemovable(db, run));
    SQLite::Statement hide(db,
                           "UPDATE run SET archived = 1, status = 'stopped', reason = 'being removed' WHERE id = ?1");
    hide.bind(1, run);
    hide.exec();
    return {};
  };
  DSA_TRY(m_database.write("remove the run", begin));
  // 20,000 rows take some 20 ms: a trainer's commit waits no longer than that.
  for (int removed = 1; removed > 0;) {
    DSA_TRY(m_database.write("remove the run's samples", [&](SQLite::Database& db) -> Result<void> {
      SQLite::Statement portion(db, R"sql(
DELETE FROM sample WHERE (run, metric, attempt, step, wall_ms) IN
  (SELECT run, metric, attempt, step, wall_ms FROM sample WHERE run = ?1 LIMIT 20000))sql");
      portion.bind(1, run);
      removed = portion.exec();
      return {};
    }));
  }
  return m_database.write("remove the run", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement remove(db, "DELETE FROM run WHERE id = ?1");
    remove.bind(1, run);
    remove.exec();
    return {};
  });
}

}  // namespace dsa
