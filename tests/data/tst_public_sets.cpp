// SPDX-License-Identifier: Apache-2.0
// Public datasets that are not bundled, where the reference folder is at hand: counts as published.
#include <QtTest>
#include <filesystem>

#include "core/data/catalogue.h"
#include "data_test.h"

using namespace dsa;
using namespace dsa::test;

namespace {

std::string shared(const std::string& name) { return std::string(DSA_SHARED) + "/data/" + name; }

}  // namespace

class TestPublicSets : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase();
  void counts_data();
  void counts();
  void nounsClosureIsThePublishedOne();
  void oboGivesThePublishedTriples();
};

void TestPublicSets::initTestCase() {
  qputenv("DSA_RESOURCES", DSA_RESOURCES);
  if (!std::filesystem::is_directory(shared(""))) QSKIP("no reference datasets on this machine");
}

void TestPublicSets::counts_data() {
  QTest::addColumn<int>("entities");
  QTest::addColumn<int>("relations");
  QTest::addColumn<int>("train");
  QTest::addColumn<int>("valid");
  QTest::addColumn<int>("test");
  QTest::newRow("fb15k-237") << 14541 << 237 << 272115 << 17535 << 20466;
  QTest::newRow("fb15k-237-named") << 14541 << 237 << 272115 << 17535 << 20466;
  QTest::newRow("kinships") << 104 << 25 << 8544 << 1068 << 1074;
  QTest::newRow("nations") << 14 << 55 << 1592 << 199 << 201;
  QTest::newRow("countries-s1") << 271 << 2 << 1110 << 24 << 24;  // one line stands twice
  QTest::newRow("countries-s3") << 271 << 2 << 984 << 24 << 24;
  QTest::newRow("codex-s") << 2034 << 42 << 32888 << 1827 << 1828;
  QTest::newRow("glottolog/edges.tsv.xz") << 13400 << 1 << 13399 << 0 << 0;
  QTest::newRow("iso-3166/edges.tsv.xz") << 5377 << 1 << 5376 << 0 << 0;
  QTest::newRow("harmonized-system/edges.tsv.xz") << 6962 << 1 << 6961 << 0 << 0;
  QTest::newRow("ncbi-mammalia/edges.tsv.xz") << 9063 << 1 << 9062 << 0 << 0;
  QTest::newRow("gene-ontology/triples.tsv.xz") << 43558 << 5 << 85713 << 0 << 0;
  QTest::newRow("debian-packages/triples.tsv.xz") << 4761 << 10 << 28824 << 0 << 0;
  QTest::newRow("msweb/train.tsv.xz") << 32996 << 1 << 98654 << 0 << 0;
}

void TestPublicSets::counts() {
  QFETCH(int, entities);
  QFETCH(int, relations);
  QFETCH(int, train);
  QFETCH(int, valid);
  QFETCH(int, test);
  const auto dataset = loadDataset(shared(QTest::currentDataTag()));
  DSA_REQUIRE(dataset);
  QCOMPARE(dataset->entityCount, std::uint64_t(entities));
  QCOMPARE(dataset->relations.size(), std::uint64_t(relations));
  QCOMPARE(dataset->train.size(), std::size_t(train));
  QCOMPARE(dataset->valid.size(), std::size_t(valid));
  QCOMPARE(dataset->test.size(), std::size_t(test));
}

void TestPublicSets::nounsClosureIsThePublishedOne() {
  const auto own = loadDataset("wordnet-nouns");
  const auto published = loadDataset(shared("wordnet-nouns/closure.tsv.xz"));
  DSA_REQUIRE(own);
  DSA_REQUIRE(published);
  std::vector<std::string> a = edgeTexts(*own, own->train), b = edgeTexts(*published, published->train);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  QCOMPARE(a.size(), std::size_t(743'241));
  QVERIFY(a == b);
}

void TestPublicSets::oboGivesThePublishedTriples() {
  const auto obo = loadDataset(shared("sequence-ontology/so.obo.xz"));
  const auto triples = loadDataset(shared("sequence-ontology/triples.tsv.xz"));
  DSA_REQUIRE(obo);
  DSA_REQUIRE(triples);
  QCOMPARE(obo->entityCount, std::uint64_t(1951));
  QCOMPARE(obo->relations.size(), std::uint64_t(15));
  QCOMPARE(edgeTexts(*obo, obo->train), edgeTexts(*triples, triples->train));
}

QTEST_APPLESS_MAIN(TestPublicSets)
#include "tst_public_sets.moc"
