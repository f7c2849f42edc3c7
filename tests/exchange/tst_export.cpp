// SPDX-License-Identifier: Apache-2.0
// What an export's files hold, read back by a reader of the test's own, equals the table bit for bit; all files or
// none.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QtTest>
#include <cerrno>
#include <charconv>
#include <cstdarg>

#include "../store/store_harness.h"
#include "core/exchange/export_table.h"

#include "../store/fault_calls.h"

using namespace dsa;

namespace {

bool noUnnamedFiles = false;  // as on NFS and FAT

}  // namespace

/// Stands before the C library's: core/base opens all its files by it.
extern "C" int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  if (noUnnamedFiles && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

namespace {

constexpr std::uint64_t kRows = 3000;

StoreShape shapeOf(Rule rule, std::uint32_t dim, std::uint64_t rows = kRows) {
  StoreShape shape;
  shape.seed = 11;
  shape.tables.push_back({"entities", rows, dim, rule, 0.5f, rows});
  return shape;
}

/// A store in a folder of its own, every third row touched by one step.
struct Trained {
  QTemporaryDir dir;
  std::unique_ptr<RowStore> store;
  explicit Trained(const StoreShape& shape) {
    const std::string folder = path("run");
    if (!RowStore::create(folder, shape)) qFatal("create");
    store = std::move(*RowStore::open(folder, Durability::process, harness::kernels()));
    const TableShape& table = shape.tables[0];
    std::uint64_t count = 0;
    for (std::uint64_t row = 0; row < table.rows; row += 3, ++count) {
      store->ids(0)[count] = row;
      for (std::uint32_t i = 0; i < table.dim; ++i)
        store->grads(0)[count * table.dim + i] = harness::gradient(1, 0, row, i);
    }
    ThreadPool pool(1);
    const std::vector<std::uint64_t> counts = {count};
    const std::vector<StepParams> params = {harness::params(table, 1)};
    if (!store->apply(counts, params, StateBlob{}, 0, pool)) qFatal("step");
  }
  [[nodiscard]] std::string path(const char* name) const { return dir.filePath(name).toStdString(); }
  /// Floats [from, from + width) of every record, untouched ones included.
  [[nodiscard]] std::vector<float> part(std::uint64_t from, std::uint64_t width) const {
    const TableShape& table = store->shape().tables[0];
    std::vector<float> values;
    for (std::uint64_t r = 0; r < table.rows; ++r) {
      std::vector<float> record(table.recordFloats(), 0.0f);
      store->readWeights(0, r, record.data());
      if (store->touched(0, r)) std::copy_n(store->record(0, r), record.size(), record.data());
      values.insert(values.end(), record.begin() + static_cast<std::ptrdiff_t>(from),
                    record.begin() + static_cast<std::ptrdiff_t>(from + width));
    }
    return values;
  }
};

std::vector<float> floatsOf(const std::string& bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), values.size() * 4);
  return values;
}

/// As NumPy's format description reads it; empty text where it is not such a file.
std::pair<std::string, std::vector<float>> readNpy(const std::string& path) {
  const auto text = readTextFile(path);
  if (!text || text->size() < 10 || text->substr(0, 8) != std::string("\x93NUMPY\x01\x00", 8)) return {};
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>((*text)[i])); };
  const std::size_t length = byte(8) + 256 * byte(9);
  if ((10 + length) % 64 != 0 || (*text)[10 + length - 1] != '\n') return {};
  std::string header = text->substr(10, length);
  header.erase(header.find_last_not_of(" \n") + 1);
  return {header, floatsOf(text->substr(10 + length))};
}

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0;
}

std::vector<std::string> linesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream in(*readTextFile(path));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Names with everything that a text format must not pass on.
Vocabulary names() {
  Vocabulary vocabulary;
  vocabulary.add("plain");
  vocabulary.add("two words");
  vocabulary.add("tab\tand\nline");
  vocabulary.add("");
  for (std::uint64_t i = 4; i < kRows; ++i) vocabulary.add(fmt::format("n{}", i));
  return vocabulary;
}

ExportOptions as(TableFormat format, bool state = false) {
  ExportOptions options;
  options.format = format;
  options.state = state;
  return options;
}

}  // namespace

class TestExport : public QObject {
  Q_OBJECT
 private slots:
  void npyHoldsTheTable_data();
  void npyHoldsTheTable();
  void textReadsBackToTheSameBits_data();
  void textReadsBackToTheSameBits();
  void rawIsTheOriginalsThreeFiles();
  void whatAFormatCannotHoldIsRefused();
  void anExistingFileIsNotTouched();
  void somebodysPartFileIsNotTouched();
  void stoppingLeavesNothing_data() { eachKindOfPart(); }
  void stoppingLeavesNothing();
  void aFullDiskLeavesNothing_data() { eachKindOfPart(); }
  void aFullDiskLeavesNothing();
  void aFolderThatCannotBeSyncedKeepsTheFiles();
  void cleanup() { noUnnamedFiles = false; }

 private:
  static void eachKindOfPart() {
    QTest::addColumn<bool>("unnamed");
    QTest::newRow("unnamed files") << true;
    QTest::newRow("file system without") << false;
  }
};

void TestExport::npyHoldsTheTable_data() {
  QTest::addColumn<int>("rule");
  QTest::addColumn<quint32>("dim");
  for (const Rule rule : {Rule::sparseAdam, Rule::radam, Rule::rsgd, Rule::rowAdagrad}) {
    for (const quint32 dim : {1u, 17u, 128u})
      QTest::addRow("rule %u, dim %u", static_cast<unsigned>(rule), dim) << static_cast<int>(rule) << dim;
  }
}

void TestExport::npyHoldsTheTable() {
  QFETCH(int, rule);
  QFETCH(quint32, dim);
  const Trained trained(shapeOf(static_cast<Rule>(rule), dim));
  const bool state = static_cast<Rule>(rule) != Rule::rsgd;
  const auto exported = exportTable(*trained.store, trained.path("w.npy"), as(TableFormat::npy, state));
  QVERIFY2(exported.has_value(), exported ? "" : exported.error().message.c_str());
  const auto check = [&](const char* file, std::uint64_t from, std::uint64_t width, bool vector) {
    const auto [header, values] = readNpy(trained.path(file));
    const std::string shape = vector ? fmt::format("({},)", kRows) : fmt::format("({}, {})", kRows, width);
    QCOMPARE(header, fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}", shape));
    QVERIFY(sameBits(values, trained.part(from, width)));
  };
  check("w.npy", 0, dim, false);
  switch (static_cast<Rule>(rule)) {
    case Rule::radam:
      check("w-m.npy", dim, dim, false);
      check("w-v.npy", 2 * dim, 1, true);
      break;
    case Rule::rowAdagrad:
      check("w-accumulator.npy", dim, 1, true);
      break;
    case Rule::rsgd:
      break;
    default:
      check("w-m.npy", dim, dim, false);
      check("w-v.npy", 2 * dim, dim, false);
  }
  const QStringList left = QDir(trained.dir.path()).entryList(QDir::Files);
  QCOMPARE(static_cast<std::size_t>(left.size()), exported->files.size());
}

void TestExport::textReadsBackToTheSameBits_data() {
  QTest::addColumn<bool>("word2vec");
  QTest::addColumn<bool>("named");
  for (const bool word2vec : {true, false}) {
    for (const bool named : {true, false})
      QTest::addRow("%s, %s", word2vec ? "word2vec" : "tsv", named ? "names" : "numbers") << word2vec << named;
  }
}

void TestExport::textReadsBackToTheSameBits() {
  QFETCH(bool, word2vec);
  QFETCH(bool, named);
  const Trained trained(shapeOf(Rule::sparseAdam, 9));
  const Vocabulary vocabulary = names();
  ExportOptions options = as(word2vec ? TableFormat::word2vec : TableFormat::tsv);
  if (named) options.names = &vocabulary;
  const auto exported = exportTable(*trained.store, trained.path("w.txt"), options);
  QVERIFY2(exported.has_value(), exported ? "" : exported.error().message.c_str());
  std::vector<std::string> lines = linesOf(trained.path("w.txt")), titles;
  if (word2vec) {
    QCOMPARE(lines.front(), fmt::format("{} 9", kRows));
    lines.erase(lines.begin());
  } else {
    titles = linesOf(trained.path("w.txt.metadata.tsv"));
  }
  QCOMPARE(lines.size(), kRows);
  std::vector<float> values;
  for (const std::string& line : lines) {
    const char* at = line.data();
    const char* const end = at + line.size();
    if (word2vec) {
      const std::size_t blank = line.find(' ');
      titles.push_back(line.substr(0, blank));
      at += blank + 1;
    }
    for (int i = 0; i < 9; ++i) {
      float value = 0;
      const auto [next, error] = std::from_chars(at, end, value);
      QVERIFY2(error == std::errc(), line.c_str());
      values.push_back(value);
      QVERIFY(i == 8 ? next == end : *next == (word2vec ? ' ' : '\t'));
      at = next + 1;
    }
  }
  QVERIFY(sameBits(values, trained.part(0, 9)));
  QCOMPARE(titles.size(), kRows);
  const std::vector<std::string> expected =
      !named     ? std::vector<std::string>{"0", "1", "2", "3", "4"}
      : word2vec ? std::vector<std::string>{"plain", "two_words", "tab_and_line", "_", "n4"}
                 : std::vector<std::string>{"plain", "two words", "tab and line", "_", "n4"};
  for (std::size_t i = 0; i < expected.size(); ++i) QCOMPARE(titles[i], expected[i]);
}

void TestExport::rawIsTheOriginalsThreeFiles() {
  const Trained trained(shapeOf(Rule::dsa, 10));
  QVERIFY(exportTable(*trained.store, trained.path("emb"), as(TableFormat::raw)).has_value());
  std::uint64_t from = 0;
  for (const char* file : {"emb_w.dat", "emb_m.dat", "emb_v.dat"}) {
    QVERIFY2(sameBits(floatsOf(*readTextFile(trained.path(file))), trained.part(from, 10)), file);
    from += 10;
  }
}

void TestExport::whatAFormatCannotHoldIsRefused() {
  const Trained radam(shapeOf(Rule::radam, 4)), rsgd(shapeOf(Rule::rsgd, 4));
  const Vocabulary few = Vocabulary::numbered(7);
  ExportOptions wrongNames = as(TableFormat::word2vec);
  wrongNames.names = &few;
  const std::tuple<const Trained*, ExportOptions, ErrorCode> cases[] = {
      {&radam, as(TableFormat::raw), ErrorCode::usage},
      {&rsgd, as(TableFormat::raw), ErrorCode::usage},
      {&rsgd, as(TableFormat::npy, true), ErrorCode::usage},
      {&radam, as(TableFormat::word2vec, true), ErrorCode::usage},
      {&radam, wrongNames, ErrorCode::input},
  };
  for (const auto& [trained, options, code] : cases) {
    const auto refused = exportTable(*trained->store, trained->path("out"), options);
    QVERIFY(!refused);
    QVERIFY2(refused.error().code == code, refused.error().message.c_str());
    QVERIFY(QDir(trained->dir.path()).entryList(QDir::Files).isEmpty());
  }
}

void TestExport::anExistingFileIsNotTouched() {
  const Trained trained(shapeOf(Rule::sparseAdam, 4));
  // The last of the three is there: none may come into being.
  QVERIFY(writeTextFileAtomically(trained.path("w-v.npy"), "mine").has_value());
  const auto refused = exportTable(*trained.store, trained.path("w.npy"), as(TableFormat::npy, true));
  QVERIFY(!refused);
  QVERIFY(refused.error().code == ErrorCode::input);
  QVERIFY2(refused.error().message.find("w-v.npy") != std::string::npos, refused.error().message.c_str());
  QCOMPARE(*readTextFile(trained.path("w-v.npy")), std::string("mine"));
  QCOMPARE(QDir(trained.dir.path()).entryList(QDir::Files), QStringList{"w-v.npy"});
  // It comes into being meanwhile.
  ExportOptions options = as(TableFormat::npy);
  options.progress = [&](std::uint64_t, std::uint64_t) {
    QVERIFY(writeTextFileAtomically(trained.path("late.npy"), "mine").has_value());
  };
  QVERIFY(!exportTable(*trained.store, trained.path("late.npy"), options));
  QCOMPARE(*readTextFile(trained.path("late.npy")), std::string("mine"));
  QCOMPARE(QDir(trained.dir.path()).entryList(QDir::Files), (QStringList{"late.npy", "w-v.npy"}));
}

void TestExport::somebodysPartFileIsNotTouched() {
  const Trained trained(shapeOf(Rule::sparseAdam, 4));
  for (const bool unnamed : {true, false}) {
    noUnnamedFiles = !unnamed;
    const std::string out = trained.path(unnamed ? "a.npy" : "b.npy");
    QVERIFY(writeTextFileAtomically(out + ".part", "mine").has_value());
    const auto exported = exportTable(*trained.store, out, as(TableFormat::npy));
    QVERIFY2(exported.has_value(), exported ? "" : exported.error().message.c_str());
    QCOMPARE(*readTextFile(out + ".part"), std::string("mine"));
    QVERIFY(sameBits(readNpy(out).second, trained.part(0, 4)));
  }
  QCOMPARE(QDir(trained.dir.path()).entryList(QDir::Files).size(), 4);
}

void TestExport::stoppingLeavesNothing() {
  QFETCH(bool, unnamed);
  noUnnamedFiles = !unnamed;
  const Trained trained(shapeOf(Rule::sparseAdam, 128));
  int asked = 0;
  ExportOptions options = as(TableFormat::npy, true);
  options.shouldStop = [&] { return ++asked == 3; };
  const auto stopped = exportTable(*trained.store, trained.path("w.npy"), options);
  QVERIFY(!stopped);
  QVERIFY(stopped.error().code == ErrorCode::stopped);
  QVERIFY(QDir(trained.dir.path()).entryList(QDir::Files).isEmpty());
}

void TestExport::aFolderThatCannotBeSyncedKeepsTheFiles() {
  const Trained trained(shapeOf(Rule::sparseAdam, 4));
  const faults::Watch watch;
  faults::before = [](const faults::Call& call) { return call.name == "fsync" ? EIO : 0; };
  const auto exported = exportTable(*trained.store, trained.path("w.npy"), as(TableFormat::npy));
  QVERIFY(!exported);
  QVERIFY2(exported.error().message.find("are there and whole") != std::string::npos, exported.error().message.c_str());
  QVERIFY(sameBits(readNpy(trained.path("w.npy")).second, trained.part(0, 4)));
}

void TestExport::aFullDiskLeavesNothing() {
  QFETCH(bool, unnamed);
  noUnnamedFiles = !unnamed;
  const Trained trained(shapeOf(Rule::sparseAdam, 128));
  const QTemporaryDir small;
  const std::string mount = small.path().toStdString();
  if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=1m") != 0) QSKIP("SKIP: mounting a tmpfs needs root");
  const auto full = exportTable(*trained.store, mount + "/w.npy", as(TableFormat::npy));
  const QStringList left = QDir(small.path()).entryList(QDir::Files);
  ::umount2(mount.c_str(), MNT_DETACH);
  QVERIFY(!full);
  QVERIFY(full.error().code == ErrorCode::machine);
  QVERIFY2(full.error().message.find("No space left") != std::string::npos, full.error().message.c_str());
  QVERIFY2(full.error().message.find("table is as it was") != std::string::npos, full.error().message.c_str());
  QVERIFY(left.isEmpty());
}

QTEST_APPLESS_MAIN(TestExport)
#include "tst_export.moc"
