// SPDX-License-Identifier: Apache-2.0
// The store in peace: the disk table equals the memory table bit for bit, also after reopening, by any number of
// threads.
#include <QtTest>

#include "store_harness.h"

using namespace dsa;

namespace {

/// Of a table's files.
std::uint64_t occupied(const RowStore& store, std::uint32_t t) {
  std::uint64_t bytes = 0;
  const RowFileLayout& rows = store.rowsLayout(t);
  for (std::uint64_t s = 0; s < rows.segments(); ++s)
    bytes += *File::open(rows.pathOf(s), File::Mode::readOnly)->occupied();
  return bytes;
}

}  // namespace

class tst_row_store : public QObject {
  Q_OBJECT
 private slots:
  void diskEqualsMemoryBitForBit_data() {
    QTest::addColumn<int>("threads");
    QTest::addColumn<bool>("power");
    QTest::newRow("1 thread, process") << 1 << false;
    QTest::newRow("3 threads, process") << 3 << false;
    QTest::newRow("1 thread, power") << 1 << true;
    QTest::newRow("2 threads, power") << 2 << true;
  }
  void diskEqualsMemoryBitForBit() {
    QFETCH(int, threads);
    QFETCH(bool, power);
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape();
    QVERIFY(RowStore::create(folder, shape).has_value());
    ThreadPool pool(static_cast<unsigned>(threads));
    harness::Memory memory(shape);
    for (std::uint64_t session = 1; session <= 3; ++session) {
      auto store = RowStore::open(folder, power ? Durability::power : Durability::process, harness::kernels());
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      QCOMPARE((*store)->recovery(), Recovery::clean);
      QCOMPARE((*store)->step(), (session - 1) * 30);
      // Announced ahead, as the trainer does; a checkpoint in the middle makes what is still queued be announced again.
      std::deque<std::uint64_t> tickets;
      std::uint64_t announced = (*store)->step();
      for (int i = 0; i < 30; ++i) {
        while (power && announced < (*store)->step() + 4)
          tickets.push_back((*store)->announce(harness::stepRows(shape, ++announced)));
        const std::uint64_t ticket = power ? tickets.front() : 0;
        if (power) tickets.pop_front();
        QVERIFY(harness::advance(**store, pool, ticket).has_value());
        if (i == 13) {
          QVERIFY((*store)->checkpoint().has_value());
          tickets.clear();
          announced = (*store)->step();
        }
      }
      memory.advanceTo(session * 30);
      QCOMPARE(memory.compare(**store), std::string());
      QVERIFY((*store)->close().has_value());
    }
    const auto reader = RowStore::openReadOnly(folder);
    QVERIFY(reader.has_value());
    QCOMPARE(memory.compare(**reader), std::string());
    QCOMPARE((*reader)->losses()[90], 90.0);
  }

  void emptyStepCountsAndChangesNoRow() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(50);
    QVERIFY(RowStore::create(folder, shape).has_value());
    auto store = RowStore::open(folder, Durability::process, harness::kernels());
    ThreadPool pool(2);
    const std::vector<std::uint64_t> counts = {0, 0};
    const std::vector<StepParams> params = {harness::params(shape.tables[0], 1), harness::params(shape.tables[1], 1)};
    QVERIFY((*store)->apply(counts, params, StateBlob{}, 0, pool).has_value());
    QCOMPARE((*store)->step(), 1ull);
    for (std::uint64_t r = 0; r < 50; ++r) QVERIFY(!(*store)->touched(0, r));
  }

  /// 10 million rows x 128: the logical size is N x bytes a row, the real one follows the rows touched.
  void hugeTableStaysSparse() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    StoreShape shape = harness::shape(10000000, 128);
    QVERIFY(RowStore::create(folder, shape).has_value());
    auto store = RowStore::open(folder, Durability::process, harness::kernels());
    QVERIFY(store.has_value());
    QCOMPARE((*store)->tableBytes(), 10000000ull * 1536 + 40 * 129 * 4);
    QCOMPARE((*store)->rowsLayout(0).segments(), std::uint64_t{64});
    QVERIFY(occupied(**store, 0) <= 64 * 8192);
    ThreadPool pool(1);
    QVERIFY(harness::advance(**store, pool).has_value());
    const std::uint64_t touched = harness::rowsOf(1, 0, 10000000).size();
    QVERIFY(occupied(**store, 0) >= touched * 1536 / 2);
    QVERIFY(occupied(**store, 0) <= touched * 8192 + 64 * 8192 + 65536);
  }

  void journalHoldsEachRowOnceACheckpoint() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(100);
    QVERIFY(RowStore::create(folder, shape).has_value());
    auto store = RowStore::open(folder, Durability::power, harness::kernels());
    ThreadPool pool(1);
    for (int i = 0; i < 40; ++i) QVERIFY(harness::advance(**store, pool).has_value());
    const std::uint64_t settled = (*store)->journalBytes();
    for (int i = 0; i < 40; ++i) QVERIFY(harness::advance(**store, pool).has_value());
    QCOMPARE((*store)->journalBytes(), settled);
    QVERIFY((*store)->checkpoint().has_value());
    QVERIFY(harness::advance(**store, pool).has_value());
    QVERIFY((*store)->journalBytes() > settled);
  }
};

QTEST_APPLESS_MAIN(tst_row_store)
#include "tst_row_store.moc"
