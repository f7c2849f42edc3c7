// SPDX-License-Identifier: GPL-3.0-or-later
// One run as it goes: memory, page faults, disk, loss, throughput on one time axis, and the orders to its trainer.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include "ui/pages/runs_model.h"
#include "ui/run/eta.h"
#include "ui/run/series.h"

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace dsa::ui {

class Banner;
class BudgetSlider;
class Plot;

class LivePage : public QWidget {
  Q_OBJECT
 public:
  LivePage(RecordsService& records, RunsModel& model, QWidget* parent = nullptr);

  void showRun(RunId run);
  [[nodiscard]] RunId run() const { return m_run; }
  void takeChunks(const ChunkList& chunks);
  void takeEvents(RunId run, const EventList& events);
  void runsChanged();
  [[nodiscard]] QVector<Plot*> plots() const;
  [[nodiscard]] const RunSeries& series() const { return m_series; }
  /// The view stands still; training goes on.
  void setViewPaused(bool paused);
  [[nodiscard]] bool viewPaused() const { return m_viewPaused; }
  /// The loss on a logarithmic axis, or not.
  void toggleLog();
  void stop();
  void pauseOrResume();
  void evict();
  [[nodiscard]] QString statusLine() const;

 signals:
  void resumeWanted(dsa::RunId run);
  void newRunWanted();
  void runChosen(dsa::RunId run);

 private:
  QWidget* makeHeader();
  QWidget* makePlots();
  void styleLines();
  void feedPlots();
  void updateHeader();
  void updateButtons(const std::optional<RunSummary>& run);

  RecordsService& m_records;
  RunsModel& m_model;
  RunId m_run = 0;
  RunSeries m_series;
  Eta m_eta;
  QElapsedTimer m_clock;
  QTimer m_tick;
  bool m_viewPaused = false;
  bool m_stopping = false;
  bool m_dirty = false;
  QStackedWidget* m_stack = nullptr;
  QComboBox* m_picker = nullptr;
  QLabel* m_status = nullptr;
  QLabel* m_facts = nullptr;
  QProgressBar* m_progress = nullptr;
  QLabel* m_headline = nullptr;
  QLabel* m_cacheLine = nullptr;
  QLabel* m_event = nullptr;
  Banner* m_banner = nullptr;
  QToolButton* m_view = nullptr;
  QPushButton* m_pause = nullptr;
  QPushButton* m_stop = nullptr;
  QPushButton* m_evict = nullptr;
  BudgetSlider* m_budget = nullptr;
  std::optional<double> m_budgetSeen;  // as the trainer last said
  QPushButton* m_resume = nullptr;
  Plot* m_memory = nullptr;
  Plot* m_faults = nullptr;
  Plot* m_disk = nullptr;
  Plot* m_loss = nullptr;
  Plot* m_rate = nullptr;

 protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;
};

}  // namespace dsa::ui
