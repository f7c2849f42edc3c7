// SPDX-License-Identifier: Apache-2.0
// The one database of runs: opened, created, migrated with a backup, and written only in short IMMEDIATE transactions.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/base/error.h"
#include "core/record/network_file_system.h"
#include "core/record/schema.h"

namespace SQLite {
class Database;
}

namespace dsa {

enum class Access {
  readWrite,  ///< created with its folder where missing; migrated where older
  readOnly,   ///< never created, migrated or written
};

struct DatabaseOptions {
  Access access = Access::readWrite;
  int lockPatienceMs = 30000;  ///< how long a write waits while another process holds the write lock
  std::span<const Migration> migrations = builtInMigrations();
  /// Names the network file system of a folder; tests put their own answer here.
  std::function<std::optional<std::string>(const std::string& folder)> networkFileSystem = dsa::networkFileSystem;
};

/// One connection. Thread: one thread at a time; each thread opens its own.
class Database {
 public:
  /// Errors input: no database, damaged, of another program, missing (readOnly). Errors machine: permission, full disk,
  /// a network file system (WAL needs memory shared by all its users), locked longer than the patience. A file newer
  /// than this program opens read-only: see readOnly() and notice().
  static Result<Database> open(const std::string& path, const DatabaseOptions& options = {});
  /// $XDG_DATA_HOME/dsa-lab/runs.sqlite, or ~/.local/share/dsa-lab/runs.sqlite.
  static std::string defaultPath();

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] bool readOnly() const { return m_readOnly; }
  /// Why writes are refused, or which backup a migration left; empty when there is nothing to say.
  [[nodiscard]] const std::string& notice() const { return m_notice; }
  /// Whether the last write() failed only because another process held the write lock: nothing was changed, try again.
  [[nodiscard]] bool lockedOut() const { return m_lockedOut; }

  /// From now on a write waits this long for the write lock.
  void setLockPatience(int milliseconds);

  /// Adds another database under `name` to this connection, to copy from.
  Result<void> attach(const std::string& path, const std::string& name);

  using Work = std::function<Result<void>(SQLite::Database&)>;
  /// Runs `work` in one BEGIN IMMEDIATE transaction: all of it is stored or nothing. `what` completes "cannot ...".
  /// `work` may run SQLiteCpp statements freely: what they throw comes back as an Error.
  Result<void> write(const std::string& what, const Work& work);
  /// Runs `work` on one snapshot; never blocks a writer and is never blocked by one.
  Result<void> read(const std::string& what, const Work& work) const;
  /// PRAGMA integrity_check and foreign_key_check; the error holds the first findings.
  Result<void> check() const;

 private:
  Database(std::string path, std::unique_ptr<SQLite::Database> connection);
  Result<void> prepare(const DatabaseOptions& options);
  Result<void> migrate(const DatabaseOptions& options);

  std::string m_path;
  std::unique_ptr<SQLite::Database> m_connection;
  bool m_readOnly = false;
  bool m_lockedOut = false;
  std::string m_notice;
};

}  // namespace dsa
