// SPDX-License-Identifier: Apache-2.0
// SIGBUS in a guarded mapping is zeros and a flag, by any number of threads; elsewhere it is the end of the program.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

#include "core/base/file.h"
#include "core/base/thread_pool.h"

using namespace dsa;

namespace {

constexpr std::uint64_t kPageBytes = 4096;

struct Mapped {
  QTemporaryDir dir;
  File file;
  Mapping map;
};

/// A file of ones, `pages` long, mapped and then cut to `left` pages.
void make(Mapped& made, std::uint64_t pages, std::uint64_t left, bool guarded) {
  auto file = File::open(made.dir.filePath("file").toStdString(), File::Mode::createNew);
  QVERIFY(file.has_value());
  made.file = std::move(*file);
  const std::vector<std::byte> ones(pages * kPageBytes, std::byte{1});
  QVERIFY(made.file.writeAt(ones, 0).has_value());
  auto map = Mapping::map(made.file, ones.size(), Mapping::Kind::sharedReadWrite);
  QVERIFY(map.has_value());
  made.map = std::move(*map);
  if (guarded) made.map.guard();
  QVERIFY(made.file.resize(left * kPageBytes).has_value());
}

volatile int& wordAt(const Mapping& map, std::uint64_t page) {
  return *reinterpret_cast<volatile int*>(map.data() + page * kPageBytes);
}

std::size_t mappingsOfThisProcess() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
}

/// Whether a child that does this is ended by SIGBUS.
template <class Work>
bool endsTheProcess(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS;
}

}  // namespace

class tst_bus_guard : public QObject {
  Q_OBJECT
 private slots:
  /// Qt Test and the sanitizers have handlers of their own, which say more than is wanted here.
  void initTestCase() { ::signal(SIGBUS, SIG_DFL); }

  void aPageBehindTheEndReadsAsZeros() {
    Mapped made;
    make(made, 4, 1, true);
    QCOMPARE(wordAt(made.map, 0), 0x01010101);
    QVERIFY(!made.map.damaged());
    QCOMPARE(wordAt(made.map, 2), 0);
    QVERIFY(made.map.damaged());
    QCOMPARE(wordAt(made.map, 0), 0x01010101);
  }

  void aStoreBehindTheEndGoesNowhere() {
    Mapped made;
    make(made, 4, 1, true);
    wordAt(made.map, 3) = 7;
    QVERIFY(made.map.damaged());
    QCOMPARE(*made.file.size(), kPageBytes);
  }

  void theGuardMovesWithItsMapping() {
    Mapped made;
    make(made, 4, 1, true);
    Mapping moved = std::move(made.map);
    Mapping again;
    again = std::move(moved);
    QCOMPARE(wordAt(again, 1), 0);
    QVERIFY(again.damaged());
    QVERIFY(!made.map.damaged());
  }

  void oneMappingsFaultIsNotAnothers() {
    Mapped lost, whole;
    make(lost, 2, 1, true);
    make(whole, 2, 2, true);
    QCOMPARE(wordAt(lost.map, 1), 0);
    QVERIFY(lost.map.damaged());
    QVERIFY(!whole.map.damaged());
  }

  void aPlaceIsGivenBackAndStartsAnew() {
    for (int i = 0; i < 3 * BusGuard::kMost; ++i) {
      Mapped made;
      make(made, 2, 1, true);
      QVERIFY(!made.map.damaged());
      QCOMPARE(wordAt(made.map, 1), 0);
      QVERIFY(made.map.damaged());
    }
  }

  /// A table's rows lie on as many pages as a step has rows: each replaced alone would meet the kernel's limit.
  void manyThreadsMeetManyLostPages() {
    constexpr std::uint64_t kPages = 20000;
    Mapped made;
    make(made, kPages, 10, true);
    const std::size_t before = mappingsOfThisProcess();
    ThreadPool pool(4);
    std::atomic<int> wrong{0};
    pool.parallelFor(kPages - 10, 16, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if (wordAt(made.map, 10 + i) != 0 || !made.map.damaged()) ++wrong;
      }
    });
    QCOMPARE(wrong.load(), 0);
    QCOMPARE(wordAt(made.map, 9), 0x01010101);
    QVERIFY2(mappingsOfThisProcess() < before + 200, qPrintable(QString::number(mappingsOfThisProcess())));
  }

  void anyOtherFaultEndsTheProcess() {
#if defined(__SANITIZE_THREAD__)
    QSKIP("Qt Test's watchdog is a thread: no fork under the thread sanitizer");
#endif
    Mapped guarded, bare;
    make(guarded, 4, 1, true);
    make(bare, 4, 1, false);
    QVERIFY(endsTheProcess([&] { wordAt(bare.map, 2) = 1; }));
    QVERIFY(endsTheProcess([&] {
      wordAt(guarded.map, 2) = 1;
      wordAt(bare.map, 2) = 1;
    }));
    QVERIFY(endsTheProcess([] { ::raise(SIGBUS); }));
    QVERIFY(endsTheProcess([] { ::kill(::getpid(), SIGBUS); }));
  }
};

QTEST_APPLESS_MAIN(tst_bus_guard)
#include "tst_bus_guard.moc"
