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
  bool shrunk = false;  ///< little memory: a quarter of the rows, and said so
  [[nodiscard]] QString description() const;
  /// Errors: as loadRecipe.
  [[nodiscard]] Result<LaunchRequest> request() const;
};

[[nodiscard]] DemoPlan planDemo(std::optional<std::uint64_t> memoryAvailable);

/// What follows the comparison: mammals in two dimensions of the ball, to be watched. Errors: as loadRecipe.
[[nodiscard]] Result<LaunchRequest> secondActRequest();

/// Evicts the page cache of the disk arm once, when seven eighths of its steps are done. Thread: the window's.
class DemoDirector : public QObject {
  Q_OBJECT
 public:
  explicit DemoDirector(RecordsService& records, QObject* parent = nullptr) : QObject(parent), m_records(records) {}
  void begin(const QStringList& uuids);
  void runsChanged(const RunList& runs);

 signals:
  /// Both arms have ended, whatever came of them.
  void ended(dsa::RunId ram, dsa::RunId disk);

 private:
  RecordsService& m_records;
  QStringList m_uuids;
  bool m_evicted = false;
};

}  // namespace dsa::ui
