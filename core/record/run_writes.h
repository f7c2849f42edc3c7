// SPDX-License-Identifier: Apache-2.0
// Inside core/record only: the recorder's statements. Each runs inside a transaction of Database::write and may throw
// SQLite::Exception.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/record/process_identity.h"
#include "core/record/records.h"

namespace SQLite {
class Database;
}

namespace dsa::writes {

/// A new queued run, of the process `self` or (null) of none yet; fills uuid, created_ms and colour where the row
/// leaves them open.
RunId insertRun(SQLite::Database& db, const RunRow& row, const ProcessIdentity* self);

/// Makes this process the run's; answers the commands that an earlier process never read. Gives the last command id so
/// far. Errors input: no such run. Errors machine: a live process trains it already.
Result<std::int64_t> adoptRun(SQLite::Database& db, RunId run, const ProcessIdentity& self);

/// Ends the attempts before it, supersedes their samples from startStep + 1 on (all of them when startStep is 0),
/// begins the next. `how` is what ended an attempt that never said so itself.
int beginAttempt(SQLite::Database& db, RunId run, std::uint64_t startStep, const ProcessIdentity& self,
                 const std::string& how);

void setStatus(SQLite::Database& db, RunId run, RunStatus status, const std::string& reason);

/// Progress that is absent keeps what is stored. False when the run is gone.
bool updateProgress(SQLite::Database& db, RunId run, const RunProgress& progress, std::int64_t heartbeatMs);

MetricId storeMetric(SQLite::Database& db, const MetricInfo& metric);

struct StoredSample {
  MetricId metric = 0;
  Sample sample;
};
void insertSamples(SQLite::Database& db, RunId run, const std::vector<StoredSample>& samples);

void insertEvent(SQLite::Database& db, RunId run, const EventRow& event);

void markCommandTaken(SQLite::Database& db, std::int64_t command, std::int64_t wallMs);
void answerCommand(SQLite::Database& db, std::int64_t command, std::int64_t wallMs, const std::string& answer);
void answerUnreadCommands(SQLite::Database& db, RunId run, const std::string& answer);

/// Errors input: the run is gone.
Result<void> finishRun(SQLite::Database& db, RunId run, int attempt, RunStatus status, const std::string& reason,
                       const std::string& result);

}  // namespace dsa::writes
