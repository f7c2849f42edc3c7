// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/records/records_threads.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <QFileInfo>
#include <algorithm>

namespace dsa::ui {

namespace {

// Samples of one metric in one look: a run has some ten metrics, and the window's thread takes 0.5 us a sample.
constexpr std::size_t kPage = 5000;
constexpr std::int64_t kWatchEveryMs = 1000;  // a third of what a trainer takes for "still watched"

}  // namespace

RecordsReader::RecordsReader(QString path, RecordsService::Pace pace) : m_path(std::move(path)), m_pace(pace) {}

void RecordsReader::start() {
  m_timer = new QTimer(this);
  m_timer->setSingleShot(true);
  connect(m_timer, &QTimer::timeout, this, &RecordsReader::look);
  look();
}

void RecordsReader::say(const QString& trouble) {
  if (trouble == m_trouble) return;
  m_trouble = trouble;
  emit troubleChanged(trouble);
}

bool RecordsReader::openReader() {
  if (m_reader) return true;
  // The writing thread makes the file; until it is there, there is nothing to read and nothing wrong.
  if (!QFileInfo::exists(m_path)) return false;
  auto opened = Reader::open(m_path.toStdString());
  if (!opened) {
    say(QString::fromStdString(opened.error().message));
    return false;
  }
  m_reader.emplace(std::move(*opened));
  say(QString::fromStdString(m_reader->notice()));
  return true;
}

bool RecordsReader::changed() {
  std::int64_t version = -1;
  const auto read = m_reader->database().read("look for changes", [&](SQLite::Database& db) -> Result<void> {
    version = db.execAndGet("PRAGMA data_version").getInt64();
    return {};
  });
  const bool differs = !read || version != m_dataVersion;
  m_dataVersion = version;
  return differs;
}

void RecordsReader::follow(const QVector<RunId>& runs, RunId drawn) {
  // From the start, also what was followed before: another page may show it now, which has nothing of it yet.
  m_followed.clear();
  for (const RunId run : runs) m_followed.try_emplace(run);
  // The same run again is drawn in the same plane.
  if (drawn != m_drawn.run) m_drawn.projector = Projector();
  m_drawn.run = drawn;
  m_drawn.looked = false;
  m_drawn.step.reset();
  m_again = true;
  if (m_timer != nullptr) look();
}

std::optional<RunRow> RecordsReader::fetch(RunId run) {
  if (!openReader()) return std::nullopt;
  auto row = m_reader->run(run);
  if (!row) return std::nullopt;
  return std::move(*row);
}

void RecordsReader::look() {
  int pause = m_pace.idleMs;
  if (openReader()) {
    const bool fresh = changed();
    if (fresh || m_again) {
      m_again = false;
      auto runs = m_reader->runs(true);
      if (runs) {
        m_runs = RunList(runs->begin(), runs->end());
        emit runsChanged(m_runs);
        say(QString::fromStdString(m_reader->notice()));
      } else {
        say(QString::fromStdString(runs.error().message));
        m_reader.reset();
        m_dataVersion = -1;
      }
    }
    QVector<RunId> watched;
    for (auto& [run, followed] : m_followed) {
      const bool active = isActive(run);
      if (active) {
        pause = m_pace.watchedMs;
        watched.push_back(run);
      }
      if (!m_reader || (!fresh && !active && followed.whole)) continue;
      const auto more = readSeries(run, followed, active);
      if (more && *more) m_again = true, pause = 0;
    }
    if (isActive(m_drawn.run)) {
      pause = std::min(pause, m_pace.watchedMs);
      if (!watched.contains(m_drawn.run)) watched.push_back(m_drawn.run);
    }
    if (m_reader && m_drawn.run != 0 && (fresh || !m_drawn.looked)) readEmbedding();
    if (watched != m_watched) emit watchWanted(m_watched = watched);
  }
  m_timer->start(pause);
}

bool RecordsReader::isActive(RunId run) const {
  const auto found = std::find_if(m_runs.begin(), m_runs.end(), [&](const RunSummary& r) { return r.id == run; });
  return found != m_runs.end() && runStatusIsActive(found->status);
}

void RecordsReader::readEmbedding() {
  const auto state = m_reader->embedding(m_drawn.run, m_drawn.step);
  EmbeddingFrame frame;
  frame.run = m_drawn.run;
  if (!state) {
    frame.problem = QString::fromStdString(state.error().message);
  } else if (*state) {
    frame = m_drawn.projector.frame(m_drawn.run, **state);
    m_drawn.step = frame.step;
  }
  // That there is nothing is said once.
  if (frame.of || !m_drawn.looked) emit embeddingArrived(frame);
  m_drawn.looked = true;
}

/// What is new of one run. Gives whether there is still more.
Result<bool> RecordsReader::readSeries(RunId run, Followed& followed, bool active) {
  DSA_ASSIGN(const std::vector<AttemptRow> attempts, m_reader->attempts(run));
  DSA_ASSIGN(const std::vector<MetricInfo> metrics, m_reader->metrics(run));
  const int latest = attempts.empty() ? 0 : attempts.back().number;
  const bool reset = latest != followed.attempt;
  if (reset) followed.cursors.clear();
  followed.attempt = latest;
  bool more = false;
  ChunkList chunks;
  for (const MetricInfo& metric : metrics) {
    SampleCursor& cursor = followed.cursors[metric.id];
    SeriesChunk chunk;
    chunk.run = run;
    chunk.metric = QString::fromStdString(metric.name);
    chunk.unit = QString::fromStdString(metric.unit);
    chunk.source = QString::fromStdString(metric.source);
    chunk.reset = reset;
    chunk.attempts = QVector<AttemptRow>(attempts.begin(), attempts.end());
    DSA_ASSIGN(const SamplePage got, m_reader->samples(run, metric.id, cursor, kPage));
    cursor = got.next;
    chunk.samples = QVector<Sample>(got.samples.begin(), got.samples.end());
    more |= got.more;
    if (reset || !chunk.samples.isEmpty()) chunks.push_back(std::move(chunk));
  }
  if (!chunks.isEmpty()) emit samplesArrived(chunks);
  DSA_ASSIGN(const std::vector<EventRow> events, m_reader->events(run, followed.lastEvent));
  if (!events.empty()) {
    followed.lastEvent = events.back().id;
    emit eventsArrived(run, EventList(events.begin(), events.end()));
  }
  followed.whole = !active && !more;
  return more;
}

RecordsWriter::RecordsWriter(QString path, RecordsService::Pace pace) : m_path(std::move(path)), m_pace(pace) {}

void RecordsWriter::start() {
  openEditor();
  m_watchTimer = new QTimer(this);
  connect(m_watchTimer, &QTimer::timeout, this, [this] { watch(m_watched); });
  m_watchTimer->start(kWatchEveryMs);
  m_reconcileTimer = new QTimer(this);
  const auto reconcile = [this] {
    if (openEditor()) (void)m_editor->reconcile();
  };
  connect(m_reconcileTimer, &QTimer::timeout, this, reconcile);
  m_reconcileTimer->start(m_pace.reconcileMs);
  reconcile();
}

bool RecordsWriter::openEditor() {
  if (m_editor) return true;
  auto opened = Editor::open(m_path.toStdString());
  if (!opened) {
    m_openError = opened.error();
    return false;
  }
  m_editor.emplace(std::move(*opened));
  return true;
}

void RecordsWriter::watch(const QVector<RunId>& runs) {
  m_watched = runs;
  if (runs.isEmpty() || !openEditor()) return;
  // A run that has ended or gone needs no watcher; that this one could not be told is no trouble of the user's.
  for (const RunId run : runs) (void)m_editor->watch(run);
}

Result<void> RecordsWriter::run(const std::function<Result<void>(Editor&)>& work) {
  if (!openEditor()) return tl::unexpected<Error>(m_openError);
  return work(*m_editor);
}

}  // namespace dsa::ui
