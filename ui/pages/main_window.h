// SPDX-License-Identifier: GPL-3.0-or-later
// The window: start, runs, live, compare, embedding as tabs over one database; the trainers are processes of their own.
#pragma once

#include <QElapsedTimer>
#include <QMainWindow>
#include <memory>

#include "ui/look/theme.h"
#include "ui/pages/runs_model.h"
#include "ui/run/dataset_probe.h"
#include "ui/run/demo.h"
#include "ui/run/hardware.h"
#include "ui/run/launcher.h"

class QLabel;
class QMenu;
class QTabWidget;

namespace dsa::ui {

class Banner;
class ComparePage;
class EmbeddingPage;
class LivePage;
class NewRunDialog;
class RunsPage;
class StartPage;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(const QString& database, QWidget* parent = nullptr);
  ~MainWindow() override;

  enum Tab { StartTab, RunsTab, LiveTab, CompareTab, EmbeddingTab };
  void showTab(Tab tab);
  void openRun(RunId run);
  /// Its rows as points.
  void openEmbedding(RunId run);
  void compareRuns(const QVector<RunId>& runs);
  /// Opens the form; `spec` fills it.
  NewRunDialog* openNewRun(const std::optional<RunSpec>& spec = std::nullopt);
  void startDemo();
  /// Starts a run and opens its points; the demo's own for none.
  void startSecondAct(const std::optional<LaunchRequest>& request = std::nullopt);
  /// Starts it and shows it, live or side by side.
  void launch(const LaunchRequest& request);
  void resume(RunId run);
  void openFile(const QString& path);

  [[nodiscard]] RunsModel& model() { return m_model; }
  [[nodiscard]] RecordsService& records() { return m_records; }
  [[nodiscard]] RunsPage& runsPage() { return *m_runs; }
  [[nodiscard]] LivePage& livePage() { return *m_live; }
  [[nodiscard]] ComparePage& comparePage() { return *m_compare; }
  [[nodiscard]] EmbeddingPage& embeddingPage() { return *m_embedding; }
  [[nodiscard]] StartPage& startPage() { return *m_start; }
  [[nodiscard]] Banner& banner() { return *m_banner; }

 signals:
  void themeWanted(dsa::ui::ThemeMode mode);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void changeEvent(QEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void makeActions();
  void makePages();
  void makeStatusBar();
  void onRuns(const RunList& runs);
  void follow();
  void onDemoEnded(RunId ram, RunId disk);
  void startQueued();
  void updateActions();
  void updateStatusBar();
  void exportSelected();
  void deleteTable(RunId run);
  void runDemo(const DemoPlan& plan);
  void noticeSecondAct();
  void deleteDemoTable(const RunSummary& run);  ///< unless it is to be kept
  void onDemoTooSlow(std::uint64_t steps, const QVector<RunId>& stopped);
  void importBundle(const QString& path);
  void showShortcuts();
  void showAbout();
  void showText(const QString& title, const QString& text);
  [[nodiscard]] RunId current() const;
  QAction* add(QMenu* menu, const QString& iconName, const QString& text, const QKeySequence& key,
               std::function<void()> act);

  RunsModel m_model;
  RecordsService m_records;
  DatasetProbe m_probe;
  Hardware m_hardware;
  Launcher m_launcher;
  DemoDirector m_demo;
  QTabWidget* m_tabs = nullptr;
  Banner* m_banner = nullptr;
  StartPage* m_start = nullptr;
  RunsPage* m_runs = nullptr;
  LivePage* m_live = nullptr;
  ComparePage* m_compare = nullptr;
  EmbeddingPage* m_embedding = nullptr;
  QAction* m_stopAction = nullptr;
  QAction* m_pauseAction = nullptr;
  QAction* m_evictAction = nullptr;
  QAction* m_resumeAction = nullptr;
  QAction* m_compareAction = nullptr;
  QAction* m_exportAction = nullptr;
  QAction* m_deleteTableAction = nullptr;
  QAction* m_keepDemoAction = nullptr;
  QVector<QPair<QAction*, QString>> m_icons;
  QVector<QAction*> m_shortcuts;
  QLabel* m_state = nullptr;
  QLabel* m_disk = nullptr;
  QString m_secondAct;  ///< uuid of the demo's second run while it goes on
  QString m_expected;   ///< uuid of a run that is to be shown when it appears
  Tab m_expectedOn = LiveTab;
  RunId m_startedFromQueue = 0;
  QElapsedTimer m_diskLooked;
  bool m_first = true;
};

}  // namespace dsa::ui
