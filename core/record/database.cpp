// SPDX-License-Identifier: Apache-2.0
#include "core/record/database.h"

#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/file.h"
#include "core/record/sqlite_guard.h"

namespace dsa {

namespace fs = std::filesystem;

namespace {

int pragmaInt(SQLite::Database& connection, const char* pragma) { return connection.execAndGet(pragma).getInt(); }

/// An SQLite file is at least one page of at least this size.
constexpr std::uintmax_t kSmallestPage = 512;

/// Refuses what cannot be an SQLite file, before SQLite may take a short file for an empty database; longer ones it
/// judges itself. By name and size only: closing a descriptor of our own would drop every POSIX lock that this process
/// holds on the file, and the next program to close it would take the log away under our other connections.
Result<void> checkHeader(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return {};
  if (fs::is_directory(status)) {
    return fail(ErrorCode::input, "{}: is a folder, not a database; name a file with --db", path);
  }
  if (::access(path.c_str(), R_OK) != 0) return failErrno(path, "read the database", errno);
  const std::uintmax_t size = fs::file_size(path, error);
  if (size == 0 || error) return {};
  if (size < kSmallestPage) {
    return fail(ErrorCode::input, "{}: is not a database; nothing was changed, choose another file with --db", path);
  }
  return {};
}

Result<void> checkPlace(const std::string& path, const DatabaseOptions& options) {
  const std::string folder = fs::path(path).parent_path().string();
  if (options.access == Access::readOnly) {
    std::error_code error;
    if (!fs::exists(path, error)) return fail(ErrorCode::input, "{}: there is no such database", path);
  } else if (!fs::exists(path) || ::access(path.c_str(), W_OK) == 0) {
    DSA_TRY(makeFolder(folder));
  }
  if (const auto type = options.networkFileSystem(folder)) {
    return fail(
        ErrorCode::machine,
        "{}: lies on a network file system ({}), where two machines could write at once and damage the database; "
        "nothing was changed, choose a local folder with --db",
        path, *type);
  }
  return checkHeader(path);
}

std::unique_ptr<SQLite::Database> connect(const std::string& path, Access access, int patienceMs) {
  if (access == Access::readWrite) {
    return std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, patienceMs);
  }
  try {
    auto connection = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READONLY, patienceMs);
    pragmaInt(*connection, "PRAGMA user_version");
    return connection;
  } catch (const SQLite::Exception& exception) {
    // A WAL database in a folder that we may not write cannot make its shared memory file. Without a -wal nobody writes
    // it. In a folder of ours somebody may begin to at any time, and an immutable connection would never see it.
    const int code = exception.getErrorCode() & 0xff;
    const bool ours = ::access(fs::path(path).parent_path().c_str(), W_OK) == 0;
    if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || ours || fs::exists(path + "-wal")) throw;
    std::string escaped;
    for (const char c : path)
      escaped += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02X}", int{c}) : std::string(1, c);
    return std::make_unique<SQLite::Database>("file:" + escaped + "?immutable=1",
                                              SQLite::OPEN_READONLY | SQLite::OPEN_URI, patienceMs);
  }
}

/// Of two programs that make a database at once SQLite refuses one the change to WAL, and does so without its patience:
/// each holds a lock that the other waits for. So it is asked again.
void becomeWal(SQLite::Database& connection, int patienceMs) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(patienceMs);
  for (;;) {
    try {
      connection.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& exception) {
      if ((exception.getErrorCode() & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() >= end) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

/// First free of PATH.v1.backup, PATH.v1.backup-2, ...
std::string backupPath(const std::string& path, int version) {
  std::string candidate = fmt::format("{}.v{}.backup", path, version);
  for (int i = 2; fs::exists(candidate); ++i) candidate = fmt::format("{}.v{}.backup-{}", path, version, i);
  return candidate;
}

void copyDatabase(const std::string& from, const std::string& to) {
  SQLite::Database source(from, SQLite::OPEN_READONLY, 30000);
  SQLite::Database target(to, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  SQLite::Backup backup(target, source);
  backup.executeStep(-1);
}

void rollback(SQLite::Database& connection) {
  // A full disk may have rolled back already; then there is nothing left to undo.
  if (sqlite3_get_autocommit(connection.getHandle()) == 0) connection.tryExec("ROLLBACK");
}

}  // namespace

tl::unexpected<Error> failSqlite(const std::string& path, const std::string& what, const SQLite::Exception& exception) {
  switch (exception.getErrorCode() & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(ErrorCode::machine,
                  "{}: cannot {}: another program holds the database's write lock; nothing was changed, try again",
                  path, what);
    case SQLITE_FULL:
      return fail(ErrorCode::machine, "{}: cannot {}: the disk is full; what was stored before is safe, make space",
                  path, what);
    case SQLITE_NOTADB:
      return fail(ErrorCode::input, "{}: is not a database; nothing was changed, choose another file with --db", path);
    case SQLITE_CORRUPT:
      return fail(ErrorCode::input, "{}: cannot {}: the database is damaged ({}); copy it before anything else", path,
                  what, exception.what());
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return fail(ErrorCode::machine, "{}: cannot {}: no permission, or the folder cannot be written ({})", path, what,
                  exception.what());
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
      return fail(ErrorCode::machine, "{}: cannot {}: {} (SQLite error {})", path, what, exception.what(),
                  exception.getExtendedErrorCode());
    default:
      return fail(ErrorCode::bug, "{}: cannot {}: {} (SQLite error {})", path, what, exception.what(),
                  exception.getExtendedErrorCode());
  }
}

Database::Database(std::string path, std::unique_ptr<SQLite::Database> connection)
    : m_path(std::move(path)), m_connection(std::move(connection)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

std::string Database::defaultPath() {
  const char* data = std::getenv("XDG_DATA_HOME");
  // The specification ignores a relative path.
  if (data != nullptr && data[0] == '/') return std::string(data) + "/dsa-lab/runs.sqlite";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : ".") + "/.local/share/dsa-lab/runs.sqlite";
}

Result<Database> Database::open(const std::string& path, const DatabaseOptions& options) {
  const std::string full = fs::absolute(path).lexically_normal().string();
  DSA_TRY(checkPlace(full, options));
  return guarded(full, "open the database", [&]() -> Result<Database> {
    const bool writable = !fs::exists(full) || ::access(full.c_str(), W_OK) == 0;
    const Access access = writable ? options.access : Access::readOnly;
    Database database(full, connect(full, access, options.lockPatienceMs));
    database.m_readOnly = access == Access::readOnly;
    if (!writable) database.m_notice = full + ": you may read this database but not write it";
    DSA_TRY(database.prepare(options));
    return database;
  });
}

Result<void> Database::prepare(const DatabaseOptions& options) {
  SQLite::Database& connection = *m_connection;
  const int version = pragmaInt(connection, "PRAGMA user_version");
  const int ours = options.migrations.back().version;
  const bool empty = pragmaInt(connection, "SELECT count(*) FROM sqlite_master") == 0;
  if (!empty && pragmaInt(connection, "PRAGMA application_id") != kApplicationId) {
    return fail(ErrorCode::input,
                "{}: is a database of another program; nothing was changed, choose another file with --db", m_path);
  }
  if (version > ours) {
    m_notice = fmt::format(
        "{}: was written by a newer version (format {}, this program knows {}); it is open read-only, update the "
        "program "
        "to write it",
        m_path, version, ours);
    m_readOnly = true;
    connection.exec("PRAGMA query_only = ON");
    return {};
  }
  if (m_readOnly) {
    if (version == ours) return {};
    return fail(ErrorCode::input, "{}: has the older format {} (this program needs {}) and cannot be upgraded here{}",
                m_path, version, ours, empty ? ": it is empty" : "; open a copy that may be written");
  }
  becomeWal(connection, options.lockPatienceMs);
  // In WAL, NORMAL survives a kill whole; a power loss may take the last commits but never the file.
  connection.exec("PRAGMA synchronous = NORMAL");
  if (version < ours || empty) DSA_TRY(migrate(options));
  connection.exec("PRAGMA foreign_keys = ON");
  return {};
}

Result<void> Database::migrate(const DatabaseOptions& options) {
  // The lock first: what is backed up is exactly what is migrated, and of two programs that open at once one finds it
  // done.
  return write("bring the database to this version's format", [&](SQLite::Database& connection) -> Result<void> {
    const bool empty = pragmaInt(connection, "SELECT count(*) FROM sqlite_master") == 0;
    const int from = empty ? 0 : pragmaInt(connection, "PRAGMA user_version");
    const int to = options.migrations.back().version;
    if (from >= to) return {};
    if (!empty) {
      const std::string backup = backupPath(m_path, from);
      copyDatabase(m_path, backup);
      m_notice = fmt::format("{}: brought from format {} to {}; the old file is kept as {}", m_path, from, to, backup);
    }
    for (const Migration& step : options.migrations) {
      if (step.version > from) connection.exec(step.sql);
    }
    connection.exec(fmt::format("PRAGMA user_version = {}", to));
    connection.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    return {};
  });
}

void Database::setLockPatience(int milliseconds) { m_connection->setBusyTimeout(milliseconds); }

Result<void> Database::attach(const std::string& path, const std::string& name) {
  return guarded(path, "open the database", [&]() -> Result<void> {
    SQLite::Statement attach(*m_connection, "ATTACH DATABASE ?1 AS " + name);
    attach.bind(1, path);
    attach.exec();
    return {};
  });
}

Result<void> Database::write(const std::string& what, const Work& work) {
  m_lockedOut = false;
  if (m_readOnly) {
    return fail(ErrorCode::machine, "cannot {}: {}", what,
                m_notice.empty() ? m_path + ": is open read-only" : m_notice);
  }
  SQLite::Database& connection = *m_connection;
  try {
    // A read that turns into a write fails at once when another connection wrote between: the lock is taken up front.
    connection.exec("BEGIN IMMEDIATE");
    Result<void> done = work(connection);
    if (!done) {
      rollback(connection);
      return done;
    }
    connection.exec("COMMIT");
    return {};
  } catch (const SQLite::Exception& exception) {
    const int code = exception.getErrorCode() & 0xff;
    m_lockedOut = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    auto failure = failSqlite(m_path, what, exception);
    rollback(connection);
    return failure;
  }
}

Result<void> Database::read(const std::string& what, const Work& work) const {
  SQLite::Database& connection = *m_connection;
  auto done = guarded(m_path, what, [&]() -> Result<void> {
    connection.exec("BEGIN");
    return work(connection);
  });
  rollback(connection);
  return done;
}

Result<void> Database::check() const {
  return read("check the database", [&](SQLite::Database& connection) -> Result<void> {
    const std::string answer = connection.execAndGet("PRAGMA integrity_check(1)").getString();
    if (answer != "ok") return fail(ErrorCode::input, "{}: the database is damaged: {}", m_path, answer);
    SQLite::Statement orphans(connection, "PRAGMA foreign_key_check");
    if (orphans.executeStep()) {
      return fail(ErrorCode::input, "{}: a row of {} belongs to nothing", m_path, orphans.getColumn(0).getString());
    }
    return {};
  });
}

}  // namespace dsa
