// SPDX-License-Identifier: Apache-2.0
// Private memory is private, a mapped file is not; what cannot be read is absent and never 0.
#include <sys/syscall.h>

#include <QObject>
#include <memory>

#include "core/metrics/proc_text.h"
#include "core/metrics/process_sampler.h"
#include "tests/metrics/metrics_fixture.h"

using namespace dsa;
using test::kMiB;

namespace {

// The kernel keeps RSS in per-CPU parts and the test's own heap moves a little.
constexpr std::uint64_t kSlack = 4 * kMiB;
constexpr pid_t kNoSuchPid = 99999999;

}  // namespace

class TestProcessSampler : public QObject {
  Q_OBJECT
 private slots:
  void privatePagesAreCountedByTheirSize() {
    ProcessSampler sampler;
    const auto before = sampler.sample().memory;
    QVERIFY(before.has_value());
    auto pages = std::make_unique<test::PrivatePages>(64 * kMiB);
    const auto during = sampler.sample().memory;
    pages.reset();
    const auto after = sampler.sample().memory;
    const std::uint64_t grown = during->privateBytes() - before->privateBytes();
    QVERIFY2(grown >= 64 * kMiB - kSlack && grown <= 64 * kMiB + kSlack, std::to_string(grown).c_str());
    QVERIFY(after->privateBytes() + 32 * kMiB < during->privateBytes());
    QCOMPARE(sampler.privatePeak(), std::optional<std::uint64_t>(during->privateBytes()));
  }

  void aMappedFileIsNotPrivate() {
    const test::Folder folder;
    test::makeFile(folder.file("table"), 64 * kMiB);
    const auto before = processMemory(::getpid());
    const File file = File::open(folder.file("table"), File::Mode::readOnly).value();
    const Mapping mapping = Mapping::map(file, 64 * kMiB, Mapping::Kind::sharedReadOnly).value();
    QVERIFY(test::touch(mapping.data(), mapping.size()) > 0);
    const auto after = processMemory(::getpid());
    QVERIFY(after->rssFile >= before->rssFile + 64 * kMiB - kSlack);
    QVERIFY2(after->privateBytes() < before->privateBytes() + kSlack,
             std::to_string(after->privateBytes() - before->privateBytes()).c_str());
  }

  void pageTablesAreCounted() {
    // One page in each of 2,000 regions of 2 MiB: 8 MiB of pages, and as much again of page tables.
    constexpr std::uint64_t kStep = 2 * kMiB;
    const auto before = processMemory(::getpid());
    const Mapping space = Mapping::anonymous(2000 * kStep).value();
    ::madvise(space.data(), space.size(), MADV_NOHUGEPAGE);
    for (std::uint64_t i = 0; i < 2000; ++i) *reinterpret_cast<volatile unsigned char*>(space.data() + i * kStep) = 1;
    const auto after = processMemory(::getpid());
    QVERIFY(after->vmPte >= before->vmPte + 7 * kMiB);
    QVERIFY(after->privateBytes() >= before->privateBytes() + 14 * kMiB);
  }

  void whatIsNotThereIsNotReported() {
    QVERIFY(!processMemory(kNoSuchPid).has_value());
    QVERIFY(!processFaults(kNoSuchPid).has_value());
    QVERIFY(!processIo(kNoSuchPid).has_value());
    QVERIFY(!threadFaults(kNoSuchPid).has_value());
    ProcessSampler sampler(kNoSuchPid, ProcessScope::withChildren);
    const ProcessSample sample = sampler.sample();
    QVERIFY(!sample.memory && !sample.faults && !sample.io);
    QCOMPARE(sample.processes, 0);
    QVERIFY(!sampler.privatePeak().has_value());
  }

  void theIoOfAnotherUserIsNotReported() {
    if (::geteuid() != 0) QSKIP("SKIP: needs root to become another user");
    test::WaitingChild rootChild([] {});
    const pid_t asNobody = ::fork();
    if (asNobody == 0) {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
      const bool hidden = !processIo(rootChild.pid()).has_value();
      const bool memoryShown = processMemory(rootChild.pid()).has_value();
      ::_exit(hidden && memoryShown ? 0 : 1);
    }
    int status = 0;
    ::waitpid(asNobody, &status, 0);
    QCOMPARE(WEXITSTATUS(status), 0);
  }

  void touchingPagesIsCountedAsFaultsOfProcessAndThread() {
    constexpr std::uint64_t kPages = 4096;
    const auto process = processFaults(::getpid());
    const auto listed = threadFaults(static_cast<pid_t>(::syscall(SYS_gettid)));
    const FaultCounts thread = callingThreadFaults();
    const Mapping space = Mapping::anonymous(kPages * 4096).value();
    ::madvise(space.data(), space.size(), MADV_NOHUGEPAGE);
    for (std::uint64_t i = 0; i < kPages; ++i) *reinterpret_cast<volatile unsigned char*>(space.data() + i * 4096) = 1;
    QVERIFY(callingThreadFaults().minor >= thread.minor + kPages);
    QVERIFY(processFaults(::getpid())->minor >= process->minor + kPages);
    QVERIFY(threadFaults(static_cast<pid_t>(::syscall(SYS_gettid)))->minor >= listed->minor + kPages);
    QVERIFY(callingThreadFaults().minor < thread.minor + 2 * kPages);
  }

  void coldPagesOfAFileAreMajorFaultsAndReadBytes() {
    const test::Folder folder;
    test::makeFile(folder.file("table"), 8 * kMiB);
    test::evict(folder.file("table"));
    const File file = File::open(folder.file("table"), File::Mode::readOnly).value();
    const Mapping mapping = Mapping::map(file, 8 * kMiB, Mapping::Kind::sharedReadOnly).value();
    ::madvise(mapping.data(), mapping.size(), MADV_RANDOM);
    const FaultCounts before = callingThreadFaults();
    const auto io = processIo(::getpid());
    QVERIFY(test::touch(mapping.data(), mapping.size()) > 0);
    QVERIFY(callingThreadFaults().major >= before.major + 1000);
    QVERIFY(io.has_value());
    const std::uint64_t read = processIo(::getpid())->readBytes - io->readBytes;
    QVERIFY2(read >= 7 * kMiB && read <= 12 * kMiB, std::to_string(read).c_str());
  }

  void writtenBytesAreCounted() {
    const test::Folder folder;
    const auto before = processIo(::getpid());
    test::makeFile(folder.file("x"), 16 * kMiB);
    const std::uint64_t written = processIo(::getpid())->writeBytes - before->writeBytes;
    QVERIFY2(written >= 16 * kMiB && written <= 20 * kMiB, std::to_string(written).c_str());
  }

  void anotherProcessIsReadAndAZombieHasNoMemory() {
    std::unique_ptr<test::PrivatePages> pages;
    test::WaitingChild child([&] { pages = std::make_unique<test::PrivatePages>(32 * kMiB); });
    QVERIFY(processMemory(child.pid())->privateBytes() >= 32 * kMiB - kSlack);
    QVERIFY(processFaults(child.pid())->minor > 10);
    const pid_t pid = child.pid();
    ::kill(pid, SIGKILL);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);  // dead, but not yet taken away
    QVERIFY(!processMemory(pid).has_value());
  }

  void childrenAreSummedWhenAskedFor() {
    std::unique_ptr<test::PrivatePages> pages;
    test::WaitingChild first([&] { pages = std::make_unique<test::PrivatePages>(32 * kMiB); });
    test::WaitingChild second([&] { pages = std::make_unique<test::PrivatePages>(32 * kMiB); });
    const auto descendants = processDescendants(::getpid());
    if (descendants.empty()) QSKIP("SKIP: this kernel does not list children");
    QCOMPARE(descendants.size(), std::size_t{2});
    const ProcessSample alone = ProcessSampler().sample();
    const ProcessSample tree = ProcessSampler(0, ProcessScope::withChildren).sample();
    QCOMPARE(alone.processes, 1);
    QCOMPARE(tree.processes, 3);
    QVERIFY(tree.memory->privateBytes() >= alone.memory->privateBytes() + 64 * kMiB - 2 * kSlack);
  }

  void pressureIsReadWhereTheKernelHasIt() {
    const bool there = readProcFile("/proc/pressure/memory").has_value();
    const auto first = memoryPressure();
    QCOMPARE(first.has_value(), there);
    if (!there) return;
    QVERIFY(first->someAvg10 >= 0 && first->someAvg10 <= 100);
    QVERIFY(memoryPressure()->someTotalUs >= first->someTotalUs);
    QVERIFY(ioPressure().has_value());
  }

  void linesAreFoundByTheirBeginning() {
    const std::string text = "VmPTE:\t  12 kB\nXRssAnon: 7\nRssAnon:   34 kB\nlast: end";
    QCOMPARE(numberAfter(text, "RssAnon:"), std::optional<std::uint64_t>(34));
    QCOMPARE(textAfter(text, "last:"), std::optional<std::string>("end"));
    QVERIFY(!numberAfter(text, "last:").has_value());
    QVERIFY(!numberAfter(text, "none:").has_value());
    QVERIFY(!readProcFile("/proc/none").has_value());
  }
};

QTEST_GUILESS_MAIN(TestProcessSampler)
#include "tst_process_sampler.moc"
