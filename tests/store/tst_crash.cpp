// SPDX-License-Identifier: Apache-2.0
// SIGKILL at any instant and power loss with any subset of unsynced sectors: a whole step, a whole checkpoint.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <random>

#include "durable_image.h"
#include "store_harness.h"

using namespace dsa;

namespace {

// Kernel calls left before the process kills itself in the middle of one; negative: never.
long g_callsLeft = -1;
UpdateRows g_real = nullptr;

/// Changes only the first half of the chunk's rows, and half a record of the next, then dies: a torn chunk.
void dyingUpdate(const StepParams& p, float* const* rows, const float* grads, std::uint64_t stride,
                 std::uint64_t n) noexcept {
  if (g_callsLeft > 0 && --g_callsLeft == 0) {
    g_real(p, rows, grads, stride, n / 2);
    for (std::uint32_t i = 0; i < p.dim / 2; ++i) rows[n / 2][i] = 1e30f;
    ::kill(::getpid(), SIGKILL);
  }
  g_real(p, rows, grads, stride, n);
}

RowKernels dyingKernels(long calls) {
  RowKernels kernels = harness::kernels();
  g_real = kernels.update;
  g_callsLeft = calls;
  kernels.update = dyingUpdate;
  return kernels;
}

/// Runs steps in a child until it is killed by its kernels, by `afterUs`, or has made `steps`.
void runChild(const std::string& folder, Durability durability, long calls, long afterUs, int steps, int threads) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = RowStore::open(folder, durability, dyingKernels(calls));
    if (!store) ::_exit(9);
    ThreadPool pool(static_cast<unsigned>(threads));
    for (int i = 0; i < steps; ++i) {
      if (!harness::advance(**store, pool)) ::_exit(8);
      if (i % 7 == 6 && !(*store)->checkpoint()) ::_exit(7);
    }
    ::_exit(0);
  }
  if (afterUs >= 0) {
    ::usleep(static_cast<useconds_t>(afterUs));
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  QVERIFY2(WIFSIGNALED(status) || WEXITSTATUS(status) == 0,
           qPrintable(QString("child's exit %1").arg(WEXITSTATUS(status))));
}

// The instant within a step at which the power fails: after that many kernel calls.
std::function<void()> g_onCall;
void watchedUpdate(const StepParams& p, float* const* rows, const float* grads, std::uint64_t stride,
                   std::uint64_t n) noexcept {
  g_real(p, rows, grads, stride, n / 2);
  if (g_onCall) g_onCall();
  g_real(p, rows + n / 2, grads + n / 2 * stride, stride, n - n / 2);
}

}  // namespace

class tst_crash : public QObject {
  Q_OBJECT
 private slots:
  void killInsideAnyChunkLeavesAWholeStep_data() {
    QTest::addColumn<bool>("power");
    QTest::addColumn<int>("threads");
    QTest::newRow("process") << false << 1;
    QTest::newRow("power") << true << 1;
    QTest::newRow("process, 2 threads") << false << 2;
  }
  void killInsideAnyChunkLeavesAWholeStep() {
    QFETCH(bool, power);
    QFETCH(int, threads);
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(500);
    QVERIFY(RowStore::create(folder, shape).has_value());
    harness::Memory memory(shape);
    bool finishedAStep = false;
    for (long calls = 1; calls < 70; calls += 3) {
      runChild(folder, harness::durabilityOf(power), calls, -1, 3, threads);
      // Killed while it recovers, too.
      runChild(folder, harness::durabilityOf(power), 2, -1, 0, threads);
      auto store = RowStore::open(folder, harness::durabilityOf(power), harness::kernels());
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      QCOMPARE((*store)->recovery(), Recovery::lastStep);
      finishedAStep |= (*store)->step() > 0;
      memory.advanceTo((*store)->step());
      QCOMPARE(memory.compare(**store), std::string());
    }
    QVERIFY(finishedAStep);
  }

  void killAtRandomInstantsEndsInTheUninterruptedBits_data() { killInsideAnyChunkLeavesAWholeStep_data(); }
  void killAtRandomInstantsEndsInTheUninterruptedBits() {
    QFETCH(bool, power);
    QFETCH(int, threads);
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape();
    QVERIFY(RowStore::create(folder, shape).has_value());
    std::mt19937 random(1);
    // Instants within the first steps on this machine, however busy it is: later ones while none is reached.
    long latest = power ? 120000 : 12000;
    std::uint64_t reached = 0;
    for (int kill = 0; kill < 25 || (reached == 0 && kill < 75); ++kill) {
      runChild(folder, harness::durabilityOf(power), -1, std::uniform_int_distribution<long>(100, latest)(random),
               1000000, threads);
      if (kill % 5 != 4 || reached > 0) continue;
      const auto looked = RowStore::open(folder, harness::durabilityOf(power), harness::kernels());
      QVERIFY2(looked.has_value(), looked ? "" : looked.error().message.c_str());
      reached = (*looked)->step();
      if (reached == 0) latest *= 2;
    }
    auto store = RowStore::open(folder, harness::durabilityOf(power), harness::kernels());
    QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
    harness::Memory memory(shape);
    memory.advanceTo((*store)->step());
    qInfo("step %llu", static_cast<unsigned long long>((*store)->step()));
    QVERIFY((*store)->step() > 0);
    QCOMPARE(memory.compare(**store), std::string());
  }

  /// G3. Steps with checkpoints every few; at many instants inside steps and checkpoints the power fails, any subset of
  /// the sectors written since the last sync being on the disk.
  void powerLossLeavesTheLastCheckpointWhole() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(400);
    DurableImage image(folder);
    overrideBootId("00000000-0000-0000-0000-000000000001");
    QVERIFY(RowStore::create(folder, shape).has_value());
    std::mt19937 random(7);
    std::vector<std::pair<std::string, std::uint64_t>> losses;  // torn folder, checkpointed step
    std::uint64_t checkpointed = 0;
    long calls = 0;
    const auto fail = [&] {
      const std::string torn = dir.path().toStdString() + "/torn" + std::to_string(losses.size());
      const double bias[] = {0.0, 0.5, 1.0, 0.9, 0.1};
      image.tear(torn, random, bias[losses.size() % 5]);
      losses.emplace_back(torn, checkpointed);
    };
    RowKernels kernels = harness::kernels();
    g_real = kernels.update;
    kernels.update = watchedUpdate;
    {
      auto store = RowStore::open(folder, Durability::power, kernels);
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      g_onCall = [&] {
        if (++calls % 7 == 0) fail();
      };
      ThreadPool pool(1);
      for (int i = 1; i <= 30; ++i) {
        QVERIFY(harness::advance(**store, pool).has_value());
        if (i % 4 != 0) continue;
        fail();
        QVERIFY((*store)->checkpoint().has_value());
        checkpointed = (*store)->step();
        fail();
      }
      g_onCall = {};
    }
    QVERIFY(losses.size() > 40);
    overrideBootId("00000000-0000-0000-0000-000000000002");
    for (const auto& [torn, step] : losses) {
      auto store = RowStore::open(torn, Durability::power, harness::kernels());
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      QCOMPARE((*store)->recovery(), Recovery::lastCheckpoint);
      harness::Memory memory(shape);
      memory.advanceTo(step);
      QCOMPARE(memory.compare(**store), std::string());
      ThreadPool pool(1);
      for (int i = 0; i < 3; ++i) QVERIFY(harness::advance(**store, pool).has_value());
      memory.advanceTo(step + 3);
      QCOMPARE(memory.compare(**store), std::string());
    }
    overrideBootId("");
  }

  void powerLossWithDurabilityProcessStartsFromZero() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(400);
    overrideBootId("00000000-0000-0000-0000-000000000001");
    QVERIFY(RowStore::create(folder, shape).has_value());
    ThreadPool pool(1);
    {
      auto store = RowStore::open(folder, Durability::process, harness::kernels());
      for (int i = 0; i < 5; ++i) QVERIFY(harness::advance(**store, pool).has_value());
    }
    overrideBootId("00000000-0000-0000-0000-000000000002");
    auto store = RowStore::open(folder, Durability::process, harness::kernels());
    QVERIFY(store.has_value());
    QCOMPARE((*store)->recovery(), Recovery::fromStart);
    harness::Memory memory(shape);
    QCOMPARE(memory.compare(**store), std::string());
    for (int i = 0; i < 5; ++i) QVERIFY(harness::advance(**store, pool).has_value());
    memory.advanceTo(5);
    QCOMPARE(memory.compare(**store), std::string());
    overrideBootId("");
  }

  void closedStoreSurvivesARebootAsItIs() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(400);
    DurableImage image(folder);
    overrideBootId("00000000-0000-0000-0000-000000000001");
    QVERIFY(RowStore::create(folder, shape).has_value());
    ThreadPool pool(1);
    {
      auto store = RowStore::open(folder, Durability::process, harness::kernels());
      for (int i = 0; i < 5; ++i) QVERIFY(harness::advance(**store, pool).has_value());
      QVERIFY((*store)->close().has_value());
    }
    std::mt19937 random(3);
    const std::string torn = dir.path().toStdString() + "/torn";
    image.tear(torn, random, 0);  // nothing unsynced is kept: all must be synced
    overrideBootId("00000000-0000-0000-0000-000000000002");
    auto store = RowStore::open(torn, Durability::process, harness::kernels());
    QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
    QCOMPARE((*store)->recovery(), Recovery::clean);
    harness::Memory memory(shape);
    memory.advanceTo(5);
    QCOMPARE(memory.compare(**store), std::string());
    overrideBootId("");
  }
};

QTEST_APPLESS_MAIN(tst_crash)
#include "tst_crash.moc"
