// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, orders to a running program, and taking a run up again.
#include <QThread>

#include "app_fixture.h"

using namespace app;

namespace {

const QString kLong =
    "--dataset wordnet-mammals --dim 10 --k 1 --rule radam --batch 50 --negatives 30 --epochs 30 --seed 2 --threads 2 "
    "--hash --json";

/// Waits until the newest run has this status and at least one step.
bool waitForSteps(const Home& home) {
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < 30000) {
    const Json run = home.newestRun();
    if (!run.is_null() && run["status"] == "running" && run["step"].is_number() && run["step"].get<int>() > 0)
      return true;
    QThread::msleep(20);
  }
  return false;
}

}  // namespace

class TestStop : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase();
  void interruptStopsAndResumeEndsEqual_data();
  void interruptStopsAndResumeEndsEqual();
  void aRunningRunIsNotTakenUpTwice();
  void aFinishedRunPrintsItsObjectAgain();
  void runsInMemoryStartAgain();
  void interruptDuringCompareEndsIt();

 private:
  Json m_whole;
};

void TestStop::initTestCase() {
  const Home home;
  const Ended ended = home.run("train " + kLong, {"--cache", home.cache()});
  COMPARE_EXIT(ended, 0);
  m_whole = ended.json();
}

void TestStop::interruptStopsAndResumeEndsEqual_data() {
  QTest::addColumn<int>("signal");
  QTest::addColumn<QString>("durability");
  QTest::newRow("Ctrl-C") << SIGINT << "process";
  QTest::newRow("termination, power") << SIGTERM << "power";
}

void TestStop::interruptStopsAndResumeEndsEqual() {
  QFETCH(int, signal);
  QFETCH(QString, durability);
  const Home home;
  const auto process = home.start("train " + kLong + " --durability " + durability, {"--cache", home.cache()});
  QVERIFY(waitForSteps(home));
  ::kill(static_cast<pid_t>(process->processId()), signal);
  const Ended stopped = Home::end(*process);
  COMPARE_EXIT(stopped, 5);
  const Json object = stopped.json();
  QCOMPARE(object["status"].get<std::string>(), std::string("stopped"));
  QVERIFY(object["steps"].get<int>() > 0 && object["steps"].get<int>() < m_whole["steps"].get<int>());
  QVERIFY(object["reason"].get<std::string>().find("dsa resume 1") != std::string::npos);
  QVERIFY(home.newestRun()["status"] == "stopped");
  const Ended resumed = home.run("resume 1 --hash --json");
  COMPARE_EXIT(resumed, 0);
  QCOMPARE(resumed.json()["status"].get<std::string>(), std::string("finished"));
  QVERIFY(resumed.json()["losses"] == m_whole["losses"]);
  QVERIFY(resumed.json()["table_sha256"] == m_whole["table_sha256"]);
  QVERIFY(resumed.json()["metrics"] == m_whole["metrics"]);
  // Time of the first attempt is part of the whole.
  QVERIFY(resumed.json()["seconds"].get<double>() >= object["seconds"].get<double>());
}

void TestStop::aRunningRunIsNotTakenUpTwice() {
  const Home home;
  const auto process = home.start("train " + kLong, {"--cache", home.cache()});
  QVERIFY(waitForSteps(home));
  const Ended second = home.run("resume 1 --json");
  COMPARE_EXIT(second, 4);
  VERIFY_SAYS(second, QString::number(process->processId()));
  const Ended removed = home.run("runs rm 1");
  QVERIFY2(removed.code == 3 || removed.code == 4, qPrintable(removed.err));
  // Readers may look at any time.
  COMPARE_EXIT(home.run("store info 1 --json"), 0);
  COMPARE_EXIT(home.run("eval 1 --json"), 0);
  const Ended ended = Home::end(*process);
  COMPARE_EXIT(ended, 0);
  QVERIFY(ended.json()["table_sha256"] == m_whole["table_sha256"]);
  QVERIFY(ended.json()["losses"] == m_whole["losses"]);
}

void TestStop::aFinishedRunPrintsItsObjectAgain() {
  const Home home;
  const Ended first = home.run("train --dataset tree:3,4 --dim 4 --epochs 2 --hash --json --cache", {home.cache()});
  COMPARE_EXIT(first, 0);
  const auto before = contentsOf(home.cache());
  const Ended again = home.run("resume 1 --json");
  COMPARE_EXIT(again, 0);
  QVERIFY(again.json() == first.json());
  const Ended hashed = home.run("resume 1 --hash --json");
  COMPARE_EXIT(hashed, 0);
  QVERIFY(hashed.json() == first.json());
  QVERIFY(contentsOf(home.cache()) == before);
  // A run that was not hashed is hashed when it is asked for.
  const Ended plain = home.run("train --dataset tree:3,4 --dim 4 --epochs 2 --json --cache", {home.cache()});
  COMPARE_EXIT(plain, 0);
  QVERIFY(!plain.json().contains("table_sha256"));
  const Ended later = home.run("resume 2 --hash --json");
  COMPARE_EXIT(later, 0);
  QVERIFY(later.json()["table_sha256"] == first.json()["table_sha256"]);
  QVERIFY(later.json()["losses"] == first.json()["losses"]);
}

void TestStop::runsInMemoryStartAgain() {
  const Home home;
  const auto process = home.start("train --placement ram " + kLong);
  QVERIFY(waitForSteps(home));
  ::kill(static_cast<pid_t>(process->processId()), SIGKILL);
  QVERIFY(Home::end(*process).crashed);
  QVERIFY(home.newestRun()["status"] == "interrupted");
  const Ended resumed = home.run("resume 1 --hash --json");
  COMPARE_EXIT(resumed, 0);
  QVERIFY(resumed.json()["losses"] == m_whole["losses"]);
  QVERIFY(resumed.json()["table_sha256"] == m_whole["table_sha256"]);
}

void TestStop::interruptDuringCompareEndsIt() {
  const Home home;
  const auto process = home.start("compare --arms disk:radam,ram:radam " + kLong, {"--cache", home.cache()});
  QVERIFY(waitForSteps(home));
  // A terminal sends it to the whole group: program and arm.
  QFile children(QString("/proc/%1/task/%1/children").arg(process->processId()));
  if (!children.open(QIODevice::ReadOnly)) QSKIP("this kernel does not list the children of a process");
  const auto arm = static_cast<pid_t>(QString(children.readAll()).trimmed().toInt());
  QVERIFY(arm > 0);
  ::kill(arm, SIGINT);
  ::kill(static_cast<pid_t>(process->processId()), SIGINT);
  const Ended ended = Home::end(*process);
  COMPARE_EXIT(ended, 5);
  QCOMPARE(ended.json()["arms"].size(), std::size_t{1});
  QVERIFY(ended.json()["arms"][0]["status"] == "stopped");
}

QTEST_GUILESS_MAIN(TestStop)
#include "tst_stop.moc"
