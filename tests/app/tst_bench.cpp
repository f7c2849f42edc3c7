// SPDX-License-Identifier: Apache-2.0
// `dsa bench disk`, `dsa bench train` and the doctor's verdict: their fields, that nothing is left behind, their
// refusals. No figure is judged.
#include <signal.h>
#include <sys/mount.h>

#include <QThread>

#include "tests/app/app_fixture.h"

using app::Ended;
using app::Home;
using app::Json;

namespace {

const char* const kSmallDisk = "bench disk --size 4MiB --seconds 0.01 --json --cache";

bool nothingIn(const QString& folder) {
  return QDir(folder).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).isEmpty();
}

}  // namespace

class TestBench : public QObject {
  Q_OBJECT
 private slots:
  void diskTellsEveryFigure() {
    const Home home;
    const Ended ended = home.run(kSmallDisk, {home.cache()});
    COMPARE_EXIT(ended, 0);
    const Json object = ended.json();
    for (const char* key : {"cache", "file_system", "disk", "size", "direct", "io_uring", "notes", "random",
                            "sequential", "fdatasync", "store"})
      QVERIFY2(object.contains(key), key);
    bool record = false;
    for (const Json& one : object["random"]) {
      QVERIFY(one["reads_per_s"].get<double>() > 0);
      record |= one["request"] == 1536;
    }
    QVERIFY(record);
    QVERIFY(object["sequential"]["read_mib_per_s"].get<double>() > 0);
    QVERIFY(object["sequential"]["write_mib_per_s"].get<double>() > 0);
    QVERIFY(object["fdatasync"]["count"].get<int>() > 0);
    QCOMPARE(object["store"]["record"].get<int>(), 1536);
    QVERIFY(object["store"]["rows_per_s"].get<double>() > 0);
    QVERIFY(nothingIn(home.cache()));
    const Ended plain = home.run("bench disk --size 4MiB --seconds 0.01 --dim 10 --rule rsgd --cache", {home.cache()});
    COMPARE_EXIT(plain, 0);
    QVERIFY2(plain.out.contains("store, cold:") && plain.out.contains("fdatasync"), qPrintable(plain.out));
  }

  void aStopLeavesNothing() {
    const Home home;
    const auto process = home.start("bench disk --size 4MiB --seconds 600 --cache", {home.cache()});
    // Its folder is made before anything is measured.
    for (int i = 0; i < 200 && !QDir(home.cache()).exists(); ++i) QThread::msleep(50);
    QThread::msleep(200);
    ::kill(static_cast<pid_t>(process->processId()), SIGINT);
    const Ended ended = Home::end(*process);
    COMPARE_EXIT(ended, 5);
    VERIFY_SAYS(ended, "stopped by the user");
    QVERIFY(nothingIn(home.cache()));
  }

  void diskRefuses_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    QTest::newRow("rule") << "bench disk --rule adam" << 2 << "rules are";
    QTest::newRow("dim") << "bench disk --dim 0" << 2 << "--dim";
    QTest::newRow("size") << "bench disk --size much" << 2 << "--size";
    QTest::newRow("small") << "bench disk --size 1MiB" << 2 << "at least";
    QTest::newRow("seconds") << "bench disk --seconds 0" << 2 << "--seconds";
    QTest::newRow("space") << "bench disk --size 1000000GiB" << 4 << "nothing was written";
    QTest::newRow("no dataset") << "bench train" << 2 << "no dataset";
    QTest::newRow("arm") << "bench train --dataset zipf:100 --arms tape:dsa" << 2 << "allowed are ram, disk, gpu";
    QTest::newRow("rounds") << "bench train --dataset zipf:100 --rounds 0" << 2 << "--rounds";
    QTest::newRow("rate") << "doctor --rows-per-s 0" << 2 << "--rows-per-s";
  }
  void diskRefuses() {
    QFETCH(QString, line);
    QFETCH(int, code);
    QFETCH(QString, says);
    const Home home;
    const Ended ended = home.run(line);
    COMPARE_EXIT(ended, code);
    VERIFY_SAYS(ended, says);
  }

  void aFolderThatCannotBeMadeIsRefused() {
    const Home home;
    const Ended ended = home.run(kSmallDisk, {"/proc/self/cache"});
    QVERIFY(ended.code == 3 || ended.code == 4);
    VERIFY_SAYS(ended, "/proc/self/cache");
  }

  void trainTellsEveryArm() {
    const Home home;
    const Ended ended =
        home.run("bench train --dataset zipf:2000 --dim 8 --k 0 --batch 50 --steps 20 --rounds 2 --json --cache",
                 {home.cache()});
    COMPARE_EXIT(ended, 0);
    const Json object = ended.json();
    QCOMPARE(object["steps"].get<int>(), 20);
    QCOMPARE(object["arms"].size(), std::size_t{2});
    for (const Json& arm : object["arms"]) {
      QVERIFY(arm["samples_per_s"].get<double>() > 0 && arm["rows_per_s"].get<double>() > 0);
      for (const char* key : {"wait", "compute", "apply"}) {
        QVERIFY2(arm["share"].contains(key), key);
        const double share = arm["share"][key].get<double>();
        QVERIFY2(share >= 0 && share <= 1, key);
      }
      QVERIFY(arm["ratio"].get<double>() > 0);
    }
    QCOMPARE(object["arms"][0]["ratio"].get<double>(), 1.0);
    QVERIFY(nothingIn(home.cache()));
    // No record is made.
    QVERIFY(home.newestRun().is_null());
  }

  void anArmThatDoesNotFitIsAnAnswer() {
    const Home home;
    const Ended ended = home.run(
        "bench train --dataset zipf:20000 --dim 8 --k 0 --batch 10 --steps 5 --rounds 1 --device sim:1MiB "
        "--arms gpu:sparse_adam,disk:sparse_adam --json --cache",
        {home.cache()});
    COMPARE_EXIT(ended, 0);
    const Json object = ended.json();
    QCOMPARE(object["arms"][0]["status"].get<std::string>(), std::string("refused"));
    QCOMPARE(object["arms"][1]["status"].get<std::string>(), std::string("finished"));
  }

  void theDoctorJudgesTheDisk() {
    const Home home;
    const Ended ended = home.run("doctor --json --rows-per-s 1000 --cache", {home.cache()});
    COMPARE_EXIT(ended, 0);
    const Json disk = ended.json()["disk"];
    for (const char* key : {"kind", "size", "endurance", "verdict", "network", "memory_file_system", "free"})
      QVERIFY2(disk.contains(key), key);
    QVERIFY(!disk["verdict"].get<std::string>().empty());
    if (!disk["endurance"].is_null()) {
      QVERIFY(disk["endurance"]["estimate"].get<bool>());
      QCOMPARE(disk["endurance"]["assumed"]["rows_per_s"].get<double>(), 1000.0);
    }
    const Ended plain = home.run("doctor --cache", {home.cache()});
    COMPARE_EXIT(plain, 0);
    QVERIFY(plain.out.contains("verdict: "));
  }

  void memoryIsNoDisk() {
    const Home home;
    const QString mount = home.path("memory");
    QVERIFY(QDir().mkpath(mount));
    if (::mount("tmpfs", qPrintable(mount), "tmpfs", 0, "size=1m") != 0) QSKIP("SKIP: mounting a tmpfs needs root");
    const Ended doctor = home.run("doctor --json --cache", {mount});
    const Ended bench = home.run(kSmallDisk, {mount});
    ::umount2(qPrintable(mount), MNT_DETACH);
    COMPARE_EXIT(doctor, 0);
    const Json disk = doctor.json()["disk"];
    QCOMPARE(disk["kind"].get<std::string>(), std::string("memory"));
    QVERIFY(disk["endurance"].is_null());
    COMPARE_EXIT(bench, 4);
    VERIFY_SAYS(bench, "nothing was written");
  }
};

QTEST_GUILESS_MAIN(TestBench)
#include "tst_bench.moc"
