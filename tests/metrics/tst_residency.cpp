// SPDX-License-Identifier: Apache-2.0
// Page cache of a file: both methods agree, an evicted file has none, and a lie is not passed on.
#include <sys/stat.h>

#include <QObject>

#include "core/base/residency.h"
#include "tests/metrics/metrics_fixture.h"

using namespace dsa;
using test::kMiB;

class TestResidency : public QObject {
  Q_OBJECT
 private slots:
  void bothMethodsAgree_data() {
    QTest::addColumn<quint64>("offset");
    QTest::addColumn<quint64>("length");
    QTest::addColumn<quint64>("resident");
    QTest::newRow("whole, the last page half") << quint64(0) << quint64(0) << quint64(16 * kMiB + 4096);
    QTest::newRow("a part") << quint64(4 * kMiB) << quint64(2 * kMiB) << quint64(2 * kMiB);
    QTest::newRow("inside one page") << quint64(5000) << quint64(10) << quint64(4096);
    QTest::newRow("over the end") << quint64(16 * kMiB) << quint64(kMiB) << quint64(4096);
    QTest::newRow("behind the end") << quint64(20 * kMiB) << quint64(kMiB) << quint64(0);
  }

  void bothMethodsAgree() {
    QFETCH(quint64, offset);
    QFETCH(quint64, length);
    QFETCH(quint64, resident);
    const test::Folder folder;
    const std::string path = folder.file("table");
    test::makeFile(path, 16 * kMiB + 100);
    const auto probe = ResidencyProbe::open(path);
    QVERIFY(probe);
    const auto mincore = probe->readBy(ResidencySource::mincore, offset, length);
    QVERIFY(mincore.has_value());
    QCOMPARE(mincore->residentBytes, std::uint64_t{resident});
    QVERIFY(!mincore->dirtyBytes.has_value());
    if (!hasCachestat()) QSKIP("SKIP: this kernel has no cachestat");
    const auto cachestat = probe->readBy(ResidencySource::cachestat, offset, length);
    QVERIFY(cachestat.has_value());
    QCOMPARE(cachestat->residentBytes, mincore->residentBytes);
    QCOMPARE(probe->read(offset, length)->source, ResidencySource::cachestat);
  }

  void anEvictedFileHasNone() {
    const test::Folder folder;
    const std::string path = folder.file("table");
    test::makeFile(path, 16 * kMiB);
    const auto probe = ResidencyProbe::open(path);
    QCOMPARE(probe->read()->residentBytes, 16 * kMiB);
    test::evict(path);
    QCOMPARE(probe->read()->residentBytes, std::uint64_t{0});
    QCOMPARE(probe->readBy(ResidencySource::mincore)->residentBytes, std::uint64_t{0});
    // Asking brings nothing in, and a page read by anyone counts.
    const File file = File::open(path, File::Mode::readOnly).value();
    ::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_RANDOM);
    std::array<std::byte, 1> one{};
    QVERIFY(file.readAt(one, 5 * kMiB));
    QCOMPARE(probe->read()->residentBytes, std::uint64_t{4096});
    QCOMPARE(probe->readBy(ResidencySource::mincore)->residentBytes, std::uint64_t{4096});
  }

  void dirtyBytesAreTheUnsyncedOnes() {
    if (!hasCachestat()) QSKIP("SKIP: this kernel has no cachestat");
    const test::Folder folder;
    const std::string path = folder.file("table");
    test::makeFile(path, 8 * kMiB);
    const auto probe = ResidencyProbe::open(path);
    QCOMPARE(probe->read()->dirtyBytes, std::optional<std::uint64_t>(0));
    const File file = File::open(path, File::Mode::readWrite).value();
    const std::string piece(2 * kMiB, '\2');
    QVERIFY(file.writeAt(std::as_bytes(std::span(piece)), 0));
    QVERIFY(*probe->read()->dirtyBytes >= 2 * kMiB);
    QVERIFY(file.sync());
    QCOMPARE(probe->read()->dirtyBytes, std::optional<std::uint64_t>(0));
  }

  void aFileThatMayNotBeWrittenIsNotReported() {
    if (::geteuid() != 0) QSKIP("SKIP: needs root to become another user");
    const test::Folder folder;
    ::chmod(folder.file("").c_str(), 0755);
    const std::string path = folder.file("table");
    test::makeFile(path, kMiB);
    ::chmod(path.c_str(), 0644);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
      const auto probe = ResidencyProbe::open(path);
      if (!probe) ::_exit(3);
      ::_exit(probe->read() || probe->readBy(ResidencySource::mincore) ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    QCOMPARE(WEXITSTATUS(status), 0);
  }

  void anEmptyAndAMissingFile() {
    const test::Folder folder;
    test::makeFile(folder.file("empty"), 0);
    QCOMPARE(ResidencyProbe::open(folder.file("empty"))->read()->residentBytes, std::uint64_t{0});
    QCOMPARE(ResidencyProbe::open(folder.file("none")).error().code, ErrorCode::input);
  }
};

QTEST_GUILESS_MAIN(TestResidency)
#include "tst_residency.moc"
