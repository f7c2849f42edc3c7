// SPDX-License-Identifier: GPL-3.0-or-later
// The real window over the real runner: form, points while it runs, restart, comparison, a killed run resumed.
#include <signal.h>

#include <nlohmann/json.hpp>

#include "core/record/reader.h"
#include "tests/ui/window_fixture.h"
#include "ui/pages/banner.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/delete_table.h"
#include "ui/pages/embedding_page.h"
#include "ui/pages/live_page.h"
#include "ui/pages/main_window.h"
#include "ui/pages/new_run.h"
#include "ui/pages/runs_page.h"
#include "ui/plots/plot.h"
#include "ui/plots/scatter.h"
#include "ui/run/comparison.h"
#include "ui/run/run_text.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

LaunchRequest longRun(const std::string& name, const std::string& place) {
  LaunchRequest request;
  request.spec.name = name;
  request.spec.dataset = "zipf:20000";
  request.spec.dim = 16;
  request.spec.train.batch = 500;
  request.spec.train.steps = 1'000'000;  // until it is stopped
  request.spec.train.threads = 1;
  if (!placeRun(request.spec, QString::fromStdString(place + ":sparse_adam"))) qFatal("no such place");
  return request;
}

LaunchRequest shortRun(const std::string& name, std::uint64_t steps) {
  LaunchRequest request = longRun(name, "disk");
  request.spec.train.steps = steps;
  return request;
}

std::optional<RunSummary> named(MainWindow& window, const std::string& name) {
  for (const RunSummary& run : window.model().runs())
    if (run.name == name) return run;
  return std::nullopt;
}

RunStatus statusOf(MainWindow& window, const std::string& name) {
  return named(window, name).value_or(RunSummary()).status;
}

}  // namespace

class TestWindow : public QObject {
  Q_OBJECT
 private:
  std::unique_ptr<test::WindowHome> m_home;

 private slots:
  void initTestCase() { m_home = std::make_unique<test::WindowHome>(); }

  void theFormStartsARunAndPointsArriveInAllPlots() {
    MainWindow window(m_home->database());
    window.show();
    NewRunDialog* form = window.openNewRun(longRun("live", "disk").spec);
    QTRY_VERIFY(form->request().has_value());
    for (auto* button : form->findChildren<QPushButton*>())
      if (button->isDefault()) button->click();
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "live"), RunStatus::running, 30000);
    LivePage& live = window.livePage();
    QTRY_VERIFY_WITH_TIMEOUT(live.run() == named(window, "live")->id, 10000);
    // While it runs: every plot has points, and more of them later.
    for (Plot* plot : live.plots()) {
      // The memory of a card has no points: this run uses none.
      const int drawn = plot == live.plots().constFirst() ? 2 : plot->lineCount();
      for (int line = 0; line < drawn; ++line)
        QTRY_VERIFY2_WITH_TIMEOUT(!plot->drawn(line).x.isEmpty(), qPrintable(plot->title()), 30000);
    }
    const qsizetype before = live.series().of("loss").value.size();
    QTRY_VERIFY_WITH_TIMEOUT(live.series().of("loss").value.size() > before + 3, 30000);
    QCOMPARE(statusOf(window, "live"), RunStatus::running);
    const QVector<double>& steps = live.series().of("loss").step;
    for (qsizetype i = 1; i < steps.size(); ++i) QVERIFY(steps[i] > steps[i - 1]);
    // The view stands still, training does not.
    live.setViewPaused(true);
    QTest::qWait(300);
    const auto shown = live.plots().constFirst()->drawn(1).x.size();
    const qsizetype read = live.series().of("loss").value.size();
    QTRY_VERIFY_WITH_TIMEOUT(live.series().of("loss").value.size() > read + 5, 30000);
    QCOMPARE(live.plots().constFirst()->drawn(1).x.size(), shown);
    live.setViewPaused(false);
    // Pause, continue, evict, stop: orders reach the trainer.
    live.pauseOrResume();
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "live"), RunStatus::paused, 10000);
    live.pauseOrResume();
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "live"), RunStatus::running, 10000);
    live.evict();
    live.stop();
    QCOMPARE(live.statusLine(), LivePage::tr("Stopping …"));  // said at once
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "live"), RunStatus::stopped, 20000);
  }

  void aSimulatedCardHasItsLineAndSaysSo() {
    MainWindow window(m_home->database());
    window.show();
    LaunchRequest request = longRun("card", "gpu");
    request.spec.device = "sim:1 GiB";
    request.spec.train.steps = 100;
    window.launch(request);
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "card"), RunStatus::finished, 60000);
    window.openRun(named(window, "card")->id);
    Plot* memory = window.livePage().plots().constFirst();
    const Series& card = window.livePage().series().of("memory.device.simulated");
    QTRY_VERIFY(!card.isEmpty());
    QTRY_VERIFY(!memory->drawn(3).x.isEmpty());
    QVERIFY2(memory->title().contains("simulated"), qPrintable(memory->title()));
    QVERIFY(window.livePage().series().of("memory.device").isEmpty());
    // 20,000 x 16 of w, m, v at the least, counted exactly; the list has the same peak as the series.
    QVERIFY(*card.peak() >= 20000.0 * 16 * 12);
    QCOMPARE(static_cast<double>(*named(window, "card")->progress.devicePeak), *card.peak());
    // A run without a card has no such line.
    window.openRun(named(window, "live")->id);
    QTRY_VERIFY(!memory->drawn(1).x.isEmpty());
    QVERIFY(memory->drawn(3).x.isEmpty() && !memory->title().contains("simulated"));
  }

  void aRestartFindsTheRunAgain() {
    MainWindow window(m_home->database());
    window.show();
    QTRY_VERIFY(named(window, "live").has_value());
    QCOMPARE(statusOf(window, "live"), RunStatus::stopped);
    window.openRun(named(window, "live")->id);
    QTRY_VERIFY(!window.livePage().series().of("loss").isEmpty());
    QTRY_VERIFY(!window.livePage().plots().constFirst()->drawn(1).x.isEmpty());
  }

  void aPairIsComparedWhileItRuns() {
    MainWindow window(m_home->database());
    window.show();
    LaunchRequest pair = shortRun("pair", 1500);
    pair.arms = {"ram:sparse_adam", "disk:sparse_adam"};
    window.launch(pair);
    QTRY_COMPARE_WITH_TIMEOUT(window.comparePage().runs().size(), 2, 60000);
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "pair disk:sparse_adam"), RunStatus::finished, 60000);
    ComparePage& page = window.comparePage();
    QTRY_VERIFY_WITH_TIMEOUT(page.results().rowCount() > 3, 10000);
    QTRY_COMPARE(page.differences().rowCount(), 1);
    QCOMPARE(page.differences().item(0, 0)->text(), QString("optimizer.placement"));
    QVERIFY2(page.bannerText().isEmpty(), qPrintable(page.bannerText()));
    for (Plot* plot : {page.plots()[0], page.plots()[1]})
      QTRY_VERIFY2(!plot->drawn(1).x.isEmpty(), qPrintable(plot->title()));
    // Both strips have one scale.
    QTRY_COMPARE(page.plots()[0]->yAxis->range().upper, page.plots()[1]->yAxis->range().upper);
    QTRY_VERIFY2(page.plots()[2]->title().contains(samenessText(Sameness::sameTable)),
                 qPrintable(page.plots()[2]->title()));
    QVERIFY(page.headline().contains(QChar(0x2192)));
  }

  void whatWasShownLiveIsThereInTheComparisonToo() {
    MainWindow window(m_home->database());
    window.show();
    QTRY_VERIFY(named(window, "pair disk:sparse_adam").has_value());
    const RunId ram = named(window, "pair ram:sparse_adam")->id;
    const RunId disk = named(window, "pair disk:sparse_adam")->id;
    window.openRun(disk);
    QTRY_VERIFY(!window.livePage().series().of("loss").isEmpty());
    window.compareRuns({ram, disk});
    for (int side = 0; side < 2; ++side) {
      Plot* plot = window.comparePage().plots()[side];
      QTRY_VERIFY2(!plot->drawn(1).x.isEmpty(), qPrintable(plot->title()));
    }
    window.openRun(disk);
    QTRY_VERIFY(!window.livePage().plots().constFirst()->drawn(1).x.isEmpty());
  }

  void differentRunsAreNotLikeForLike() {
    MainWindow window(m_home->database());
    window.show();
    QTRY_VERIFY(named(window, "live").has_value());
    window.compareRuns({named(window, "pair ram:sparse_adam")->id, named(window, "live")->id});
    QTRY_VERIFY(window.comparePage().bannerText().contains("train.steps"));
  }

  void aKilledRunIsInterruptedAndResumed() {
    MainWindow window(m_home->database());
    window.show();
    // So long that it is found alive on any machine; it is stopped in the end.
    window.launch(longRun("killed", "disk"));
    QTRY_VERIFY_WITH_TIMEOUT(named(window, "killed") && named(window, "killed")->progress.step.value_or(0) > 20, 30000);
    const RunId id = named(window, "killed")->id;
    std::int64_t pid = 0;
    window.records().fetchRun(id, this, [&](const std::optional<RunRow>& row) { pid = row ? row->pid : 0; });
    QTRY_VERIFY(pid != 0);
    ::kill(static_cast<pid_t>(pid), SIGKILL);
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "killed"), RunStatus::interrupted, 5000);
    window.openRun(id);
    QTRY_VERIFY(!window.livePage().series().of("loss").isEmpty());
    const std::uint64_t before = named(window, "killed")->progress.step.value_or(0);
    window.resume(id);
    QTRY_COMPARE_WITH_TIMEOUT(named(window, "killed")->attempts, 2, 30000);
    QTRY_VERIFY_WITH_TIMEOUT(named(window, "killed")->progress.step.value_or(0) > before + 200, 60000);
    window.livePage().stop();
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "killed"), RunStatus::stopped, 20000);
    const auto last = static_cast<double>(*named(window, "killed")->progress.step);
    QTRY_VERIFY(window.livePage().series().of("loss").step.last() > last - 200);
    const QVector<double>& steps = window.livePage().series().of("loss").step;
    for (qsizetype i = 1; i < steps.size(); ++i) QVERIFY(steps[i] > steps[i - 1]);
  }

  void aRunOfTheTerminalAppearsByItself() {
    MainWindow window(m_home->database());
    window.show();
    QTRY_VERIFY(!window.model().runs().isEmpty());
    QProcess terminal;
    terminal.start(DSA_BINARY, {"train", "--dataset", "zipf:2000", "--dim", "4", "--steps", "20", "--name", "terminal",
                                "--db", m_home->database()});
    QTRY_VERIFY_WITH_TIMEOUT(named(window, "terminal").has_value(), 20000);
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "terminal"), RunStatus::finished, 20000);
    QTRY_COMPARE(terminal.state(), QProcess::NotRunning);
  }

  void aQueuedRunStartsByItself() {
    MainWindow window(m_home->database());
    window.show();
    LaunchRequest queued = shortRun("queued", 30);
    queued.queue = true;
    window.launch(queued);
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "queued"), RunStatus::finished, 30000);
  }

  void namesNotesAndArchiveCanBeUndone() {
    MainWindow window(m_home->database());
    window.show();
    window.showTab(MainWindow::RunsTab);
    QTRY_VERIFY(named(window, "terminal").has_value());
    RunsPage& page = window.runsPage();
    page.select(named(window, "terminal")->id);
    const int shown = page.shown().rowCount();
    page.archiveSelected();
    QTRY_COMPARE(page.shown().rowCount(), shown - 1);
    page.undoStack().undo();
    QTRY_COMPARE(page.shown().rowCount(), shown);
    emit window.model().renameWanted(named(window, "terminal")->id, "renamed");
    QTRY_VERIFY(named(window, "renamed").has_value());
    page.undoStack().undo();
    QTRY_VERIFY(named(window, "terminal").has_value());
  }

  void aRunThatCannotStartIsSaidInThePage() {
    MainWindow window(m_home->database());
    window.show();
    LaunchRequest wrong = shortRun("wrong", 10);
    wrong.spec.dataset = "no-such-dataset";
    window.launch(wrong);
    QTRY_VERIFY_WITH_TIMEOUT(window.banner().text().contains("no-such-dataset"), 20000);
  }

  void aTableIsDeletedOnceTheWordIsTyped() {
    MainWindow window(m_home->database());
    window.show();
    QTRY_VERIFY(named(window, "killed").has_value());
    const RunSummary run = *named(window, "killed");
    const QString folder = m_home->file("data/dsa-lab/tables/run-" + QString::fromStdString(run.uuid));
    QVERIFY(QDir(folder).exists());
    emit window.runsPage().deleteTableWanted(run.id);
    DeleteTableDialog* dialog = nullptr;
    QTRY_VERIFY((dialog = window.findChild<DeleteTableDialog*>()) != nullptr);
    QTRY_VERIFY2(dialog->sizeText().contains("iB"), qPrintable(dialog->sizeText()));
    QVERIFY(!dialog->button().isEnabled());
    dialog->confirmation().setText("yes");
    QVERIFY(!dialog->button().isEnabled());
    dialog->confirmation().setText(DeleteTableDialog::word());
    dialog->button().click();
    QTRY_VERIFY_WITH_TIMEOUT(!named(window, "killed")->hasTable, 30000);
    QVERIFY(!QDir(folder).exists());
    QVERIFY(!canDeleteTable(*named(window, "killed")));
    QVERIFY(!canResume(*named(window, "killed")));
    QCOMPARE(statusOf(window, "killed"), RunStatus::stopped);
  }

  void theDemoRunsInTheWindow() {
    MainWindow window(m_home->database());
    window.show();
    window.startDemo();
    ComparePage& page = window.comparePage();
    QTRY_COMPARE_WITH_TIMEOUT(page.runs().size(), 2, 120000);
    const RunId disk = page.runs()[1];
    QTRY_COMPARE_WITH_TIMEOUT(window.model().run(disk).value_or(RunSummary()).status, RunStatus::finished, 180000);
    QTRY_VERIFY2(page.plots()[2]->title().contains(samenessText(Sameness::sameTable)),
                 qPrintable(page.plots()[2]->title()));
    // The saving is there: private memory on disk under a tenth of that in RAM.
    const auto a = window.model().run(page.runs()[0]);
    const auto b = window.model().run(disk);
    QVERIFY(*b->progress.privatePeak * 10 < *a->progress.privatePeak);
    // The cache was evicted near the end, and the loss halved.
    auto reader = Reader::open(m_home->database().toStdString());
    QVERIFY(reader.has_value());
    const auto commands = reader->commands(disk);
    QVERIFY(commands.has_value() && commands->size() == 1);
    QCOMPARE(commands->at(0).kind, CommandKind::evict);
    QVERIFY(!commands->at(0).answer.empty());
    const auto result = nlohmann::json::parse(reader->run(disk)->result);
    const std::vector<double> losses = result["losses"];
    QCOMPARE(losses.size(), std::size_t{4});
    QVERIFY2(losses[2] < 0.5 * std::log(9.0), qPrintable(QString::number(losses[2])));  // ln 9: one of nine by chance
    // Nobody asked to keep its table: 1.4 GiB go, the record stays.
    QTRY_VERIFY_WITH_TIMEOUT(!window.model().run(disk)->hasTable, 60000);
    QVERIFY(!QDir(m_home->file("data/dsa-lab/tables/run-" + QString::fromStdString(b->uuid))).exists());
    // What follows is offered; the comparison stays on the screen.
    QTRY_VERIFY(window.banner().isVisible());
    const auto* offer = window.banner().findChild<QPushButton*>();
    QVERIFY(offer->isVisible() && offer->text() == MainWindow::tr("Watch the second act"));
    QVERIFY(page.isVisible());
    // The offer is taken up; once is enough to see that it begins.
    window.banner().findChild<QPushButton*>()->click();
    QVERIFY(window.embeddingPage().isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(window.embeddingPage().run() > disk, 30000);
    const RunId second = window.embeddingPage().run();
    QTRY_COMPARE_WITH_TIMEOUT(window.model().run(second)->status, RunStatus::running, 30000);
    window.livePage().stop();
    QTRY_COMPARE_WITH_TIMEOUT(window.model().run(second)->status, RunStatus::stopped, 30000);
    QVERIFY(window.model().run(second)->hasTable);  // it can be resumed
  }

  void theSecondActUnfoldsInItsTab() {
    MainWindow window(m_home->database());
    window.show();
    QTRY_VERIFY(!window.model().runs().isEmpty());
    auto request = secondActRequest();
    QVERIFY(request.has_value());
    request->spec.name = "second act";
    request->spec.train.epochs = 30;
    QVector<EmbeddingFrame> frames;
    connect(&window.records(), &RecordsService::embeddingArrived, this,
            [&](const EmbeddingFrame& frame) { frames << frame; });
    window.startSecondAct(*request);
    EmbeddingPage& page = window.embeddingPage();
    QVERIFY(page.isVisible());
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(window, "second act"), RunStatus::finished, 60000);
    QCOMPARE(page.run(), named(window, "second act")->id);
    // Seen while it went, and at its end: 30 passes of 654 steps.
    QTRY_COMPARE(page.scatter().frame().step, std::uint64_t{30 * 654});
    QCOMPARE(page.scatter().frame().points.size(), 1180);
    frames.removeIf([](const EmbeddingFrame& frame) { return !frame.of; });
    QVERIFY2(frames.size() >= 2, qPrintable(QString::number(frames.size())));
    for (qsizetype i = 1; i < frames.size(); ++i) {
      QVERIFY(frames[i].step > frames[i - 1].step);
      QVERIFY(frames[i].points != frames[i - 1].points);
    }
    QTRY_VERIFY_WITH_TIMEOUT(!named(window, "second act")->hasTable, 30000);
    page.search("carnivore");
    QVERIFY(page.scatter().matches() >= 1);
    QCOMPARE(window.livePage().run(), page.run());
  }

  void theEmbeddingTabShowsTheNewestRunByItself() {
    MainWindow window(m_home->database());
    window.show();
    window.showTab(MainWindow::EmbeddingTab);
    QTRY_VERIFY(!window.model().runs().isEmpty());
    QTRY_COMPARE(window.embeddingPage().run(), window.model().runs().constLast().id);
    // A stopped run's points were recorded, too.
    window.openEmbedding(named(window, "live")->id);
    QTRY_VERIFY(window.embeddingPage().scatter().frame().of != nullptr);
    QCOMPARE(window.embeddingPage().scatter().frame().kind, ProjectionKind::pca);
  }

  void nothingIsMovedByMouseAlone() {
    MainWindow window(m_home->database());
    for (const QToolBar* bar : window.findChildren<QToolBar*>()) QVERIFY(!bar->isMovable() && !bar->isFloatable());
    QVERIFY(window.findChildren<QDockWidget*>().isEmpty());
  }
};

QTEST_MAIN(TestWindow)
#include "tst_window.moc"
