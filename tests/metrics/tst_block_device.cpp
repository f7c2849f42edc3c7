// SPDX-License-Identifier: Apache-2.0
// The disk and the file system under a path.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

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

  /// There no mount lies above the root: the bare root of tests/bare_root.sh found it.
  void theTypeIsKnownInAChroot() {
    const test::Folder folder;
    const std::string root = folder.file("");
    const std::string expected = fileSystemOf(root)->type;
    std::filesystem::create_directories(root + "/proc");
    std::filesystem::create_directories(root + "/inside");
    int pipe[2];
    QVERIFY(::pipe(pipe) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      // A name space of its own, so that /proc can be seen inside.
      const bool ready = ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("/proc", (root + "/proc").c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0 &&
                         ::chroot(root.c_str()) == 0;
      const auto system = ready ? fileSystemOf("/inside") : std::nullopt;
      const std::string type = !ready ? "-" : system ? system->type : "nothing";
      const bool said = ::write(pipe[1], type.data(), type.size()) == static_cast<ssize_t>(type.size());
      ::_exit(said ? 0 : 1);
    }
    ::close(pipe[1]);
    char text[64] = {};
    const ssize_t got = ::read(pipe[0], text, sizeof text - 1);
    ::close(pipe[0]);
    ::waitpid(child, nullptr, 0);
    QVERIFY(got > 0);
    if (std::string(text) == "-") QSKIP("SKIP: this user may not change the root");
    QCOMPARE(std::string(text), expected);
  }

  void whatIsNotThereIsNotReported() {
    QVERIFY(!fileSystemOf("/no/such/folder").has_value());
    QVERIFY(!BlockDevice::of("/no/such/folder").has_value());
    QVERIFY(!BlockDevice::of("/proc").has_value());
  }
};

QTEST_GUILESS_MAIN(TestBlockDevice)
#include "tst_block_device.moc"
