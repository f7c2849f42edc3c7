// SPDX-License-Identifier: Apache-2.0
// The writer of one run: takes values from the training thread without ever making it wait for SQLite, and stores them
// from a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/record/database.h"
#include "core/record/embedding.h"
#include "core/record/process_identity.h"
#include "core/record/records.h"
#include "core/record/run_writes.h"

namespace dsa {

struct RecorderOptions {
  int watchedIntervalMs = 100;  ///< between commits while a window watches; also how often commands are looked for
  int idleIntervalMs = 1000;    ///< between commits while none does; also the heartbeat
  int watcherFreshMs = 3000;    ///< a watcher's heartbeat older than this watches no more
  int tryMs = 200;              ///< how long one commit waits for the write lock before it is put off
  int patienceMs = 300000;      ///< how long createRun, flush, finish, ... wait in all for a locked database
  /// Values kept in memory while the database cannot be written (about 50 MB). Beyond it sample() waits: nothing is
  /// ever dropped.
  std::size_t queueLimit = 1000000;
  /// Wall clock in milliseconds for samples and events; none: the machine's. For made records, in tests and pictures.
  std::function<std::int64_t()> clockMs;
  DatabaseOptions database;
};

/// One writer of one run. Thread: any one thread calls (the training thread); calls of several threads are safe, too.
/// What cannot be stored now (write lock held elsewhere, disk full) is kept and stored later, in order.
class Recorder {
 public:
  /// Handle of a metric within this recorder.
  struct Metric {
    std::size_t index = 0;
  };

  /// Opens (creates, migrates) the database. Errors: as Database::open; a read-only database is ErrorCode::machine.
  static Result<std::unique_ptr<Recorder>> open(const std::string& path, const RecorderOptions& options = {});
  /// Stores what is queued, for at most a second. A run without finish() is found interrupted once the process is gone.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Stores the run before training starts, with this process behind it, and waits for it. Fills uuid, created_ms,
  /// name, colour where they are open.
  Result<RunId> createRun(RunRow row);
  /// Takes up an existing run (resume). Errors input: no such run. Errors machine: a live process trains it.
  Result<void> attachRun(RunId run);
  /// Begins a stretch of training at `startStep` (0, or the checkpoint's step), status running, and waits for it.
  /// Earlier attempts' samples past it are superseded. Gives the attempt's number, from 1.
  Result<int> beginAttempt(std::uint64_t startStep);
  /// The same within one process, after it went back to an earlier step by itself.
  Result<int> supersedeAfter(std::uint64_t step);

  /// Declares a metric; the same name gives the same handle. Metrics are shared by all runs: the first declaration of a
  /// name stays.
  Metric metric(const MetricInfo& info);
  /// Queues one value of the current attempt. On the step axis a step that this metric already has (or that lies
  /// before) is ignored, so that a series rises strictly; NaN and infinities are stored as such.
  void sample(std::uint64_t step, Metric metric, double value);
  void samples(std::uint64_t step, std::span<const std::pair<Metric, double>> values);
  void event(const std::string& kind, const std::string& text, std::uint64_t step = 0);
  void setStatus(RunStatus status, const std::string& reason = {});
  void updateProgress(const RunProgress& progress);
  /// Queues a state of the run's rows. Only the latest is kept, here and in the database; never waits.
  void embedding(EmbeddingSample sample);

  /// Commands that came since the last call, each one once, at most watchedIntervalMs old. Never touches the database.
  std::vector<CommandRow> takeCommands();
  /// Says what became of a command: on the command and as an event of kind "command".
  void answerCommand(const CommandRow& command, const std::string& answer, std::uint64_t step = 0);

  /// Waits until all that was queued before is stored; the error says why not, and what is queued stays queued (a full
  /// disk is said at once, a lock is waited for).
  Result<void> flush();
  /// Stores the rest, the end and the result, and waits. Afterwards nothing more is recorded. After an error it may be
  /// called again.
  Result<void> finish(RunStatus status, const std::string& reason, const std::string& resultJson);

  [[nodiscard]] RunId run() const;
  [[nodiscard]] bool watched() const;                  ///< a window looks at this run
  [[nodiscard]] std::uint64_t pending() const;         ///< values not yet stored
  [[nodiscard]] std::optional<Error> trouble() const;  ///< why the last commit failed; nothing once one worked

 private:
  using Write = std::function<void(SQLite::Database&, RunId)>;
  struct QueuedSample {
    std::size_t metric;
    Sample sample;
  };
  struct Batch {
    std::vector<QueuedSample> samples;
    std::vector<Write> writes;
    std::optional<RunProgress> progress;
    std::optional<EmbeddingSample> embedding;
  };
  struct MetricState {
    MetricInfo info;
    std::int64_t lastStep = -1;
  };
  /// A write that its caller waits for.
  struct Job {
    std::string what;
    Database::Work work;
    std::int64_t deadlineMs = 0;
    std::promise<Result<void>> done;
  };

  Recorder(Database database, const RecorderOptions& options);
  Result<void> runJob(std::string what, Database::Work work);
  Result<int> nextAttempt(std::uint64_t startStep, const std::string& how);
  void queueWrite(Write write);
  void loop();
  bool waitForWork();
  void poll();
  void serveJobs();
  Result<void> storeQueued();
  Result<void> storeBatch();
  std::int64_t nowMs() const;

  const RecorderOptions m_options;
  const ProcessIdentity m_self;
  const std::int64_t m_wallBaseMs;
  const std::int64_t m_steadyBaseMs;

  // Of the writer thread alone.
  Database m_database;
  Batch m_batch;
  std::vector<MetricId> m_metricIds;
  std::int64_t m_lastCommitMs = m_steadyBaseMs;
  std::int64_t m_lastTryMs = m_steadyBaseMs;

  mutable std::mutex m_mutex;  // guards what follows
  std::condition_variable m_wake;
  std::condition_variable m_space;
  Batch m_queue;
  std::deque<Job> m_jobs;
  std::vector<MetricState> m_metrics;
  std::deque<CommandRow> m_commands;
  std::int64_t m_lastCommand = 0;
  RunId m_run = 0;
  int m_attempt = 0;
  std::int64_t m_firstStep = -1;  // samples of the step axis lie after it
  std::uint64_t m_pending = 0;
  bool m_watched = false;
  bool m_finished = false;
  bool m_stop = false;
  std::optional<Error> m_trouble;
  std::optional<Error> m_failed;  // samples were given up for good
  std::thread m_thread;
};

}  // namespace dsa
