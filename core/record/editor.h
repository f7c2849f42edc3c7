// SPDX-License-Identifier: Apache-2.0
// What a window or the command line changes in the record: orders to trainers, names, notes, tags, archive, interrupted
// runs, removal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/record/database.h"
#include "core/record/records.h"

namespace dsa {

/// One writing connection with short transactions. Thread: one at a time, never a window's own thread (a write may wait
/// for a lock). Every function: errors input when there is no such run, machine when the database is read-only or stays
/// locked.
class Editor {
 public:
  static Result<Editor> open(const std::string& path, const DatabaseOptions& options = {});

  /// Stores a run that waits for somebody to take it up (status queued, no process); gives its number.
  Result<RunId> addQueued(const RunRow& row);
  /// Marks active runs as interrupted whose process is gone; gives their ids. A process on another machine or in
  /// another container counts as gone when its heartbeat is older than `foreignSilenceMs`. Runs that wait without a
  /// process stay queued.
  Result<std::vector<RunId>> reconcile(std::int64_t foreignSilenceMs = 60000);

  /// "A window looks at this run": its trainer commits every 100 ms for the next three seconds.
  Result<void> watch(RunId run);
  /// Orders are read within 250 ms. `value`: bytes for setRamBudget (absent or 0 lifts the budget). Gives the command's
  /// id. Errors input: the run is not active, a negative value, or a value for a command that takes none.
  Result<std::int64_t> sendCommand(RunId run, CommandKind kind, std::optional<std::int64_t> value = std::nullopt);

  Result<void> rename(RunId run, const std::string& name);  ///< errors input: an empty name
  Result<void> setNotes(RunId run, const std::string& notes);
  Result<void> setColour(RunId run, int slot);
  Result<void> setArchived(RunId run, bool archived);
  Result<void> addTag(RunId run, const std::string& tag);  ///< errors input: empty, or with control characters
  Result<void> removeTag(RunId run, const std::string& tag);

  /// Stores which runs are compared; gives the comparison's id.
  Result<std::int64_t> addComparison(const std::vector<ComparisonArm>& arms);

  /// Errors input: it is active and its process is not known to be gone.
  Result<void> checkEnded(RunId run) const;
  /// The run's table was deleted: no folder any more, and an event that says so. Errors as checkEnded.
  Result<void> tableDeleted(RunId run);
  /// Removes the run and its series, in portions that let trainers write between; the files in its cache folder stay.
  /// Errors input: it is active and its process is not known to be gone.
  Result<void> remove(RunId run);

 private:
  explicit Editor(Database database) : m_database(std::move(database)) {}
  Result<void> updateRun(RunId run, const std::string& column, const std::string& value);
  Result<void> updateRun(RunId run, const std::string& column, std::int64_t value);

  Database m_database;
};

}  // namespace dsa
