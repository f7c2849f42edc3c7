// SPDX-License-Identifier: Apache-2.0
// The machine fails under a running training: disks that are full, gone or read-only, files that are cut short or
// removed. Each ends in a sentence and exit 4, never in a crash, and is taken up again with the same bits.
#include <QThread>

#include "app_fixture.h"
#include "mounted.h"

using namespace app;

namespace {

// 88 MiB of rows that are touched, twice as much with a journal.
const QString kSpec =
    "--dataset zipf:60000 --dim 128 --batch 500 --negatives 8 --steps 150 --seed 3 --threads 2 --hash --json";
constexpr std::uint64_t kLittle = 64, kPlenty = 512;  // MiB

QString durabilityFlags(bool power) {
  return power ? " --durability power --checkpoint-steps 40" : " --durability process";
}

/// What the run ends in where nothing fails.
const std::string& calmHash() {
  static const std::string hash = [] {
    const Home calm;
    const Ended whole = calm.run("train " + kSpec, {"--cache", calm.cache()});
    return whole.code == 0 ? whole.json()["table_sha256"].get<std::string>() : std::string();
  }();
  return hash;
}

/// A training that has made at least `steps` steps and goes on.
std::unique_ptr<QProcess> trainingAt(const Home& home, const QString& cache, bool power, std::uint64_t steps) {
  auto process = home.start("train " + kSpec + durabilityFlags(power), {"--cache", cache});
  QElapsedTimer timer;
  timer.start();
  while (stepsIn(cache) < steps && process->state() != QProcess::NotRunning && timer.elapsed() < 60000) {
    QThread::msleep(2);
    process->waitForFinished(0);
  }
  return process;
}

void addDurabilities() {
  QTest::addColumn<bool>("power");
  QTest::newRow("process") << false;
  QTest::newRow("power") << true;
}

/// It is recorded as failed, and why.
void verifyRecorded(const Home& home, const QString& part) {
  const Json run = home.newestRun();
  QVERIFY2(run["status"] == "failed", run.dump().c_str());
  const Json shown = home.run("runs show 1 --json").json();
  QVERIFY2(QString::fromStdString(shown.dump()).contains(part), shown.dump(1).c_str());
}

void verifyEndsInTheCalmBits(const Ended& ended) {
  COMPARE_EXIT(ended, 0);
  QVERIFY(!calmHash().empty());
  QCOMPARE(ended.json()["table_sha256"].get<std::string>(), calmHash());
}

}  // namespace

class TestFaults : public QObject {
  Q_OBJECT
 private slots:
  void aFullDiskEndsTheRunAndRoomContinuesIt_data();
  void aFullDiskEndsTheRunAndRoomContinuesIt();
  void aFullDiskUnderTheDirectEngineKeepsTheCheckpoint_data();
  void aFullDiskUnderTheDirectEngineKeepsTheCheckpoint();
  void aTableThatCannotBeMadeLeavesNothing_data();
  void aTableThatCannotBeMadeLeavesNothing();
  void aDiskThatFailsEndsTheRun_data();
  void aDiskThatFailsEndsTheRun();
  void aFileCutShortEndsTheRun_data();
  void aFileCutShortEndsTheRun();
  void aRemovedCacheFolderEndsTheRun_data() { addDurabilities(); }
  void aRemovedCacheFolderEndsTheRun();
};

void TestFaults::aFullDiskEndsTheRunAndRoomContinuesIt_data() {
  QTest::addColumn<bool>("ext4");
  QTest::addColumn<bool>("power");
  QTest::newRow("tmpfs, process") << false << false;
  QTest::newRow("tmpfs, power") << false << true;
  QTest::newRow("ext4, process") << true << false;
  QTest::newRow("ext4, power") << true << true;
}

void TestFaults::aFullDiskEndsTheRunAndRoomContinuesIt() {
  QFETCH(bool, ext4);
  QFETCH(bool, power);
  Mounted disk(ext4 ? Mounted::Kind::ext4 : Mounted::Kind::tmpfs, ext4 ? kPlenty : kLittle);
  if (disk.error.isEmpty()) disk.leave(kLittle);
  if (!disk.error.isEmpty()) QSKIP(qPrintable(disk.error));
  const Home home;
  const Ended full = home.run("train " + kSpec + durabilityFlags(power), {"--cache", disk.cache()});
  COMPARE_EXIT(full, 4);
  VERIFY_SAYS(full, "No space left on device");
  VERIFY_SAYS(full, "make room");
  verifyRecorded(home, "No space left on device");
  const Json object = full.json();
  QCOMPARE(object["status"].get<std::string>(), std::string("failed"));
  const auto steps = object["steps"].get<std::uint64_t>();
  QVERIFY(steps > 0);
  // The table stands whole after the last step, and no file is there that was being made.
  const Ended verified = home.run("store verify 1 --json");
  COMPARE_EXIT(verified, 0);
  QCOMPARE(verified.json()["step"].get<std::uint64_t>(), steps);
  QCOMPARE(QDir(home.tableOf(1)).entryList({"*.creating", "*.tmp"}, QDir::Files), QStringList());
  // Still full: the same sentence again, and not a step is lost.
  const Ended again = home.run("resume 1 --hash --json");
  COMPARE_EXIT(again, 4);
  QVERIFY(again.json()["steps"].get<std::uint64_t>() >= steps);
  disk.leave(kPlenty - 100);
  QVERIFY2(disk.error.isEmpty(), qPrintable(disk.error));
  const Ended resumed = home.run("resume 1 --hash --json");
  verifyEndsInTheCalmBits(resumed);
  COMPARE_EXIT(home.run("store verify 1 --json"), 0);
}

void TestFaults::aFullDiskUnderTheDirectEngineKeepsTheCheckpoint_data() {
  QTest::addColumn<bool>("ext4");
  QTest::newRow("tmpfs") << false;
  QTest::newRow("ext4") << true;
}

void TestFaults::aFullDiskUnderTheDirectEngineKeepsTheCheckpoint() {
  QFETCH(bool, ext4);
  Mounted disk(ext4 ? Mounted::Kind::ext4 : Mounted::Kind::tmpfs, ext4 ? kPlenty : kLittle);
  if (disk.error.isEmpty()) disk.leave(kLittle);
  if (!disk.error.isEmpty()) QSKIP(qPrintable(disk.error));
  const Home home;
  const Ended full = home.run("train " + kSpec + " --engine direct --ram-budget 20MiB --checkpoint-steps 10",
                              {"--cache", disk.cache()});
  COMPARE_EXIT(full, 4);
  VERIFY_SAYS(full, "No space left on device");
  VERIFY_SAYS(full, "what is safe is the checkpoint of step");
  verifyRecorded(home, "No space left on device");
  const Ended verified = home.run("store verify 1 --json");
  COMPARE_EXIT(verified, 0);
  const auto safe = verified.json()["step"].get<std::uint64_t>();
  QVERIFY(safe >= 10 && safe % 10 == 0);
  QVERIFY(safe <= full.json()["steps"].get<std::uint64_t>());
  disk.leave(kPlenty - 100);
  QVERIFY2(disk.error.isEmpty(), qPrintable(disk.error));
  verifyEndsInTheCalmBits(home.run("resume 1 --hash --json"));
  COMPARE_EXIT(home.run("store verify 1 --json"), 0);
}

void TestFaults::aTableThatCannotBeMadeLeavesNothing_data() {
  QTest::addColumn<bool>("ext4");
  QTest::newRow("tmpfs") << false;
  QTest::newRow("ext4") << true;
}

void TestFaults::aTableThatCannotBeMadeLeavesNothing() {
  QFETCH(bool, ext4);
  Mounted disk(ext4 ? Mounted::Kind::ext4 : Mounted::Kind::tmpfs, ext4 ? kPlenty : 2);
  if (disk.error.isEmpty()) disk.leave(2);
  if (!disk.error.isEmpty()) QSKIP(qPrintable(disk.error));
  const Home home;
  const Ended refused = home.run("train " + kSpec, {"--cache", disk.cache()});
  COMPARE_EXIT(refused, 4);
  VERIFY_SAYS(refused, "No space left on device");
  // What was reserved is free again; the lock holds nothing.
  QCOMPARE(QDir(onlyFolderIn(disk.cache())).entryList(QDir::Files | QDir::Hidden), QStringList{"lock"});
  disk.leave(kPlenty - 100);
  verifyEndsInTheCalmBits(home.run("resume 1 --hash --json"));
}

void TestFaults::aDiskThatFailsEndsTheRun_data() {
  QTest::addColumn<bool>("readOnly");
  QTest::addColumn<bool>("power");
  QTest::newRow("gone, process") << false << false;
  QTest::newRow("gone, power") << false << true;
  QTest::newRow("read-only, process") << true << false;
  QTest::newRow("read-only, power") << true << true;
}

void TestFaults::aDiskThatFailsEndsTheRun() {
  QFETCH(bool, readOnly);
  QFETCH(bool, power);
  Mounted disk(Mounted::Kind::ext4, kPlenty);
  if (!disk.error.isEmpty()) QSKIP(qPrintable(disk.error));
  const Home home;
  const auto process = trainingAt(home, disk.cache(), power, 10);
  if (readOnly) {
    disk.turnReadOnly();
  } else {
    disk.fail();
  }
  const Ended ended = Home::end(*process);
  if (!disk.error.isEmpty()) QSKIP(qPrintable(disk.error));
  COMPARE_EXIT(ended, 4);
  VERIFY_SAYS(ended, disk.path());
  QVERIFY2(ended.err.contains("Read-only file system") || ended.err.contains("Input/output error") ||
               ended.err.contains("its disk failed") || ended.err.contains("Structure needs cleaning"),
           qPrintable(ended.err));
  verifyRecorded(home, disk.path());
}

void TestFaults::aFileCutShortEndsTheRun_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<bool>("power");
  QTest::newRow("entities.rows, process") << "entities.rows" << false;
  QTest::newRow("entities.rows, power") << "entities.rows" << true;
  QTest::newRow("entities.touched, process") << "entities.touched" << false;
  QTest::newRow("intent.dsa, power") << "intent.dsa" << true;
  QTest::newRow("losses.f64, process") << "losses.f64" << false;
  QTest::newRow("store.dsa, power") << "store.dsa" << true;
}

void TestFaults::aFileCutShortEndsTheRun() {
  QFETCH(QString, file);
  QFETCH(bool, power);
  const Home home;
  const auto process = trainingAt(home, home.cache(), power, 10);
  const QString table = onlyFolderIn(home.cache());
  QVERIFY(QFile::resize(table + "/" + file, 4096));
  const Ended ended = Home::end(*process);
  COMPARE_EXIT(ended, 4);
  VERIFY_SAYS(ended, file);
  VERIFY_SAYS(ended, "cut short by another program");
  VERIFY_SAYS(ended, "Delete the folder " + table);
  verifyRecorded(home, "cut short by another program");
  // Never taken up as it is.
  const auto before = contentsOf(table);
  const Ended refused = home.run("resume 1 --hash --json");
  COMPARE_EXIT(refused, 3);
  VERIFY_SAYS(refused, file);
  QVERIFY(contentsOf(table) == before);
  QVERIFY(QDir(table).removeRecursively());
  verifyEndsInTheCalmBits(home.run("resume 1 --hash --json"));
}

void TestFaults::aRemovedCacheFolderEndsTheRun() {
  QFETCH(bool, power);
  const Home home;
  const auto process = trainingAt(home, home.cache(), power, 10);
  QVERIFY(QDir(home.cache()).removeRecursively());
  const Ended ended = Home::end(*process);
  COMPARE_EXIT(ended, 4);
  VERIFY_SAYS(ended, "removed by another program");
  verifyRecorded(home, "removed by another program");
  verifyEndsInTheCalmBits(home.run("resume 1 --hash --json"));
}

QTEST_GUILESS_MAIN(TestFaults)
#include "tst_faults.moc"
