// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/tools/shots.h"

#include <QApplication>
#include <QDir>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTextStream>

#include "ui/pages/banner.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/delete_table.h"
#include "ui/pages/embedding_page.h"
#include "ui/pages/live_page.h"
#include "ui/pages/main_window.h"
#include "ui/pages/new_run.h"
#include "ui/pages/runs_page.h"
#include "ui/pages/start_page.h"
#include "ui/plots/plot.h"
#include "ui/plots/scatter.h"
#include "ui/tools/made_records.h"
#include "ui/tools/wait.h"

namespace dsa::ui {

namespace {

constexpr int kWidth = 1180;
constexpr int kHeight = 760;

class Shots {
 public:
  explicit Shots(const QDir& folder) : m_folder(folder) {}

  bool take(QWidget& widget, const QString& name) {
    settle(400);  // queued replots and the timers that feed them
    const QString path = m_folder.filePath(name + ".png");
    if (!widget.grab().save(path)) {
      QTextStream(stderr) << "dsa-lab: cannot write " << path << "\n";
      m_fine = false;
    }
    return m_fine;
  }
  [[nodiscard]] bool fine() const { return m_fine; }

 private:
  QDir m_folder;
  bool m_fine = true;
};

std::optional<RunId> newest(MainWindow& window, const std::function<bool(const RunSummary&)>& wanted) {
  const RunList& runs = window.model().runs();
  for (auto it = runs.rbegin(); it != runs.rend(); ++it)
    if (wanted(*it)) return it->id;
  return std::nullopt;
}

void shootEmpty(Shots& shots, const QString& database) {
  MainWindow window(database);
  window.resize(kWidth, kHeight);
  window.show();
  window.showTab(MainWindow::StartTab);
  shots.take(window, "start");
  window.showTab(MainWindow::RunsTab);
  shots.take(window, "runs-empty");
  window.showTab(MainWindow::LiveTab);
  shots.take(window, "live-empty");
  window.showTab(MainWindow::CompareTab);
  shots.take(window, "compare-empty");
  window.showTab(MainWindow::EmbeddingTab);
  shots.take(window, "embedding-empty");
}

void shootForm(Shots& shots, MainWindow& window) {
  NewRunDialog* dialog = window.openNewRun();
  const auto takeOnceReady = [&](const QString& name) {
    waitUntil([&] { return dialog->request().has_value(); });
    shots.take(*dialog, name);
  };
  dialog->setDataset("zipf:1000000");
  takeOnceReady("new-run");
  RunSpec large;
  large.dataset = "zipf:100000000";
  large.dim = 128;
  large.optimizer.placement = PlacementChoice::ram;
  dialog->setSpec(large);
  takeOnceReady("new-run-does-not-fit");
  RunSpec simulated = large;
  simulated.dataset = "zipf:10000000";
  simulated.device = "sim:12 GiB";
  simulated.optimizer.placement = PlacementChoice::gpu;
  dialog->setSpec(simulated);
  takeOnceReady("new-run-simulated");
  RunSpec wrong;
  wrong.dataset = "wordnet-mammals";
  wrong.k = 1;
  wrong.optimizer.rule = Rule::sparseAdam;
  dialog->setSpec(wrong);
  waitUntil([&] { return !dialog->problem().isEmpty(); });
  shots.take(*dialog, "new-run-problem");
  dialog->reject();
}

void shootDeletion(Shots& shots, MainWindow& window, RunId run) {
  std::optional<RunRow> row;
  window.records().fetchRun(run, &window, [&](const std::optional<RunRow>& found) { row = found; });
  if (!waitUntil([&] { return row.has_value(); })) return;
  DeleteTableDialog dialog(*row, &window);
  dialog.show();
  waitUntil([&] { return dialog.measured(); });
  shots.take(dialog, "delete-table");
}

void shootEmbedding(Shots& shots, MainWindow& window, const std::optional<RunId>& run) {
  if (!run) return;
  EmbeddingPage& page = window.embeddingPage();
  window.openEmbedding(*run);
  if (!waitUntil([&] { return page.scatter().frame().of != nullptr; }, 5000)) return;
  shots.take(window, "embedding");
  const auto& of = *page.scatter().frame().of;
  page.search(of.labels.empty() ? QString::number(of.rows.front()) : shortName(of.labels[of.labels.size() / 3]));
  page.scatter().showNextMatch();
  shots.take(window, "embedding-found");
  page.search(QString());
}

void shootFilled(Shots& shots, const QString& database) {
  MainWindow window(database);
  window.resize(kWidth, kHeight);
  window.show();
  if (!waitUntil([&] { return !window.model().runs().isEmpty(); })) return;
  const auto ram =
      newest(window, [](const RunSummary& run) { return run.placement == "ram" && run.status == RunStatus::finished; });
  const auto whole = window.model().run(ram.value_or(0));
  // Its pair, not a run of something else.
  const auto disk = newest(window, [&](const RunSummary& run) {
    return run.placement == "disk" && run.status == RunStatus::finished && (!whole || run.dataset == whole->dataset);
  });
  window.showTab(MainWindow::RunsTab);
  if (disk) window.runsPage().select(*disk);
  shots.take(window, "runs");
  if (disk) {
    window.openRun(*disk);
    waitUntil([&] { return !window.livePage().series().of("loss").isEmpty(); });
    shots.take(window, "live");
  }
  const auto going = newest(window, [](const RunSummary& run) { return run.status == RunStatus::running; });
  if (going) {
    window.openRun(*going);
    waitUntil([&] { return !window.livePage().series().of("loss").isEmpty(); });
    shots.take(window, "live-running");
  }
  const auto diverged = newest(
      window, [](const RunSummary& run) { return run.progress.lossLast && !std::isfinite(*run.progress.lossLast); });
  if (diverged) {
    window.openRun(*diverged);
    waitUntil([&] { return !window.livePage().series().of("loss").isEmpty(); });
    shots.take(window, "live-diverged");
  }
  if (disk && ram) {
    window.compareRuns({*ram, *disk});
    // Both sides' series, too: the lower strip is B's.
    waitUntil([&] {
      return window.comparePage().results().rowCount() > 0 && !window.comparePage().plots()[1]->drawn(1).x.isEmpty();
    });
    shots.take(window, "compare");
  }
  const auto ball = newest(window, [](const RunSummary& run) { return run.k > 0; });
  shootEmbedding(shots, window, ball ? ball : disk);
  window.banner().say(
      Banner::Kind::error,
      MainWindow::tr("%1: %2").arg("zipf:1000000", "no space left on the device; what was recorded is safe"));
  window.showTab(MainWindow::RunsTab);
  shots.take(window, "error");
  window.banner().hide();
  window.resize(1024, 700);
  window.showTab(MainWindow::LiveTab);
  if (going) window.openRun(*going);
  shots.take(window, "live-1024");
  window.showTab(MainWindow::CompareTab);
  shots.take(window, "compare-1024");
  window.showTab(MainWindow::EmbeddingTab);
  shots.take(window, "embedding-1024");
  shootForm(shots, window);
  if (disk) shootDeletion(shots, window, *disk);
}

}  // namespace

int drawShots(const QString& folder, const QString& database) {
  if (!QDir().mkpath(folder)) {
    QTextStream(stderr) << "dsa-lab: cannot make the folder " << folder << "\n";
    return static_cast<int>(ErrorCode::machine);
  }
  QTemporaryDir scratch;
  QString path = database;
  if (path.isEmpty()) {
    path = scratch.filePath("made.sqlite");
    if (const auto done = makeRecords(path, MadeRecords{}); !done) {
      QTextStream(stderr) << "dsa-lab: " << QString::fromStdString(done.error().message) << "\n";
      return exitCode(done.error());
    }
  }
  Shots shots{QDir(folder)};
  shootEmpty(shots, scratch.filePath("empty.sqlite"));
  shootFilled(shots, path);
  return shots.fine() ? 0 : static_cast<int>(ErrorCode::machine);
}

}  // namespace dsa::ui
