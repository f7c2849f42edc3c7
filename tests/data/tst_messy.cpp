// SPDX-License-Identifier: Apache-2.0
// Every file of tests/messy gives the answer that its README states.
#include <QtTest>
#include <algorithm>

#include "data_test.h"

using namespace dsa;
using namespace dsa::test;
using Strings = std::vector<std::string>;
using Lines = std::vector<std::uint64_t>;

namespace {

std::string messy(const std::string& name) { return std::string(DSA_TEST_DATA) + "/messy/" + name; }

Result<Imported> read(const std::string& name, ImportOptions options = {}) {
  return importDataset(messy(name), options);
}

ImportOptions skipping() {
  ImportOptions options;
  options.badLines = BadLines::skip;
  return options;
}

}  // namespace

class TestMessy : public QObject {
  Q_OBJECT
 private slots:
  void counts_data();
  void counts();
  void quotedNamesAndHeader();
  void byteOrderMarkIsNoLetter();
  void carriageReturnsAreNoLetters();
  void oboTermsHaveTheirNames();
  void weightsAndTheQuestion();
  void gzipIsKnownByItsContent();
  void duplicatesAreDroppedAndCounted();
  void badLinesAreNumbered();
  void otherEncodingIsOffered();
  void emptyFileIsRefused();
  void unicodeFormsAreTold();
  void usersAndItemsAreApart();
  void openKeOrder();
  void splitsAreCompared();
  void cycleIsNamed();
  void hashNamesAreNoComments();
};

void TestMessy::counts_data() {
  QTest::addColumn<int>("entities");
  QTest::addColumn<int>("relations");
  QTest::addColumn<int>("train");
  QTest::addColumn<int>("valid");
  QTest::addColumn<int>("test");
  QTest::newRow("01_header_quotes.csv") << 5 << 3 << 5 << 0 << 0;
  QTest::newRow("03_utf8_bom.tsv") << 5 << 2 << 4 << 0 << 0;
  QTest::newRow("04_crlf_no_final_newline.tsv") << 4 << 2 << 4 << 0 << 0;
  QTest::newRow("06_mini.obo") << 4 << 3 << 5 << 0 << 0;
  QTest::newRow("07_weighted_edges.txt") << 4 << 1 << 5 << 0 << 0;
  QTest::newRow("10_triples.tsv.gz") << 5 << 1 << 4 << 0 << 0;
  QTest::newRow("12_duplicates.tsv") << 3 << 2 << 3 << 0 << 0;
  QTest::newRow("13_missing_field.tsv") << 4 << 2 << 4 << 0 << 0;
  QTest::newRow("19_cyrillic_chinese.tsv") << 14 << 5 << 8 << 0 << 0;
  QTest::newRow("22_movielens_ratings.csv") << 6 << 1 << 5 << 0 << 0;
  QTest::newRow("25_openke") << 4 << 2 << 4 << 0 << 0;
  QTest::newRow("26_splits") << 4 << 3 << 3 << 1 << 4;
  QTest::newRow("27_hierarchy_cycle.tsv") << 6 << 1 << 6 << 0 << 0;
  QTest::newRow("31_comments_and_hash_names.tsv") << 4 << 2 << 3 << 0 << 0;
}

void TestMessy::counts() {
  QFETCH(int, entities);
  QFETCH(int, relations);
  QFETCH(int, train);
  QFETCH(int, valid);
  QFETCH(int, test);
  const auto result = read(QTest::currentDataTag(), skipping());
  DSA_REQUIRE(result);
  const Dataset& dataset = result->dataset;
  QCOMPARE(dataset.entityCount, std::uint64_t(entities));
  QCOMPARE(dataset.entities.size(), std::uint64_t(entities));
  QCOMPARE(dataset.relations.size(), std::uint64_t(relations));
  QCOMPARE(dataset.train.size(), std::size_t(train));
  QCOMPARE(dataset.valid.size(), std::size_t(valid));
  QCOMPARE(dataset.test.size(), std::size_t(test));
  QCOMPARE(dataset.sha256, contentHash(dataset));
}

void TestMessy::quotedNamesAndHeader() {
  const auto result = read("01_header_quotes.csv");
  DSA_REQUIRE(result);
  QVERIFY(result->report.header);
  QCOMPARE(result->report.separator, Separator::comma);
  QCOMPARE(names(result->dataset.entities),
           (Strings{"Bolt, hex, M8", "Kit \"Starter\"", "Nut, hex, M8", "Washer M8", "Shop No. 1, Main St"}));
  QCOMPARE(names(result->dataset.relations), (Strings{"part_of", "fits", "sold_in"}));
}

void TestMessy::byteOrderMarkIsNoLetter() {
  const auto result = read("03_utf8_bom.tsv");
  DSA_REQUIRE(result);
  QVERIFY(result->report.byteOrderMark);
  QCOMPARE(result->dataset.entities.name(0), std::string("oak"));
}

void TestMessy::carriageReturnsAreNoLetters() {
  const auto result = read("04_crlf_no_final_newline.tsv");
  DSA_REQUIRE(result);
  QCOMPARE(names(result->dataset.entities), (Strings{"/x/a1", "/x/b1", "/x/a2", "/x/c1"}));
}

void TestMessy::oboTermsHaveTheirNames() {
  const auto result = read("06_mini.obo");
  DSA_REQUIRE(result);
  QCOMPARE(result->report.format, std::string("OBO"));
  QCOMPARE(result->report.obsoleteTerms, std::uint64_t(1));
  QCOMPARE(edgeTexts(result->dataset, result->dataset.train),
           (Strings{"vehicle|is_a|thing", "car|is_a|vehicle", "car|has_part|wheel", "wheel|is_a|thing",
                    "wheel|part_of|car"}));
  QCOMPARE(result->dataset.kind, DatasetKind::graph);
  ImportOptions asTree;
  asTree.asHierarchy = Choice::yes;
  const auto tree = read("06_mini.obo", asTree);
  DSA_REQUIRE(tree);
  QCOMPARE(tree->dataset.kind, DatasetKind::hierarchy);
  QCOMPARE(tree->dataset.train.size(), std::size_t(3));
}

void TestMessy::weightsAndTheQuestion() {
  const auto result = read("07_weighted_edges.txt");
  DSA_REQUIRE(result);
  QCOMPARE(result->dataset.trainWeights, (std::vector<double>{1, 0.25, 3, 0.5, 100}));
  QVERIFY(result->report.weighted && result->report.implicitRelation);
  QCOMPARE(result->report.weightHighest, 100.0);
  QCOMPARE(result->report.comments, std::uint64_t(2));
  QCOMPARE(result->report.separator, Separator::blanks);
  QVERIFY(anyContains(result->report.questions, "could also be triples"));
  ImportOptions triples;
  triples.columns = {ColumnRole::head, ColumnRole::relation, ColumnRole::tail};
  const auto other = read("07_weighted_edges.txt", triples);
  DSA_REQUIRE(other);
  QCOMPARE(edgeTexts(other->dataset, other->dataset.train).front(), std::string("a|b|1.0"));
}

void TestMessy::gzipIsKnownByItsContent() {
  const auto result = read("10_triples.tsv.gz");
  DSA_REQUIRE(result);
  QCOMPARE(names(result->dataset.entities), (Strings{"mercury", "sun", "venus", "earth", "moon"}));
  const Folder folder;
  QFile file(QString::fromStdString(messy("10_triples.tsv.gz")));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QByteArray bytes = file.readAll();
  const auto renamed = importDataset(folder.write("plain.txt", {bytes.data(), std::size_t(bytes.size())}), {});
  DSA_REQUIRE(renamed);
  QCOMPARE(renamed->dataset.sha256, result->dataset.sha256);
}

void TestMessy::duplicatesAreDroppedAndCounted() {
  const auto result = read("12_duplicates.tsv");
  DSA_REQUIRE(result);
  QCOMPARE(result->report.duplicates.total, std::uint64_t(3));
  QCOMPARE(linesOf(result->report.duplicates), (Lines{2, 4, 5}));
  QCOMPARE(names(result->dataset.relations), (Strings{"r", "R"}));
  QCOMPARE(result->report.nearNames.total, std::uint64_t(1));
  QVERIFY(anyContains(result->dataset.warnings, "`r` and `R` differ only in case"));
  QVERIFY(anyContains(result->dataset.warnings, "3 duplicates dropped: lines 2, 4, 5"));
}

void TestMessy::badLinesAreNumbered() {
  const auto stopped = read("13_missing_field.tsv");
  DSA_REFUSED(stopped, "line 5: 2 fields, expected 3; line 7: field 2 is empty");
  DSA_REFUSED(stopped, "that leaves 4 entities, 2 relations, 4 edges");
  QCOMPARE(stopped.error().code, ErrorCode::input);
  const auto skipped = read("13_missing_field.tsv", skipping());
  DSA_REQUIRE(skipped);
  QCOMPARE(linesOf(skipped->report.badLines), (Lines{5, 7}));
  QCOMPARE(skipped->report.blankLines, std::uint64_t(1));
  QCOMPARE(names(skipped->dataset.entities), (Strings{"a", "b", "c", "e"}));
}

void TestMessy::otherEncodingIsOffered() {
  for (const ImportOptions& options : {ImportOptions{}, skipping()}) {
    const auto result = read("15_latin1.csv", options);
    DSA_REFUSED(result, "line 3, byte 4 (file offset 42)");
    DSA_REFUSED(result, "windows-1252");
    DSA_REFUSED(result, "Café,type,Bebida");
  }
  ImportOptions chosen;
  chosen.encoding = Encoding::windows1252;
  const auto result = read("15_latin1.csv", chosen);
  DSA_REQUIRE(result);
  QCOMPARE(names(result->dataset.entities), (Strings{"Queso", "Alimento", "Café", "Bebida", "Producto"}));
  QCOMPARE(result->dataset.relations.size(), std::uint64_t(2));
  QCOMPARE(result->dataset.train.size(), std::size_t(4));
}

void TestMessy::emptyFileIsRefused() { DSA_REFUSED(read("16_empty.tsv", skipping()), "the file is empty"); }

void TestMessy::unicodeFormsAreTold() {
  const auto result = read("19_cyrillic_chinese.tsv");
  DSA_REQUIRE(result);
  QCOMPARE(result->report.nearNames.total, std::uint64_t(1));
  QVERIFY(anyContains(result->dataset.warnings, "`café` stands in two Unicode forms (lines 6, 7)"));
  QCOMPARE(result->dataset.entities.name(0), std::string("Москва"));
  ImportOptions nfc;
  nfc.unicode = UnicodeForm::nfc;
  const auto joined = read("19_cyrillic_chinese.tsv", nfc);
  DSA_REQUIRE(joined);
  QCOMPARE(joined->dataset.entityCount, std::uint64_t(13));
  QCOMPARE(joined->dataset.relations.size(), std::uint64_t(5));
  QCOMPARE(joined->dataset.train.size(), std::size_t(7));
  QCOMPARE(joined->report.nearNames.total, std::uint64_t(0));
}

void TestMessy::usersAndItemsAreApart() {
  const auto all = read("22_movielens_ratings.csv");
  DSA_REQUIRE(all);
  QCOMPARE(names(all->dataset.entities), (Strings{"user 1", "movie 10", "movie 20", "user 2", "movie 30", "user 3"}));
  QVERIFY(anyContains(all->report.questions, "at least 4 would leave 2"));
  ImportOptions liked;
  liked.minWeight = 4;
  const auto result = read("22_movielens_ratings.csv", liked);
  DSA_REQUIRE(result);
  QCOMPARE(edgeTexts(result->dataset, result->dataset.train),
           (Strings{"user 1|rated|movie 10", "user 2|rated|movie 10"}));
  QCOMPARE(result->report.belowMinWeight, std::uint64_t(3));
}

void TestMessy::openKeOrder() {
  const auto result = read("25_openke");
  DSA_REQUIRE(result);
  QCOMPARE(result->report.format, std::string("OpenKE folder"));
  QCOMPARE(edgeTexts(result->dataset, result->dataset.train),
           (Strings{"red fox|is_a|mammal", "mammal|is_a|animal", "animal|kind_of|thing", "red fox|kind_of|thing"}));
  QVERIFY(anyContains(result->dataset.warnings, "(lines 3-5)"));
  ImportOptions wrong = skipping();
  wrong.columns = {ColumnRole::head, ColumnRole::relation, ColumnRole::tail};
  const auto other = read("25_openke", wrong);
  DSA_REQUIRE(other);
  QCOMPARE(linesOf(other->report.badLines), (Lines{3, 4, 5}));
}

void TestMessy::splitsAreCompared() {
  const auto result = read("26_splits");
  DSA_REQUIRE(result);
  QCOMPARE(linesOf(result->report.unseen), (Lines{2, 3}));
  QCOMPARE(linesOf(result->report.leaks), (Lines{4}));
  QVERIFY(anyContains(result->dataset.warnings, "test line 2: entity `new` is not in train"));
  QVERIFY(anyContains(result->dataset.warnings, "test line 3: relation `q` is not in train"));
  QVERIFY(anyContains(result->dataset.warnings, "test line 4: a r b is also in train"));
}

void TestMessy::cycleIsNamed() {
  for (const bool closure : {false, true}) {
    ImportOptions options;
    options.closure = closure;
    const auto result = read("27_hierarchy_cycle.tsv", options);
    DSA_REQUIRE(result);
    QCOMPARE(result->dataset.kind, DatasetKind::hierarchy);
    QCOMPARE(cycleText(result->report.cycle), std::string("dog > canine > mammal > animal > dog"));
    QVERIFY(anyContains(result->dataset.warnings, "dog > canine > mammal > animal > dog"));
    // Closed: 4 nodes of the cycle reach 3 others each, feline those 4, cat feline and those 4.
    QCOMPARE(result->dataset.train.size(), std::size_t(closure ? 4 * 3 + 4 + 5 : 6));
  }
}

void TestMessy::hashNamesAreNoComments() {
  const auto result = read("31_comments_and_hash_names.tsv");
  DSA_REQUIRE(result);
  QCOMPARE(result->report.comments, std::uint64_t(1));
  QCOMPARE(names(result->dataset.entities), (Strings{"C#", "C++", "C", "#channel"}));
  QVERIFY(anyContains(result->dataset.warnings, "the first is line 4"));
}

QTEST_APPLESS_MAIN(TestMessy)
#include "tst_messy.moc"
