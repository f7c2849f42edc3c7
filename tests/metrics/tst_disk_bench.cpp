// SPDX-License-Identifier: Apache-2.0
// The measurement of a disk: what it gives, that it leaves nothing behind, and what it refuses. No figure is judged.
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <QObject>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <optional>

#include "core/metrics/disk_bench.h"
#include "core/metrics/request_queue.h"
#include "tests/metrics/metrics_fixture.h"

using namespace dsa;
using test::kMiB;

namespace {

DiskBenchOptions smallBench(const std::string& folder) {
  DiskBenchOptions options;
  options.folder = folder;
  options.fileBytes = 4 * kMiB;
  options.seconds = 0.01;
  return options;
}

bool nothingIn(const std::string& folder) { return std::filesystem::is_empty(folder); }

}  // namespace

class TestDiskBench : public QObject {
  Q_OBJECT
 private slots:
  void everyFigureIsThereAndNothingIsLeft() {
    const test::Folder folder;
    const std::string place = folder.file("cache");
    const auto report = benchDisk(smallBench(place));
    QVERIFY2(report, report ? "" : report.error().message.c_str());
    QVERIFY(nothingIn(place));
    QCOMPARE(report->random.size(), std::size_t(report->ioUring ? 3 * 3 * 2 : 3 * 2));
    for (const RandomFigures& one : report->random) {
      QVERIFY(one.requestBytes % 512 == 0 && one.requestBytes >= 1536);
      // On a disk that others keep busy a mix may not get to its first read in 10 ms.
      QVERIFY(one.readsPerSecond > 0 || (one.mixed && one.writesPerSecond > 0));
      QVERIFY(one.readsPerSecond == 0 || (one.medianUs > 0 && one.p99Us >= one.medianUs));
      if (!one.mixed) QCOMPARE(one.writesPerSecond, 0.0);
    }
    QVERIFY(report->sequentialReadBytesPerSecond > 0 && report->sequentialWriteBytesPerSecond > 0);
    QVERIFY(report->syncs > 0 && report->syncP99Ms >= report->syncMedianMs);
    QVERIFY(report->direct || !report->notes.empty());
    QVERIFY(report->ioUring || !report->notes.empty());
  }

  void aMixIsHalfWrites() {
    const test::Folder folder;
    DiskBenchOptions options = smallBench(folder.path());
    options.requestBytes = {4096};
    options.depths = {1};
    options.seconds = 0.2;
    const auto report = benchDisk(options);
    QVERIFY(report);
    const RandomFigures& mix = report->random.at(1);
    QVERIFY(mix.mixed);
    const double share = mix.writesPerSecond / (mix.readsPerSecond + mix.writesPerSecond);
    // n fair coins: 5 standard deviations of a share are 2.5 / sqrt(n); a disk slower than 500 requests/s is not
    // judged.
    const double n = (mix.readsPerSecond + mix.writesPerSecond) * options.seconds;
    if (n < 100) QSKIP("SKIP: too few requests on this disk");
    QVERIFY2(std::abs(share - 0.5) < 2.5 / std::sqrt(n), qPrintable(QString::number(share)));
  }

  void memoryIsCalledMemory() {
    const auto root = mountSmall("8m");
    if (!root) QSKIP("SKIP: mounting a tmpfs needs root");
    // 64 MiB stay free for others: on a tmpfs of 8 MiB nothing may be written at all.
    const auto refused = benchDisk(smallBench(*root));
    QVERIFY(!refused && refused.error().code == ErrorCode::machine);
    QVERIFY(refused.error().message.find("nothing was written") != std::string::npos);
    QVERIFY(nothingIn(*root));
    QCOMPARE(::mount("tmpfs", root->c_str(), "tmpfs", MS_REMOUNT, "size=80m"), 0);
    const auto report = benchDisk(smallBench(*root));
    QVERIFY(report);
    QVERIFY(nothingIn(*root));
    QVERIFY(
        std::ranges::any_of(report->notes, [](const std::string& note) { return note.find("memory") != note.npos; }));
    ::umount2(root->c_str(), MNT_DETACH);
  }

  void aStopEndsItAndDeletesTheFile() {
    const test::Folder folder;
    const std::atomic<bool> stop{true};
    DiskBenchOptions options = smallBench(folder.path());
    options.stop = &stop;
    const auto stopped = benchDisk(options);
    QVERIFY(!stopped && stopped.error().code == ErrorCode::stopped);
    QVERIFY(nothingIn(folder.path()));
  }

  void aFolderThatMayNotBeWrittenIsRefused() {
    const auto refused = benchDisk(smallBench("/proc/self/no-such-folder"));
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("/proc/self/no-such-folder") != std::string::npos);
  }

  void aFileTooSmallIsRefused() {
    const test::Folder folder;
    DiskBenchOptions options = smallBench(folder.path());
    options.fileBytes = kMiB;
    const auto refused = benchDisk(options);
    QVERIFY(!refused && refused.error().code == ErrorCode::usage);
  }

  /// What one queue has written, another reads; at every depth each request is answered once.
  void requestsReachTheirPlaces_data() {
    QTest::addColumn<unsigned>("depth");
    for (const unsigned depth : {1u, 2u, 32u}) QTest::addRow("depth %u", depth) << depth;
  }
  void requestsReachTheirPlaces() {
    QFETCH(unsigned, depth);
    const test::Folder folder;
    const File file = File::open(folder.file("f"), File::Mode::createNew).value();
    const auto queue = RequestQueue::make(depth, 512);
    if (!queue && depth > 1) QSKIP("SKIP: no io_uring here");
    constexpr std::uint64_t kRequests = 1000;
    for (const bool write : {true, false}) {
      std::uint64_t next = 0;
      const auto figures = (*queue)->run(file, [&]() -> std::optional<DiskRequest> {
        if (next == kRequests) return std::nullopt;
        return DiskRequest{next++ * 512, write};
      });
      QVERIFY2(figures, figures ? "" : figures.error().message.c_str());
      QCOMPARE(write ? figures->writes : figures->reads, kRequests);
      QCOMPARE(figures->latenciesUs.size(), std::size_t{kRequests});
      QCOMPARE(file.size().value(), kRequests * 512);
    }
  }

  /// The error names the file, and the queue can go on: nothing was left in flight.
  void aShortReadIsAnError_data() { requestsReachTheirPlaces_data(); }
  void aShortReadIsAnError() {
    QFETCH(unsigned, depth);
    const test::Folder folder;
    const std::string path = folder.file("f");
    test::makeFile(path, 1000);
    const File file = File::open(path, File::Mode::readOnly).value();
    const auto queue = RequestQueue::make(depth, 512);
    if (!queue && depth > 1) QSKIP("SKIP: no io_uring here");
    for (int round = 0; round < 2; ++round) {
      std::uint64_t next = 0;
      const auto failed = (*queue)->run(file, [&]() -> std::optional<DiskRequest> {
        return DiskRequest{next++ % 2 * 512, false};
      });
      QVERIFY(!failed && failed.error().code == ErrorCode::machine);
      QVERIFY(failed.error().message.find(path) != std::string::npos);
    }
  }

 private:
  /// A tmpfs of that size on a folder of its own; nothing without the right.
  std::optional<std::string> mountSmall(const char* size) {
    const std::string path = m_mount.path();
    if (::mount("tmpfs", path.c_str(), "tmpfs", 0, (std::string("size=") + size).c_str()) != 0) return std::nullopt;
    return path;
  }

  test::Folder m_mount;
};

QTEST_GUILESS_MAIN(TestDiskBench)
#include "tst_disk_bench.moc"
