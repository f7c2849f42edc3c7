// SPDX-License-Identifier: Apache-2.0
// What the record holds, as values: runs, attempts, metrics, samples, events, commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dsa {

using RunId = std::int64_t;
using MetricId = std::int64_t;

/// Where a run stands. Stored by name (SCHEMA.md).
enum class RunStatus { queued, running, paused, finished, stopped, interrupted, failed, refused };

[[nodiscard]] std::string_view runStatusName(RunStatus status);
[[nodiscard]] std::optional<RunStatus> runStatusFromName(std::string_view name);
/// queued, running and paused: a process is, or should be, behind the run.
[[nodiscard]] bool runStatusIsActive(RunStatus status);

/// An order to a running trainer. Stored by name.
enum class CommandKind { stop, pause, resume, checkpoint, evict, setRamBudget, stepOne };

[[nodiscard]] std::string_view commandKindName(CommandKind kind);
[[nodiscard]] std::optional<CommandKind> commandKindFromName(std::string_view name);

/// The numbers of a run that a list shows; latest wins. Absent means "not known yet". Bytes are bytes, times seconds.
struct RunProgress {
  std::optional<std::uint64_t> step;
  std::optional<double> epoch;
  std::optional<double> lossLast;  ///< may be NaN or infinite: a diverged run says so
  std::optional<std::uint64_t> privatePeak;
  std::optional<std::uint64_t> devicePeak;
  std::optional<std::uint64_t> cachePeak;
  std::optional<double> seconds;  ///< active time over all attempts

  /// Takes over what `newer` knows.
  void merge(const RunProgress& newer);
};

/// One line of the list of runs; reading it touches no sample. Times are wall-clock milliseconds since 1970.
struct RunSummary {
  RunId id = 0;
  std::string uuid;
  std::string name;
  RunStatus status = RunStatus::queued;
  std::string reason;
  std::int64_t createdMs = 0;
  std::optional<std::int64_t> startedMs;
  std::optional<std::int64_t> endedMs;
  std::optional<std::int64_t> heartbeatMs;
  bool archived = false;
  int colour = -1;  ///< slot of the 8-colour set; createRun gives one when it is -1
  std::string dataset;
  std::uint64_t dim = 0;
  double k = 0;
  std::string rule;
  std::string placement;
  std::string model;
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> plannedSteps;  ///< batches from the first to the last; absent in records of format 1
  RunProgress progress;
  int attempts = 0;
  bool hasTable = false;          ///< its table lies in a folder of this machine; false also for ram and gpu
  bool hasProcess = false;        ///< some process took it up; a queued run without one waits for dsa resume
  std::vector<std::string> tags;  ///< sorted
};

/// Everything about one run but its series.
struct RunRow : RunSummary {
  std::string spec = "{}";  ///< JSON
  std::string machine;      ///< description, free text
  std::string versions;     ///< of the program, compiler, driver, free text or JSON
  std::string notes;
  std::string cacheFolder;  ///< this run's own folder
  std::string result;       ///< JSON, empty before the end
  std::int64_t pid = 0;     ///< 0 = no process yet
};

/// One stretch of training by one process. Samples at steps >= supersededFrom were taken over by a later attempt.
struct AttemptRow {
  int number = 0;  ///< from 1
  std::uint64_t startStep = 0;
  std::int64_t pid = 0;
  std::int64_t startedMs = 0;
  std::optional<std::int64_t> endedMs;
  std::string endedHow;  ///< a status name, empty while it runs
  std::optional<std::uint64_t> supersededFrom;
};

/// Against what a metric is recorded. `step`: at most one value a step. `time`: several values may share a step (memory
/// while the table is filled, say), in order of wall_ms.
enum class MetricAxis { step, time };

struct MetricInfo {
  MetricId id = 0;     ///< 0 until stored
  std::string name;    ///< "loss", "memory.private"
  std::string unit;    ///< "", "B", "1/s", "s", "%"
  std::string source;  ///< where it is read: "RssAnon + VmPTE + VmSwap"
  MetricAxis axis = MetricAxis::step;
};

struct Sample {
  int attempt = 0;
  std::uint64_t step = 0;
  std::int64_t wallMs = 0;
  double value = 0;  ///< may be NaN or infinite
};

struct EventRow {
  std::int64_t id = 0;
  int attempt = 0;
  std::int64_t wallMs = 0;
  std::uint64_t step = 0;
  std::string kind;
  std::string text;
};

struct CommandRow {
  std::int64_t id = 0;
  RunId run = 0;
  CommandKind kind = CommandKind::stop;
  std::optional<std::int64_t> value;  ///< bytes, for setRamBudget
  std::int64_t createdMs = 0;
  std::optional<std::int64_t> takenMs;
  std::optional<std::int64_t> answeredMs;
  std::string answer;
};

struct ComparisonArm {
  RunId run = 0;
  std::string label;
};

/// Wall clock, milliseconds since 1970.
[[nodiscard]] std::int64_t wallClockMs();
/// A clock that never goes back, milliseconds since some instant of this process's machine.
[[nodiscard]] std::int64_t steadyClockMs();
/// A random (version 4) UUID from the kernel.
[[nodiscard]] std::string newUuid();

}  // namespace dsa
