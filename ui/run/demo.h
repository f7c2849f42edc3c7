// SPDX-License-Identifier: GPL-3.0-or-later
// The one-minute demo: a 1:10 model of ten million rows, first in RAM, then on disk, the cache evicted near the end.
#pragma once

#include <QObject>
#include <QStringList>
#include <optional>

#include "ui/records/records_service.h"
#include "ui/run/launcher.h"

namespace dsa::ui {

struct DemoPlan {
  std::uint64_t rows = 1'000'000;
  bool shrunk = false;                 ///< little memory: a quarter of the rows, and said so
  std::optional<std::uint64_t> steps;  ///< fewer than the recipe's, where the machine is slow
  [[nodiscard]] QString description() const;
  /// Errors: as loadRecipe.
  [[nodiscard]] Result<LaunchRequest> request() const;
};

[[nodiscard]] DemoPlan planDemo(std::optional<std::uint64_t> memoryAvailable);

/// What follows the comparison: mammals in two dimensions of the ball, to be watched. Errors: as loadRecipe.
[[nodiscard]] Result<LaunchRequest> secondActRequest();

/// The steps that an arm can do in a minute, when by its first 20 or more (on disk: by its first minute) it would take
/// over two; nothing while it is fast enough, or has nothing left to leave out.
[[nodiscard]] std::optional<std::uint64_t> stepsForSlowArm(const RunSummary& arm);

/// Evicts the page cache of the disk arm once, when seven eighths of its steps are done; stops both arms on a machine
/// that is too slow for them. Thread: the window's.
class DemoDirector : public QObject {
  Q_OBJECT
 public:
  explicit DemoDirector(RecordsService& records, QObject* parent = nullptr) : QObject(parent), m_records(records) {}
  void begin(const QStringList& uuids);
  void runsChanged(const RunList& runs);

 signals:
  /// Both arms have ended, whatever came of them.
  void ended(dsa::RunId ram, dsa::RunId disk);
  /// What had begun was stopped: the demo should start again with that many steps, the same in both arms.
  void tooSlow(std::uint64_t steps, const QVector<dsa::RunId>& stopped);

 private:
  RecordsService& m_records;
  QStringList m_uuids;
  bool m_evicted = false;
  std::optional<std::uint64_t> m_fewer;  ///< an arm was told to stop
};

}  // namespace dsa::ui
