// SPDX-License-Identifier: Apache-2.0
// The disk and the file system under a path.
#include <QObject>
#include <filesystem>

#include "core/metrics/block_device.h"
#include "core/metrics/proc_text.h"
#include "tests/metrics/metrics_fixture.h"

using namespace dsa;
using test::kMiB;

class TestBlockDevice : public QObject {
  Q_OBJECT
 private slots:
  void theDiskOfAPathCountsWhatIsWritten() {
    const test::Folder folder;
    const auto device = BlockDevice::of(folder.file(""));
    if (!device) QSKIP("SKIP: the temporary folder lies on no disk");
    // A whole disk: it has a queue, a partition has none.
    QVERIFY(std::filesystem::exists("/sys/block/" + device->name() + "/queue"));
    const auto flag = readProcFile("/sys/block/" + device->name() + "/queue/rotational");
    QCOMPARE(device->rotational(), std::optional<bool>(trimmed(*flag) == "1"));
    QVERIFY(device->readAheadBytes().has_value());
    const auto before = device->counters();
    QVERIFY(before.has_value());
    test::makeFile(folder.file("x"), 16 * kMiB);
    QVERIFY(device->counters()->writtenBytes >= before->writtenBytes + 16 * kMiB);
    test::evict(folder.file("x"));
    const std::uint64_t read = device->counters()->readBytes;
    const std::string text = readTextFile(folder.file("x")).value();
    QCOMPARE(text.size(), std::size_t{16 * kMiB});
    QVERIFY(device->counters()->readBytes >= read + 16 * kMiB);
  }

  void memoryFileSystemsAreTold() {
    const auto memory = fileSystemOf("/dev/shm");
    if (!memory || memory->type != "tmpfs") QSKIP("SKIP: no tmpfs at /dev/shm");
    QVERIFY(memory->isMemory);
    QVERIFY(!memory->isNetwork);
    QVERIFY(!BlockDevice::of("/dev/shm").has_value());
  }

  void freeSpaceAndTypeOfTheTemporaryFolder() {
    const test::Folder folder;
    const auto system = fileSystemOf(folder.file(""));
    QVERIFY(system.has_value());
    QVERIFY(!system->type.empty());
    QVERIFY(!system->isNetwork);
    std::error_code error;
    const auto space = std::filesystem::space(folder.file(""), error);
    QCOMPARE(system->totalBytes, std::uint64_t{space.capacity});
    // Others write meanwhile; the two readings are moments apart.
    const auto difference = static_cast<double>(system->freeBytes) - static_cast<double>(space.available);
    QVERIFY(std::abs(difference) < 1e9);
  }

  void whatIsNotThereIsNotReported() {
    QVERIFY(!fileSystemOf("/no/such/folder").has_value());
    QVERIFY(!BlockDevice::of("/no/such/folder").has_value());
    QVERIFY(!BlockDevice::of("/proc").has_value());
  }
};

QTEST_GUILESS_MAIN(TestBlockDevice)
#include "tst_block_device.moc"
