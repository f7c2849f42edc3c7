// SPDX-License-Identifier: Apache-2.0
// What an import makes of good files comes out again byte for byte; what it says of bad ones, and that nothing is left.
#include <sys/mman.h>
#include <sys/mount.h>

#include <QtTest>
#include <cmath>
#include <limits>

#include "../store/fault_calls.h"
#include "../store/store_harness.h"
#include "core/exchange/export_table.h"
#include "core/exchange/import_table.h"
#include "core/exchange/row_reader.h"
#include "core/store/row_names.h"

using namespace dsa;

namespace {

constexpr std::uint64_t kRows = 1000;
constexpr std::uint32_t kDim = 7;

/// A folder, and in it "table", a trained table with names of all sorts.
struct Place {
  QTemporaryDir dir;
  [[nodiscard]] std::string path(const std::string& name) const {
    return dir.filePath(QString::fromStdString(name)).toStdString();
  }
  void write(const std::string& name, const std::string& bytes) const {
    QVERIFY(writeTextFileAtomically(path(name), bytes).has_value());
  }
  [[nodiscard]] QStringList left() const {
    return QDir(dir.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
  }
  void train(Rule rule) const {
    StoreShape shape;
    shape.tables.push_back({"entities", kRows, kDim, rule, 0.5f, kRows});
    QVERIFY(RowStore::create(path("table"), shape).has_value());
    const auto store = RowStore::open(path("table"), Durability::process, harness::kernels()).value();
    std::uint64_t count = 0;
    for (std::uint64_t row = 0; row < kRows; row += 3, ++count) {
      store->ids(0)[count] = row;
      for (std::uint32_t i = 0; i < kDim; ++i) store->grads(0)[count * kDim + i] = harness::gradient(1, 0, row, i);
    }
    ThreadPool pool(1);
    const std::vector<std::uint64_t> counts = {count};
    const std::vector<StepParams> params = {harness::params(shape.tables[0], 1)};
    QVERIFY(store->apply(counts, params, StateBlob{}, 0, pool).has_value());
    QVERIFY(store->close().has_value());
  }
  [[nodiscard]] Result<Exported> exported(const char* table, const std::string& out, TableFormat format, bool state,
                                          const Vocabulary* names = nullptr) const {
    ExportOptions options;
    options.format = format;
    options.state = state;
    options.names = names;
    DSA_ASSIGN(const auto store, RowStore::openReadOnly(path(table)));
    return exportTable(*store, path(out), options);
  }
};

Vocabulary names() {
  Vocabulary vocabulary;
  for (const char* name : {"plain", "two words", "two_words", "", "_", "na\xc3\xafve", "#", "\"quoted\""})
    vocabulary.add(name);
  for (std::uint64_t i = vocabulary.size(); i < kRows; ++i) vocabulary.add(fmt::format("n{}", i));
  return vocabulary;
}

TableImportOptions as(TableFormat format, std::uint32_t dim = 0) {
  TableImportOptions options;
  options.format = format;
  options.dim = dim;
  return options;
}

template <class T>
std::string bytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string npy(const std::string& dictionary, const std::string& data, char major = 1) {
  std::string header("\x93NUMPY", 6);
  header += major;
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  if (major > 1) header += std::string(2, '\0');
  return header + dictionary + data;
}

std::string dictionaryOf(const std::string& descr, const std::string& shape, const char* fortran = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, fortran, shape);
}

const std::string kSix = bytesOf(std::vector<float>{1, 2, 3, 4, 5, 6});

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

class TestImport : public QObject {
  Q_OBJECT
 private slots:
  void anExportComesBackByteForByte_data();
  void anExportComesBackByteForByte();
  void everyRowIsTouchedAtStepZero();
  void otherProgramsFilesAreTaken_data();
  void otherProgramsFilesAreTaken();
  void float64IsRoundedAndCounted();
  void badFilesAreRefused_data();
  void badFilesAreRefused();
  void badCompanionsAreRefused_data();
  void badCompanionsAreRefused();
  void badOptionsAreRefused();
  void longLinesAndManyRowsGoThroughThePieces();
  void aTableOrSomebodysFileIsNeverReplaced();
  void stoppingLeavesNothing();
  void aFullDiskLeavesNothing();
  void aFailureAtEachCallLeavesNothing();
  void remainsOfAKilledImportAreReplaced();
  void theRowsAreNotInThePageCache();
  void headersOfAnyBytesAreAnswered();
  void aFileHoldsWhatItsShapeSays();
};

void TestImport::anExportComesBackByteForByte_data() {
  QTest::addColumn<int>("format");
  QTest::addColumn<int>("rule");
  QTest::addColumn<bool>("state");
  QTest::addColumn<bool>("named");
  const auto add = [](const char* title, TableFormat format, Rule rule, bool state, bool named) {
    QTest::newRow(title) << static_cast<int>(format) << static_cast<int>(rule) << state << named;
  };
  add("npy", TableFormat::npy, Rule::sparseAdam, false, false);
  add("npy with state", TableFormat::npy, Rule::sparseAdam, true, false);
  add("npy of radam", TableFormat::npy, Rule::radam, true, false);
  add("npy of row_adagrad", TableFormat::npy, Rule::rowAdagrad, true, false);
  add("npy of rsgd", TableFormat::npy, Rule::rsgd, false, false);
  add("raw", TableFormat::raw, Rule::sparseAdam, false, false);
  add("raw of dsa", TableFormat::raw, Rule::dsa, false, false);
  add("word2vec", TableFormat::word2vec, Rule::sparseAdam, false, true);
  add("word2vec, numbers", TableFormat::word2vec, Rule::rsgd, false, false);
  add("tsv", TableFormat::tsv, Rule::sparseAdam, false, true);
  add("tsv, numbers", TableFormat::tsv, Rule::radam, false, false);
}

void TestImport::anExportComesBackByteForByte() {
  QFETCH(int, format);
  QFETCH(int, rule);
  QFETCH(bool, state);
  QFETCH(bool, named);
  const auto kind = static_cast<TableFormat>(format);
  const Place place;
  place.train(static_cast<Rule>(rule));
  const Vocabulary vocabulary = names();
  const auto first = place.exported("table", "a", kind, state, named ? &vocabulary : nullptr);
  QVERIFY2(first.has_value(), first ? "" : first.error().message.c_str());
  TableImportOptions options = as(kind, kind == TableFormat::raw ? kDim : 0);
  options.rule = static_cast<Rule>(rule);
  const auto imported = importTable(place.path("a"), place.path("made/of/it"), options);
  QVERIFY2(imported.has_value(), imported ? "" : imported.error().message.c_str());
  QCOMPARE(imported->files, first->files);
  QCOMPARE(imported->state, state || kind == TableFormat::raw);
  QCOMPARE(imported->rounded, std::uint64_t{0});
  const auto second = place.exported("made/of/it", "b", kind, state);
  QVERIFY2(second.has_value(), second ? "" : second.error().message.c_str());
  QCOMPARE(first->files.size(), second->files.size());
  for (std::size_t i = 0; i < first->files.size(); ++i)
    QVERIFY2(*readTextFile(first->files[i]) == *readTextFile(second->files[i]), first->files[i].c_str());
}

void TestImport::everyRowIsTouchedAtStepZero() {
  const Place place;
  for (const std::uint64_t rows : {1u, 63u, 64u, 65u, 300000u}) {
    const std::string name = fmt::format("w{}.npy", rows), folder = fmt::format("t{}", rows);
    place.write(name, npy(dictionaryOf("<f4", fmt::format("({}, 1)", rows)), bytesOf(std::vector<float>(rows, 0.25f))));
    QVERIFY(importTable(place.path(name), place.path(folder), {}).has_value());
    // Writable, too: open() finds it closed in order.
    const auto store = RowStore::open(place.path(folder), Durability::power, harness::kernels());
    QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
    QVERIFY((*store)->recovery() == Recovery::clean);
    QCOMPARE((*store)->step(), std::uint64_t{0});
    std::uint64_t touched = 0;
    (*store)->touchedBits(0).forEach([&](std::uint64_t row) {
      const float* const record = (*store)->record(0, row);
      if (row < rows && record[0] == 0.25f && record[1] == 0 && record[2] == 0) ++touched;
    });
    QCOMPARE(touched, rows);
    QVERIFY((*store)->close().has_value());
  }
}

void TestImport::otherProgramsFilesAreTaken_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QByteArray>("bytes");
  const auto add = [](const char* title, const char* name, const std::string& bytes) {
    QTest::newRow(title) << name << QByteArray::fromStdString(bytes);
  };
  add("NumPy 2.0", "w.npy", npy(dictionaryOf("<f4", "(2, 3)"), kSix, 2));
  add("NumPy 3.0", "w.npy", npy(dictionaryOf("<f4", "(2, 3)"), kSix, 3));
  add("Python 2, other order", "w.npy",
      npy("{\"shape\": (2L, 3L), \"fortran_order\" : False,\"descr\":\"<f4\"}  \n", kSix));
  add("float64", "w.npy", npy(dictionaryOf("<f8", "(2, 3)"), bytesOf(std::vector<double>{1, 2, 3, 4, 5, 6})));
  add("word2vec.c, a blank at the end", "w.txt", "2 3\na 1 2 3 \nb 4 5 6 \n");
  add("no line end at the end", "w.vec", "2 3\na 1 2 3\nb 4 5 6");
  add("exponents", "w.txt", "2 3\na 1e0 0.2E1 300e-2\nb 4.000 5 6\n");
  add("numpy.savetxt", "w.tsv", "1.000000000000000000e+00\t2.0e+00\t3\n4\t5\t6\n");
  add("a tsv without line end", "w.tsv", "1\t2\t3\n4\t5\t6");
  add("raw", "w_w.dat", kSix);
}

void TestImport::otherProgramsFilesAreTaken() {
  QFETCH(QString, name);
  QFETCH(QByteArray, bytes);
  const Place place;
  place.write(name.toStdString(), bytes.toStdString());
  TableImportOptions options;
  if (name.endsWith(".dat")) options.dim = 3;
  const auto imported = importTable(place.path(name.toStdString()), place.path("t"), options);
  QVERIFY2(imported.has_value(), imported ? "" : imported.error().message.c_str());
  QVERIFY(!imported->state);
  const auto store = RowStore::openReadOnly(place.path("t")).value();
  for (std::uint64_t row = 0; row < 2; ++row) {
    for (std::uint64_t i = 0; i < 9; ++i)
      QCOMPARE(store->record(0, row)[i], i < 3 ? static_cast<float>(3 * row + i + 1) : 0.0f);
  }
}

void TestImport::float64IsRoundedAndCounted() {
  const Place place;
  const std::vector<double> values = {0.1, 0.5, 1e-60, -1.0 / 3};
  place.write("w.npy", npy(dictionaryOf("<f8", "(2, 2)"), bytesOf(values)));
  const auto imported = importTable(place.path("w.npy"), place.path("t"), {});
  QVERIFY(imported.has_value());
  QCOMPARE(imported->rounded, std::uint64_t{3});
  const auto store = RowStore::openReadOnly(place.path("t")).value();
  for (std::size_t i = 0; i < 4; ++i) QCOMPARE(store->record(0, i / 2)[i % 2], static_cast<float>(values[i]));
  // Text that float32 does not hold is rounded to the nearest, too.
  place.write("w.tsv", "1e-60\t0.1\n1e-400\t1e-45\n");
  QVERIFY(importTable(place.path("w.tsv"), place.path("u"), {}).has_value());
  const auto text = RowStore::openReadOnly(place.path("u")).value();
  QCOMPARE(text->record(0, 0)[0], 0.0f);
  QCOMPARE(text->record(0, 0)[1], 0.1f);
  QCOMPARE(text->record(0, 1)[0], 0.0f);
  QVERIFY(text->record(0, 1)[1] == std::numeric_limits<float>::denorm_min());
}

void TestImport::badFilesAreRefused_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QString>("says");
  const auto add = [](const char* title, const char* name, const std::string& bytes, const char* says) {
    QTest::newRow(title) << name << QByteArray::fromStdString(bytes) << says;
  };
  const auto array = [&](const char* title, const std::string& dictionary, const std::string& data, const char* says) {
    add(title, "w.npy", npy(dictionary, data), says);
  };
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  add("empty", "w.npy", "", "0 bytes long");
  add("another file", "w.npy", std::string(100, 'x'), "not a file of numpy.save");
  add("NumPy 4.0", "w.npy", npy(dictionaryOf("<f4", "(2, 3)"), kSix, 4), "format 4.0");
  add("header longer than the file", "w.npy", npy(dictionaryOf("<f4", "(2, 3)"), "").substr(0, 30), "follow");
  array("big-endian", dictionaryOf(">f4", "(2, 3)"), kSix, "big-endian");
  array("integers", dictionaryOf("<i4", "(2, 3)"), kSix, "type <i4, expected <f4 or <f8");
  array("float16", dictionaryOf("<f2", "(2, 3)"), kSix.substr(0, 12), "type <f2");
  array("fields", "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6,)}\n", kSix, "plain array");
  array("Fortran", dictionaryOf("<f4", "(2, 3)", "True"), kSix, "Fortran order, expected C order");
  array("one dimension", dictionaryOf("<f4", "(6,)"), kSix, "6 single numbers");
  array("three dimensions", dictionaryOf("<f4", "(1, 2, 3)"), kSix, "3 dimensions");
  array("no dimension", dictionaryOf("<f4", "()"), kSix, "0 dimensions");
  array("no rows", dictionaryOf("<f4", "(0, 3)"), "", "0 rows x 3");
  array("no columns", dictionaryOf("<f4", "(3, 0)"), "", "3 rows x 0");
  array("too wide", dictionaryOf("<f4", "(1, 65537)"), kSix, "1 to 65536 columns");
  array("cut short", dictionaryOf("<f4", "(2, 3)"), kSix.substr(1), "23 bytes follow the header, expected 2 x 3 x 4");
  array("longer", dictionaryOf("<f4", "(2, 3)"), kSix + "x", "25 bytes follow the header, expected 2 x 3 x 4");
  array("lengths beyond 64 bits", dictionaryOf("<f4", "(18446744073709551615, 3)"), kSix, "cut short");
  array("length of 65 bits", dictionaryOf("<f4", "(36893488147419103232, 3)"), kSix, "at most 64 bits");
  array("negative length", dictionaryOf("<f4", "(-2, 3)"), kSix, "at most 64 bits");
  array("entry twice", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", kSix, "one each");
  array("entry missing", "{'descr': '<f4', 'shape': (2, 3), }\n", kSix, "fortran_order");
  array("open dictionary", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), ", kSix, "expected");
  array("nan", dictionaryOf("<f4", "(2, 3)"), bytesOf(std::vector<float>{1, 2, 3, 4, nan, 6}), "row 1, column 1: nan");
  array("inf", dictionaryOf("<f4", "(2, 3)"), bytesOf(std::vector<float>{1, 2, inf, 4, 5, 6}), "row 0, column 2: inf");
  array("double beyond float32", dictionaryOf("<f8", "(1, 2)"), bytesOf(std::vector<double>{1, 4e38}),
        "row 0, column 1: 4e+38");

  add("no header", "w.txt", "a 1 2 3\nb 4 5 6\n", "line 1: \"a 1 2 3\", expected two numbers");
  add("empty text", "w.txt", "", "line 1");
  add("no rows in text", "w.txt", "0 3\n", "0 rows of 3");
  add("fewer rows than promised", "w.txt", "3 3\na 1.125 2.125 3.125\nb 4.125 5.125 6.125\n",
      "after 2 rows, expected 3");
  add("far fewer rows", "w.txt", "999999999999 3\na 1 2 3\n", "only 8 bytes follow");
  add("more rows than promised", "w.txt", "1 3\na 1 2 3\nb 4 5 6\n", "line 3: \"b 4 5 6\" follows");
  add("name with a blank", "w.txt", "2 3\na 1 2 3\nb c 4 5 6\n", "line 3: 4 numbers, expected 3; has the name a blank");
  add("too few numbers", "w.txt", "2 3\na 1.5 2.5 3.5\nb 4 5\n", "line 3: 2 numbers, expected 3");
  add("only a name", "w.txt", "2 3\na 1 2 3\nbbbbbbbbb\n", "line 3: \"bbbbbbbbb\", expected a name");
  add("no name", "w.txt", "2 3\na 1 2 3\n 4 5 6\n", "line 3");
  add("tab in a name", "w.txt", "2 3\na 1 2 3\nb\tc 4 5 6\n", "line 3: the name \"b?c\" has the byte 0x09");
  add("CR LF", "w.txt", "2 3\r\na 1 2 3\r\nb 4 5 6\r\n", "line 1: ends in CR LF, expected LF");
  add("CR LF later", "w.txt", "2 3\na 1 2 3\nb 4 5 6\r\n", "line 3: ends in CR LF");
  add("word", "w.txt", "2 3\na 1 2 3\nb 4 x5 6\n", "line 3, number 2: \"x5\", expected a number");
  add("number and more", "w.txt", "2 3\na 1 2 3\nb 4 5z 6\n", "line 3, number 2: \"5z\"");
  add("nan in text", "w.txt", "2 3\na 1 nan 3\nb 4 5 6\n", "line 2, number 2: \"nan\", expected a finite");
  add("infinity in text", "w.txt", "2 3\na 1 -inf 3\nb 4 5 6\n", "line 2, number 2: \"-inf\", expected a finite");
  add("beyond float32", "w.txt", "2 3\na 1 1e39 3\nb 4 5 6\n",
      "line 2, number 2: \"1e39\", expected a number of at most");
  add("beyond float64", "w.txt", "2 3\na 1 1e999 3\nb 4 5 6\n", "\"1e999\", expected a number of at most");
  add("binary word2vec", "w.txt", "2 3\na " + kSix.substr(0, 12) + "\nb " + kSix.substr(12) + "\n", "line 2");

  add("empty tsv", "w.tsv", "", "0 rows");
  add("tsv with names in it", "w.tsv", "a\t1\t2\nb\t3\t4\n", "line 1, number 1: \"a\", expected a number");
  add("tsv of uneven rows", "w.tsv", "1\t2\t3\n4\t5\n", "line 2: 2 numbers, expected 3");
  add("tsv with a blank line", "w.tsv", "1\t2\t3\n\n4\t5\t6\n", "line 2: 0 numbers, expected 3");
  add("tsv with an open tab", "w.tsv", "1\t2\n4\t\n", "line 2, number 2: \"\"");
  add("tsv with blanks", "w.tsv", "1 2 3\n4 5 6\n", "line 1, number 1: \"1 2 3\"");
  add("CR LF in tsv", "w.tsv", "1\t2\r\n3\t4\r\n", "line 1: ends in CR LF");

  add("raw cut short", "w_w.dat", kSix.substr(2), "22 bytes are 1 rows of 3 float32 and 10 bytes more");
  add("raw without a row", "w_w.dat", kSix.substr(0, 8), "0 rows x 3");
  add("nan in raw", "w_w.dat", bytesOf(std::vector<float>{1, 2, nan}), "row 0, column 2: nan");
}

void TestImport::badFilesAreRefused() {
  QFETCH(QString, name);
  QFETCH(QByteArray, bytes);
  QFETCH(QString, says);
  const Place place;
  place.write(name.toStdString(), bytes.toStdString());
  TableImportOptions options;
  if (name.endsWith(".dat")) options.dim = 3;
  const auto refused = importTable(place.path(name.toStdString()), place.path("some/folder"), options);
  QVERIFY(!refused);
  const std::string& message = refused.error().message;
  QVERIFY2(refused.error().code == ErrorCode::input, message.c_str());
  QVERIFY2(has(message, says.toStdString()) && has(message, name.toStdString()) && has(message, "Nothing was imported"),
           message.c_str());
  QCOMPARE(place.left(), QStringList{name});
}

void TestImport::badCompanionsAreRefused_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QString>("says");
  const auto add = [](const char* title, const char* name, const std::string& bytes, const char* says) {
    QTest::newRow(title) << name << QByteArray::fromStdString(bytes) << says;
  };
  const std::string negative = bytesOf(std::vector<float>{1, 2, 3, 4, -5, 6});
  add("other rows", "w-v.npy", npy(dictionaryOf("<f4", "(3, 2)"), kSix), "w-v.npy: 3 x 2, expected 2 x 3");
  add("of another rule", "w-v.npy", npy(dictionaryOf("<f4", "(2,)"), kSix.substr(0, 8)),
      "w-v.npy: 2 x 1, expected 2 x 3");
  add("negative", "w-v.npy", npy(dictionaryOf("<f4", "(2, 3)"), negative), "row 1, column 1: -5");
  add("only one", "", "", "w-v.npy: not there");
  add("raw of other sizes", "r_v.dat", kSix + kSix, "r_v.dat: 4 x 3, expected 2 x 3");
  add("negative in raw", "r_v.dat", negative, "r_v.dat: row 1, column 1: -5");
  add("too few names", "t.tsv.metadata.tsv", "a\n", "1 lines, expected 2");
  add("headings", "t.tsv.metadata.tsv", "name\tkind\na\tx\nb\ty\n", "3 lines, expected 2");
  add("two columns", "t.tsv.metadata.tsv", "a\tx\nb\ty\n", "line 1: the name \"a?x\" has the byte 0x09");
  add("CR LF", "t.tsv.metadata.tsv", "a\r\nb\r\n", "not CR LF");
}

void TestImport::badCompanionsAreRefused() {
  QFETCH(QString, name);
  QFETCH(QByteArray, bytes);
  QFETCH(QString, says);
  const Place place;
  place.write("w.npy", npy(dictionaryOf("<f4", "(2, 3)"), kSix));
  place.write("w-m.npy", npy(dictionaryOf("<f4", "(2, 3)"), kSix));
  place.write("r_w.dat", kSix);
  place.write("r_m.dat", kSix);
  place.write("t.tsv", "1\t2\n3\t4\n");
  if (!name.isEmpty()) place.write(name.toStdString(), bytes.toStdString());
  const QStringList before = place.left();
  const bool raw = name.startsWith("r_"), text = name.startsWith("t.");
  TableImportOptions options;
  if (raw) options.dim = 3;
  const auto refused = importTable(place.path(raw ? "r" : text ? "t.tsv" : "w.npy"), place.path("folder"), options);
  QVERIFY(!refused);
  QVERIFY2(refused.error().code == ErrorCode::input, refused.error().message.c_str());
  QVERIFY2(has(refused.error().message, says.toStdString()), refused.error().message.c_str());
  QCOMPARE(place.left(), before);
}

void TestImport::badOptionsAreRefused() {
  const Place place;
  place.write("w.npy", npy(dictionaryOf("<f4", "(2, 3)"), kSix));
  for (const char* file : {"r_w.dat", "r_m.dat", "r_v.dat", "w.bin"}) place.write(file, kSix);
  const auto refused = [&](const char* file, const TableImportOptions& options, ErrorCode code, const char* says) {
    const auto made = importTable(place.path(file), place.path("t"), options);
    if (made) return false;
    if (made.error().code != code || !has(made.error().message, says)) qWarning("%s", made.error().message.c_str());
    return made.error().code == code && has(made.error().message, says) && place.left().size() == 5;
  };
  TableImportOptions radam = as(TableFormat::raw, 3), name = as(TableFormat::npy);
  radam.rule = Rule::radam;
  name.table = "../out";
  QVERIFY(refused("w.npy", as(TableFormat::npy, 3), ErrorCode::usage, "leave out --dim"));
  QVERIFY(refused("r", as(TableFormat::raw), ErrorCode::usage, "give --dim"));
  QVERIFY(refused("r", as(TableFormat::raw, 70000), ErrorCode::usage, "at most 65536"));
  QVERIFY(refused("r", radam, ErrorCode::usage, "--rule radam"));
  QVERIFY(refused("w.npy", name, ErrorCode::usage, "no name of a table"));
  QVERIFY(refused("w.bin", {}, ErrorCode::usage, "give --format"));
  QVERIFY(refused("absent.npy", {}, ErrorCode::input, "absent.npy"));
  QVERIFY(refused("", as(TableFormat::npy), ErrorCode::input, "no regular file"));
}

void TestImport::longLinesAndManyRowsGoThroughThePieces() {
  const Place place;
  // Lines of 300 KB, so that they lie across pieces of a mebibyte; then rows by the hundred thousand.
  constexpr std::uint32_t kWide = 30000;
  std::string text = fmt::format("9 {}\n", kWide);
  for (int row = 0; row < 9; ++row) {
    text += fmt::format("row{}", row);
    for (std::uint32_t i = 0; i < kWide; ++i) text += fmt::format(" {}.{:06}", row, i);
    text += '\n';
  }
  place.write("wide.txt", text);
  QVERIFY(importTable(place.path("wide.txt"), place.path("wide"), {}).has_value());
  const auto wide = RowStore::openReadOnly(place.path("wide")).value();
  for (std::uint32_t i = 0; i < kWide; i += 997)
    QCOMPARE(wide->record(0, 8)[i], static_cast<float>(8.0 + static_cast<double>(i) / 1e6));
  auto own = RowNames::open(*wide, 0).value();
  QVERIFY(own.has_value());
  for (int row = 0; row < 9; ++row) QCOMPARE(std::string(own->next().value()), fmt::format("row{}", row));
  QVERIFY(!own->next());
  place.write("endless.txt", "1 3\n" + std::string(ByteReader::kLongestLine + (8u << 20), '1'));
  const auto endless = importTable(place.path("endless.txt"), place.path("t"), {});
  QVERIFY(!endless && has(endless.error().message, "line 2: no line end within 16.00 MiB"));
}

void TestImport::aTableOrSomebodysFileIsNeverReplaced() {
  const Place place;
  place.train(Rule::sparseAdam);
  place.write("w.npy", npy(dictionaryOf("<f4", "(2, 3)"), kSix));
  const std::string before = *readTextFile(place.path("table/entities.rows"));
  const auto table = importTable(place.path("w.npy"), place.path("table"), {});
  QVERIFY(!table && has(table.error().message, "holds a table already"));
  QVERIFY(*readTextFile(place.path("table/entities.rows")) == before);
  for (const char* name : {"entities.rows", "entities.names", "entities.names.creating", "store.dsa"}) {
    const std::string folder = place.path(fmt::format("of {}", name));
    QVERIFY(makeFolder(folder).has_value());
    QVERIFY(writeTextFileAtomically(folder + "/" + name, "mine, whatever it is called").has_value());
    const auto refused = importTable(place.path("w.npy"), folder, {});
    QVERIFY2(!refused && refused.error().code == ErrorCode::input, name);
    QCOMPARE(QDir(QString::fromStdString(folder)).entryList(QDir::Files), QStringList{name});
    QCOMPARE(*readTextFile(folder + "/" + name), std::string("mine, whatever it is called"));
  }
  // What lies beside it stays, also when the import fails.
  const std::string folder = place.path("beside");
  QVERIFY(makeFolder(folder).has_value());
  QVERIFY(writeTextFileAtomically(folder + "/notes.txt", "mine").has_value());
  TableImportOptions stopped;
  stopped.shouldStop = [] { return true; };
  QVERIFY(!importTable(place.path("w.npy"), folder, stopped));
  QCOMPARE(QDir(QString::fromStdString(folder)).entryList(QDir::Files), QStringList{"notes.txt"});
  QVERIFY(importTable(place.path("w.npy"), folder, {}).has_value());
  QCOMPARE(RowStore::remove(folder).value(), true);
  QCOMPARE(QDir(QString::fromStdString(folder)).entryList(QDir::Files), QStringList{"notes.txt"});
}

void TestImport::stoppingLeavesNothing() {
  const Place place;
  place.write("w.npy", npy(dictionaryOf("<f4", "(200000, 3)"), bytesOf(std::vector<float>(600000, 1.0f))));
  int asked = 0;
  std::uint64_t most = 0;
  TableImportOptions options;
  options.shouldStop = [&] { return ++asked == 4; };
  options.progress = [&](std::uint64_t done, std::uint64_t) { most = done; };
  const auto stopped = importTable(place.path("w.npy"), place.path("a/b"), options);
  QVERIFY(!stopped);
  QVERIFY(stopped.error().code == ErrorCode::stopped);
  QVERIFY(most > 0 && most < 200000);
  QCOMPARE(place.left(), QStringList{"w.npy"});
}

void TestImport::aFullDiskLeavesNothing() {
  const Place place;
  const QTemporaryDir small;
  place.write("w.npy", npy(dictionaryOf("<f4", "(200000, 3)"), bytesOf(std::vector<float>(600000, 1.0f))));
  const std::string mount = small.path().toStdString();
  if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=2m") != 0) QSKIP("SKIP: mounting a tmpfs needs root");
  const auto full = importTable(place.path("w.npy"), mount + "/t", {});
  const QStringList left = QDir(small.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot);
  ::umount2(mount.c_str(), MNT_DETACH);
  QVERIFY(!full);
  QVERIFY(full.error().code == ErrorCode::machine);
  QVERIFY2(has(full.error().message, "No space left"), full.error().message.c_str());
  QVERIFY(left.isEmpty());
}

void TestImport::aFailureAtEachCallLeavesNothing() {
  const Place place;
  place.write("w.txt", "2 3\na 1 2 3\nb 4 5 6\n");
  const faults::Watch watch;
  int calls = 0, failAt = -1;
  faults::before = [&](const faults::Call& call) {
    return !call.path.ends_with("/lock") && calls++ == failAt ? EIO : 0;
  };
  QVERIFY(importTable(place.path("w.txt"), place.path("whole"), {}).has_value());
  const int all = calls;
  // Beyond the rename that makes it a table, a failure is one of making it durable.
  QVERIFY(all > 15);
  for (failAt = 0; failAt < all; ++failAt) {
    calls = 0;
    const auto failed = importTable(place.path("w.txt"), place.path("t/u"), {});
    if (failed) {
      // A folder above, which may not be ours to sync; the table is whole.
      QCOMPARE(RowStore::remove(place.path("t/u")).value(), true);
      std::filesystem::remove(place.path("t"));
      continue;
    }
    QVERIFY2(failed.error().code == ErrorCode::machine, failed.error().message.c_str());
    QCOMPARE(place.left(), (QStringList{"w.txt", "whole"}));
  }
}

void TestImport::remainsOfAKilledImportAreReplaced() {
  const Place place;
  place.write("w.txt", "2 3\na 1 2 3\nb 4 5 6\n");
  const faults::Watch watch;
  int calls = 0, stopAt = -1;
  // A kill before each call: the folder is put aside as it is then.
  faults::before = [&](const faults::Call&) {
    if (calls++ == stopAt && std::filesystem::exists(place.path("t")))
      std::filesystem::copy(place.path("t"), place.path("killed"), std::filesystem::copy_options::recursive);
    return 0;
  };
  QVERIFY(importTable(place.path("w.txt"), place.path("t"), {}).has_value());
  const int all = calls;
  for (stopAt = 0; stopAt < all; ++stopAt) {
    QVERIFY(RowStore::remove(place.path("t")).has_value());
    calls = 0;
    QVERIFY(importTable(place.path("w.txt"), place.path("t"), {}).has_value());
    faults::before = {};
    if (std::filesystem::exists(place.path("killed/store.dsa"))) {
      QVERIFY(RowStore::openReadOnly(place.path("killed")).has_value());
    } else {
      const auto again = importTable(place.path("w.txt"), place.path("killed"), {});
      QVERIFY2(again.has_value(), again ? "" : fmt::format("call {}: {}", stopAt, again.error().message).c_str());
    }
    std::filesystem::remove_all(place.path("killed"));
    faults::before = [&](const faults::Call&) {
      if (calls++ == stopAt && std::filesystem::exists(place.path("t")))
        std::filesystem::copy(place.path("t"), place.path("killed"), std::filesystem::copy_options::recursive);
      return 0;
    };
  }
}

void TestImport::theRowsAreNotInThePageCache() {
  const Place place;
  place.write("w.npy", npy(dictionaryOf("<f4", "(1000000, 3)"), bytesOf(std::vector<float>(3000000, 1.0f))));
  QVERIFY(importTable(place.path("w.npy"), place.path("t"), {}).has_value());
  const auto file = File::open(place.path("t/entities.rows"), File::Mode::readOnly).value();
  const auto map = Mapping::map(file, file.size().value(), Mapping::Kind::sharedReadOnly).value();
  std::vector<unsigned char> pages(map.size() / 4096 + 1);
  QVERIFY(::mincore(map.data(), map.size(), pages.data()) == 0);
  const auto resident = std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
  if (resident == static_cast<std::ptrdiff_t>(pages.size())) QSKIP("SKIP: the temporary folder is in memory");
  QCOMPARE(resident, std::ptrdiff_t{0});
}

void TestImport::headersOfAnyBytesAreAnswered() {
  // Every beginning of good files, and each with one byte changed: an answer, no crash.
  const std::string files[] = {npy(dictionaryOf("<f4", "(2, 3)"), kSix), "2 3\na 1 2 3\nb 4 5 6\n",
                               "1\t2\t3\n4\t5\t6\n", kSix};
  const TableFormat formats[] = {TableFormat::npy, TableFormat::word2vec, TableFormat::tsv, TableFormat::raw};
  for (int f = 0; f < 4; ++f) {
    const std::uint64_t dim = formats[f] == TableFormat::raw ? 3 : 0;
    const auto read = [&](const std::string& bytes) {
      auto rows = openRows(formats[f], ByteReader(memoryBytes(std::as_bytes(std::span(bytes))), "memory"), dim);
      if (!rows) return std::uint64_t{0};
      std::vector<float> values((*rows)->shape().dim);
      for (std::uint64_t row = 0; row < (*rows)->shape().rows; ++row) {
        if (!(*rows)->next(values)) return row;
      }
      return (*rows)->end() ? (*rows)->shape().rows : std::uint64_t{0};
    };
    QCOMPARE(read(files[f]), std::uint64_t{2});
    const auto shape = readHeader(formats[f], std::as_bytes(std::span(files[f])), dim);
    QVERIFY(shape.has_value());
    QCOMPARE(shape->rows * 100 + shape->dim, std::uint64_t{203});
    for (std::size_t i = 0; i < files[f].size(); ++i) {
      QVERIFY(read(files[f].substr(0, i)) <= 2);
      std::string changed = files[f];
      for (const int change : {0x01, 0x10, 0x20, 0x80}) {
        changed[i] = static_cast<char>(files[f][i] ^ change);
        QVERIFY(read(changed) <= 12);
      }
    }
  }
}

void TestImport::aFileHoldsWhatItsShapeSays() {
  // 61 lines of as many numbers as the first would be 30 times the file: refused before space is taken for them.
  std::string wide = "1";
  for (int i = 0; i < 60; ++i) wide += "\t1";
  wide += std::string(61, '\n');
  const auto shape = readHeader(TableFormat::tsv, std::as_bytes(std::span(wide)), 0);
  QVERIFY(!shape.has_value());
  QVERIFY2(has(shape.error().message, "line 2: 0 numbers, expected 61"), shape.error().message.c_str());
  // A row of 2^64 bytes has none.
  for (const std::uint64_t dim : {std::uint64_t{1} << 62, kMostImportedDim + 1}) {
    const auto raw = readHeader(TableFormat::raw, std::as_bytes(std::span(kSix)), dim);
    QVERIFY(!raw.has_value());
    QVERIFY2(has(raw.error().message, "1 to 65536 columns"), raw.error().message.c_str());
  }
}

QTEST_APPLESS_MAIN(TestImport)
#include "tst_import.moc"
