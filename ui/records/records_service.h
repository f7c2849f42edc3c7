// SPDX-License-Identifier: GPL-3.0-or-later
// The window's ear and hand on the database: one thread reads, one writes, the window's own thread does neither.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QThread>
#include <QVector>
#include <functional>
#include <memory>
#include <optional>

#include "core/record/editor.h"
#include "core/record/records.h"
#include "ui/run/projection.h"

namespace dsa::ui {

/// New samples of one series of one run. `reset`: forget what came before (a later attempt superseded it).
struct SeriesChunk {
  RunId run = 0;
  QString metric;
  QString unit;
  QString source;
  bool reset = false;
  QVector<Sample> samples;
  QVector<AttemptRow> attempts;
};

using RunList = QVector<RunSummary>;
using ChunkList = QVector<SeriesChunk>;
using EventList = QVector<EventRow>;

class RecordsReader;
class RecordsWriter;

/// Thread: the window's; signals arrive there. The database is made where it is missing.
class RecordsService : public QObject {
  Q_OBJECT
 public:
  struct Pace {
    int watchedMs = 100;  ///< between looks while an active run is followed
    int idleMs = 500;
    int reconcileMs = 2000;  ///< how often runs are looked for whose process is gone
  };

  explicit RecordsService(QString path, Pace pace, QObject* parent = nullptr);
  explicit RecordsService(const QString& path, QObject* parent = nullptr) : RecordsService(path, Pace{}, parent) {}
  ~RecordsService() override;

  [[nodiscard]] const QString& path() const { return m_path; }

  /// Begins to read and write; connect first.
  void start();
  /// The series of these runs are read from now on; active ones among them are watched, so that their trainers commit
  /// ten times a second.
  /// `drawn`: this run's rows come as frames, too, and it is watched; 0: none.
  void follow(const QVector<RunId>& runs, RunId drawn = 0);
  /// Everything about one run, to `then` on this thread; nothing when it is gone.
  void fetchRun(RunId run, QObject* context, std::function<void(const std::optional<RunRow>&)> then);
  /// A change by the writing thread; `then` on this thread once it is stored. Failures come as editFailed.
  void edit(const QString& what, std::function<Result<void>(Editor&)> work, QObject* context = nullptr,
            std::function<void()> then = {});
  /// An order to the trainer of a run.
  void send(RunId run, CommandKind kind, std::optional<std::int64_t> value = std::nullopt);

 signals:
  /// The whole list, whenever the database has changed; archived ones too.
  void runsChanged(const dsa::ui::RunList& runs);
  void samplesArrived(const dsa::ui::ChunkList& chunks);
  void eventsArrived(dsa::RunId run, const dsa::ui::EventList& events);
  /// Of the drawn run, each new state; a first one without points where none is recorded.
  void embeddingArrived(const dsa::ui::EmbeddingFrame& frame);
  /// The database cannot be read; an empty text once it can.
  void troubleChanged(const QString& text);
  void editFailed(const QString& what, const QString& text);

 private:
  QString m_path;
  QThread m_readThread;
  QThread m_writeThread;
  RecordsReader* m_reader;
  RecordsWriter* m_writer;
};

}  // namespace dsa::ui

Q_DECLARE_METATYPE(dsa::ui::RunList)
Q_DECLARE_METATYPE(dsa::ui::ChunkList)
Q_DECLARE_METATYPE(dsa::ui::EventList)
