// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs side by side: twin memory strips, the same loss by step, the price in time, and what differs.
#pragma once

#include <QTimer>
#include <QWidget>
#include <array>
#include <optional>

#include "ui/pages/runs_model.h"
#include "ui/run/series.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QStackedWidget;
class QTableWidget;

namespace dsa::ui {

class Banner;
class Plot;

class ComparePage : public QWidget {
  Q_OBJECT
 public:
  ComparePage(RecordsService& records, RunsModel& model, QWidget* parent = nullptr);

  void showRuns(RunId a, RunId b);
  /// Runs that will appear under these uuids: each is shown as soon as it is there.
  void expect(const QStringList& uuids);
  [[nodiscard]] QVector<RunId> runs() const;
  void takeChunks(const ChunkList& chunks);
  void runsChanged();
  void swap();
  /// Both losses on logarithmic axes, or not.
  void toggleLog();
  [[nodiscard]] QVector<Plot*> plots() const;
  [[nodiscard]] QTableWidget& differences() { return *m_parameters; }
  [[nodiscard]] QTableWidget& results() { return *m_results; }
  [[nodiscard]] QString headline() const;
  [[nodiscard]] QString bannerText() const;

 signals:
  void runsChosen();
  void demoWanted();

 protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Side {
    RunId run = 0;
    QString uuid;  ///< expected
    RunSeries series;
    std::optional<RunRow> row;
    QComboBox* picker = nullptr;
    Plot* memory = nullptr;
  };
  QWidget* makeHeader();
  QWidget* makePlots();
  QWidget* makeTables();
  void setSide(int side, RunId run);
  void fetch();
  void fillPickers();
  void styleLines();
  void feedPlots();
  void fillTables();
  void updateHeadline();

  RecordsService& m_records;
  RunsModel& m_model;
  std::array<Side, 2> m_sides;
  QTimer m_tick;
  bool m_dirty = false;
  QStackedWidget* m_stack = nullptr;
  Banner* m_banner = nullptr;
  QLabel* m_headline = nullptr;
  QLabel* m_cacheLine = nullptr;
  Plot* m_loss = nullptr;
  Plot* m_price = nullptr;
  Plot* m_faults = nullptr;
  Plot* m_disk = nullptr;
  QCheckBox* m_onlyDifferences = nullptr;
  QTableWidget* m_parameters = nullptr;
  QTableWidget* m_results = nullptr;
};

}  // namespace dsa::ui
