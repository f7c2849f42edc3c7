// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/main_window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QMimeData>
#include <QProcess>
#include <QSettings>
#include <QStatusBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include "core/record/bundle.h"
#include "ui/look/icons.h"
#include "ui/look/units.h"
#include "ui/pages/banner.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/delete_table.h"
#include "ui/pages/embedding_page.h"
#include "ui/pages/live_page.h"
#include "ui/pages/new_run.h"
#include "ui/pages/runs_page.h"
#include "ui/pages/start_page.h"
#include "ui/run/background.h"
#include "ui/run/run_text.h"

namespace dsa::ui {

namespace {

constexpr int kDiskEveryMs = 2000;

}  // namespace

MainWindow::MainWindow(const QString& database, QWidget* parent)
    : QMainWindow(parent), m_records(database), m_launcher(database), m_demo(m_records) {
  setWindowTitle(tr("DSA Lab"));
  setAcceptDrops(true);
  makePages();
  makeActions();
  makeStatusBar();
  connect(&m_records, &RecordsService::runsChanged, this, &MainWindow::onRuns);
  connect(&m_records, &RecordsService::samplesArrived, this, [this](const ChunkList& chunks) {
    m_live->takeChunks(chunks);
    m_compare->takeChunks(chunks);
  });
  connect(&m_records, &RecordsService::eventsArrived, m_live, &LivePage::takeEvents);
  connect(&m_records, &RecordsService::troubleChanged, this, [this](const QString& text) {
    if (!text.isEmpty()) m_banner->say(Banner::Kind::warning, text);
  });
  connect(&m_records, &RecordsService::editFailed, this, [this](const QString& what, const QString& text) {
    m_banner->say(Banner::Kind::error, tr("%1: %2").arg(what, text));
  });
  connect(&m_launcher, &Launcher::failed, this, [this](const QString& text) {
    m_expected.clear();
    if (m_embedding->run() == 0) m_embedding->showRun(0);  // it expects none any more
    m_banner->say(Banner::Kind::error, text);
  });
  connect(&m_demo, &DemoDirector::ended, this, &MainWindow::onDemoEnded);
  connect(&m_demo, &DemoDirector::tooSlow, this, &MainWindow::onDemoTooSlow);
  connect(&m_records, &RecordsService::embeddingArrived, m_embedding, &EmbeddingPage::takeFrame);
  resize(1180, 760);
  restoreGeometry(QSettings().value("geometry").toByteArray());
  m_records.start();
  m_hardware.refresh();
  updateActions();
}

MainWindow::~MainWindow() = default;

void MainWindow::makePages() {
  m_banner = new Banner;
  m_start = new StartPage(m_hardware);
  m_runs = new RunsPage(m_records, m_model);
  m_live = new LivePage(m_records, m_model);
  m_compare = new ComparePage(m_records, m_model);
  m_embedding = new EmbeddingPage(m_model);
  m_tabs = new QTabWidget;
  m_tabs->setDocumentMode(true);
  m_tabs->addTab(m_start, icon("home"), tr("Start"));
  m_tabs->addTab(m_runs, icon("table"), tr("Runs"));
  m_tabs->addTab(m_live, icon("live"), tr("Live"));
  m_tabs->addTab(m_compare, icon("compare"), tr("Compare"));
  m_tabs->addTab(m_embedding, icon("embedding"), tr("Embedding"));
  auto* centre = new QWidget;
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* strip = new QVBoxLayout;
  strip->setContentsMargins(16, 8, 16, 0);
  strip->addWidget(m_banner);
  column->addLayout(strip);
  column->addWidget(m_tabs, 1);
  setCentralWidget(centre);
  connect(m_tabs, &QTabWidget::currentChanged, this, [this] {
    follow();
    updateActions();
  });
  connect(m_start, &StartPage::demoWanted, this, &MainWindow::startDemo);
  connect(m_start, &StartPage::newRunWanted, this, [this] { openNewRun(); });
  connect(m_start, &StartPage::openWanted, this, [this] { openFile({}); });
  connect(m_start, &StartPage::interruptedWanted, this, [this] { showTab(RunsTab); });
  connect(m_runs, &RunsPage::openWanted, this, &MainWindow::openRun);
  connect(m_runs, &RunsPage::resumeWanted, this, &MainWindow::resume);
  connect(m_runs, &RunsPage::compareWanted, this, &MainWindow::compareRuns);
  connect(m_runs, &RunsPage::deleteTableWanted, this, &MainWindow::deleteTable);
  connect(m_runs, &RunsPage::selectionChanged, this, &MainWindow::updateActions);
  connect(m_runs, &RunsPage::duplicateWanted, this, [this](RunId run) {
    m_records.fetchRun(run, this, [this](const std::optional<RunRow>& row) {
      if (!row) return;
      if (auto spec = parseSpec(row->spec)) {
        spec->name.reset();
        openNewRun(*spec);
      }
    });
  });
  connect(m_live, &LivePage::newRunWanted, this, [this] { openNewRun(); });
  connect(m_live, &LivePage::resumeWanted, this, &MainWindow::resume);
  connect(m_live, &LivePage::runChosen, this, &MainWindow::openRun);
  connect(m_compare, &ComparePage::runsChosen, this, &MainWindow::follow);
  connect(m_compare, &ComparePage::demoWanted, this, &MainWindow::startDemo);
  connect(m_embedding, &EmbeddingPage::demoWanted, this, &MainWindow::startDemo);
  connect(m_embedding, &EmbeddingPage::runChosen, this, &MainWindow::openEmbedding);
}

void MainWindow::makeStatusBar() {
  m_state = new QLabel;
  m_disk = new QLabel;
  auto* path = new QLabel(QFileInfo(m_records.path()).fileName());
  path->setToolTip(m_records.path());
  statusBar()->setSizeGripEnabled(false);
  statusBar()->addWidget(m_state, 1);
  statusBar()->addPermanentWidget(m_disk);
  statusBar()->addPermanentWidget(path);
  m_disk->setContentsMargins(0, 0, 16, 0);
  statusBar()->setContentsMargins(12, 0, 12, 0);
  updateStatusBar();
}

void MainWindow::showTab(Tab tab) { m_tabs->setCurrentIndex(tab); }

void MainWindow::onRuns(const RunList& runs) {
  m_launcher.noticeRuns(runs);
  m_model.setRuns(runs);
  if (std::exchange(m_first, false) && !runs.isEmpty() && m_tabs->currentIndex() == StartTab) {
    const bool interrupted = std::any_of(runs.begin(), runs.end(),
                                         [](const RunSummary& run) { return run.status == RunStatus::interrupted; });
    if (!interrupted) showTab(RunsTab);
  }
  if (!m_expected.isEmpty()) {
    if (const auto run = m_model.byUuid(m_expected)) {
      m_expected.clear();
      m_expectedOn == EmbeddingTab ? openEmbedding(run->id) : openRun(run->id);
    }
  }
  m_demo.runsChanged(runs);
  noticeSecondAct();
  m_live->runsChanged();
  m_compare->runsChanged();
  m_embedding->runsChanged();
  m_start->setInterrupted(static_cast<int>(std::count_if(runs.begin(), runs.end(), [](const RunSummary& run) {
    return run.status == RunStatus::interrupted && !run.archived;
  })));
  if (m_tabs->currentIndex() == EmbeddingTab && m_embedding->run() == 0 && m_expected.isEmpty() && !runs.isEmpty())
    follow();
  startQueued();
  updateActions();
  updateStatusBar();
}

void MainWindow::follow() {
  QVector<RunId> runs;
  if (m_tabs->currentIndex() == EmbeddingTab) {
    // A look at this tab without a choice: the newest run.
    if (m_embedding->run() == 0 && m_expected.isEmpty() && !m_model.runs().isEmpty())
      m_embedding->showRun(m_model.runs().back().id);
    m_records.follow({}, m_embedding->run());
    return;
  }
  if (m_tabs->currentIndex() == CompareTab) {
    runs = m_compare->runs();
  } else if (m_live->run() != 0) {
    runs << m_live->run();
  }
  m_records.follow(runs);
}

/// The oldest waiting run begins once nothing else trains.
void MainWindow::startQueued() {
  const RunSummary* next = nullptr;
  for (const RunSummary& run : m_model.runs()) {
    if (runStatusIsActive(run.status) && (run.hasProcess || run.id == m_startedFromQueue)) return;
    if (run.status == RunStatus::queued && !run.hasProcess && !run.archived && next == nullptr) next = &run;
  }
  if (next == nullptr) return;
  m_startedFromQueue = next->id;
  m_launcher.resume(*next);
}

void MainWindow::openRun(RunId run) {
  m_live->showRun(run);
  m_embedding->showRun(run);
  showTab(LiveTab);
  follow();
  updateActions();
}

void MainWindow::openEmbedding(RunId run) {
  m_live->showRun(run);
  m_embedding->showRun(run);
  showTab(EmbeddingTab);
  follow();
  updateActions();
}

void MainWindow::compareRuns(const QVector<RunId>& runs) {
  if (runs.size() == 2) {
    // The whole table first, then the one on disk, whatever was clicked first.
    const auto first = m_model.run(runs[0]);
    const bool turned = first && first->placement == "disk";
    m_compare->showRuns(turned ? runs[1] : runs[0], turned ? runs[0] : runs[1]);
  }
  showTab(CompareTab);
  follow();
}

NewRunDialog* MainWindow::openNewRun(const std::optional<RunSpec>& spec) {
  auto* dialog = new NewRunDialog(m_probe, m_hardware, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  if (spec) dialog->setSpec(*spec);
  connect(dialog, &NewRunDialog::wanted, this, &MainWindow::launch);
  dialog->open();
  return dialog;
}

void MainWindow::launch(const LaunchRequest& request) {
  const QStringList uuids = m_launcher.start(request);
  if (uuids.isEmpty()) return;
  m_banner->hide();
  if (request.queue) {
    showTab(RunsTab);
  } else if (request.arms.size() == 2) {
    m_compare->expect(uuids);
    showTab(CompareTab);
  } else {
    m_expected = uuids.constFirst();
    m_expectedOn = LiveTab;
  }
}

void MainWindow::resume(RunId id) {
  const auto run = m_model.run(id);
  if (!run || !canResume(*run)) return;
  if (m_launcher.resume(*run)) openRun(id);
}

RunId MainWindow::current() const {
  if (m_tabs->currentIndex() == LiveTab) return m_live->run();
  if (m_tabs->currentIndex() == EmbeddingTab) return m_embedding->run();
  const QVector<RunId> selected = m_runs->selected();
  return m_tabs->currentIndex() == RunsTab && selected.size() == 1 ? selected.constFirst() : 0;
}

void MainWindow::updateActions() {
  const auto live = m_model.run(m_live->run());
  const bool onLive = m_tabs->currentIndex() == LiveTab;
  const bool going = onLive && live && (live->status == RunStatus::running || live->status == RunStatus::paused);
  m_stopAction->setEnabled(going);
  m_pauseAction->setEnabled(going);
  m_evictAction->setEnabled(going && live->placement == "disk");
  const auto run = m_model.run(current());
  m_resumeAction->setEnabled(run && canResume(*run));
  m_exportAction->setEnabled(run.has_value());
  m_deleteTableAction->setEnabled(run && canDeleteTable(*run));
  m_compareAction->setEnabled(m_tabs->currentIndex() == RunsTab && m_runs->selected().size() == 2);
}

void MainWindow::updateStatusBar() {
  QStringList going;
  for (const RunSummary& run : m_model.runs())
    if (run.status == RunStatus::running || run.status == RunStatus::paused)
      going << tr("%1: %2").arg(QString::fromStdString(run.name), statusText(run.status));
  m_state->setText(going.isEmpty() ? tr("No run is going on") : going.join("; "));
  // Runs change ten times a second, the disk's room slowly.
  if (m_diskLooked.isValid() && m_diskLooked.elapsed() < kDiskEveryMs) return;
  m_diskLooked.start();
  const CacheFolderState disk = lookAtCacheFolder(defaultTablesFolder());
  m_disk->setText(disk.freeBytes ? tr("%1 free for tables").arg(Units::bytes(static_cast<double>(*disk.freeBytes)))
                                 : QString());
}

void MainWindow::openFile(const QString& named) {
  const QString path = named.isEmpty()
                           ? QFileDialog::getOpenFileName(this, tr("Open an exported run or a database of runs"), {},
                                                          tr("Runs and databases (*.dsarun *.sqlite);;All files (*)"))
                           : named;
  if (path.isEmpty()) return;
  // Our own database must not be opened beside SQLite: closing it would drop the locks (core/record/database.cpp).
  if (QFileInfo(path).canonicalFilePath() == QFileInfo(m_records.path()).canonicalFilePath()) {
    showTab(RunsTab);
    return;
  }
  QFile file(path);
  const bool bundle = file.open(QIODevice::ReadOnly) && file.read(15) == "SQLite format 3";
  if (bundle && !path.endsWith(".dsarun")) {
    // A database gets a window of its own; exported runs are added to this one.
    QProcess::startDetached(QApplication::applicationFilePath(), {"--db", path});
  } else if (bundle) {
    importBundle(path);
  } else {
    openNewRun()->setDataset(path);
  }
}

void MainWindow::importBundle(const QString& path) {
  inBackground(
      this,
      [database = m_records.path().toStdString(), from = path.toStdString()] {
        return importRuns(database, from, OnSameRun::refuse);
      },
      [this](const Result<std::vector<RunId>>& runs) {
        if (!runs) {
          m_banner->say(Banner::Kind::error, QString::fromStdString(runs.error().message));
          return;
        }
        m_banner->say(Banner::Kind::info, tr("%n run(s) were imported.", nullptr, static_cast<int>(runs->size())));
        showTab(RunsTab);
      });
}

void MainWindow::exportSelected() {
  const auto run = m_model.run(current());
  if (!run) return;
  const QString path = QFileDialog::getSaveFileName(this, tr("Export the run"),
                                                    QString::fromStdString(run->name).replace('/', '-') + ".dsarun",
                                                    tr("Exported run (*.dsarun)"));
  if (path.isEmpty()) return;
  // The dialog has asked whether an older file may go; exportRun itself never overwrites.
  QFile::remove(path);
  inBackground(
      this,
      [database = m_records.path().toStdString(), to = path.toStdString(), id = run->id] {
        return exportRun(database, id, to);
      },
      [this, path](const Result<void>& done) {
        if (done)
          m_banner->say(Banner::Kind::info, tr("Exported to %1.").arg(path));
        else
          m_banner->say(Banner::Kind::error, QString::fromStdString(done.error().message));
      });
}

void MainWindow::deleteTable(RunId id) {
  m_records.fetchRun(id, this, [this](const std::optional<RunRow>& row) {
    if (!row || !canDeleteTable(*row)) return;
    auto* dialog = new DeleteTableDialog(*row, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, run = *row] { m_launcher.deleteTable(run); });
    dialog->open();
  });
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (!urls.isEmpty() && urls.constFirst().isLocalFile()) openFile(urls.constFirst().toLocalFile());
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && m_tabs->currentIndex() == LiveTab) {
    m_live->setViewPaused(!m_live->viewPaused());
    return;
  }
  if (event->key() == Qt::Key_L && event->modifiers() == Qt::NoModifier) {
    if (m_tabs->currentIndex() == LiveTab) m_live->toggleLog();
    if (m_tabs->currentIndex() == CompareTab) m_compare->toggleLog();
    return;
  }
  QMainWindow::keyPressEvent(event);
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() != QEvent::PaletteChange || m_tabs == nullptr) return;
  for (const auto& [action, name] : m_icons) action->setIcon(icon(name));
  const char* const names[] = {"home", "table", "live", "compare", "embedding"};
  for (int i = 0; i < 5; ++i) m_tabs->setTabIcon(i, icon(names[i]));
}

void MainWindow::closeEvent(QCloseEvent* event) {
  // Trainers go on: the window is only their view.
  QSettings().setValue("geometry", saveGeometry());
  QMainWindow::closeEvent(event);
}

}  // namespace dsa::ui
