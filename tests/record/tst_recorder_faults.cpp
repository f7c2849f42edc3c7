// SPDX-License-Identifier: Apache-2.0
// The recorder when things go wrong: a held lock, a full disk, a kill, several processes, a run that is removed.
#include <sys/resource.h>

#include <QObject>
#include <atomic>
#include <csignal>
#include <thread>

#include "core/record/editor.h"
#include "core/record/recorder.h"
#include "tests/record/record_fixture.h"

using namespace dsa;

namespace {

RecorderOptions quick() {
  RecorderOptions options;
  options.watchedIntervalMs = 20;
  options.idleIntervalMs = 20;
  options.tryMs = 20;
  return options;
}

/// A trainer: a run of `steps` samples (0 = without end), properly finished.
int train(const std::string& path, const std::string& name, std::uint64_t steps) {
  auto recorder = Recorder::open(path, quick());
  if (!recorder || !(*recorder)->createRun(test::row(name)) || !(*recorder)->beginAttempt(0)) return 1;
  const auto loss = (*recorder)->metric(test::loss());
  for (std::uint64_t step = 1; steps == 0 || step <= steps; ++step) {
    (*recorder)->sample(step, loss, static_cast<double>(step));
    if (step % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return (*recorder)->finish(RunStatus::finished, "", "{}") ? 0 : 2;
}

std::int64_t stored(const std::string& path) { return test::number(path, "SELECT count(*) FROM sample"); }

}  // namespace

class TestRecorderFaults : public QObject {
  Q_OBJECT
 private slots:
  void nothingIsLostWhileTheWriteLockIsHeld() {
    const test::Folder folder;
    auto recorder = Recorder::open(folder.database(), quick());
    MUST(recorder);
    MUST((*recorder)->createRun(test::row("patient")));
    MUST((*recorder)->beginAttempt(0));
    SQLite::Database holder = test::raw(folder.database());
    holder.exec("INSERT INTO command (run, kind, created_ms) VALUES (1, 'evict', 1)");
    holder.exec("BEGIN IMMEDIATE");
    const std::int64_t before = stored(folder.database());
    const auto loss = (*recorder)->metric(test::loss());
    for (std::uint64_t step = 1; step <= 20000; ++step) (*recorder)->sample(step, loss, 1);  // never waits
    QTRY_VERIFY((*recorder)->trouble().has_value());
    QVERIFY((*recorder)->pending() >= 20000);
    QCOMPARE(stored(folder.database()), before);
    // Orders come through all the same.
    std::vector<CommandRow> commands;
    QTRY_VERIFY([&] {
      for (const CommandRow& command : (*recorder)->takeCommands()) commands.push_back(command);
      return !commands.empty();
    }());
    QCOMPARE(commands[0].kind, CommandKind::evict);
    // A caller that has to wait waits until the lock is let go, and only then returns.
    std::atomic<bool> finished{false};
    std::thread ending([&] {
      if ((*recorder)->finish(RunStatus::finished, "", "{}")) finished = true;
    });
    QTest::qWait(300);
    const bool early = finished;
    holder.exec("COMMIT");
    ending.join();
    QVERIFY(!early);
    QVERIFY(finished);
    const auto samples = test::series(*Reader::open(folder.database()), 1, "loss");
    QCOMPARE(samples.size(), std::size_t{20000});
    for (std::size_t i = 0; i < samples.size(); ++i) QCOMPARE(samples[i].step, std::uint64_t{i + 1});
    QVERIFY(!(*recorder)->trouble().has_value());
    QCOMPARE((*recorder)->pending(), std::uint64_t{0});
  }

  void aLockThatIsNeverLetGoIsSaid() {
    const test::Folder folder;
    RecorderOptions options = quick();
    options.patienceMs = 100;
    auto recorder = Recorder::open(folder.database(), options);
    MUST((*recorder)->createRun(test::row("x")));
    SQLite::Database holder = test::raw(folder.database());
    holder.exec("BEGIN IMMEDIATE");
    const auto begun = (*recorder)->beginAttempt(0);
    QVERIFY(!begun);
    QCOMPARE(begun.error().code, ErrorCode::machine);
    QVERIFY(begun.error().message.find("lock") != std::string::npos);
    holder.exec("COMMIT");
    MUST((*recorder)->beginAttempt(0));
  }

  void aFullQueueWaitsAndDropsNothing() {
    const test::Folder folder;
    RecorderOptions options = quick();
    options.queueLimit = 100;
    auto recorder = Recorder::open(folder.database(), options);
    MUST((*recorder)->createRun(test::row("x")));
    MUST((*recorder)->beginAttempt(0));
    SQLite::Database holder = test::raw(folder.database());
    holder.exec("BEGIN IMMEDIATE");
    std::atomic<int> given{0};
    std::thread training([&] {
      const auto loss = (*recorder)->metric(test::loss());
      for (std::uint64_t step = 1; step <= 300; ++step) {
        (*recorder)->sample(step, loss, 1);
        ++given;
      }
    });
    QTRY_COMPARE((*recorder)->pending(), std::uint64_t{100});
    QTest::qWait(100);
    const int whileLocked = given;
    holder.exec("COMMIT");
    training.join();
    QCOMPARE(whileLocked, 100);
    MUST((*recorder)->flush());
    QCOMPARE(stored(folder.database()), std::int64_t{300});
  }

  void aFullDiskIsSaidAndMadeGoodLater() {
    const test::Folder folder;
    auto recorder = Recorder::open(folder.database(), quick());
    MUST((*recorder)->createRun(test::row("x")));
    MUST((*recorder)->beginAttempt(0));
    MUST((*recorder)->flush());
    // No file may grow beyond 256 KiB: to the database that is a disk that takes no more.
    std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit usual {};
    ::getrlimit(RLIMIT_FSIZE, &usual);
    struct rlimit small = usual;
    small.rlim_cur = 256 * 1024;
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto loss = (*recorder)->metric(test::loss());
    for (std::uint64_t step = 1; step <= 50000; ++step) (*recorder)->sample(step, loss, 1);
    const auto refused = (*recorder)->flush();
    const bool kept = (*recorder)->pending() >= 1;
    ::setrlimit(RLIMIT_FSIZE, &usual);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::machine);
    QVERIFY(kept);
    MUST((*recorder)->finish(RunStatus::finished, "", "{}"));
    QCOMPARE(stored(folder.database()), std::int64_t{50000});
    MUST(Database::open(folder.database())->check());
  }

  void twoProcessesWriteAtOnce() {
    const test::Folder folder;
    const pid_t first = test::inChild([&] { return train(folder.database(), "first", 5000); });
    const pid_t second = test::inChild([&] { return train(folder.database(), "second", 5000); });
    QCOMPARE(test::exitStatusOf(first), 0);
    QCOMPARE(test::exitStatusOf(second), 0);
    const auto reader = Reader::open(folder.database());
    for (const char* name : {"first", "second"}) {
      const RunId run = reader->find(name).value();
      QCOMPARE(test::series(*reader, run, "loss").size(), std::size_t{5000});
      QCOMPARE(reader->run(run)->status, RunStatus::finished);
    }
    MUST(reader->database().check());
  }

  void aKilledTrainerIsFoundInterruptedAndItsStepsAreGapless() {
    for (int round = 0; round < 5; ++round) {
      const test::Folder folder;
      MUST(Database::open(folder.database()));
      const pid_t child = test::inChild([&] { return train(folder.database(), "victim", 0); });
      QTRY_VERIFY_WITH_TIMEOUT(stored(folder.database()) > 50 * (round + 1), 20000);
      auto editor = Editor::open(folder.database());
      QVERIFY(editor->reconcile()->empty());  // alive: left alone
      ::kill(child, SIGKILL);
      // Not waited for yet: a zombie still has its /proc entry and is gone all the same.
      std::vector<RunId> interrupted;
      QTRY_VERIFY([&] {
        if (interrupted.empty()) interrupted = editor->reconcile().value();
        return !interrupted.empty();
      }());
      QCOMPARE(interrupted, std::vector<RunId>{1});
      QCOMPARE(test::exitStatusOf(child), -SIGKILL);
      const auto reader = Reader::open(folder.database());
      MUST(reader->database().check());
      QCOMPARE(reader->run(1)->status, RunStatus::interrupted);
      QCOMPARE(reader->attempts(1)->at(0).endedHow, std::string("interrupted"));
      QCOMPARE(reader->events(1)->back().kind, std::string("interrupted"));
      const auto samples = test::series(*reader, 1, "loss");
      for (std::size_t i = 0; i < samples.size(); ++i) QCOMPARE(samples[i].step, std::uint64_t{i + 1});
      QVERIFY(editor->reconcile()->empty());  // once is enough
    }
  }

  void aRunOfALiveProcessIsNotTakenUp() {
    const test::Folder folder;
    MUST(Database::open(folder.database()));
    const pid_t child = test::inChild([&] { return train(folder.database(), "busy", 0); });
    QTRY_VERIFY_WITH_TIMEOUT(stored(folder.database()) > 0, 20000);
    auto recorder = Recorder::open(folder.database());
    const auto refused = (*recorder)->attachRun(1);
    auto editor = Editor::open(folder.database());
    const auto removed = editor->remove(1);
    ::kill(child, SIGKILL);
    test::exitStatusOf(child);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::machine);
    QVERIFY(refused.error().message.find(std::to_string(child)) != std::string::npos);
    QVERIFY(!removed);
    MUST((*recorder)->attachRun(1));
  }

  void aRunRemovedUnderneathIsSaidAtTheEnd() {
    const test::Folder folder;
    auto recorder = Recorder::open(folder.database(), quick());
    MUST((*recorder)->createRun(test::row("x")));
    MUST((*recorder)->beginAttempt(0));
    SQLite::Database other = test::raw(folder.database());
    other.exec("PRAGMA foreign_keys = ON");
    other.exec("DELETE FROM run");
    const auto loss = (*recorder)->metric(test::loss());
    for (std::uint64_t step = 1; step <= 100; ++step) (*recorder)->sample(step, loss, 1);  // training goes on
    const auto ended = (*recorder)->finish(RunStatus::finished, "", "{}");
    QVERIFY(!ended);
    QCOMPARE(ended.error().code, ErrorCode::input);
    QVERIFY(ended.error().message.find("removed") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(TestRecorderFaults)
#include "tst_recorder_faults.moc"
