// SPDX-License-Identifier: Apache-2.0
// Files that go bad under an open store: cut short or removed by another program, or pages that the disk cannot give.
// No crash, no row that is believed, and the run can be taken up again.
#include <sys/mman.h>

#include <QtTest>
#include <filesystem>

#include "core/store/row_scan.h"
#include "store_harness.h"

using namespace dsa;

namespace {

namespace fs = std::filesystem;

bool says(const Error& error, const std::string& text) { return error.message.find(text) != std::string::npos; }

/// The page of a row's record faults from now on, as one that the disk cannot read: a mapping of nothing lies there.
void losePage(const RowStore& store, std::uint64_t row) {
  QTemporaryDir dir;
  const auto nothing = File::open(dir.filePath("nothing").toStdString(), File::Mode::createNew);
  const auto at = reinterpret_cast<std::uintptr_t>(store.record(0, row)) / kPage * kPage;
  void* const place = reinterpret_cast<void*>(at);
  QCOMPARE(::mmap(place, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, nothing->fd(), 0), place);
}

/// A store after 5 steps, a checkpoint after the third.
std::unique_ptr<RowStore> madeRun(const std::string& folder, const StoreShape& shape, bool power, ThreadPool& pool) {
  if (!RowStore::create(folder, shape)) qFatal("create");
  auto store = harness::opened(folder, harness::durabilityOf(power));
  for (int i = 1; i <= 5; ++i) {
    if (!harness::advance(*store, pool)) qFatal("advance");
    if (i == 3 && !store->checkpoint()) qFatal("checkpoint");
  }
  return store;
}

void addDurabilities() {
  QTest::addColumn<bool>("power");
  QTest::newRow("process") << false;
  QTest::newRow("power") << true;
}

}  // namespace

class tst_lost_pages : public QObject {
  Q_OBJECT
 private slots:
  void aFileCutShortEndsTheStore_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("left");  // bytes
    QTest::addColumn<bool>("power");
    for (const bool power : {false, true}) {
      const char* how = power ? "power" : "process";
      for (const char* file :
           {"entities.rows", "entities.rows.1", "relations.rows", "entities.touched", "losses.f64", "intent.dsa"})
        QTest::addRow("%s, %s", file, how) << file << 4096 << power;
      QTest::addRow("entities.rows to nothing, %s", how) << "entities.rows" << 0 << power;
      QTest::addRow("entities.rows by half, %s", how) << "entities.rows" << 70000 << power;
      QTest::addRow("store.dsa, %s", how) << "store.dsa" << 4096 << power;
    }
  }
  void aFileCutShortEndsTheStore() {
    QFETCH(QString, file);
    QFETCH(int, left);
    QFETCH(bool, power);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run", path = run + "/" + file.toStdString();
    const StoreShape shape = harness::shape();
    ThreadPool pool(2);
    const auto length = [&] {
      auto store = madeRun(run, shape, power, pool);
      const std::uintmax_t whole = fs::file_size(path);
      fs::resize_file(path, static_cast<std::uintmax_t>(left));
      Result<void> failed;
      for (int i = 0; i < 3 && failed; ++i) failed = harness::advance(*store, pool);
      if (failed) qFatal("went on");
      if (failed.error().code != ErrorCode::machine) qFatal("%s", failed.error().message.c_str());
      for (const std::string& part : {file.toStdString(), std::string("cut short"), "Delete the folder " + run}) {
        if (!says(failed.error(), part)) qFatal("%s", failed.error().message.c_str());
      }
      if (harness::advance(*store, pool) || store->checkpoint() || store->close()) qFatal("taken");
      return whole;
    }();
    const auto refused = RowStore::open(run, harness::durabilityOf(power), harness::kernels());
    QVERIFY(!refused.has_value());
    QCOMPARE(refused.error().code, ErrorCode::input);
    QVERIFY(!RowStore::openReadOnly(run).has_value());
    // Somebody makes it as long as it was: its rows are not taken for zeros.
    fs::resize_file(path, length);
    if (file == "store.dsa" || left == 0) {
      QVERIFY(!RowStore::open(run, harness::durabilityOf(power), harness::kernels()).has_value());
      return;
    }
    const auto store = harness::opened(run, harness::durabilityOf(power));
    QCOMPARE(store->recovery(), Recovery::fromStart);
    QCOMPARE(harness::differs(*store, 0), std::string());
    for (int i = 0; i < 4; ++i) QVERIFY(harness::advance(*store, pool).has_value());
    QCOMPARE(harness::differs(*store, 4), std::string());
  }

  /// Between a step's ids and its end: wherever the cut is, in the middle of a page, too, where nothing faults.
  void anIntentCutShortWithinAStepEndsTheStore() {
    ThreadPool pool(2);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run", path = run + "/intent.dsa";
    const StoreShape shape = harness::shape();
    const auto whole = [&] {
      const auto store = madeRun(run, shape, false, pool);
      return fs::file_size(path);
    }();
    fs::remove_all(run);
    for (std::uintmax_t left = 4096; left < whole; left += 1000) {
      {
        const auto store = madeRun(run, shape, false, pool);
        const harness::Prepared made = harness::prepare(*store);
        fs::resize_file(path, left);
        Result<void> failed = harness::apply(*store, made, pool);
        if (failed) failed = harness::advance(*store, pool);  // nothing of this step was in what is gone
        QVERIFY(!failed.has_value());
        QCOMPARE(failed.error().code, ErrorCode::machine);
        QVERIFY2(says(failed.error(), "intent.dsa: cut short"), failed.error().message.c_str());
        QVERIFY(!store->close().has_value());
      }
      QVERIFY(!RowStore::open(run, Durability::process, harness::kernels()).has_value());
      fs::remove_all(run);
    }
  }

  void aRemovedFolderEndsTheStore_data() { addDurabilities(); }
  void aRemovedFolderEndsTheStore() {
    QFETCH(bool, power);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(400);
    ThreadPool pool(1);
    const auto store = madeRun(run, shape, power, pool);
    fs::remove_all(run);
    const auto failed = harness::advance(*store, pool);
    QVERIFY(!failed.has_value());
    QCOMPARE(failed.error().code, ErrorCode::machine);
    QVERIFY2(says(failed.error(), "removed by another program"), failed.error().message.c_str());
    QVERIFY(!store->close().has_value());
    QVERIFY(RowStore::create(run, shape).has_value());
    QCOMPARE(harness::differs(*harness::opened(run, harness::durabilityOf(power)), 0), std::string());
  }

  void aPageThatTheDiskCannotGiveLeadsBackToWhatIsSafe_data() { addDurabilities(); }
  void aPageThatTheDiskCannotGiveLeadsBackToWhatIsSafe() {
    QFETCH(bool, power);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    ThreadPool pool(2);
    {
      const auto store = madeRun(run, harness::shape(), power, pool);
      losePage(*store, harness::rowsOf(6, 0, 3000)[100]);
      const auto failed = harness::advance(*store, pool);
      QVERIFY(!failed.has_value());
      QCOMPARE(failed.error().code, ErrorCode::machine);
      QVERIFY2(says(failed.error(), "its disk failed"), failed.error().message.c_str());
      QVERIFY2(says(failed.error(), power ? "its last checkpoint" : "step 0"), failed.error().message.c_str());
      QVERIFY(!harness::advance(*store, pool).has_value());
    }
    // The very same boot, and an armed step in the files: yet they are not believed.
    const auto store = harness::opened(run, harness::durabilityOf(power));
    QCOMPARE(store->recovery(), power ? Recovery::lastCheckpoint : Recovery::fromStart);
    const std::uint64_t step = power ? 3 : 0;
    QCOMPARE(harness::differs(*store, step), std::string());
    for (int i = 0; i < 4; ++i) QVERIFY(harness::advance(*store, pool).has_value());
    QCOMPARE(harness::differs(*store, step + 4), std::string());
  }

  /// Old records are read by the journal's thread; what it could not read must not be what a rollback puts back.
  void aLostPageDoesNotGetIntoTheJournal() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape();
    ThreadPool pool(1);
    {
      const auto store = madeRun(run, shape, true, pool);
      // A row of step 6 that was touched before the checkpoint and not since: its old record comes from the page.
      std::optional<std::uint64_t> lost;
      for (const std::uint64_t row : harness::rowsOf(6, 0, 3000)) {
        const auto in = [&](std::uint64_t step) {
          const auto rows = harness::rowsOf(step, 0, 3000);
          return std::binary_search(rows.begin(), rows.end(), row);
        };
        if ((in(1) || in(2) || in(3)) && !in(4) && !in(5)) lost = row;
      }
      QVERIFY(lost.has_value());
      losePage(*store, *lost);
      const std::uint64_t before = store->journalBytes();
      const std::uint64_t ticket = store->announce(harness::stepRows(shape, 6));
      const auto failed = harness::advance(*store, pool, ticket);
      QVERIFY(!failed.has_value());
      QVERIFY2(says(failed.error(), "its disk failed"), failed.error().message.c_str());
      QCOMPARE(store->journalBytes(), before);
    }
    QCOMPARE(harness::differs(*harness::opened(run, Durability::power), 3), std::string());
  }

  void readersSayThatWhatTheyReadIsLost() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    ThreadPool pool(1);
    QVERIFY(madeRun(run, harness::shape(), false, pool)->close().has_value());
    const std::uint64_t row = harness::rowsOf(5, 0, 3000)[50];
    {
      const auto reader = RowStore::openReadOnly(run);
      QVERIFY((*reader)->intact().has_value());
      losePage(**reader, row);
      std::vector<float> weights(12, 1.0f);
      (*reader)->readWeights(0, row, weights.data());
      QCOMPARE(weights[3], 0.0f);
      const auto lost = (*reader)->intact();
      QVERIFY(!lost.has_value());
      QCOMPARE(lost.error().code, ErrorCode::machine);
      const auto scan = RowScan::open(**reader, 0, ScanRows::all);
      QVERIFY(!(*scan)->next().has_value());
      QVERIFY(!(*scan)->readWeights(0, 1, weights.data()).has_value());
    }
    const auto reader = RowStore::openReadOnly(run);
    fs::resize_file(run + "/entities.touched", 4096);
    const auto scan = RowScan::open(**reader, 0, ScanRows::touched);
    const auto block = (*scan)->next();
    QVERIFY(!block.has_value());
    QVERIFY2(says(block.error(), "cut short"), block.error().message.c_str());
  }

  void aLostPageLeavesAClosedStoreClosed() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    ThreadPool pool(1);
    {
      const auto store = madeRun(run, harness::shape(), false, pool);
      QVERIFY(store->close().has_value());
      losePage(*store, 7);
      std::vector<float> weights(12);
      for (std::uint64_t row = 0; row < 40; ++row) store->readWeights(0, row, weights.data());
      QVERIFY(!store->intact().has_value());
    }
    const auto store = harness::opened(run, Durability::process);
    QCOMPARE(store->recovery(), Recovery::clean);
    QCOMPARE(harness::differs(*store, 5), std::string());
  }
};

QTEST_APPLESS_MAIN(tst_lost_pages)
#include "tst_lost_pages.moc"
