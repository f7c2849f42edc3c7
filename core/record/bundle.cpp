// SPDX-License-Identifier: Apache-2.0
#include "core/record/bundle.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/record/sqlite_guard.h"

namespace dsa {

namespace fs = std::filesystem;

namespace {

// Columns of `run` that move as they are; the id is given anew. Named, so that a later column cannot slip in unseen.
constexpr const char* kRunColumns =
    "uuid, name, spec, status, reason, created_ms, started_ms, ended_ms, machine, versions, colour, notes, archived, "
    "pid, "
    "pid_start, boot_id, pid_namespace, machine_id, heartbeat_ms, cache_folder, result, dataset, dim, k, rule, "
    "placement, "
    "model, seed, step, epoch, loss_last, private_peak, device_peak, cache_peak, seconds, planned_steps";

/// Runs one statement with ?1 = the run in `source` and ?2 = the run in main.
void copyRows(SQLite::Database& db, const char* statement, RunId from, RunId to) {
  SQLite::Statement copy(db, statement);
  copy.bind(1, from);
  if (copy.getBindParameterCount() > 1) copy.bind(2, to);
  copy.exec();
}

/// Copies run `from` of the attached database `source` into main; gives its number there.
RunId copyRun(SQLite::Database& db, RunId from) {
  copyRows(db, fmt::format("INSERT INTO main.run ({0}) SELECT {0} FROM source.run WHERE id = ?1", kRunColumns).c_str(),
           from, 0);
  const RunId to = db.getLastInsertRowid();
  SQLite::Statement settle(db, R"sql(
UPDATE main.run SET status = 'interrupted', reason = 'it was still running where it was copied from', ended_ms = heartbeat_ms
WHERE id = ?1 AND status IN ('queued', 'running', 'paused'))sql");
  settle.bind(1, to);
  settle.exec();
  // The table stays behind, and a folder of the same name here is not this record's to resume or to delete.
  SQLite::Statement noTable(db, "UPDATE main.run SET cache_folder = '' WHERE id = ?1");
  noTable.bind(1, to);
  noTable.exec();
  copyRows(db, R"sql(
INSERT INTO main.attempt SELECT ?2, number, start_step, pid, started_ms, ended_ms, ended_how, superseded_from
FROM source.attempt WHERE run = ?1)sql",
           from, to);
  copyRows(db, R"sql(
INSERT INTO main.command (run, kind, value, created_ms, taken_ms, answered_ms, answer)
SELECT ?2, kind, value, created_ms, taken_ms, answered_ms, answer FROM source.command WHERE run = ?1 ORDER BY id)sql",
           from, to);
  copyRows(db, R"sql(
INSERT INTO main.event (run, attempt, wall_ms, step, kind, text)
SELECT ?2, attempt, wall_ms, step, kind, text FROM source.event WHERE run = ?1 ORDER BY id)sql",
           from, to);
  copyRows(db, R"sql(
INSERT INTO main.embedding (run, step, wall_ms, table_name, total_rows, dim, k, rows, weights, labels)
SELECT ?2, step, wall_ms, table_name, total_rows, dim, k, rows, weights, labels FROM source.embedding WHERE run = ?1)sql",
           from, to);
  copyRows(db, "INSERT INTO main.tag SELECT ?2, name FROM source.tag WHERE run = ?1", from, to);
  copyRows(db, R"sql(
INSERT INTO main.metric (name, unit, source, axis)
SELECT m.name, m.unit, m.source, m.axis FROM source.metric m
WHERE EXISTS (SELECT 1 FROM source.sample s WHERE s.run = ?1 AND s.metric = m.id)
ON CONFLICT (name) DO NOTHING)sql",
           from, to);
  // Metrics have other numbers here: they are matched by name. CROSS JOIN keeps the samples' key order of the source.
  copyRows(db, R"sql(
INSERT INTO main.sample
SELECT ?2, here.id, s.attempt, s.step, s.wall_ms, s.value
FROM source.metric there CROSS JOIN main.metric here ON here.name = there.name
CROSS JOIN source.sample s ON s.run = ?1 AND s.metric = there.id)sql",
           from, to);
  return to;
}

struct TemporaryFile {
  std::string path;
  ~TemporaryFile() {
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(path + suffix, ignored);
  }
};

/// A private copy of the bundle, in today's format. A bundle itself is never changed, not even by a -wal beside it.
Result<void> liftCopy(const std::string& bundlePath, const std::string& copyPath) {
  std::error_code error;
  if (!fs::exists(bundlePath, error)) return fail(ErrorCode::input, "{}: there is no such file", bundlePath);
  DSA_TRY(guarded(bundlePath, "read the bundle", [&]() -> Result<void> {
    SQLite::Database source(bundlePath, SQLite::OPEN_READONLY, 30000);
    SQLite::Database copy(copyPath, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Backup(copy, source).executeStep(-1);
    return {};
  }));
  DatabaseOptions anywhere;
  anywhere.networkFileSystem = [](const std::string&) { return std::nullopt; };
  auto lifted = Database::open(copyPath, anywhere);
  if (!lifted) return fail(lifted.error().code, "{}: cannot be imported: {}", bundlePath, lifted.error().message);
  for (int version = 1; version < builtInMigrations().back().version; ++version) {
    fs::remove(fmt::format("{}.v{}.backup", copyPath, version), error);  // the bundle itself is the backup
  }
  if (lifted->readOnly()) {
    return fail(ErrorCode::input, "{}: was written by a newer version; update the program to import it", bundlePath);
  }
  return lifted->check();
}

Result<void> makeWay(SQLite::Database& db, const std::string& uuid, OnSameRun onSameRun) {
  SQLite::Statement same(db, "SELECT id, name, status FROM main.run WHERE uuid = ?1");
  same.bind(1, uuid);
  if (!same.executeStep()) return {};
  const RunId id = same.getColumn(0).getInt64();
  if (onSameRun == OnSameRun::refuse) {
    return fail(ErrorCode::input, "run {} (\"{}\") is this very run already; nothing was imported", id,
                same.getColumn(1).getString());
  }
  const auto status = runStatusFromName(same.getColumn(2).getString());
  if (status && runStatusIsActive(*status)) {
    return fail(ErrorCode::input, "run {} is this very run and is {}; stop it before it is replaced", id,
                runStatusName(*status));
  }
  same.reset();
  SQLite::Statement remove(db, "DELETE FROM main.run WHERE id = ?1");
  remove.bind(1, id);
  remove.exec();
  return {};
}

}  // namespace

Result<void> exportRun(const std::string& databasePath, RunId run, const std::string& bundlePath) {
  std::error_code error;
  if (fs::exists(bundlePath, error)) {
    return fail(ErrorCode::input, "{}: exists already; nothing was written, choose another name", bundlePath);
  }
  DatabaseOptions reading;
  reading.access = Access::readOnly;
  DSA_TRY(Database::open(databasePath, reading));  // refuses what is not ours, with the reason
  const TemporaryFile part{bundlePath + ".part"};
  fs::remove(part.path, error);
  DatabaseOptions anywhere;
  anywhere.networkFileSystem = [](const std::string&) { return std::nullopt; };
  { DSA_TRY(Database::open(part.path, anywhere)); }
  DSA_TRY(guarded(bundlePath, "export the run", [&]() -> Result<void> {
    SQLite::Database db(part.path, SQLite::OPEN_READWRITE, 30000);
    db.exec("PRAGMA journal_mode = DELETE");  // one file, without a -wal to forget
    SQLite::Statement attach(db, "ATTACH DATABASE ?1 AS source");
    attach.bind(1, databasePath);
    attach.exec();
    db.exec("BEGIN");
    SQLite::Statement exists(db, "SELECT 1 FROM source.run WHERE id = ?1");
    exists.bind(1, run);
    if (!exists.executeStep()) return fail(ErrorCode::input, "run {}: there is no such run", run);
    exists.reset();
    copyRun(db, run);
    db.exec("COMMIT");
    return {};
  }));
  fs::rename(part.path, bundlePath, error);
  if (error) return fail(ErrorCode::machine, "{}: cannot be written: {}", bundlePath, error.message());
  return {};
}

Result<std::vector<RunId>> importRuns(const std::string& databasePath, const std::string& bundlePath,
                                      OnSameRun onSameRun) {
  DSA_TRY(Database::open(databasePath));
  const TemporaryFile copy{fmt::format("{}.import-{}", databasePath, newUuid())};
  DSA_TRY(liftCopy(bundlePath, copy.path));
  DSA_ASSIGN(Database database, Database::open(databasePath));
  std::vector<RunId> imported;
  DSA_TRY(database.attach(copy.path, "source"));
  const Database::Work copyAll = [&](SQLite::Database& db) -> Result<void> {
    imported.clear();
    std::vector<std::pair<RunId, std::string>> runs;
    SQLite::Statement list(db, "SELECT id, uuid FROM source.run ORDER BY id");
    while (list.executeStep()) runs.emplace_back(list.getColumn(0).getInt64(), list.getColumn(1).getString());
    for (const auto& [id, uuid] : runs) {
      DSA_TRY(makeWay(db, uuid, onSameRun));
      imported.push_back(copyRun(db, id));
    }
    return {};
  };
  DSA_TRY(database.write("import the runs", copyAll));
  return imported;
}

}  // namespace dsa
