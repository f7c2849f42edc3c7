// SPDX-License-Identifier: Apache-2.0
#include "core/record/recorder.h"

#include <algorithm>
#include <chrono>

#include "core/record/queries.h"
#include "core/record/sqlite_guard.h"

namespace dsa {

Result<std::unique_ptr<Recorder>> Recorder::open(const std::string& path, const RecorderOptions& options) {
  DSA_ASSIGN(Database database, Database::open(path, options.database));
  if (database.readOnly()) return fail(ErrorCode::machine, "cannot record a run: {}", database.notice());
  // Creating or migrating may wait long for the lock; from here on the thread tries often and briefly.
  database.setLockPatience(options.tryMs);
  return std::unique_ptr<Recorder>(new Recorder(std::move(database), options));
}

Recorder::Recorder(Database database, const RecorderOptions& options)
    : m_options(options),
      m_self(ProcessIdentity::ofSelf()),
      m_wallBaseMs(wallClockMs()),
      m_steadyBaseMs(steadyClockMs()),
      m_database(std::move(database)) {
  m_thread = std::thread([this] { loop(); });
}

Recorder::~Recorder() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_wake.notify_all();
  m_thread.join();
}

// A wall clock that is set back would put samples before their predecessors: wall time is the start plus steady time.
std::int64_t Recorder::nowMs() const {
  if (m_options.clockMs) return m_options.clockMs();
  return m_wallBaseMs + (steadyClockMs() - m_steadyBaseMs);
}

Result<void> Recorder::runJob(std::string what, Database::Work work) {
  std::future<Result<void>> done;
  {
    const std::lock_guard lock(m_mutex);
    Job& job = m_jobs.emplace_back();
    job.what = std::move(what);
    job.work = std::move(work);
    job.deadlineMs = steadyClockMs() + m_options.patienceMs;
    done = job.done.get_future();
  }
  m_wake.notify_all();
  DSA_TRY(done.get());
  const std::lock_guard lock(m_mutex);
  if (m_failed) return tl::unexpected<Error>(*m_failed);
  return {};
}

Result<RunId> Recorder::createRun(RunRow row) {
  DSA_CHECK(run() == 0);
  RunId id = 0;
  DSA_TRY(runJob("record the run", [&](SQLite::Database& db) -> Result<void> {
    id = writes::insertRun(db, row, &m_self);
    return {};
  }));
  const std::lock_guard lock(m_mutex);
  m_run = id;
  return id;
}

Result<void> Recorder::attachRun(RunId run) {
  DSA_CHECK(this->run() == 0);
  std::int64_t lastCommand = 0;
  DSA_TRY(runJob("take up the run", [&](SQLite::Database& db) -> Result<void> {
    DSA_ASSIGN(lastCommand, writes::adoptRun(db, run, m_self));
    return {};
  }));
  const std::lock_guard lock(m_mutex);
  m_run = run;
  m_lastCommand = lastCommand;
  return {};
}

Result<int> Recorder::beginAttempt(std::uint64_t startStep) { return nextAttempt(startStep, "interrupted"); }

Result<int> Recorder::supersedeAfter(std::uint64_t step) { return nextAttempt(step, "rolled back"); }

Result<int> Recorder::nextAttempt(std::uint64_t startStep, const std::string& how) {
  const RunId id = run();
  DSA_CHECK(id != 0);
  int number = 0;
  DSA_TRY(runJob("begin the attempt", [&](SQLite::Database& db) -> Result<void> {
    number = writes::beginAttempt(db, id, startStep, m_self, how);
    return {};
  }));
  const std::lock_guard lock(m_mutex);
  m_attempt = number;
  for (MetricState& metric : m_metrics) metric.lastStep = startStep == 0 ? -1 : static_cast<std::int64_t>(startStep);
  m_firstStep = startStep == 0 ? -1 : static_cast<std::int64_t>(startStep);
  return number;
}

Recorder::Metric Recorder::metric(const MetricInfo& info) {
  const std::lock_guard lock(m_mutex);
  const auto same = std::find_if(m_metrics.begin(), m_metrics.end(),
                                 [&](const MetricState& metric) { return metric.info.name == info.name; });
  if (same != m_metrics.end()) return Metric{static_cast<std::size_t>(same - m_metrics.begin())};
  m_metrics.push_back(MetricState{info, m_firstStep});
  return Metric{m_metrics.size() - 1};
}

void Recorder::sample(std::uint64_t step, Metric metric, double value) {
  const std::pair<Metric, double> one(metric, value);
  samples(step, std::span(&one, 1));
}

void Recorder::samples(std::uint64_t step, std::span<const std::pair<Metric, double>> values) {
  const std::int64_t now = nowMs();
  const auto signedStep = static_cast<std::int64_t>(step);
  std::unique_lock lock(m_mutex);
  DSA_CHECK(m_attempt > 0);
  m_space.wait(lock, [&] { return m_pending < m_options.queueLimit || m_finished; });
  if (m_finished) return;
  for (const auto& [metric, value] : values) {
    DSA_CHECK(metric.index < m_metrics.size());
    MetricState& state = m_metrics[metric.index];
    if (state.info.axis == MetricAxis::step) {
      if (signedStep <= state.lastStep) continue;
    } else {
      if (signedStep < state.lastStep) continue;
    }
    state.lastStep = signedStep;
    m_queue.samples.push_back(QueuedSample{metric.index, Sample{m_attempt, step, now, value}});
    ++m_pending;
  }
}

void Recorder::queueWrite(Write write) {
  const std::lock_guard lock(m_mutex);
  if (m_finished) return;
  m_queue.writes.push_back(std::move(write));
  ++m_pending;
}

void Recorder::event(const std::string& kind, const std::string& text, std::uint64_t step) {
  EventRow event;
  event.wallMs = nowMs();
  event.step = step;
  event.kind = kind;
  event.text = text;
  {
    const std::lock_guard lock(m_mutex);
    event.attempt = m_attempt;
  }
  queueWrite([event](SQLite::Database& db, RunId run) { writes::insertEvent(db, run, event); });
}

void Recorder::setStatus(RunStatus status, const std::string& reason) {
  queueWrite([status, reason](SQLite::Database& db, RunId run) { writes::setStatus(db, run, status, reason); });
}

void Recorder::updateProgress(const RunProgress& progress) {
  const std::lock_guard lock(m_mutex);
  if (m_finished) return;
  if (!m_queue.progress) m_queue.progress.emplace();
  m_queue.progress->merge(progress);
}

void Recorder::embedding(EmbeddingSample sample) {
  if (sample.wallMs == 0) sample.wallMs = nowMs();
  const std::lock_guard lock(m_mutex);
  if (!m_finished) m_queue.embedding = std::move(sample);
}

std::vector<CommandRow> Recorder::takeCommands() {
  const std::lock_guard lock(m_mutex);
  std::vector<CommandRow> commands(m_commands.begin(), m_commands.end());
  m_commands.clear();
  return commands;
}

void Recorder::answerCommand(const CommandRow& command, const std::string& answer, std::uint64_t step) {
  const std::int64_t now = nowMs();
  queueWrite([=, id = command.id](SQLite::Database& db, RunId) { writes::answerCommand(db, id, now, answer); });
  event("command", fmt::format("{}: {}", commandKindName(command.kind), answer), step);
}

Result<void> Recorder::flush() { return runJob("store the samples", nullptr); }

Result<void> Recorder::finish(RunStatus status, const std::string& reason, const std::string& resultJson) {
  const RunId id = run();
  DSA_CHECK(id != 0);
  int attempt = 0;
  {
    const std::lock_guard lock(m_mutex);
    attempt = m_attempt;
  }
  DSA_TRY(runJob("store the end of the run", [&](SQLite::Database& db) -> Result<void> {
    return writes::finishRun(db, id, attempt, status, reason, resultJson);
  }));
  const std::lock_guard lock(m_mutex);
  m_finished = true;
  m_commands.clear();
  m_space.notify_all();
  return {};
}

RunId Recorder::run() const {
  const std::lock_guard lock(m_mutex);
  return m_run;
}

bool Recorder::watched() const {
  const std::lock_guard lock(m_mutex);
  return m_watched;
}

std::uint64_t Recorder::pending() const {
  const std::lock_guard lock(m_mutex);
  return m_pending;
}

std::optional<Error> Recorder::trouble() const {
  const std::lock_guard lock(m_mutex);
  return m_trouble;
}

}  // namespace dsa
