// SPDX-License-Identifier: GPL-3.0-or-later
// The one-minute demo: its plan by the memory there is, the eviction near its end, and that it ends.
#include "core/record/recorder.h"
#include "tests/ui/window_fixture.h"
#include "ui/run/demo.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

RunSummary arm(RunId id, const char* uuid, RunStatus status, std::uint64_t step) {
  RunSummary run;
  run.id = id;
  run.uuid = uuid;
  run.status = status;
  run.plannedSteps = 400;
  run.progress.step = step;
  return run;
}

}  // namespace

class TestDemo : public QObject {
  Q_OBJECT
 private slots:
  void littleMemoryTakesAQuarterAndSaysSo() {
    QCOMPARE(planDemo(std::nullopt).rows, std::uint64_t{1'000'000});
    QCOMPARE(planDemo(std::uint64_t{8} << 30).rows, std::uint64_t{1'000'000});
    const DemoPlan small = planDemo(std::uint64_t{3} << 30);
    QCOMPARE(small.rows, std::uint64_t{250'000});
    QVERIFY(small.shrunk);
    QVERIFY(small.description() != planDemo(std::nullopt).description());
  }

  void theRequestIsTheRecipeInTwoPlaces() {
    test::WindowHome home;
    const auto request = planDemo(std::nullopt).request();
    QVERIFY(request.has_value());
    QCOMPARE(request->arms, (QStringList{"ram:sparse_adam", "disk:sparse_adam"}));
    QCOMPARE(*request->spec.dataset, std::string("zipf:1000000"));
    QCOMPARE(*request->spec.train.steps, std::uint64_t{400});
  }

  void aSlowArmGetsTheStepsOfAMinute() {
    RunSummary run = arm(1, "ram-arm", RunStatus::running, 20);
    QVERIFY(!stepsForSlowArm(run));  // no time known
    run.progress.seconds = 6.0;      // 0.3 s a step: two minutes in all
    QVERIFY(!stepsForSlowArm(run));
    run.progress.seconds = 10.0;
    QCOMPARE(stepsForSlowArm(run), std::optional<std::uint64_t>(120));
    run.progress.step = 19;  // too early to say
    QVERIFY(!stepsForSlowArm(run));
    run.progress.step = 20;
    run.progress.seconds = 1000.0;
    QCOMPARE(stepsForSlowArm(run), std::optional<std::uint64_t>(40));
    // On disk the first steps are no measure of the rest.
    run.placement = "disk";
    run.progress.seconds = 59.0;
    QVERIFY(!stepsForSlowArm(run));
    run.progress.seconds = 60.0;
    QCOMPARE(stepsForSlowArm(run), std::optional<std::uint64_t>(40));
    run.progress.step = 200;  // half of it in a minute: as long as it may take
    QVERIFY(!stepsForSlowArm(run));
    run.progress.step = 20;
    run.progress.seconds = 1000.0;
    run.plannedSteps = 40;  // nothing left to leave out: slow, but it goes on
    QVERIFY(!stepsForSlowArm(run));
    DemoPlan plan;
    plan.steps = 120;
    test::WindowHome home;
    QCOMPARE(*plan.request()->spec.train.steps, std::uint64_t{120});
  }

  void aSlowDemoIsStoppedAndAskedForAgain() {
    QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    auto recorder = Recorder::open(path.toStdString());
    QVERIFY(recorder.has_value());
    RunRow row;
    row.uuid = "ram-arm";
    QVERIFY((*recorder)->createRun(row).has_value());
    QVERIFY((*recorder)->beginAttempt(0).has_value());
    RecordsService records(path);
    records.start();
    DemoDirector director(records);
    QSignalSpy slow(&director, &DemoDirector::tooSlow);
    QSignalSpy ended(&director, &DemoDirector::ended);
    director.begin({"ram-arm", "disk-arm"});
    RunSummary ram = arm(1, "ram-arm", RunStatus::running, 20);
    ram.progress.seconds = 10.0;
    director.runsChanged({ram});
    std::vector<CommandRow> orders;
    const auto ordersNow = [&] {
      for (const CommandRow& order : (*recorder)->takeCommands()) orders.push_back(order);
      return orders.size();
    };
    QTRY_COMPARE(ordersNow(), std::size_t{1});
    QCOMPARE(orders[0].kind, CommandKind::stop);
    // Once, however often the list comes, and not before it has stopped.
    director.runsChanged({ram});
    QCOMPARE(slow.size(), 0);
    ram.status = RunStatus::stopped;
    director.runsChanged({ram});
    director.runsChanged({ram});
    QCOMPARE(slow.size(), 1);
    QCOMPARE(slow[0][0].value<std::uint64_t>(), std::uint64_t{120});
    QCOMPARE(slow[0][1].value<QVector<RunId>>(), QVector<RunId>{1});
    QCOMPARE(ended.size(), 0);
    QVERIFY((*recorder)->finish(RunStatus::stopped, "", "{}").has_value());
  }

  void theSecondActIsTheRecipeOfTheDisk() {
    test::WindowHome home;
    const auto request = secondActRequest();
    QVERIFY(request.has_value());
    QVERIFY(request->arms.isEmpty() && !request->queue);
    QCOMPARE(*request->spec.dataset, std::string("wordnet-mammals"));
    QCOMPARE(*request->spec.dim, std::uint64_t{2});
    QCOMPARE(*request->spec.k, 1.0);
    QVERIFY(request->spec.optimizer.placement == PlacementChoice::disk);
  }

  void theCacheIsEvictedOnceNearTheEnd() {
    QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    auto recorder = Recorder::open(path.toStdString());
    QVERIFY(recorder.has_value());
    RunRow row;
    row.uuid = "disk-arm";
    QVERIFY((*recorder)->createRun(row).has_value());
    QVERIFY((*recorder)->beginAttempt(0).has_value());
    RecordsService records(path);
    records.start();
    DemoDirector director(records);
    QSignalSpy ended(&director, &DemoDirector::ended);
    director.begin({"ram-arm", "disk-arm"});
    std::vector<CommandRow> orders;
    const auto ordersNow = [&] {
      for (const CommandRow& order : (*recorder)->takeCommands()) orders.push_back(order);
      return orders.size();
    };
    const RunSummary ram = arm(7, "ram-arm", RunStatus::finished, 400);
    director.runsChanged({ram, arm(1, "disk-arm", RunStatus::running, 349)});
    QTest::qWait(500);
    QCOMPARE(ordersNow(), std::size_t{0});
    director.runsChanged({ram, arm(1, "disk-arm", RunStatus::running, 350)});
    QTRY_COMPARE(ordersNow(), std::size_t{1});
    QCOMPARE(orders[0].kind, CommandKind::evict);
    director.runsChanged({ram, arm(1, "disk-arm", RunStatus::running, 390)});
    QTest::qWait(500);
    QCOMPARE(ordersNow(), std::size_t{1});
    QCOMPARE(ended.size(), 0);
    director.runsChanged({ram, arm(1, "disk-arm", RunStatus::finished, 400)});
    QCOMPARE(ended.size(), 1);
    QVERIFY((*recorder)->finish(RunStatus::finished, "", "{}").has_value());
  }
};

QTEST_MAIN(TestDemo)
#include "tst_demo.moc"
