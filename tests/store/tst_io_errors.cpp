// SPDX-License-Identifier: Apache-2.0
// Writes that the disk refuses while the store is open: no row of the step has changed, and the run goes on.
#include <QtTest>

#include "fault_calls.h"
#include "store_harness.h"

using namespace dsa;

namespace {

bool says(const Error& error, const char* text) { return error.message.find(text) != std::string::npos; }

struct Reboot {
  Reboot() { overrideBootId("00000000-0000-0000-0000-000000000002"); }
  ~Reboot() { overrideBootId(""); }
};

}  // namespace

class tst_io_errors : public QObject {
  Q_OBJECT
 private slots:
  void aNewRowThatCannotBeWrittenChangesNoRow_data() {
    QTest::addColumn<int>("error");
    QTest::addColumn<int>("which");  // pwrite to that file in the step, from 1
    QTest::addColumn<QString>("file");
    QTest::addColumn<bool>("power");
    for (const bool power : {false, true}) {
      const char* how = power ? "power" : "process";
      QTest::addRow("full, first row, %s", how) << ENOSPC << 1 << "/entities.rows" << power;
      QTest::addRow("full, a later row, %s", how) << ENOSPC << 30 << "/entities.rows" << power;
      QTest::addRow("full, the second table, %s", how) << ENOSPC << 2 << "/relations.rows" << power;
      QTest::addRow("quota, %s", how) << EDQUOT << 7 << "/entities.rows" << power;
      QTest::addRow("disk error, %s", how) << EIO << 7 << "/entities.rows" << power;
      QTest::addRow("read-only, %s", how) << EROFS << 7 << "/entities.rows" << power;
    }
  }
  void aNewRowThatCannotBeWrittenChangesNoRow() {
    QFETCH(int, error);
    QFETCH(int, which);
    QFETCH(QString, file);
    QFETCH(bool, power);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    QVERIFY(RowStore::create(run, harness::shape()).has_value());
    auto store = harness::opened(run, harness::durabilityOf(power));
    ThreadPool pool(2);
    QVERIFY(harness::advance(*store, pool).has_value());
    {
      const faults::Watch watch;
      faults::before = [&](const faults::Call& call) {
        return call.name == "pwrite" && call.path.ends_with(file.toStdString()) && --which == 0 ? error : 0;
      };
      const auto failed = harness::advance(*store, pool);
      QVERIFY(!failed.has_value());
      QCOMPARE(failed.error().code, ErrorCode::machine);
      QVERIFY2(says(failed.error(), "All rows are as they were after step 1"), failed.error().message.c_str());
      QCOMPARE(harness::differs(*store, 1), std::string());
    }
    // Room was made: the very same store goes on, and so does one that is opened again.
    QVERIFY(harness::advance(*store, pool).has_value());
    QCOMPARE(harness::differs(*store, 2), std::string());
    store.reset();
    store = harness::opened(run, harness::durabilityOf(power));
    QVERIFY(harness::advance(*store, pool).has_value());
    QCOMPARE(harness::differs(*store, 3), std::string());
  }

  void aJournalThatCannotBeWrittenChangesNoRow_data() {
    QTest::addColumn<QString>("call");
    QTest::addColumn<int>("error");
    for (const char* call : {"pwrite", "fdatasync"}) {
      QTest::addRow("%s, full", call) << call << ENOSPC;
      QTest::addRow("%s, quota", call) << call << EDQUOT;
      QTest::addRow("%s, disk error", call) << call << EIO;
    }
  }
  void aJournalThatCannotBeWrittenChangesNoRow() {
    QFETCH(QString, call);
    QFETCH(int, error);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape();
    QVERIFY(RowStore::create(run, shape).has_value());
    ThreadPool pool(2);
    {
      auto store = harness::opened(run, Durability::power);
      for (int i = 0; i < 3; ++i) QVERIFY(harness::advance(*store, pool).has_value());
      QVERIFY(store->checkpoint().has_value());
      QVERIFY(harness::advance(*store, pool).has_value());
      const faults::Watch watch;
      faults::before = [&](const faults::Call& made) {
        return made.name == call.toStdString() && made.path.ends_with("/undo.journal") ? error : 0;
      };
      // Ahead of time, as the trainer does: the error waits for the step.
      const std::uint64_t ticket = store->announce(harness::stepRows(shape, 5));
      for (int i = 0; i < 2; ++i) {
        const auto failed = harness::advance(*store, pool, ticket);
        QVERIFY(!failed.has_value());
        QCOMPARE(failed.error().code, ErrorCode::machine);
        QVERIFY2(says(failed.error(), "No row of the step was changed"), failed.error().message.c_str());
        QVERIFY2(says(failed.error(), "undo.journal"), failed.error().message.c_str());
      }
      QCOMPARE(harness::differs(*store, 4), std::string());
    }
    const auto store = harness::opened(run, Durability::power);
    QCOMPARE(harness::differs(*store, 4), std::string());
    QVERIFY(harness::advance(*store, pool).has_value());
    QCOMPARE(harness::differs(*store, 5), std::string());
  }

  void aJournalThatFailedStillLeadsBackToTheCheckpoint() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    QVERIFY(RowStore::create(run, harness::shape()).has_value());
    ThreadPool pool(1);
    {
      auto store = harness::opened(run, Durability::power);
      for (int i = 0; i < 3; ++i) QVERIFY(harness::advance(*store, pool).has_value());
      QVERIFY(store->checkpoint().has_value());
      QVERIFY(harness::advance(*store, pool).has_value());
      const faults::Watch watch;
      faults::before = [&](const faults::Call& made) {
        return made.name == "pwrite" && made.path.ends_with("/undo.journal") ? EIO : 0;
      };
      QVERIFY(!harness::advance(*store, pool).has_value());
    }
    const Reboot reboot;
    const auto store = harness::opened(run, Durability::power);
    QCOMPARE(store->recovery(), Recovery::lastCheckpoint);
    QCOMPARE(harness::differs(*store, 3), std::string());
  }

  void aCheckpointThatCannotBeWrittenIsTriedAgain() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape();
    QVERIFY(RowStore::create(run, shape).has_value());
    ThreadPool pool(1);
    {
      auto store = harness::opened(run, Durability::power);
      for (int i = 0; i < 3; ++i) QVERIFY(harness::advance(*store, pool).has_value());
      QVERIFY(store->checkpoint().has_value());
      QVERIFY(harness::advance(*store, pool).has_value());
      {
        const faults::Watch watch;
        faults::before = [&](const faults::Call& made) {
          return made.name == "pwrite" && made.path.ends_with("/store.dsa") ? EIO : 0;
        };
        QVERIFY(!store->checkpoint().has_value());
      }
      std::filesystem::copy(run, run + "-then");
      QVERIFY(harness::advance(*store, pool).has_value());
      QVERIFY(store->checkpoint().has_value());
      QVERIFY(harness::advance(*store, pool).has_value());
    }
    const Reboot reboot;
    QCOMPARE(harness::differs(*harness::opened(run + "-then", Durability::power), 3), std::string());
    QCOMPARE(harness::differs(*harness::opened(run, Durability::power), 5), std::string());
  }
};

QTEST_APPLESS_MAIN(tst_io_errors)
#include "tst_io_errors.moc"
