// SPDX-License-Identifier: Apache-2.0
// `dsa store export` of a trained run: the numbers of the table, its names, little memory, and the page cache left
// alone.
#include <fcntl.h>
#include <sys/mman.h>

#include "app_fixture.h"
#include "core/store/row_store.h"

using namespace app;

class TestExportCommand : public QObject {
  Q_OBJECT
 private slots:
  void npyEqualsTheTable();
  void textNamesTheRowsOfARun();
  void refusalsAreAnswered();
  void aLargeTableTakesLittleMemory();
  void theTablesPagesStayOnTheDisk();
};

namespace {

constexpr const char* kTree =
    "train --dataset tree:3,4 --dim 6 --k 0 --rule sparse_adam --epochs 2 --placement disk --cache ";

/// What follows the header of a NumPy 1.0 file.
QByteArray arrayOf(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return "cannot be read";
  const QByteArray bytes = file.readAll();
  if (!bytes.startsWith("\x93NUMPY")) return "no NumPy file";
  const auto byte = [&](int i) { return static_cast<int>(static_cast<unsigned char>(bytes[i])); };
  return bytes.mid(10 + byte(8) + 256 * byte(9));
}

/// Resident pages of a file.
std::uint64_t pagesInMemory(const std::string& path) {
  const auto file = dsa::File::open(path, dsa::File::Mode::readOnly);
  const auto map = dsa::Mapping::map(*file, *file->size(), dsa::Mapping::Kind::sharedReadOnly);
  std::vector<unsigned char> pages(map->size() / 4096 + 1);
  if (::mincore(map->data(), map->size(), pages.data()) != 0) qFatal("mincore");
  return static_cast<std::uint64_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

}  // namespace

void TestExportCommand::npyEqualsTheTable() {
  const Home home;
  COMPARE_EXIT(home.run(kTree, {home.cache()}), 0);
  const Ended ended = home.run("store export 1 --state --json --out", {home.path("w.npy")});
  COMPARE_EXIT(ended, 0);
  QCOMPARE(ended.json()["files"].size(), std::size_t{3});
  const auto store = dsa::RowStore::openReadOnly(home.tableOf(1).toStdString());
  QVERIFY(store.has_value());
  const dsa::TableShape& table = (*store)->shape().tables[0];
  QByteArray want[3];
  for (std::uint64_t row = 0; row < table.rows; ++row) {
    std::vector<float> record(table.recordFloats(), 0.0f);
    (*store)->readWeights(0, row, record.data());
    if ((*store)->touched(0, row)) std::copy_n((*store)->record(0, row), record.size(), record.data());
    for (int part = 0; part < 3; ++part) want[part].append(reinterpret_cast<const char*>(&record[part * 6]), 24);
  }
  QVERIFY(arrayOf(home.path("w.npy")) == want[0]);
  QVERIFY(arrayOf(home.path("w-m.npy")) == want[1]);
  QVERIFY(arrayOf(home.path("w-v.npy")) == want[2]);
}

void TestExportCommand::textNamesTheRowsOfARun() {
  const Home home;
  COMPARE_EXIT(home.run(kTree, {home.cache()}), 0);
  const auto wordsOf = [&](const QString& table, const QString& out) {
    const Ended ended = home.run("store export --format word2vec --out", {out, table});
    QFile file(out);
    if (ended.code != 0 || !file.open(QIODevice::ReadOnly)) return QStringList{ended.err};
    QStringList words;
    for (const QByteArray& line : file.readAll().split('\n')) words.append(QString::fromUtf8(line.split(' ')[0]));
    return words;
  };
  // The tree's nodes are called 0, 0.0, 0.1, ...; by folder they have numbers.
  const QStringList named = wordsOf("1", home.path("named.txt"));
  const QStringList numbered = wordsOf(home.tableOf(1), home.path("numbered.txt"));
  QCOMPARE(named[0], QString("121"));
  QVERIFY2(named.contains("0.2.1") && !numbered.contains("0.2.1"), qPrintable(named.join(' ')));
  QCOMPARE(numbered[121], QString("120"));
}

void TestExportCommand::refusalsAreAnswered() {
  const Home home;
  COMPARE_EXIT(home.run(kTree, {home.cache()}), 0);
  const QString out = home.path("w.npy");
  COMPARE_EXIT(home.run("store export 1 --out", {out}), 0);
  const std::string before = sha256OfFile(out);
  const Ended again = home.run("store export 1 --out", {out});
  COMPARE_EXIT(again, 3);
  VERIFY_SAYS(again, "exists already");
  QCOMPARE(sha256OfFile(out), before);
  const Ended format = home.run("store export 1 --format parquet --out", {home.path("x")});
  COMPARE_EXIT(format, 2);
  VERIFY_SAYS(format, "word2vec");
  const Ended table = home.run("store export 1 --table nodes --out", {home.path("x")});
  COMPARE_EXIT(table, 2);
  VERIFY_SAYS(table, "entities");
  COMPARE_EXIT(home.run("store export nowhere --out", {home.path("x")}), 3);
  const Ended folder = home.run("store export 1 --out", {home.path("no/such/folder/x")});
  COMPARE_EXIT(folder, 3);
  QVERIFY(!QFile::exists(home.path("x")) && !QFile::exists(home.path("x.part")));
}

void TestExportCommand::aLargeTableTakesLittleMemory() {
  if (kSanitized) QSKIP("memory of a sanitizer is its own");
  const Home home;
  COMPARE_EXIT(home.run("train --dataset zipf:100000 --dim 64 --batch 500 --negatives 8 --steps 20 --rule sparse_adam "
                        "--placement disk --cache",
                        {home.cache()}),
               0);
  for (const char* format : {"npy --state", "word2vec"}) {
    const QString out = home.path(QString("%1.out").arg(QString(format).left(3)));
    const auto process = home.start(QString("store export 1 --format %1 --out").arg(format), {out});
    const std::uint64_t peak = privatePeakOf(*process);
    COMPARE_EXIT(Home::end(*process), 0);
    // Seen at work at all, and below the 26 MB of weights, let alone the 77 MB of the table.
    QVERIFY2(peak > (1u << 20) && peak < (20ull << 20), fmt::format("{}: {} bytes", format, peak).c_str());
    QVERIFY(QFile(out).size() > 100000 * 64 * 4);
  }
}

void TestExportCommand::theTablesPagesStayOnTheDisk() {
  const Home home;
  COMPARE_EXIT(home.run("train --dataset zipf:20000 --dim 64 --batch 500 --negatives 8 --steps 20 --rule sparse_adam "
                        "--placement disk --cache",
                        {home.cache()}),
               0);
  const std::string path = home.tableOf(1).toStdString() + "/entities.rows";
  const auto file = dsa::File::open(path, dsa::File::Mode::readWrite);
  QVERIFY(file.has_value() && file->sync().has_value());
  ::posix_fadvise(file->fd(), 0, 0, POSIX_FADV_DONTNEED);
  if (pagesInMemory(path) > 0) QSKIP("SKIP: the temporary folder is in memory, where nothing can be evicted");
  const QStringList lines = {"store verify 1 --json", "store export 1 --json --out " + home.path("w.npy")};
  for (const QString& line : lines) {
    COMPARE_EXIT(home.run(line), 0);
    // The header page, by opening the store.
    QVERIFY2(pagesInMemory(path) <= 1,
             fmt::format("{} pages after {}", pagesInMemory(path), line.toStdString()).c_str());
  }
}

QTEST_GUILESS_MAIN(TestExportCommand)
#include "tst_export_command.moc"
