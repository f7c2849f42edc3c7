// SPDX-License-Identifier: Apache-2.0
// The engine direct: the bits of plain memory whatever the budget, whole checkpoints after kills and power losses, and
// one table under both engines in turn.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <random>

#include "durable_image.h"
#include "store_harness.h"

using namespace dsa;

namespace {

using Direct = std::unique_ptr<DirectStore>;

Result<Direct> openDirectly(const std::string& folder, std::uint64_t budget,
                            DirectIo::Engine io = DirectIo::Engine::best) {
  return DirectStore::open(folder, harness::kernels(), {.budgetBytes = budget, .io = io});
}

std::string compare(const harness::Memory& memory, const DirectStore& store) {
  return memory.compareScanned(store.files(), store.step(), store.state());
}

struct Made {
  QTemporaryDir dir;
  std::string folder = dir.path().toStdString() + "/run";
  StoreShape shape;
  explicit Made(StoreShape s) : shape(std::move(s)) { DSA_CHECK(RowStore::create(folder, shape).has_value()); }
  [[nodiscard]] std::uint64_t least() const { return DirectStore::leastBudget(shape); }
};

/// A record of several sectors, one that is no whole number of them, and many rows in a sector.
StoreShape shapeOf(const QString& name) {
  StoreShape shape = harness::shape();
  if (name == "wide") shape.tables[0].dim = shape.tables[1].dim = 150;
  if (name == "sectors") shape.tables[0].dim = 128;
  if (name == "narrow") shape.tables[0].dim = 2;
  if (name == "one value") {
    shape.tables[0].dim = 1;
    shape.tables[0].rule = Rule::rsgd;
  }
  return shape;
}

}  // namespace

class tst_direct_store : public QObject {
  Q_OBJECT
 private slots:
  void everyBudgetEndsInTheBitsOfMemory_data() {
    QTest::addColumn<QString>("shape");
    QTest::addColumn<double>("budget");  // times the least
    QTest::addColumn<int>("threads");
    QTest::addColumn<bool>("ring");
    for (const char* shape : {"plain", "wide", "sectors", "narrow", "one value"}) {
      for (const double budget : {1.0, 1.4, 50.0})
        QTest::addRow("%s, %g times the least", shape, budget) << QString(shape) << budget << 2 << true;
    }
    QTest::addRow("one thread") << QString("plain") << 1.2 << 1 << true;
    QTest::addRow("no io_uring") << QString("wide") << 1.2 << 2 << false;
  }
  void everyBudgetEndsInTheBitsOfMemory() {
    QFETCH(QString, shape);
    QFETCH(double, budget);
    QFETCH(int, threads);
    QFETCH(bool, ring);
    const Made made(shapeOf(shape));
    const auto bytes = static_cast<std::uint64_t>(static_cast<double>(made.least()) * budget);
    harness::Memory memory(made.shape);
    ThreadPool pool(static_cast<unsigned>(threads));
    {
      auto store = openDirectly(made.folder, bytes, ring ? DirectIo::Engine::best : DirectIo::Engine::threads);
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      // Announced as a trainer does, several steps ahead.
      std::deque<std::uint64_t> tickets;
      for (std::uint64_t step = 1, named = 1; step <= 40; ++step) {
        if (step % 13 == 0) {
          QVERIFY((*store)->checkpoint().has_value());
          tickets.clear();
          named = step;
        }
        for (; named < step + 4; ++named) tickets.push_back((*store)->announce(harness::stepRows(made.shape, named)));
        auto done = harness::advance(**store, pool, tickets.front());
        QVERIFY2(done.has_value(), done ? "" : done.error().message.c_str());
        tickets.pop_front();
        if (step % 10 != 0) continue;
        memory.advanceTo(step);
        QCOMPARE(compare(memory, **store), std::string());
      }
      QVERIFY((*store)->counters().cacheBytes <= bytes);
      if (budget < 2) QVERIFY((*store)->counters().bytesWritten > 0);
      QVERIFY((*store)->close().has_value());
    }
    auto again = openDirectly(made.folder, made.least());
    QVERIFY2(again.has_value(), again ? "" : again.error().message.c_str());
    QCOMPARE((*again)->files().recovery(), Recovery::clean);
    QCOMPARE(compare(memory, **again), std::string());
  }

  void stagedWeightsAreThoseBeforeTheStep() {
    const Made made(harness::shape());
    auto store = openDirectly(made.folder, made.least());
    ThreadPool pool(1);
    for (int i = 0; i < 5; ++i) QVERIFY(harness::advance(**store, pool).has_value());
    harness::Memory memory(made.shape);
    memory.advanceTo(5);
    const StepRows rows = harness::stepRows(made.shape, 6);
    std::vector<std::uint64_t> counts;
    for (std::uint32_t t = 0; t < rows.size(); ++t) {
      std::copy(rows[t].begin(), rows[t].end(), (*store)->ids(t));
      counts.push_back(rows[t].size());
    }
    QVERIFY((*store)->stage(counts, (*store)->announce(rows)).has_value());
    std::vector<float> staged(made.shape.tables[0].dim), read(made.shape.tables[0].dim);
    for (std::uint64_t i = 0; i < counts[0]; ++i) {
      (*store)->staged(0, i, staged);
      (*store)->files().readWeights(0, rows[0][i], read.data());
      QVERIFY(staged == read);
    }
    QCOMPARE(compare(memory, **store), std::string());
  }

  void budgetsAndEvictionsChangeNothing() {
    const Made made(harness::shape());
    harness::Memory memory(made.shape);
    auto store = openDirectly(made.folder, made.least() * 4);
    ThreadPool pool(2);
    for (std::uint64_t step = 1; step <= 60; ++step) {
      if (step % 7 == 0) QVERIFY((*store)->setBudget(made.least() * (1 + step % 5)).has_value());
      if (step % 11 == 0) {
        QVERIFY((*store)->evict().has_value());
        QCOMPARE((*store)->counters().cacheBytes, 0u);
      }
      QVERIFY(harness::advance(**store, pool).has_value());
      QVERIFY((*store)->counters().cacheBytes <= (*store)->budget());
    }
    const auto refused = (*store)->setBudget(made.least() - 1);
    QVERIFY(!refused && refused.error().code == ErrorCode::usage);
    memory.advanceTo(60);
    QCOMPARE(compare(memory, **store), std::string());
  }

  void tooSmallABudgetIsRefusedAndNothingChanges() {
    const Made made(harness::shape());
    const auto refused = openDirectly(made.folder, made.least() - 1);
    QVERIFY(!refused.has_value());
    QCOMPARE(refused.error().code, ErrorCode::usage);
    QVERIFY(refused.error().message.find("at least") != std::string::npos);
    QVERIFY(RowStore::open(made.folder, Durability::process, harness::kernels()).has_value());
  }

  void enginesTakeTurnsOnOneTable() {
    const Made made(harness::shape());
    harness::Memory memory(made.shape);
    ThreadPool pool(1);
    std::uint64_t step = 0;
    for (int turn = 0; turn < 8; ++turn) {
      if (turn % 2 == 0) {
        auto store =
            RowStore::open(made.folder, turn % 4 == 0 ? Durability::process : Durability::power, harness::kernels());
        QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
        QCOMPARE(memory.compare(**store), std::string());
        for (int i = 0; i < 5; ++i, ++step) QVERIFY(harness::advance(**store, pool).has_value());
        if (turn < 4) QVERIFY((*store)->close().has_value());
      } else {
        auto store = openDirectly(made.folder, made.least());
        QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
        QCOMPARE(compare(memory, **store), std::string());
        for (int i = 0; i < 5; ++i, ++step) QVERIFY(harness::advance(**store, pool).has_value());
        QVERIFY((turn < 4 ? (*store)->close() : (*store)->checkpoint()).has_value());
        // After the checkpoint, then dropped: the next one finds the checkpoint.
        if (turn >= 4) QVERIFY(harness::advance(**store, pool).has_value());
      }
      memory.advanceTo(step);
    }
    auto reader = RowStore::openReadOnly(made.folder);
    QVERIFY2(reader.has_value(), reader ? "" : reader.error().message.c_str());
    QCOMPARE(memory.compareScanned(**reader, (*reader)->step(), (*reader)->state()), std::string());
    QVERIFY(RowStore::remove(made.folder).has_value());
    QVERIFY(!std::filesystem::exists(made.folder));
  }

  void killedAtAnyInstantTheLastCheckpointStands() {
#ifdef __SANITIZE_THREAD__
    QSKIP("a process that has threads cannot fork under the thread sanitizer");
#endif
    // Many more rows than places, and many steps to a checkpoint: slots are written and left all the time.
    const Made made(harness::shape(1500));
    harness::Memory memory(made.shape);
    std::mt19937 random(3);
    std::uint64_t before = 0, reached = 0;
    constexpr int kEach = 15;
    for (int kill = 0; kill < 40; ++kill) {
      int pipeEnds[2];
      QVERIFY(::pipe(pipeEnds) == 0);
      const pid_t child = ::fork();
      if (child == 0) {
        auto store = openDirectly(made.folder, made.least());
        if (!store) ::_exit(9);
        ThreadPool pool(1);
        for (int i = 0; i < 400; ++i) {
          if (!harness::advance(**store, pool)) ::_exit(8);
          if (i % kEach != kEach - 1) continue;
          if (!(*store)->checkpoint()) ::_exit(7);
          const std::uint64_t step = (*store)->step();
          if (::write(pipeEnds[1], &step, sizeof step) != sizeof step) ::_exit(6);
        }
        ::_exit(0);
      }
      ::close(pipeEnds[1]);
      // After a checkpoint it told of, a little later; every fourth while it opens.
      std::uint64_t told = before, next = 0;
      const int wanted = kill % 4 == 0 ? 0 : std::uniform_int_distribution<int>(1, 6)(random);
      for (int i = 0; i < wanted && ::read(pipeEnds[0], &next, sizeof next) == sizeof next; ++i) told = next;
      ::usleep(std::uniform_int_distribution<useconds_t>(0, 3000)(random));
      ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      while (::read(pipeEnds[0], &next, sizeof next) == sizeof next) told = next;
      ::close(pipeEnds[0]);
      QVERIFY2(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, qPrintable(QString::number(WEXITSTATUS(status))));
      if (kill % 3 == 0) {
        const auto reader = RowStore::openReadOnly(made.folder);
        QVERIFY2(reader.has_value(), reader ? "" : reader.error().message.c_str());
        memory.advanceTo((*reader)->step());
        QCOMPARE(memory.compareScanned(**reader, (*reader)->step(), (*reader)->state()), std::string());
      }
      auto store = openDirectly(made.folder, made.least());
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      QVERIFY((*store)->step() >= told);
      QVERIFY((*store)->step() <= told + kEach);
      memory.advanceTo((*store)->step());
      QCOMPARE(compare(memory, **store), std::string());
      reached = std::max(reached, (*store)->step());
      before = (*store)->step();
    }
    QVERIFY(reached > 30);
  }

  /// G3: any subset of the sectors written since the last sync is on the disk; the last checkpoint stands, whole.
  void powerLossLeavesTheLastCheckpointWhole() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(1500);
    constexpr int kEach = 15;
    DurableImage image(folder);
    QVERIFY(RowStore::create(folder, shape).has_value());
    std::mt19937 random(7);
    std::vector<std::pair<std::string, std::uint64_t>> losses;
    std::uint64_t checkpointed = 0;
    const auto fail = [&] {
      const std::string torn = dir.path().toStdString() + "/torn" + std::to_string(losses.size());
      const double bias[] = {0.0, 0.5, 1.0, 0.9, 0.1};
      image.tear(torn, random, bias[losses.size() % 5]);
      losses.emplace_back(torn, checkpointed);
    };
    {
      auto store = openDirectly(folder, DirectStore::leastBudget(shape));
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      ThreadPool pool(1);
      // Between any two syncs of a checkpoint, too: each leaves the one before or the new one.
      for (int i = 1; i <= 4 * kEach; ++i) {
        QVERIFY(harness::advance(**store, pool).has_value());
        if (i % 3 == 0) fail();
        if (i % kEach != 0) continue;
        bool during = true;
        image.onSync([&](const std::string& path) {
          if (!during || losses.size() > 120) return;
          fail();
          // store.dsa is the last thing of a checkpoint: durable, it counts.
          if (path.ends_with("store.dsa")) losses.back().second = checkpointed = static_cast<std::uint64_t>(i);
        });
        QVERIFY((*store)->checkpoint().has_value());
        image.onSync({});
        during = false;
        QCOMPARE(checkpointed, (*store)->step());
        fail();
      }
    }
    QVERIFY(losses.size() > 40);
    for (const auto& [torn, step] : losses) {
      auto store = openDirectly(torn, DirectStore::leastBudget(shape));
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      // The slot may have been among the sectors that got there.
      QVERIFY((*store)->step() == step || (*store)->step() == step + kEach);
      harness::Memory memory(shape);
      memory.advanceTo((*store)->step());
      QCOMPARE(compare(memory, **store), std::string());
      ThreadPool pool(1);
      for (int i = 0; i < 3; ++i) QVERIFY(harness::advance(**store, pool).has_value());
      QVERIFY((*store)->checkpoint().has_value());
      memory.advanceTo((*store)->step());
      QCOMPARE(compare(memory, **store), std::string());
    }
  }

  void damagedMapsAndLogsAreRefused_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<qint64>("offset");
    QTest::newRow("a slot beyond the slab") << "entities.slots" << qint64(4096 + 3);
    QTest::newRow("two units in a slot") << "entities.slots" << qint64(-1);
    QTest::newRow("the map's header") << "entities.slots" << qint64(3);
    QTest::newRow("the slab's header") << "entities.slab" << qint64(17);
  }
  void damagedMapsAndLogsAreRefused() {
    QFETCH(QString, file);
    QFETCH(qint64, offset);
    const Made made(harness::shape());
    ThreadPool pool(1);
    {
      auto store = openDirectly(made.folder, made.least());
      for (int i = 0; i < 5; ++i) QVERIFY(harness::advance(**store, pool).has_value());
      QVERIFY((*store)->close().has_value());
    }
    QFile damaged(QString::fromStdString(made.folder) + "/" + file);
    QVERIFY(damaged.open(QIODevice::ReadWrite));
    const QByteArray before = damaged.readAll();
    QByteArray now = before;
    if (offset >= 0) {
      now[offset] = static_cast<char>(offset < 4096 ? now[offset] ^ 1 : 0x7f);
    } else {
      auto* const words = reinterpret_cast<std::uint32_t*>(now.data() + 4096);
      std::uint32_t* first = words;
      while (*first == 0) ++first;
      std::uint32_t* second = first + 1;
      while (*second == 0) ++second;
      *second = *first;
    }
    damaged.seek(0);
    damaged.write(now);
    damaged.close();
    const auto refused = openDirectly(made.folder, made.least());
    QVERIFY(!refused.has_value());
    QCOMPARE(refused.error().code, ErrorCode::input);
    QVERIFY2(refused.error().message.find("nothing was changed") != std::string::npos, refused.error().message.c_str());
  }
};

QTEST_APPLESS_MAIN(tst_direct_store)
#include "tst_direct_store.moc"
