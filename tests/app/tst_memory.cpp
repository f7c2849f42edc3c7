// SPDX-License-Identifier: Apache-2.0
// A table of 143 GiB starts at once, in little memory, on as much disk as its touched rows need.
#include <QStorageInfo>

#include "app_fixture.h"

using namespace app;

class TestMemory : public QObject {
  Q_OBJECT
 private slots:
  void hugeTablesStartAtOnceInLittleMemory_data();
  void hugeTablesStartAtOnceInLittleMemory();
  void filesGrowWithTheRowsTouched();
  void ramAndDiskDifferInPrivateMemory();
};

void TestMemory::hugeTablesStartAtOnceInLittleMemory_data() {
  QTest::addColumn<QString>("rows");
  QTest::addColumn<quint64>("mostPrivate");
  QTest::newRow("100 million") << "100000000" << (quint64{512} << 20);
  QTest::newRow("10 million") << "10000000" << (quint64{256} << 20);
}

void TestMemory::hugeTablesStartAtOnceInLittleMemory() {
  QFETCH(QString, rows);
  QFETCH(quint64, mostPrivate);
  const Home home;
  // In memory where there is room: an ext4 on a slow disk takes a minute to give back 30,000 pages that lie far apart.
  const QTemporaryDir shared("/dev/shm/dsa-XXXXXX");
  const QStorageInfo room("/dev/shm");
  const bool inMemory = shared.isValid() && room.bytesAvailable() > (1ll << 30);
  const Ended ended = home.run(QString("train --dataset zipf:%1 --dim 128 --batch 1000 --negatives 8 --steps 3 --rule "
                                       "sparse_adam --placement disk --json --cache")
                                   .arg(rows),
                               {inMemory ? shared.path() : home.cache()});
  COMPARE_EXIT(ended, 0);
  const Json object = ended.json();
  QCOMPARE(object["memory"]["table_bytes"].get<std::uint64_t>(), static_cast<std::uint64_t>(rows.toULongLong() * 1536));
  if (kSanitized) return;
  QVERIFY2(object["memory"]["private_peak"].get<std::uint64_t>() < mostPrivate, object["memory"].dump().c_str());
  QVERIFY2(object["seconds_to_first_step"].get<double>() < 2, object.dump().c_str());
}

void TestMemory::filesGrowWithTheRowsTouched() {
  const Home home;
  std::uint64_t touched[2] = {}, disk[2] = {};
  for (const int round : {0, 1}) {
    const Ended ended = home.run(QString("train --dataset zipf:100000000 --dim 128 --batch 50 --negatives 8 --steps %1 "
                                         "--rule sparse_adam --placement disk --json --cache")
                                     .arg(round == 0 ? 1 : 5),
                                 {home.cache()});
    COMPARE_EXIT(ended, 0);
    const Ended info = home.run(QString("store info %1 --json").arg(round + 1));
    COMPARE_EXIT(info, 0);
    touched[round] = info.json()["tables"][0]["touched_rows"].get<std::uint64_t>();
    disk[round] = ended.json()["memory"]["disk_bytes"].get<std::uint64_t>();
  }
  QVERIFY(touched[0] > 400 && touched[1] > 3 * touched[0]);
  // A record of 1,536 bytes lies on one page or on two, its bit on a page that it may share, and the map of the file's
  // pages is small.
  const double perRow = static_cast<double>(disk[1] - disk[0]) / static_cast<double>(touched[1] - touched[0]);
  QVERIFY2(perRow > 1536 && perRow < 4 * 4096, fmt::format("{} bytes a row", perRow).c_str());
  QVERIFY2(disk[0] < touched[0] * 4 * 4096 + (32ull << 20),
           fmt::format("{} bytes for {} rows", disk[0], touched[0]).c_str());
}

void TestMemory::ramAndDiskDifferInPrivateMemory() {
  if (kSanitized) QSKIP("memory of a sanitizer is its own");
  const Home home;
  const QString spec = "train --dataset zipf:200000 --dim 64 --batch 500 --negatives 8 --steps 20 --json --placement ";
  const Ended ram = home.run(spec + "ram"), disk = home.run(spec + "disk", {"--cache", home.cache()});
  COMPARE_EXIT(ram, 0);
  COMPARE_EXIT(disk, 0);
  const std::uint64_t table = 200000ull * 3 * 64 * 4;
  QCOMPARE(ram.json()["memory"]["table_bytes"].get<std::uint64_t>(), table);
  QVERIFY(ram.json()["memory"]["private_peak"].get<std::uint64_t>() > table);
  QVERIFY(disk.json()["memory"]["private_peak"].get<std::uint64_t>() < table / 4);
  QVERIFY(disk.json()["memory"]["table_resident_peak"].get<std::uint64_t>() > 0);
  QCOMPARE(ram.json()["memory"]["table_resident_peak"].get<std::uint64_t>(), table);
}

QTEST_GUILESS_MAIN(TestMemory)
#include "tst_memory.moc"
