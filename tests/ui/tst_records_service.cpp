// SPDX-License-Identifier: GPL-3.0-or-later
// The window's reading and writing threads: dead trainers are noticed, a held lock loses nothing, series come whole.
#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QSignalSpy>

#include "core/record/recorder.h"
#include "ui/records/records_service.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

RunRow row(const std::string& name) {
  RunRow run;
  run.name = name;
  run.dataset = "zipf:1000";
  return run;
}

EmbeddingSample points(std::uint64_t step) {
  auto of = std::make_shared<EmbeddingRows>();
  of->table = "entities";
  of->totalRows = 2;
  of->dim = 2;
  of->k = 1;
  of->rows = {0, 1};
  const auto s = static_cast<float>(step);
  return EmbeddingSample{step, 0, of, {s, 0.5F, -s, 0.25F}};
}

/// A process that records one run and then waits to be killed.
pid_t trainer(const QString& path) {
  int ready[2];
  if (::pipe(ready) != 0) qFatal("pipe");
  const pid_t child = ::fork();
  if (child != 0) {
    char byte = 0;
    ::close(ready[1]);
    if (::read(ready[0], &byte, 1) != 1) qFatal("the trainer did not come up");
    ::close(ready[0]);
    return child;
  }
  auto recorder = Recorder::open(path.toStdString());
  if (!recorder || !(*recorder)->createRun(row("to be killed")) || !(*recorder)->beginAttempt(0)) ::_exit(1);
  const auto loss = (*recorder)->metric(MetricInfo{0, "loss", "", "test", MetricAxis::step});
  for (std::uint64_t step = 0; step < 50; ++step) (*recorder)->sample(step, loss, 1.0 / static_cast<double>(step + 1));
  if (!(*recorder)->flush()) ::_exit(1);
  if (::write(ready[1], "x", 1) != 1) ::_exit(1);
  for (;;) ::pause();
}

}  // namespace

class TestRecordsService : public QObject {
  Q_OBJECT
 private slots:
  void aKilledTrainerIsInterruptedWithinFiveSeconds() {
    QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    const pid_t child = trainer(path);
    RecordsService records(path);
    RunList runs;
    connect(&records, &RecordsService::runsChanged, this, [&](const RunList& list) { runs = list; });
    records.start();
    QTRY_COMPARE(runs.size(), 1);
    QCOMPARE(runs[0].status, RunStatus::running);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    QTRY_COMPARE_WITH_TIMEOUT(runs[0].status, RunStatus::interrupted, 5000);
  }

  void aDatabaseThatTheWindowMadeIsRead() {
    QTemporaryDir folder;
    const QString path = folder.filePath("new/runs.sqlite");
    RecordsService records(path);
    RunList runs;
    connect(&records, &RecordsService::runsChanged, this, [&](const RunList& list) { runs = list; });
    records.start();
    QTRY_VERIFY(QFileInfo::exists(path));
    QTest::qWait(1200);  // it has looked at the empty list
    auto recorder = Recorder::open(path.toStdString());
    QVERIFY(recorder.has_value());
    QVERIFY((*recorder)->createRun(row("later")).has_value());
    QTRY_COMPARE(runs.size(), 1);
    QVERIFY((*recorder)->finish(RunStatus::finished, "", "{}").has_value());
    QTRY_COMPARE(runs[0].status, RunStatus::finished);
  }

  void followedSeriesComeWholeAndMore() {
    QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    auto recorder = Recorder::open(path.toStdString());
    QVERIFY(recorder.has_value());
    QVERIFY((*recorder)->createRun(row("followed")).has_value());
    QVERIFY((*recorder)->beginAttempt(0).has_value());
    const auto loss = (*recorder)->metric(MetricInfo{0, "loss", "", "test", MetricAxis::step});
    for (std::uint64_t step = 0; step < 45'000; ++step) (*recorder)->sample(step, loss, 1);
    QVERIFY((*recorder)->flush().has_value());
    RecordsService records(path);
    QVector<Sample> samples;
    connect(&records, &RecordsService::samplesArrived, this, [&](const ChunkList& chunks) {
      for (const SeriesChunk& chunk : chunks) {
        if (chunk.reset) samples.clear();
        samples += chunk.samples;
      }
    });
    records.start();
    records.follow({1});
    QTRY_COMPARE(samples.size(), 45'000);
    // Watched from now on: the recorder stores without being asked.
    QTRY_VERIFY((*recorder)->watched());
    (*recorder)->sample(45'000, loss, 2);
    QTRY_COMPARE(samples.size(), 45'001);
    for (qsizetype i = 1; i < samples.size(); ++i) QVERIFY(samples[i].step == samples[i - 1].step + 1);
    records.follow({});
    QVERIFY((*recorder)->finish(RunStatus::finished, "", "{}").has_value());
  }

  void framesOfTheDrawnRunComeAndNoOthers() {
    QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    auto drawn = Recorder::open(path.toStdString());
    QVERIFY((*drawn)->createRun(row("drawn")).has_value());
    QVERIFY((*drawn)->beginAttempt(0).has_value());
    auto other = Recorder::open(path.toStdString());
    QVERIFY((*other)->createRun(row("other")).has_value());
    (*other)->embedding(points(5));
    QVERIFY((*other)->finish(RunStatus::finished, "", "{}").has_value());
    RecordsService records(path);
    QVector<EmbeddingFrame> frames;
    connect(&records, &RecordsService::embeddingArrived, this, [&](const EmbeddingFrame& frame) {
      QVERIFY(QThread::currentThread() == qApp->thread());
      frames << frame;
    });
    records.start();
    records.follow({}, 1);
    // That there is nothing yet is said once; the trainer hears that somebody looks.
    QTRY_COMPARE(frames.size(), 1);
    QVERIFY(!frames[0].of && frames[0].problem.isEmpty() && frames[0].run == 1);
    QTRY_VERIFY((*drawn)->watched());
    (*drawn)->embedding(points(1));
    QTRY_COMPARE(frames.size(), 2);
    QCOMPARE(frames[1].step, std::uint64_t{1});
    QCOMPARE(frames[1].points, (QVector<QPointF>{{1, 0.5}, {-1, 0.25}}));
    // Nothing new, nothing told.
    (*drawn)->event("test", "the database changes", 1);
    QVERIFY((*drawn)->flush().has_value());
    QTest::qWait(400);
    QCOMPARE(frames.size(), 2);
    (*drawn)->embedding(points(2));
    QVERIFY((*drawn)->finish(RunStatus::finished, "", "{}").has_value());
    QTRY_COMPARE(frames.size(), 3);
    QCOMPARE(frames[2].step, std::uint64_t{2});
    // The finished one again, from the start; then the other; then none.
    records.follow({}, 1);
    QTRY_COMPARE(frames.size(), 4);
    records.follow({1}, 2);
    QTRY_COMPARE(frames.size(), 5);
    QCOMPARE(frames[4].run, RunId{2});
    QCOMPARE(frames[4].step, std::uint64_t{5});
    SQLite::Database(path.toStdString(), SQLite::OPEN_READWRITE, 10000).exec("UPDATE embedding SET rows = x'00'");
    records.follow({}, 2);
    QTRY_COMPARE(frames.size(), 6);
    QVERIFY(!frames[5].of && frames[5].problem.contains("damaged"));
    records.follow({1, 2});
    QTest::qWait(300);
    QCOMPARE(frames.size(), 6);
  }

  void aHeldLockDelaysAnEditAndLosesNothing() {
    QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    {
      auto recorder = Recorder::open(path.toStdString());
      QVERIFY((*recorder)->createRun(row("old")).has_value());
      QVERIFY((*recorder)->finish(RunStatus::finished, "", "{}").has_value());
    }
    RecordsService records(path);
    QSignalSpy failures(&records, &RecordsService::editFailed);
    RunList runs;
    connect(&records, &RecordsService::runsChanged, this, [&](const RunList& list) { runs = list; });
    records.start();
    QTRY_COMPARE(runs.size(), 1);
    SQLite::Database other(path.toStdString(), SQLite::OPEN_READWRITE, 10000);
    other.exec("BEGIN IMMEDIATE");
    bool stored = false;
    records.edit(
        "rename", [](Editor& editor) { return editor.rename(1, "new"); }, this, [&] { stored = true; });
    // While the lock is held the reading goes on, and nobody is told of trouble.
    bool answered = false;
    records.fetchRun(1, this, [&](const std::optional<RunRow>& run) { answered = run && run->name == "old"; });
    QTRY_VERIFY(answered);
    QVERIFY(!stored);
    other.exec("ROLLBACK");
    QTRY_VERIFY(stored);
    QTRY_COMPARE(runs[0].name, std::string("new"));
    QCOMPARE(failures.size(), 0);
  }

  void failuresAreTold() {
    QTemporaryDir folder;
    RecordsService records(folder.filePath("runs.sqlite"));
    QSignalSpy failures(&records, &RecordsService::editFailed);
    records.start();
    records.send(99, CommandKind::stop);
    QTRY_COMPARE(failures.size(), 1);
    QVERIFY(failures[0][1].toString().contains("99"));
  }

  void aForeignFileIsTrouble() {
    QTemporaryDir folder;
    QFile file(folder.filePath("runs.sqlite"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("this is no database, and stays as it is");
    file.close();
    RecordsService records(file.fileName());
    QSignalSpy trouble(&records, &RecordsService::troubleChanged);
    records.start();
    QTRY_VERIFY(trouble.size() > 0 && !trouble.last()[0].toString().isEmpty());
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("this is no database, and stays as it is"));
  }
};

QTEST_MAIN(TestRecordsService)
#include "tst_records_service.moc"
