// SPDX-License-Identifier: GPL-3.0-or-later
// Starts `dsa` as a process of its own that outlives the window, and notices one that never came to a record.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <QVector>
#include <optional>

#include "core/spec/run_spec.h"
#include "ui/records/records_service.h"

namespace dsa::ui {

/// What the user asked for.
struct LaunchRequest {
  RunSpec spec;
  QStringList arms;  ///< empty: one run; else PLACE:RULE of each arm, in turn
  bool queue = false;
};

/// How `dsa` is called for a request; the spec stands in a file.
[[nodiscard]] QStringList launchArguments(const LaunchRequest& request, const QString& specFile,
                                          const QStringList& uuids, const QString& database);
/// The command line that does the same from a terminal, quoted for a shell.
[[nodiscard]] QString commandLineFor(const LaunchRequest& request);

/// Sets placement and rule of an arm "PLACE:RULE". False for a text that is none.
bool placeRun(RunSpec& spec, const QString& arm);

/// Thread: the window's.
class Launcher : public QObject {
  Q_OBJECT
 public:
  /// `database`: where records go; logs and specs lie beside it in logs/.
  explicit Launcher(QString database, QObject* parent = nullptr);

  /// The `dsa` to start: $DSA_RUNNER, else beside this program, else in PATH. Empty where there is none.
  [[nodiscard]] static QString runner();

  /// Starts it; gives the uuids under which the records will appear, one a run. Empty after failed().
  QStringList start(const LaunchRequest& request);
  /// `dsa resume` of a queued, interrupted or stopped run.
  bool resume(const RunSummary& run);
  /// `dsa runs rm --table-only`, in a process that outlives the window, too: a large sparse file goes slowly.
  bool deleteTable(const RunSummary& run);
  /// Tells which runs have appeared; call with each list.
  void noticeRuns(const RunList& runs);

 signals:
  /// A process could not be started, or ended before its run was recorded: what it said last.
  void failed(const QString& text);

 private:
  struct Started {
    QStringList uuids;
    qint64 pid = 0;
    QString log;
    int attemptsBefore = 0;  ///< that the first run's record had
    bool deletes = false;    ///< a table, instead of training
    bool began = false;      ///< the record appeared, or has a further attempt; or its table is gone
    int deadChecks = 0;
  };
  bool launch(const QStringList& arguments, Started started);
  QStringList startOne(const LaunchRequest& request);
  [[nodiscard]] QString logOf(const QString& uuid) const;
  void check();

  QString m_database;
  QVector<Started> m_started;
  QTimer m_timer;
};

}  // namespace dsa::ui
