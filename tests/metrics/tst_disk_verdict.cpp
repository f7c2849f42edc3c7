// SPDX-License-Identifier: Apache-2.0
// A disk's kind by what the kernel says of it, and the estimate of writes by hand-made sums.
#include <QObject>
#include <cmath>

#include "core/metrics/disk_verdict.h"
#include "tests/metrics/metrics_fixture.h"

using namespace dsa;

class TestDiskVerdict : public QObject {
  Q_OBJECT
 private slots:
  void kindsAreTold() {
    QCOMPARE(diskKindOf(false, false, "nvme0n1", false), DiskKind::nvme);
    QCOMPARE(diskKindOf(false, false, "sda", false), DiskKind::solidState);
    QCOMPARE(diskKindOf(false, false, "sda", true), DiskKind::rotational);
    // Virtual disks call themselves rotational whatever lies below.
    QCOMPARE(diskKindOf(false, false, "vda", true), DiskKind::virtualDisk);
    QCOMPARE(diskKindOf(true, false, "", std::nullopt), DiskKind::memory);
    QCOMPARE(diskKindOf(false, true, "", std::nullopt), DiskKind::network);
    QCOMPARE(diskKindOf(false, false, "", std::nullopt), DiskKind::unknown);
    QCOMPARE(diskKindOf(false, false, "dm-0", std::nullopt), DiskKind::unknown);
  }

  /// 1,000 rows/s of one-page-and-a-byte records, half of them rewritten: 2 pages x 4,096 x 3.6 million / 2.
  void theEstimateIsTheFormula() {
    WriteAssumptions assumed;
    assumed.rowsPerSecond = 1000;
    assumed.recordBytes = 4097;
    const WriteEstimate estimate = estimateWrites(assumed, 1000000000000);
    QCOMPARE(estimate.pagesPerRow, 2.0);
    QCOMPARE(estimate.bytesPerHour, 14745600000.0);
    // 0.3 a day for 5 years: 547.5 times the size.
    QVERIFY(std::abs(*estimate.ratedBytes - 547.5e12) < 1e3);
    QVERIFY(std::abs(*estimate.hours - 547.5e12 / 14745600000.0) < 1e-6);
    QVERIFY(!estimateWrites(assumed, std::nullopt).hours);
  }

  void verdictsSayWhatToDo() {
    QVERIFY(diskVerdict(DiskKind::memory, std::nullopt).find("--cache") != std::string::npos);
    QVERIFY(diskVerdict(DiskKind::network, std::nullopt).find("--cache") != std::string::npos);
    QVERIFY(diskVerdict(DiskKind::rotational, 5.0).find("--cache") != std::string::npos);
    QVERIFY(diskVerdict(DiskKind::nvme, 100000.0).find("no concern") != std::string::npos);
    QVERIFY(diskVerdict(DiskKind::nvme, 5000.0).find("5000 hours") != std::string::npos);
    QVERIFY(diskVerdict(DiskKind::solidState, 100.0).find("larger drive") != std::string::npos);
    QVERIFY(diskVerdict(DiskKind::nvme, std::nullopt).find("cannot be estimated") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(TestDiskVerdict)
#include "tst_disk_verdict.moc"
