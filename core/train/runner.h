// SPDX-License-Identifier: Apache-2.0
// A run from spec to record: dataset, refusal, tables' folder, training, samples, result; and taking one up again.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "core/record/records.h"
#include "core/train/trainer.h"

namespace dsa {

/// What a terminal shows while a run goes on.
struct RunProgressLine {
  std::string phase;    ///< "filling the table", "training", "evaluating", ...
  bool begins = false;  ///< the phase begins; the figures below are not set
  std::uint64_t step = 0;
  std::uint64_t plannedSteps = 0;
  double epoch = 0;
  double loss = 0;  ///< mean since the last line
  double seconds = 0;
  double samplesPerSecond = 0;
};

struct RunnerOptions {
  std::string database;  ///< empty: Database::defaultPath()
  bool hash = false;
  std::string uuid;  ///< identity of a new run's record; empty: a new one
  const std::atomic<bool>* stop = nullptr;
  /// Called on the run thread, at most ten times a second. May be empty.
  std::function<void(const RunProgressLine&)> progress;
  /// Warnings and notes for people. May be empty.
  std::function<void(const std::string&)> note;
};

/// The end of a run: its object (also in the record) and the program's exit code: 0 finished, 5 stopped, else that of
/// the error.
struct RunReport {
  nlohmann::ordered_json object;
  RunStatus status = RunStatus::finished;
  int exitCode = 0;
};

/// Trains a new run. A run that could not start for lack of memory is recorded as refused, one that broke off as
/// failed; both come back as reports. Errors: those before a record exists (usage, dataset, cache folder, database).
Result<RunReport> startRun(const RunSpec& spec, const RunnerOptions& options);

/// Records a run that waits (status queued) and gives its number; resumeRun starts it. Errors: as startRun's.
Result<RunId> queueRun(const RunSpec& spec, const RunnerOptions& options);

/// Continues run `run` (number or unique name), from step 0 where no step was kept. A finished one gives its object
/// again.
Result<RunReport> resumeRun(const std::string& run, const RunnerOptions& options);

/// $XDG_DATA_HOME/dsa-lab/tables, or ~/.local/share/dsa-lab/tables: never /tmp, which may be memory.
[[nodiscard]] std::string defaultCacheFolder();

/// The spec and dataset of a recorded run, as it was trained.
Result<RunSetup> setupOfRun(const RunRow& row);

}  // namespace dsa
