// SPDX-License-Identifier: Apache-2.0
// Training from its tables to its end: orders, stops, checkpoints, evaluation and bad gradients change when and what is
// told, never the result.
#include <filesystem>

#include "train_samples.h"

using namespace dsa;
using samples::finished;
using samples::setup;
using samples::trainIn;
using samples::treeSpec;
using samples::Watcher;

class TestTrainer : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase();
  void cleanup() { overrideBootId(""); }
  void placesThreadsAndEnginesEndEqual_data();
  void placesThreadsAndEnginesEndEqual();
  void lossesAreMeansOverEpochs();
  void stopOrderEndsResumableAndResumeEndsEqual_data();
  void stopOrderEndsResumableAndResumeEndsEqual();
  void stopFlagEndsAfterTheBatch();
  void stopWhileMeasuringIsNoFinishedRun();
  void aFinishedRunTrainsNoMoreStep();
  void pauseStepOneAndResumeKeepTheResult();
  void ordersAreAnswered();
  void evaluationDoesNotChangeTheTable();
  void powerLossLeadsBackToTheLastCheckpoint_data();
  void powerLossLeadsBackToTheLastCheckpoint();
  void powerLossWithoutAJournalStartsAgain();
  void badGradientStopsBeforeItsBatchIsWritten();
  void aTableOfAnotherShapeIsRefused();
  void fillingIsAPhaseOfItsOwn();
  void aCardThatHoldsTheTableButNotTheBatchRefuses();

 private:
  const samples::FolderOfTest folder;
  TrainOutcome m_whole;                           ///< the uninterrupted run
  std::map<std::uint64_t, std::string> m_hashes;  ///< of its table after each step
};

void TestTrainer::initTestCase() {
  Watcher watcher;
  watcher.hashEachStep = true;
  m_whole = finished(trainIn(folder("whole"), setup(treeSpec()), watcher));
  m_hashes = watcher.hashes;
  QCOMPARE(m_whole.steps, std::uint64_t{42});
  QCOMPARE(m_whole.losses.size(), std::size_t{3});
  QCOMPARE(m_hashes.size(), std::size_t{42});
  QCOMPARE(m_whole.tableSha256.size(), std::size_t{64});
  QVERIFY(m_whole.losses[2] < m_whole.losses[0]);
}

void TestTrainer::placesThreadsAndEnginesEndEqual_data() {
  QTest::addColumn<QString>("optimizer");
  QTest::addColumn<QString>("more");
  QTest::newRow("ram") << R"("placement": "ram")"
                       << R"("checkpoint": {"every_s": 0})";
  QTest::newRow("card") << R"("placement": "gpu")"
                        << R"("device": "sim:64 MiB")";
  QTest::newRow("disk, batch on a card") << R"("placement": "disk")"
                                         << R"("device": "sim:64 MiB")";
  QTest::newRow("power, checkpoints") << R"("placement": "disk")"
                                      << R"("checkpoint": {"every_steps": 5, "durability": "power"})";
  QTest::newRow("direct") << R"("placement": "disk", "engine": "direct")"
                          << R"("checkpoint": {"every_steps": 7})";
  QTest::newRow("direct, a small budget") << R"("placement": "disk", "engine": "direct")"
                                          << R"("ram_budget": "1200 KiB")";
  QTest::newRow("mmap, a small budget") << R"("placement": "disk", "engine": "mmap")"
                                        << R"("ram_budget": "1 MiB")";
  QTest::newRow("another name") << R"("placement": "ram")"
                                << R"("name": "another")";
}

void TestTrainer::placesThreadsAndEnginesEndEqual() {
  QFETCH(QString, optimizer);
  QFETCH(QString, more);
  Watcher watcher;
  const TrainOutcome outcome = finished(
      trainIn(folder(QTest::currentDataTag()), setup(treeSpec(optimizer.toStdString(), more.toStdString())), watcher));
  QCOMPARE(outcome.losses, m_whole.losses);
  QCOMPARE(outcome.tableSha256, m_whole.tableSha256);
  QCOMPARE(*outcome.metrics.map, *m_whole.metrics.map);
  QCOMPARE(outcome.devicePeak > 0, more.contains("sim:"));
}

void TestTrainer::lossesAreMeansOverEpochs() {
  Watcher watcher;
  const TrainOutcome outcome = finished(trainIn("", setup(treeSpec(R"("placement": "ram")")), watcher));
  QCOMPARE(watcher.steps.size(), std::size_t{42});
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    std::uint64_t count = 0;
    for (int i = epoch * 14; i < epoch * 14 + 14; ++i) {
      sum += watcher.steps[i].loss * static_cast<double>(watcher.steps[i].samples);
      count += watcher.steps[i].samples;
      QCOMPARE(watcher.steps[i].step, static_cast<std::uint64_t>(i + 1));
    }
    QCOMPARE(count, std::uint64_t{426});
    QVERIFY(std::abs(outcome.losses[epoch] - sum / 426) < 1e-12 * sum);
  }
}

void TestTrainer::stopOrderEndsResumableAndResumeEndsEqual_data() {
  QTest::addColumn<int>("at");
  QTest::addColumn<QString>("durability");
  for (const char* durability : {"process", "power"}) {
    for (const int at : {1, 13, 14, 15, 41}) QTest::addRow("step %d, %s", at, durability) << at << durability;
  }
}

void TestTrainer::stopOrderEndsResumableAndResumeEndsEqual() {
  QFETCH(int, at);
  QFETCH(QString, durability);
  const RunSetup run =
      setup(treeSpec(R"("placement": "disk")", R"("checkpoint": {"durability": ")" + durability.toStdString() + "\"}"));
  const std::string place = folder(QTest::currentDataTag());
  Watcher first;
  first.orderAt[static_cast<std::uint64_t>(at)] = {Order::Kind::stop};
  const TrainOutcome stopped = finished(trainIn(place, run, first));
  QVERIFY(stopped.stopped);
  QCOMPARE(static_cast<int>(stopped.steps), at);
  QCOMPARE(first.answers.size(), std::size_t{1});
  QVERIFY(first.answers[0].find("resumed") != std::string::npos);
  QVERIFY(!stopped.metrics.map);
  Watcher second;
  second.hashEachStep = true;
  const TrainOutcome resumed = finished(trainIn(place, run, second));
  QVERIFY(!resumed.stopped);
  QVERIFY(second.recovery == Recovery::clean);
  QCOMPARE(static_cast<int>(resumed.startStep), at);
  QCOMPARE(static_cast<int>(second.steps.front().step), at + 1);
  QCOMPARE(resumed.losses, m_whole.losses);
  QCOMPARE(resumed.tableSha256, m_whole.tableSha256);
  for (const auto& [step, hash] : second.hashes) QCOMPARE(hash, m_hashes[step]);
}

void TestTrainer::stopFlagEndsAfterTheBatch() {
  std::atomic<bool> stop{false};
  Watcher watcher;
  watcher.onStep = [&](const StepReport& report) { stop = report.step == 5; };
  const RunSetup run = setup(treeSpec());
  const std::string place = folder("run");
  TrainOptions options;
  options.folder = place;
  options.stop = &stop;
  const TrainOutcome outcome = finished(train(run, options, watcher));
  QVERIFY(outcome.stopped);
  QCOMPARE(outcome.steps, std::uint64_t{5});
  QVERIFY(outcome.tableSha256.empty());
  Watcher again;
  QCOMPARE(finished(trainIn(place, run, again)).tableSha256, m_whole.tableSha256);
}

void TestTrainer::stopWhileMeasuringIsNoFinishedRun() {
  std::atomic<bool> stop{false};
  Watcher watcher;
  watcher.onPhase = [&](const std::string& name) {
    if (name == "evaluating") stop = true;
  };
  const RunSetup run = setup(treeSpec());
  const std::string place = folder("run");
  TrainOptions options;
  options.folder = place;
  options.stop = &stop;
  const TrainOutcome outcome = finished(train(run, options, watcher));
  QCOMPARE(outcome.steps, std::uint64_t{42});
  QVERIFY(outcome.stopped);
  QVERIFY(!outcome.metrics.map);
  QVERIFY(watcher.evaluations.empty());
  Watcher again;
  const TrainOutcome resumed = finished(trainIn(place, run, again));
  QVERIFY(!resumed.stopped);
  QVERIFY(again.steps.empty());
  QCOMPARE(resumed.tableSha256, m_whole.tableSha256);
  QCOMPARE(*resumed.metrics.map, *m_whole.metrics.map);
}

void TestTrainer::aFinishedRunTrainsNoMoreStep() {
  const RunSetup run = setup(treeSpec());
  const std::string place = folder("run");
  Watcher first, second;
  finished(trainIn(place, run, first));
  const TrainOutcome again = finished(trainIn(place, run, second));
  QVERIFY(second.steps.empty());
  QCOMPARE(again.losses, m_whole.losses);
  QCOMPARE(again.tableSha256, m_whole.tableSha256);
  QCOMPARE(*again.metrics.map, *m_whole.metrics.map);
}

void TestTrainer::pauseStepOneAndResumeKeepTheResult() {
  Watcher watcher;
  std::vector<std::uint64_t> steppedWhilePaused;
  watcher.orderAt[6] = {Order::Kind::pause};
  watcher.later = {Order::Kind::stepOne, Order::Kind::stepOne, Order::Kind::checkpoint, Order::Kind::resume};
  std::map<std::uint64_t, std::size_t> answersAt;
  watcher.onStep = [&](const StepReport& report) { answersAt[report.step] = watcher.answers.size(); };
  const TrainOutcome outcome = finished(trainIn(folder("run"), setup(treeSpec()), watcher));
  QCOMPARE(watcher.answers.size(), std::size_t{5});
  // Steps 7 and 8 are the single ones: one answer before each; step 9 comes only after the resume.
  QCOMPARE(answersAt[6], std::size_t{0});
  QCOMPARE(answersAt[7], std::size_t{2});
  QCOMPARE(answersAt[8], std::size_t{3});
  QCOMPARE(answersAt[9], std::size_t{5});
  QCOMPARE(outcome.losses, m_whole.losses);
  QCOMPARE(outcome.tableSha256, m_whole.tableSha256);
  // The waits are not training: nine looks of 20 ms and more.
  QVERIFY(outcome.seconds < watcher.steps.back().seconds - 0.1);
}

void TestTrainer::ordersAreAnswered() {
  Watcher disk;
  disk.orderAt[3] = {Order::Kind::checkpoint, Order::Kind::evict, Order::Kind::unknown};
  const TrainOutcome outcome = finished(trainIn(folder("disk"), setup(treeSpec()), disk));
  QCOMPARE(disk.answers, (std::vector<std::string>{"done", "done", "not in this version"}));
  QCOMPARE(outcome.tableSha256, m_whole.tableSha256);
  // Budgets, too: what cannot be is an answer, and the run goes on.
  for (const char* engine : {"mmap", "direct"}) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{4} << 20, std::uint64_t{100}}) {
      Watcher budget;
      budget.orderAt[3] = {Order::Kind::setRamBudget, Order::Kind::evict};
      budget.value = value;
      const std::string name = fmt::format("{}{}", engine, value);
      const RunSetup run = setup(treeSpec(fmt::format(R"("placement": "disk", "engine": "{}")", engine)));
      QCOMPARE(finished(trainIn(folder(name.c_str()), run, budget)).tableSha256, m_whole.tableSha256);
      const bool refused = value == 100 && std::string(engine) == "direct";
      QVERIFY2(budget.answers.at(0).starts_with("done") != refused, budget.answers.at(0).c_str());
      if (refused) QVERIFY(budget.answers.at(0).find("at least") != std::string::npos);
      QCOMPARE(budget.answers.at(1), std::string("done"));
    }
  }
  Watcher ram;
  ram.orderAt[3] = {Order::Kind::evict};
  QCOMPARE(finished(trainIn("", setup(treeSpec(R"("placement": "ram")")), ram)).tableSha256, m_whole.tableSha256);
  QVERIFY(ram.answers.at(0).find("placement disk") != std::string::npos);
}

void TestTrainer::evaluationDoesNotChangeTheTable() {
  for (const char* place : {"disk", "ram"}) {
    Watcher watcher;
    watcher.hashEachStep = true;
    const TrainOutcome outcome = finished(
        trainIn(folder(place),
                setup(treeSpec(fmt::format(R"("placement": "{}")", place), R"("evaluate": {"every": 1})")), watcher));
    QCOMPARE(watcher.evaluations, (std::vector<std::uint64_t>{1, 2, 3}));
    QCOMPARE(watcher.hashes, m_hashes);
    QCOMPARE(outcome.tableSha256, m_whole.tableSha256);
    QCOMPARE(outcome.losses, m_whole.losses);
    QCOMPARE(*outcome.metrics.map, *m_whole.metrics.map);
  }
}

void TestTrainer::powerLossLeadsBackToTheLastCheckpoint_data() {
  QTest::addColumn<int>("every");
  QTest::addColumn<int>("at");
  QTest::addColumn<int>("checkpoint");
  QTest::newRow("before the first") << 10 << 7 << 0;
  QTest::newRow("right after one") << 5 << 10 << 5;  // copied before the trainer comes to checkpoint 10
  QTest::newRow("some steps after one") << 5 << 13 << 10;
  QTest::newRow("every step") << 1 << 20 << 19;
  QTest::newRow("late") << 7 << 41 << 35;
}

// The folder is copied in the middle of the run, with everything that had been written since the checkpoint in it: all
// of it must be undone, rows of batches that were queued before the checkpoint and applied after it too.
void TestTrainer::powerLossLeadsBackToTheLastCheckpoint() {
  QFETCH(int, every);
  QFETCH(int, at);
  QFETCH(int, checkpoint);
  const RunSetup run = setup(
      treeSpec(R"("placement": "disk")",
               fmt::format(R"("checkpoint": {{"every_steps": {}, "every_s": 0, "durability": "power"}})", every)));
  const std::string place = folder(QTest::currentDataTag());
  const std::string lost = place + "-lost";
  Watcher watcher;
  watcher.onStep = [&](const StepReport& report) {
    // Time for the look-ahead: what comes is queued, and announced, long before the checkpoints.
    if (report.step == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (report.step == static_cast<std::uint64_t>(at))
      std::filesystem::copy(place, lost, std::filesystem::copy_options::recursive);
  };
  QCOMPARE(finished(trainIn(place, run, watcher)).tableSha256, m_whole.tableSha256);

  overrideBootId("00000000-1111-2222-3333-444444444444");
  {
    auto tables = openDiskTables(lost, {.durability = Durability::power}, rowKernels(KernelLevel::scalar));
    VERIFY_OK(tables);
    QVERIFY((*tables)->recovery() == Recovery::lastCheckpoint);
    QCOMPARE(static_cast<int>((*tables)->step()), checkpoint);
    if (checkpoint > 0) QCOMPARE(*tableSha256(**tables, ""), m_hashes[static_cast<std::uint64_t>(checkpoint)]);
  }
  Watcher again;
  const TrainOutcome resumed = finished(trainIn(lost, run, again));
  QCOMPARE(static_cast<int>(resumed.startStep), checkpoint);
  QCOMPARE(resumed.losses, m_whole.losses);
  QCOMPARE(resumed.tableSha256, m_whole.tableSha256);
}

void TestTrainer::powerLossWithoutAJournalStartsAgain() {
  const RunSetup run = setup(treeSpec());
  const std::string place = folder("run");
  const std::string lost = place + "-lost";
  Watcher watcher;
  watcher.onStep = [&](const StepReport& report) {
    if (report.step == 20) std::filesystem::copy(place, lost, std::filesystem::copy_options::recursive);
  };
  finished(trainIn(place, run, watcher));
  overrideBootId("00000000-1111-2222-3333-444444444444");
  Watcher again;
  const TrainOutcome resumed = finished(trainIn(lost, run, again));
  QVERIFY(again.recovery == Recovery::fromStart);
  QCOMPARE(resumed.startStep, std::uint64_t{0});
  QCOMPARE(resumed.losses, m_whole.losses);
  QCOMPARE(resumed.tableSha256, m_whole.tableSha256);
}

void TestTrainer::badGradientStopsBeforeItsBatchIsWritten() {
  // Products of rows that plain descent at lr 1e6 drives apart: within a few steps beyond float32.
  const RunSetup run = setup(
      R"({"dataset": "umls", "model": "distmult", "dim": 8, "k": 0, "optimizer": {"rule": "rsgd", "lr": 1e6, "gradient_cap": 0},
                                 "train": {"epochs": 3, "batch": 64, "negatives": 4, "threads": 2}})");
  const std::string place = folder("run");
  Watcher watcher;
  watcher.hashEachStep = true;
  const auto outcome = trainIn(place, run, watcher);
  QVERIFY(!outcome);
  QCOMPARE(exitCode(outcome.error()), 3);
  const std::string text = outcome.error().message;
  const std::uint64_t good = watcher.steps.empty() ? 0 : watcher.steps.back().step;
  QVERIFY2(text.starts_with(fmt::format("step {}: the gradient of ", good + 1)), text.c_str());
  QVERIFY2(text.find(fmt::format("stands as after step {}", good)) != std::string::npos, text.c_str());
  QVERIFY2(text.find("lr is 1000000") != std::string::npos, text.c_str());
  bool named = false;
  for (std::uint32_t i = 0; i < run.dataset->entities.size(); ++i)
    named |= text.find(fmt::format("entities row {} (\"{}\")", i, run.dataset->entities.name(i))) != std::string::npos;
  for (std::uint32_t i = 0; i < run.dataset->relations.size(); ++i)
    named |=
        text.find(fmt::format("relations row {} (\"{}\")", i, run.dataset->relations.name(i))) != std::string::npos;
  QVERIFY2(named, text.c_str());
  QVERIFY2(good > 0, "the first step must be good, else there is nothing to keep");
  auto tables = openDiskTables(place, {}, rowKernels(KernelLevel::scalar));
  VERIFY_OK(tables);
  QCOMPARE((*tables)->step(), good);
  QCOMPARE(*tableSha256(**tables, ""), watcher.hashes[good]);
}

void TestTrainer::aTableOfAnotherShapeIsRefused() {
  const std::string place = folder("run");
  Watcher first, second;
  finished(trainIn(place, setup(treeSpec()), first));
  RunSetup other = setup(treeSpec());
  other.shape.tables[0].dim = 7;
  const auto refused = trainIn(place, other, second);
  QVERIFY(!refused);
  QCOMPARE(exitCode(refused.error()), 3);
  QVERIFY2(refused.error().message.find("121 rows x 6, expected 121 x 7") != std::string::npos,
           refused.error().message.c_str());
  Watcher third;
  QCOMPARE(finished(trainIn(place, setup(treeSpec()), third)).tableSha256, m_whole.tableSha256);
}

void TestTrainer::fillingIsAPhaseOfItsOwn() {
  Watcher ram, disk;
  const TrainOutcome outcome = finished(trainIn("", setup(treeSpec(R"("placement": "ram")")), ram));
  QCOMPARE(ram.phases.front(), std::string("filling the table"));
  QCOMPARE(ram.phases.at(1), std::string("training"));
  QVERIFY(outcome.secondsToFirstStep > 0);
  finished(trainIn(folder("disk"), setup(treeSpec()), disk));
  QCOMPARE(disk.phases.front(), std::string("training"));
}

void TestTrainer::aCardThatHoldsTheTableButNotTheBatchRefuses() {
  // The table has 121 x 13 x 4 = 6,292 bytes, the batch's buffers several times that.
  Watcher watcher;
  const auto refused = trainIn("", setup(treeSpec(R"("placement": "gpu")", R"("device": "sim:8 KiB")")), watcher);
  QVERIFY(!refused);
  QCOMPARE(exitCode(refused.error()), 4);
  QVERIFY(watcher.steps.empty());
}

QTEST_GUILESS_MAIN(TestTrainer)
#include "tst_trainer.moc"
