// SPDX-License-Identifier: Apache-2.0
// SIGKILL at random instants, from the first millisecond on: what is resumed ends as the run that nobody killed.
//
// DSA_KILLS=200 kills as often instead of 25 times, in a training that is longer by as much; DSA_KILL_FLAGS adds flags
// to each, as in DSA_KILL_FLAGS="--engine direct --ram-budget 64MiB".
#include <QRandomGenerator>
#include <QRegularExpression>
#include <QThread>
#include <cmath>

#include "app_fixture.h"

using namespace app;

namespace {

constexpr int kKills = 25;

int killsWanted() {
  const int kills = qEnvironmentVariableIntValue("DSA_KILLS");
  return kills > 0 ? kills : kKills;
}

/// Sleeps, but not beyond the step.
void waitOrUntil(double ms, const QString& cache, std::uint64_t step) {
  QElapsedTimer timer;
  timer.start();
  while (static_cast<double>(timer.nsecsElapsed()) < ms * 1e6 && stepsIn(cache) < step)
    QThread::usleep(static_cast<unsigned long>(
        std::clamp(ms * 1000 - static_cast<double>(timer.nsecsElapsed()) / 1000, 0.0, 1000.0)));
}

}  // namespace

class TestKill : public QObject {
  Q_OBJECT
 private slots:
  void killedRunsEndAsTheUninterruptedOne_data();
  void killedRunsEndAsTheUninterruptedOne();
};

void TestKill::killedRunsEndAsTheUninterruptedOne_data() {
  QTest::addColumn<QString>("spec");
  QTest::addColumn<int>("epochs");
  QTest::newRow("process")
      << "--dataset wordnet-mammals --dim 16 --k 1 --rule radam --batch 50 --negatives 40 --threads 2" << 30;
  QTest::newRow("power, checkpoints by steps, two tables")
      << "--dataset umls --model distmult --dim 64 --rule sparse_adam --batch 64 --negatives 40 --threads 2 "
         "--durability power --checkpoint-steps 37"
      << 25;
  QTest::newRow("direct, checkpoints by steps, a small cache")
      << "--dataset wordnet-mammals --dim 16 --k 1 --rule radam --batch 50 --negatives 40 --threads 2 "
         "--engine direct --ram-budget 2MiB --checkpoint-steps 10"
      << 30;
}

void TestKill::killedRunsEndAsTheUninterruptedOne() {
  QFETCH(QString, spec);
  QFETCH(int, epochs);
  const int wanted = killsWanted();
  const QString flags = QString("%1 --epochs %2 %3 --seed 5 --hash --json")
                            .arg(spec)
                            .arg(epochs * std::max(wanted, kKills) / kKills)
                            .arg(qEnvironmentVariable("DSA_KILL_FLAGS"));
  const Home calm;
  const Ended whole = calm.run("train " + flags, {"--cache", calm.cache()});
  COMPARE_EXIT(whole, 0);
  const double trainingMs = whole.json()["seconds"].get<double>() * 1000;
  // A busy machine makes one start long; a start that is taken for longer than it is would leave no run to be killed.
  double startMs = 1e9;
  for (int i = 0; i < 3; ++i) {
    const Home first;
    QElapsedTimer timer;
    timer.start();
    COMPARE_EXIT(first.run("train " + flags + " --steps 1", {"--cache", first.cache()}), 0);
    startMs = std::min(startMs, static_cast<double>(timer.elapsed()));
  }

  // However busy the machine was when the run was measured: all kills together do not reach its end.
  const std::uint64_t mostSteps =
      std::max<std::uint64_t>(1, whole.json()["steps"].get<std::uint64_t>() * 8 / 10 / wanted);
  constexpr quint32 kSeed = 20240229;
  QRandomGenerator random(kSeed);
  const Home home;
  int kills = 0, beforeTheRecord = 0, beforeAStep = 0, withSteps = 0, insideAStep = 0;
  std::uint64_t last = 0;
  QString next = "train " + flags;
  for (; kills < wanted; ++kills) {
    // The first third very early: while folders, database and tables are made. The rest anywhere, so that all of them
    // together need half of the run.
    const double latest = kills < wanted / 3 ? startMs / 3 * (kills + 1) / (wanted / 3) : startMs + trainingMs / wanted;
    const double delayMs = random.bounded(std::max(1.0, latest));
    const auto process =
        home.start(next, next.startsWith("train") ? QStringList{"--cache", home.cache()} : QStringList());
    waitOrUntil(delayMs, home.cache(), last + mostSteps);
    ::kill(static_cast<pid_t>(process->processId()), SIGKILL);
    const Ended killed = Home::end(*process);
    const QString told = QString("seed %1, kill %2 after %3 ms: %4").arg(kSeed).arg(kills).arg(delayMs).arg(killed.err);
    QVERIFY2(killed.crashed, qPrintable("ended by itself; " + told));

    const Ended list = home.run("runs list --json");
    QVERIFY2(list.code == 0, qPrintable(told + list.err));
    const Json runs = list.json()["runs"];
    QVERIFY2(runs.size() <= 1, qPrintable(told));
    if (runs.empty()) {
      ++beforeTheRecord;
      continue;
    }
    QVERIFY2(runs[0]["status"] == "interrupted", qPrintable(told + QString::fromStdString(runs[0].dump())));
    // What was applied stays: SIGKILL takes back no step. A reader refuses a table in the middle of one, and says
    // which.
    const Ended info = home.run("store info 1 --json");
    static const QRegularExpression kMiddle("killed in the middle of step (\\d+)");
    const QRegularExpressionMatch torn = kMiddle.match(info.err);
    std::uint64_t step = info.code == 0 ? info.json()["step"].get<std::uint64_t>() : 0;
    if (torn.hasMatch()) {
      step = torn.captured(1).toULongLong() - 1;
      ++insideAStep;
    }
    QVERIFY2(step >= last, qPrintable(told + QString(" step %1 after %2; ").arg(step).arg(last) + info.err));
    (step > last ? withSteps : beforeAStep) += 1;
    last = step;
    next = "resume " + QString::number(runs[0]["run"].get<int>()) + " --hash --json";
  }
  const Ended finished =
      home.run(next, next.startsWith("train") ? QStringList{"--cache", home.cache()} : QStringList());
  COMPARE_EXIT(finished, 0);
  const Json expected = whole.json(), got = finished.json();
  QCOMPARE(got["status"].get<std::string>(), std::string("finished"));
  QCOMPARE(got["steps"].get<int>(), expected["steps"].get<int>());
  QVERIFY(got["losses"] == expected["losses"]);
  QCOMPARE(got["table_sha256"].get<std::string>(), expected["table_sha256"].get<std::string>());
  QVERIFY(got["metrics"] == expected["metrics"]);
  QVERIFY(home.newestRun()["attempts"].get<int>() > 1);
  qInfo(
      "%d kills: %d before the record, %d before a step of their own, %d in training (%d inside a step), last %d of %d",
      kills, beforeTheRecord, beforeAStep, withSteps, insideAStep, static_cast<int>(last),
      expected["steps"].get<int>());
  // They must have met both: beginnings and training.
  QVERIFY(withSteps >= kills / 4);
  QVERIFY(beforeTheRecord + beforeAStep >= kills / 8);
  const Ended verified = home.run("store verify 1 --json");
  COMPARE_EXIT(verified, 0);
  QCOMPARE(QDir(home.cache()).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), 1);
}

QTEST_GUILESS_MAIN(TestKill)
#include "tst_kill.moc"
