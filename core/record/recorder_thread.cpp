// SPDX-License-Identifier: Apache-2.0
// The recorder's own thread: when it commits, what it does when the database cannot be written, and how commands come
// in.
#include <algorithm>
#include <chrono>
#include <iterator>

#include "core/record/queries.h"
#include "core/record/recorder.h"
#include "core/record/sqlite_guard.h"

namespace dsa {

namespace {

constexpr std::int64_t kLastWordsMs = 1000;

}  // namespace

void Recorder::loop() {
  std::int64_t stopAtMs = 0;
  for (;;) {
    const bool stop = waitForWork();
    if (stop && stopAtMs == 0) stopAtMs = steadyClockMs() + kLastWordsMs;
    poll();
    serveJobs();
    const std::int64_t now = steadyClockMs();
    const int interval = watched() ? m_options.watchedIntervalMs : m_options.idleIntervalMs;
    if (stop || now - m_lastTryMs >= interval) {
      m_lastTryMs = now;
      const bool stored = storeQueued().has_value();
      if (stop && (stored || now >= stopAtMs)) return;
    }
  }
}

/// Sleeps until a job or the next tick; gives whether the recorder ends.
bool Recorder::waitForWork() {
  std::unique_lock lock(m_mutex);
  // What could not be stored yet waits for the next tick, too: the lock's holder needs the CPU more than our tries.
  const bool retry = m_trouble.has_value();
  m_wake.wait_for(lock, std::chrono::milliseconds(m_options.watchedIntervalMs),
                  [&] { return !retry && (m_stop || !m_jobs.empty()); });
  return m_stop;
}

/// Reads commands and the watcher's heartbeat. A read needs no lock in WAL: commands come through while writes must
/// wait.
void Recorder::poll() {
  RunId run = 0;
  std::int64_t lastCommand = 0;
  {
    const std::lock_guard lock(m_mutex);
    if (m_finished) return;
    run = m_run;
    lastCommand = m_lastCommand;
  }
  if (run == 0) return;
  std::vector<CommandRow> commands;
  std::vector<std::int64_t> unknown;
  bool watched = false;
  const auto read = m_database.read("look for commands", [&](SQLite::Database& db) -> Result<void> {
    SQLite::Statement watcher(db, "SELECT watched_ms FROM run WHERE id = ?1");
    watcher.bind(1, run);
    if (watcher.executeStep() && !watcher.isColumnNull(0)) {
      watched = std::abs(wallClockMs() - watcher.getColumn(0).getInt64()) <= m_options.watcherFreshMs;
    }
    SQLite::Statement pending(db, sql::kPendingCommands);
    pending.bind(1, run);
    pending.bind(2, lastCommand);
    while (pending.executeStep()) {
      CommandRow command;
      command.id = pending.getColumn(0).getInt64();
      command.run = run;
      command.value = optionalInt(pending.getColumn(2));
      command.createdMs = pending.getColumn(3).getInt64();
      lastCommand = command.id;
      const auto kind = commandKindFromName(pending.getColumn(1).getString());
      if (!kind) {
        unknown.push_back(command.id);
        continue;
      }
      command.kind = *kind;
      commands.push_back(command);
    }
    return {};
  });
  if (!read) return;  // the next tick asks again
  const std::int64_t now = nowMs();
  for (const CommandRow& command : commands) {
    queueWrite([id = command.id, now](SQLite::Database& db, RunId) { writes::markCommandTaken(db, id, now); });
  }
  for (const std::int64_t id : unknown) {
    queueWrite([id, now](SQLite::Database& db, RunId) {
      writes::answerCommand(db, id, now, "refused: this version does not know the command");
    });
  }
  const std::lock_guard lock(m_mutex);
  m_watched = watched;
  m_lastCommand = lastCommand;
  m_commands.insert(m_commands.end(), commands.begin(), commands.end());
}

/// Serves the waiting callers in order, each after all that was queued before it.
void Recorder::serveJobs() {
  for (;;) {
    Job* job = nullptr;
    {
      const std::lock_guard lock(m_mutex);
      if (m_jobs.empty()) return;
      job = &m_jobs.front();  // a deque's front stays in place while others push at its back
    }
    Result<void> done = storeQueued();
    if (done && job->work) done = m_database.write(job->what, job->work);
    const bool retry = !done && m_database.lockedOut();
    const std::lock_guard lock(m_mutex);
    if (retry && steadyClockMs() < job->deadlineMs && !m_stop) {
      m_trouble = done.error();
      return;
    }
    if (done) m_trouble.reset();
    job->done.set_value(std::move(done));
    m_jobs.pop_front();
  }
}

/// Stores all that is queued. On failure everything stays, in order, for the next try.
Result<void> Recorder::storeQueued() {
  for (;;) {
    {
      const std::lock_guard lock(m_mutex);
      if (m_run == 0) return {};
      // What failed before is joined by what came since, so that one later commit stores all.
      std::move(m_queue.samples.begin(), m_queue.samples.end(), std::back_inserter(m_batch.samples));
      std::move(m_queue.writes.begin(), m_queue.writes.end(), std::back_inserter(m_batch.writes));
      if (m_queue.progress) {
        if (!m_batch.progress) m_batch.progress.emplace();
        m_batch.progress->merge(*m_queue.progress);
      }
      if (m_queue.embedding) m_batch.embedding = std::move(m_queue.embedding);
      m_queue = Batch{};
      const bool heartbeatDue = !m_finished && steadyClockMs() - m_lastCommitMs >= m_options.idleIntervalMs;
      if (m_batch.samples.empty() && m_batch.writes.empty() && !m_batch.progress && !m_batch.embedding && !heartbeatDue)
        return {};
    }
    auto stored = storeBatch();
    const std::lock_guard lock(m_mutex);
    if (!stored) {
      m_trouble = stored.error();
      // A deleted run or a damaged file will not get better: let the training go on without its record, and say so at
      // the end.
      if (stored.error().code != ErrorCode::machine) {
        m_failed = stored.error();
        m_batch = Batch{};
        m_pending = m_queue.samples.size() + m_queue.writes.size();
        m_space.notify_all();
      }
      return stored;
    }
    m_trouble.reset();
    m_pending -= m_batch.samples.size() + m_batch.writes.size();
    m_batch = Batch{};
    m_lastCommitMs = steadyClockMs();
    m_space.notify_all();
    if (m_queue.samples.empty() && m_queue.writes.empty()) return {};
  }
}

Result<void> Recorder::storeBatch() {
  std::vector<MetricState> metrics;
  RunId run = 0;
  {
    const std::lock_guard lock(m_mutex);
    metrics = m_metrics;
    run = m_run;
  }
  std::vector<MetricId> ids = m_metricIds;
  DSA_TRY(m_database.write("store the samples", [&](SQLite::Database& db) -> Result<void> {
    ids = m_metricIds;
    if (!writes::updateProgress(db, run, m_batch.progress.value_or(RunProgress{}), nowMs())) {
      return fail(ErrorCode::input,
                  "run {}: was removed from the database while it was training; its samples are not stored", run);
    }
    for (std::size_t i = ids.size(); i < metrics.size(); ++i) ids.push_back(writes::storeMetric(db, metrics[i].info));
    std::vector<writes::StoredSample> samples;
    samples.reserve(m_batch.samples.size());
    for (const QueuedSample& queued : m_batch.samples) {
      samples.push_back(writes::StoredSample{ids[queued.metric], queued.sample});
    }
    writes::insertSamples(db, run, samples);
    for (const Write& write : m_batch.writes) write(db, run);
    if (m_batch.embedding) writes::storeEmbedding(db, run, *m_batch.embedding);
    return {};
  }));
  // Only a committed id is kept: after a rollback it may belong to another metric.
  m_metricIds = std::move(ids);
  return {};
}

}  // namespace dsa
