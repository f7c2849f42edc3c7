// SPDX-License-Identifier: Apache-2.0
// What the store refuses, and what is left after it: damaged files, a second writer, a full disk.
#include <sys/mount.h>
#include <unistd.h>

#include <QtTest>
#include <fstream>
#include <set>

#include "store_harness.h"

using namespace dsa;

namespace {

std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename() != "lock") out[entry.path().filename()] = *readTextFile(entry.path());
  }
  return out;
}

void put(const std::string& path, const std::string& bytes, std::uint64_t offset) {
  const auto file = File::open(path, File::Mode::readWrite);
  QVERIFY(file->writeAt(std::as_bytes(std::span(bytes)), offset).has_value());
}

void cut(const std::string& path, std::uint64_t size) {
  QVERIFY(File::open(path, File::Mode::readWrite)->resize(size).has_value());
}

}  // namespace

class tst_store_files : public QObject {
  Q_OBJECT
 private slots:
  void damagedFilesAreRefusedAndLeftAlone_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("expected");
    for (const char* file : {"store.dsa", "entities.rows", "entities.rows.1", "relations.rows", "entities.touched",
                             "losses.f64", "intent.dsa"}) {
      QTest::addRow("%s cut by a byte", file) << file << "cut"
                                              << "cut short";
      QTest::addRow("%s empty", file) << file << "empty"
                                      << "cut short";
      QTest::addRow("%s foreign", file) << file << "foreign"
                                        << "not a";
      QTest::addRow("%s newer", file) << file << "newer"
                                      << "newer program";
      QTest::addRow("%s damaged", file) << file << "damaged"
                                        << "checksum";
      QTest::addRow("%s missing", file) << file << "missing"
                                        << (QString(file) == "store.dsa" ? "no table here" : "cannot open");
      if (QString(file) != "store.dsa")
        QTest::addRow("%s of another run", file) << file << "other"
                                                 << "another run";
    }
    QTest::addRow("both checkpoints damaged") << "store.dsa"
                                              << "checkpoints"
                                              << "the checkpoint on page";
  }
  void damagedFilesAreRefusedAndLeftAlone() {
    QFETCH(QString, file);
    QFETCH(QString, what);
    QFETCH(QString, expected);
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    QVERIFY(RowStore::create(folder, harness::shape(2000)).has_value());
    const std::string path = folder + "/" + file.toStdString();
    const std::uint64_t size = std::filesystem::file_size(path);
    if (what == "cut") cut(path, size - 1);
    if (what == "empty") cut(path, 0);
    if (what == "foreign") put(path, "NOTMINE!", 0);
    if (what == "newer") put(path, std::string("\x09\0\0\0", 4), 8);
    // Of the uuid, which is drawn: another byte than the one that is there.
    if (what == "damaged") put(path, contents(folder)[file.toStdString()][20] == 'X' ? "Y" : "X", 20);
    if (what == "missing") std::filesystem::remove(path);
    if (what == "checkpoints") put(path, "X", kPage + 9), put(path, "X", 2 * kPage + 9);
    if (what == "other") {
      const std::string other = dir.path().toStdString() + "/other";
      QVERIFY(RowStore::create(other, harness::shape(2000)).has_value());
      std::filesystem::copy_file(other + "/" + file.toStdString(), path,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    const auto before = contents(folder);
    const auto store = RowStore::open(folder, Durability::process, harness::kernels());
    QVERIFY(!store.has_value());
    QCOMPARE(store.error().code, ErrorCode::input);
    QVERIFY2(store.error().message.find(expected.toStdString()) != std::string::npos, store.error().message.c_str());
    QVERIFY2(what == "checkpoints" || store.error().message.find(file.toStdString()) != std::string::npos,
             store.error().message.c_str());
    QVERIFY(contents(folder) == before);
  }

  void segmentsInEachOthersPlacesAreRefused() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run", rows = folder + "/entities.rows";
    StoreShape shape = harness::shape();
    shape.segmentBytes = 128 << 10;
    QVERIFY(RowStore::create(folder, shape).has_value());
    std::filesystem::rename(rows + ".1", rows + ".x");
    std::filesystem::rename(rows + ".2", rows + ".1");
    std::filesystem::rename(rows + ".x", rows + ".2");
    const auto store = RowStore::open(folder, Durability::process, harness::kernels());
    QVERIFY(!store.has_value());
    QVERIFY2(store.error().message.find("entities.rows.1: belongs to another run") != std::string::npos,
             store.error().message.c_str());
  }

  /// As stores were made before there were segments; and of whatever length these are.
  void aTableIsTheSameInOneFileAndInMany() {
    QTemporaryDir dir;
    ThreadPool pool(2);
    for (const std::uint64_t segment : {std::uint64_t{0}, kPage, 3 * kPage, std::uint64_t{1} << 30}) {
      const std::string folder = dir.path().toStdString() + "/run" + std::to_string(segment);
      StoreShape shape = harness::shape();
      shape.segmentBytes = segment;
      QVERIFY(RowStore::create(folder, shape).has_value());
      {
        const auto store = harness::opened(folder, Durability::power);
        for (int i = 0; i < 5; ++i) QVERIFY(harness::advance(*store, pool).has_value());
        QVERIFY(store->close().has_value());
      }
      {
        const auto direct = DirectStore::open(folder, harness::kernels(), {.budgetBytes = 4 << 20});
        QVERIFY2(direct.has_value(), direct ? "" : direct.error().message.c_str());
        for (int i = 0; i < 5; ++i) QVERIFY(harness::advance(**direct, pool).has_value());
        harness::Memory memory(shape);
        memory.advanceTo(10);
        QCOMPARE(memory.compareScanned((*direct)->files(), (*direct)->step(), (*direct)->state()), std::string());
        QVERIFY((*direct)->close().has_value());
      }
      const auto store = harness::opened(folder, Durability::process);
      QCOMPARE(store->shape().segmentBytes, segment);
      const std::uint64_t segments = segment == kPage ? 53 : segment == 3 * kPage ? 36 : 1;
      QCOMPARE(store->rowsLayout(0).segments(), segments);
      QCOMPARE(harness::differs(*store, 10), std::string());
    }
  }

  void existingTableIsNotOverwritten() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    QVERIFY(RowStore::create(folder, harness::shape(64)).has_value());
    const auto before = contents(folder);
    const auto again = RowStore::create(folder, harness::shape(65));
    QVERIFY(!again.has_value());
    QCOMPARE(again.error().code, ErrorCode::input);
    QVERIFY(contents(folder) == before);
  }

  void removingTakesTheStoreAndNothingElse() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    const auto make = [&] {
      QVERIFY(RowStore::create(folder, harness::shape(2000)).has_value());
      QVERIFY(RowStore::open(folder, Durability::power, harness::kernels()).value()->close().has_value());
    };
    make();
    QCOMPARE(RowStore::remove(folder).value(), true);
    QVERIFY(!std::filesystem::exists(folder));
    QCOMPARE(RowStore::remove(folder).value(), false);

    // Somebody's own files, one of them under a name that a table could have, and a half-made file of ours.
    make();
    for (const char* name : {"/notes.txt", "/mine.rows", "/mine.rows.2", "/entities.rows.x"}) {
      std::ofstream(folder + name) << "not a table of DSA Lab";
    }
    std::ofstream(folder + "/relations.rows.creating") << std::string(64, '\0');
    std::ofstream(folder + "/relations.rows.7.creating") << std::string(64, '\0');
    std::ofstream(folder + "/empty.touched");
    std::filesystem::create_directory(folder + "/losses.f64.kept");
    QCOMPARE(RowStore::remove(folder).value(), true);
    std::set<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) left.insert(entry.path().filename());
    QVERIFY(left == (std::set<std::string>{"empty.touched", "entities.rows.x", "losses.f64.kept", "mine.rows",
                                           "mine.rows.2", "notes.txt"}));
    // A foreign store.dsa is no store.
    std::ofstream(folder + "/store.dsa") << "somebody else's";
    QCOMPARE(RowStore::remove(folder).value(), false);
    QVERIFY(std::filesystem::exists(folder + "/store.dsa"));
  }

  void aStoreInUseIsNotRemoved() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    QVERIFY(RowStore::create(folder, harness::shape(64)).has_value());
    const auto store = RowStore::open(folder, Durability::process, harness::kernels());
    const auto before = contents(folder);
    const auto removed = RowStore::remove(folder);
    QVERIFY(!removed);
    QCOMPARE(removed.error().code, ErrorCode::machine);
    QVERIFY(contents(folder) == before);
  }

  void remainsOfAKilledCreationAreReplaced() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    QVERIFY(RowStore::create(folder, harness::shape(64)).has_value());
    std::filesystem::remove(folder + "/store.dsa");
    QVERIFY(RowStore::create(folder, harness::shape(64)).has_value());
    QVERIFY(RowStore::open(folder, Durability::process, harness::kernels()).has_value());
  }

  void secondWriterIsRefusedWithThePid() {
    QTemporaryDir dir;
    const std::string folder = dir.path().toStdString() + "/run";
    QVERIFY(RowStore::create(folder, harness::shape(64)).has_value());
    const auto first = RowStore::open(folder, Durability::process, harness::kernels());
    QVERIFY(first.has_value());
    const auto second = RowStore::open(folder, Durability::process, harness::kernels());
    QVERIFY(!second.has_value());
    QCOMPARE(second.error().code, ErrorCode::machine);
    QVERIFY2(second.error().message.find(std::to_string(::getpid())) != std::string::npos,
             second.error().message.c_str());
    QVERIFY(RowStore::openReadOnly(folder).has_value());
  }

  void folderThatCannotBeWrittenIsAMachineError() {
    const auto made = RowStore::create("/proc/dsa-cannot-be", harness::shape(64));
    QVERIFY(!made.has_value());
    QCOMPARE(made.error().code, ErrorCode::machine);
  }

  void fullDiskChangesNoRowAndGoesOnAfterwards() {
    QTemporaryDir dir;
    const std::string mount = dir.path().toStdString();
    if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=1536k") != 0) QSKIP("mounting a tmpfs needs root");
    const StoreShape shape = harness::shape(200000);
    const std::string folder = mount + "/run";
    std::string failed;
    {
      const auto made = RowStore::create(folder, shape);
      QVERIFY2(made.has_value(), made ? "" : made.error().message.c_str());
      auto store = RowStore::open(folder, Durability::process, harness::kernels());
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      ThreadPool pool(1);
      harness::Memory memory(shape);
      for (int i = 0; i < 1000 && failed.empty(); ++i) {
        const auto applied = harness::advance(**store, pool);
        if (!applied) {
          QCOMPARE(applied.error().code, ErrorCode::machine);
          failed = applied.error().message;
        }
      }
      memory.advanceTo((*store)->step());
      QCOMPARE(memory.compare(**store), std::string());
    }
    QVERIFY2(failed.find("No space left") != std::string::npos, failed.c_str());
    QCOMPARE(::mount("tmpfs", mount.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
    {
      auto store = RowStore::open(folder, Durability::process, harness::kernels());
      QVERIFY(store.has_value());
      ThreadPool pool(1);
      harness::Memory memory(shape);
      for (int i = 0; i < 20; ++i) QVERIFY(harness::advance(**store, pool).has_value());
      memory.advanceTo((*store)->step());
      QCOMPARE(memory.compare(**store), std::string());
    }
    ::umount2(mount.c_str(), MNT_DETACH);
  }

  void creationOnAFullDiskLeavesNothing() {
    QTemporaryDir dir;
    const std::string mount = dir.path().toStdString();
    if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=256k") != 0) QSKIP("mounting a tmpfs needs root");
    const auto made = RowStore::create(mount + "/run", harness::shape(200000));
    QVERIFY(!made.has_value());
    QCOMPARE(made.error().code, ErrorCode::machine);
    QVERIFY(contents(mount + "/run").empty());
    ::umount2(mount.c_str(), MNT_DETACH);
  }
};

QTEST_APPLESS_MAIN(tst_store_files)
#include "tst_store_files.moc"
