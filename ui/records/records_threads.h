// SPDX-License-Identifier: GPL-3.0-or-later
// Inside ui/records only: the two objects that live on the reading and the writing thread.
#pragma once

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QSet>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>

#include "core/record/editor.h"
#include "core/record/reader.h"
#include "ui/records/records_service.h"

namespace dsa::ui {

/// Reads what has changed and says it in values. Thread: its own.
class RecordsReader : public QObject {
  Q_OBJECT
 public:
  RecordsReader(QString path, RecordsService::Pace pace);

  void start();
  void follow(const QVector<RunId>& runs, RunId drawn);
  std::optional<RunRow> fetch(RunId run);

 signals:
  void runsChanged(const dsa::ui::RunList& runs);
  void samplesArrived(const dsa::ui::ChunkList& chunks);
  void eventsArrived(dsa::RunId run, const dsa::ui::EventList& events);
  void embeddingArrived(const dsa::ui::EmbeddingFrame& frame);
  void troubleChanged(const QString& text);
  /// The active ones among the followed runs: their trainers are told that somebody looks.
  void watchWanted(const QVector<dsa::RunId>& runs);

 private:
  struct Followed {
    std::map<MetricId, SampleCursor> cursors;
    std::int64_t lastEvent = 0;
    int attempt = 0;
    bool whole = false;  ///< the run has ended and everything of it was read
  };
  /// The run whose rows are drawn. The plane is computed here: it takes milliseconds.
  struct Drawn {
    RunId run = 0;
    bool looked = false;
    std::optional<std::uint64_t> step;
    Projector projector;
  };

  void look();
  bool openReader();
  /// Whether any connection has written since the last call.
  bool changed();
  Result<bool> readSeries(RunId run, Followed& followed, bool active);
  void readEmbedding();
  [[nodiscard]] bool isActive(RunId run) const;
  void say(const QString& trouble);

  const QString m_path;
  const RecordsService::Pace m_pace;
  std::optional<Reader> m_reader;
  QTimer* m_timer = nullptr;
  std::int64_t m_dataVersion = -1;
  RunList m_runs;
  std::map<RunId, Followed> m_followed;
  Drawn m_drawn;
  bool m_again = false;
  QVector<RunId> m_watched;
  QString m_trouble;
};

/// Edits, watches, and marks interrupted runs. Thread: its own; it may wait for locks.
class RecordsWriter : public QObject {
  Q_OBJECT
 public:
  RecordsWriter(QString path, RecordsService::Pace pace);

  void start();
  void watch(const QVector<RunId>& runs);
  Result<void> run(const std::function<Result<void>(Editor&)>& work);

 private:
  bool openEditor();

  const QString m_path;
  const RecordsService::Pace m_pace;
  std::optional<Editor> m_editor;
  Error m_openError;
  QVector<RunId> m_watched;
  QTimer* m_watchTimer = nullptr;
  QTimer* m_reconcileTimer = nullptr;
};

}  // namespace dsa::ui
