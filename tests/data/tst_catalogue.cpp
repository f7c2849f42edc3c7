// SPDX-License-Identifier: Apache-2.0
// Bundled and synthetic datasets: counts, order, checksums, and what is said about unknown names.
#include <QElapsedTimer>
#include <QtTest>
#include <set>

#include <nlohmann/json.hpp>
#include "core/base/file.h"
#include "core/data/catalogue.h"
#include "core/data/inspect.h"
#include "core/data/resources.h"
#include "data_test.h"

using namespace dsa;
using namespace dsa::test;
using Strings = std::vector<std::string>;

class TestCatalogue : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() { qputenv("DSA_RESOURCES", DSA_RESOURCES); }
  void entriesTellTheTruth_data();
  void entriesTellTheTruth();
  void nounsAreFast();
  void mammalsAreThePartOfTheNouns();
  void orderIsThatOfTheFiles();
  void damagedFilesAreRefused();
  void missingResourcesAreNamed();
  void trees_data();
  void trees();
  void treeNames();
  void zipf();
  void syntheticLimits_data();
  void syntheticLimits();
  void unknownNames();
  void bundledNamesWin();
  void descriptions();
};

void TestCatalogue::entriesTellTheTruth_data() {
  QTest::addColumn<int>("index");
  for (std::size_t i = 0; i < catalogue().size(); ++i) QTest::newRow(catalogue()[i].name.c_str()) << int(i);
}

void TestCatalogue::entriesTellTheTruth() {
  QFETCH(int, index);
  const CatalogueEntry& entry = catalogue()[std::size_t(index)];
  const auto dataset = loadDataset(entry.name);
  DSA_REQUIRE(dataset);
  QCOMPARE(dataset->name, entry.name);
  QCOMPARE(dataset->kind, entry.kind);
  QCOMPARE(dataset->entityCount, entry.entities);
  QCOMPARE(dataset->relations.size(), entry.relations);
  QCOMPARE(std::uint64_t(dataset->train.size()), entry.train);
  QCOMPARE(std::uint64_t(dataset->valid.size()), entry.valid);
  QCOMPARE(std::uint64_t(dataset->test.size()), entry.test);
  QCOMPARE(dataset->licence, entry.licence);
  // Fixed: a change of content, of ids or of order is a change of every run on it.
  static const std::map<std::string, std::string> kHashes = {
      {"wordnet-mammals", "354717a3f7ad59de275f7eaaf9b9c7e8199be53c50fc7e76360ad92c319971c8"},
      {"wordnet-nouns", "562b265085c0da4fca61623c492648071fb856f67c274802669aa8596b4ab95b"},
      {"umls", "949e1e33fb0e4940006078c526828fe13992b8b6632b1df951574ac614dccb40"},
      {"wn18rr", "4facce37352bc51c7a6e8f001269c76ceec3abbbb03d507b616e67041186281c"},
      {"wn18rr-named", "01717ab3a6e4eb0b947fa73b44b635eba0a6a592efbf793f5c2f7a3223dc5b3a"}};
  QCOMPARE(dataset->sha256, kHashes.at(entry.name));
}

void TestCatalogue::nounsAreFast() {
  QElapsedTimer timer;
  timer.start();
  const auto nouns = loadDataset("wordnet-nouns");
  DSA_REQUIRE(nouns);
  qInfo("wordnet-nouns in %lld ms", static_cast<long long>(timer.elapsed()));
  QVERIFY2(timer.elapsed() < 10'000, "0.3 s alone; the margin is for sanitizers and busy machines");
  QCOMPARE(nouns->train.size(), std::size_t(743'241));
  QVERIFY(
      std::none_of(nouns->train.begin(), nouns->train.end(), [](const Edge& edge) { return edge.head == edge.tail; }));
}

void TestCatalogue::mammalsAreThePartOfTheNouns() {
  const auto nouns = loadDataset("wordnet-nouns");
  const auto mammals = loadDataset("wordnet-mammals");
  DSA_REQUIRE(nouns);
  DSA_REQUIRE(mammals);
  const auto root = nouns->entities.find("mammal.n.01");
  QVERIFY(root);
  std::vector<bool> inside(nouns->entityCount, false);
  inside[*root] = true;
  for (const Edge& edge : nouns->train) {
    if (edge.tail == *root) inside[edge.head] = true;
  }
  for (const char* leaf : {"tusker.n.01", "female_mammal.n.01"}) inside[*nouns->entities.find(leaf)] = false;
  std::vector<Edge> part;
  for (const Edge& edge : nouns->train) {
    if (inside[edge.head] && inside[edge.tail]) part.push_back(edge);
  }
  Strings fromNouns = edgeTexts(*nouns, part), own = edgeTexts(*mammals, mammals->train);
  std::sort(fromNouns.begin(), fromNouns.end());
  std::sort(own.begin(), own.end());
  QCOMPARE(own.size(), std::size_t(6540));
  QCOMPARE(fromNouns, own);
}

void TestCatalogue::orderIsThatOfTheFiles() {
  const auto umls = loadDataset("umls");
  DSA_REQUIRE(umls);
  QCOMPARE(umls->entities.name(0), std::string("acquired_abnormality"));
  QCOMPARE(umls->entities.name(1), std::string("experimental_model_of_disease"));
  QCOMPARE(umls->entities.name(2), std::string("anatomical_abnormality"));
  QCOMPARE(edgeTexts(*umls, umls->train)[1],
           std::string("anatomical_abnormality|manifestation_of|physiologic_function"));
}

void TestCatalogue::damagedFilesAreRefused() {
  const Folder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder.path("datasets"));
  fs::copy(fs::path(DSA_RESOURCES) / "datasets", folder.path("datasets"), fs::copy_options::recursive);
  qputenv("DSA_RESOURCES", folder.path().c_str());
  DSA_REQUIRE(loadDataset("umls"));
  const std::string victim = folder.path("datasets/umls/valid.tsv.xz");
  std::fstream file(victim, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100);
  file.put('!');
  file.close();
  const auto damaged = loadDataset("umls");
  fs::remove(victim);
  const auto missing = loadDataset("umls");
  qputenv("DSA_RESOURCES", DSA_RESOURCES);
  DSA_REFUSED(damaged, "sha256 is");
  DSA_REFUSED(damaged, "umls/valid.tsv.xz");
  DSA_REFUSED(missing, "umls/valid.tsv.xz");
}

void TestCatalogue::missingResourcesAreNamed() {
  qputenv("DSA_RESOURCES", "/nonexistent/place");
  const auto dataset = loadDataset("umls");
  qputenv("DSA_RESOURCES", DSA_RESOURCES);
  DSA_REFUSED(dataset, "DSA_RESOURCES=/nonexistent/place");
  DSA_REFUSED(verifiedDatasetFile("umls/other.xz"), "not listed");
}

void TestCatalogue::trees_data() {
  QTest::addColumn<int>("branching");
  QTest::addColumn<int>("depth");
  QTest::newRow("chain") << 1 << 7;
  QTest::newRow("pair") << 2 << 1;
  QTest::newRow("binary") << 2 << 5;
  QTest::newRow("ternary") << 3 << 4;
  QTest::newRow("broad") << 12 << 3;
}

void TestCatalogue::trees() {
  QFETCH(int, branching);
  QFETCH(int, depth);
  const std::string name = fmt::format("tree:{},{}", branching, depth);
  const auto tree = loadDataset(name);
  DSA_REQUIRE(tree);
  std::uint64_t nodes = 1, level = 1, edges = 0;
  for (int d = 1; d <= depth; ++d) {
    level *= std::uint64_t(branching);
    nodes += level;
    edges += level * std::uint64_t(d);
  }
  QCOMPARE(tree->entityCount, nodes);
  QCOMPARE(std::uint64_t(tree->train.size()), edges);
  QCOMPARE(tree->kind, DatasetKind::hierarchy);
  std::set<std::pair<std::uint32_t, std::uint32_t>> distinct;
  for (const Edge& edge : tree->train) {
    distinct.insert({edge.head, edge.tail});
    QVERIFY(tree->entities.name(edge.head).starts_with(tree->entities.name(edge.tail) + "."));
  }
  QCOMPARE(std::uint64_t(distinct.size()), edges);
  QVERIFY(findCycle(tree->train, tree->entityCount).empty());
}

void TestCatalogue::treeNames() {
  const auto tree = loadDataset("tree:3,2");
  DSA_REQUIRE(tree);
  QCOMPARE(edgeTexts(*tree, tree->train)[0], std::string("0.0|is_below|0"));
  QVERIFY(tree->entities.find("0.1.2").has_value());
  QCOMPARE(loadDataset("tree:3,2")->sha256, tree->sha256);
  QVERIFY(loadDataset("tree:2,3")->sha256 != tree->sha256);
}

void TestCatalogue::zipf() {
  const auto pairs = loadDataset("zipf:1099511627776");
  DSA_REQUIRE(pairs);
  QCOMPARE(pairs->kind, DatasetKind::pairs);
  QCOMPARE(pairs->entityCount, std::uint64_t(1) << 40);
  QCOMPARE(pairs->zipf.rows, std::uint64_t(1) << 40);
  QVERIFY(pairs->train.empty());
  QVERIFY(pairs->entities.memoryBytes() < 1024);
  QCOMPARE(pairs->entities.name(123456789012), std::string("123456789012"));
  QVERIFY(loadDataset("zipf:1000000")->sha256 != pairs->sha256);
}

void TestCatalogue::syntheticLimits_data() {
  QTest::addColumn<QByteArray>("name");
  QTest::addColumn<QByteArray>("message");
  for (const char* bad : {"tree:", "tree:3", "tree:3,", "tree:,3", "tree:0,3", "tree:3,0", "tree:-1,3", "tree:3,5,7",
                          "tree:a,b", "tree:3, 5"}) {
    QTest::newRow(bad) << QByteArray(bad) << QByteArray("expected tree:BRANCHING,DEPTH");
  }
  for (const char* big :
       {"tree:10,30", "tree:2,60", "tree:1,4000000000", "tree:4000000000,1", "tree:18446744073709551615,2"}) {
    QTest::newRow(big) << QByteArray(big) << QByteArray("more than 20000000 pairs");
  }
  for (const char* bad : {"zipf:", "zipf:1", "zipf:x", "zipf:-5", "zipf:1099511627777", "zipf:99999999999999999999"}) {
    QTest::newRow(bad) << QByteArray(bad) << QByteArray("2 to 1099511627776 rows");
  }
}

void TestCatalogue::syntheticLimits() {
  QFETCH(QByteArray, name);
  QFETCH(QByteArray, message);
  const auto dataset = loadDataset(name.toStdString());
  DSA_REFUSED(dataset, message.constData());
  DSA_REFUSED(dataset, name.constData());
  QCOMPARE(dataset.error().code, ErrorCode::input);
}

void TestCatalogue::unknownNames() {
  const auto near = loadDataset("wordnet-mamals");
  DSA_REFUSED(near, "Did you mean wordnet-mammals?");
  DSA_REFUSED(near, "umls");
  DSA_REFUSED(near, "tree:BRANCHING,DEPTH");
  QCOMPARE(near.error().code, ErrorCode::input);
  DSA_REFUSED(loadDataset("mammals"), "Did you mean wordnet-mammals?");
  DSA_REFUSED(loadDataset(""), "unknown dataset");
  const auto far = loadDataset("something-else-entirely");
  QVERIFY(!far && far.error().message.find("Did you mean") == std::string::npos);
  DSA_REFUSED(loadDataset("no/such/file.tsv"), "no/such/file.tsv: there is no such file");
  DSA_REFUSED(loadDataset(std::string(100'000, 'x')), "unknown dataset");
}

void TestCatalogue::bundledNamesWin() {
  const Folder folder;
  folder.write("umls", "a\tr\tb\n");
  const QString before = QDir::currentPath();
  QDir::setCurrent(QString::fromStdString(folder.path()));
  const auto bundled = loadDataset("umls");
  const auto own = loadDataset("./umls");
  QDir::setCurrent(before);
  DSA_REQUIRE(bundled);
  DSA_REQUIRE(own);
  QCOMPARE(bundled->entityCount, std::uint64_t(135));
  QCOMPARE(own->entityCount, std::uint64_t(2));
}

void TestCatalogue::descriptions() {
  QCOMPARE(catalogueJson()["datasets"].size(), catalogue().size());
  QVERIFY(catalogueText().find("743241") != std::string::npos);
  const auto umls = inspectDataset("umls");
  DSA_REQUIRE(umls);
  QCOMPARE(describeJson(*umls)["train"].get<int>(), 5216);
  QVERIFY(describeText(*umls).find("acquired_abnormality | location_of | experimental_model_of_disease") !=
          std::string::npos);
  const auto messy = inspectDataset(std::string(DSA_TEST_DATA) + "/messy/13_missing_field.tsv");
  DSA_REQUIRE(messy);
  const auto json = describeJson(*messy);
  QCOMPARE(json["import"]["bad_lines"]["first"][1]["line"].get<int>(), 7);
  QVERIFY(describeText(*messy).find("line 7: field 2 is empty") != std::string::npos);
  const auto weighted = inspectDataset(std::string(DSA_TEST_DATA) + "/messy/07_weighted_edges.txt");
  DSA_REQUIRE(weighted);
  QCOMPARE(describeJson(*weighted)["import"]["weights"]["highest"].get<double>(), 100.0);
  QVERIFY(describeText(*inspectDataset("zipf:100")).find("no list of edges") != std::string::npos);
}

QTEST_APPLESS_MAIN(TestCatalogue)
#include "tst_catalogue.moc"
