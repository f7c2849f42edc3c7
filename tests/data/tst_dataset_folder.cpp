// SPDX-License-Identifier: Apache-2.0
// What an import writes is read back as the same content, and a failed import leaves nothing.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/file.h"
#include "core/base/random.h"
#include "core/data/dataset_folder.h"
#include "core/data/inspect.h"
#include "data_test.h"

using namespace dsa;
using namespace dsa::test;
namespace fs = std::filesystem;

namespace {

/// A name of letters, blanks, quotes, tabs, separators and other scripts; never empty, no line ends.
std::string randomName(std::uint64_t round, std::uint32_t slot) {
  // The last four need quotes in a tab-separated file; a third of the sets does without.
  static const std::vector<std::string> kPieces = {"a",      "B", "\"", ",",  ";", "#",  "%", "é",      "e\u0301", "北",
                                                   "\u00A0", "1", ".",  "\\", "'", "\t", " ", "\uFEFF", "\t\""};
  const std::size_t pieces = kPieces.size() - (round % 5 < 2 ? 4 : 0);
  const Random4 random = philox(17, Stream::tests, round, slot);
  std::string name;
  for (unsigned i = 0; i <= random.word[0] % 5; ++i) {
    name += kPieces[philox(18, Stream::tests, round * 1000 + slot, i).word[0] % pieces];
  }
  return name;
}

Dataset randomDataset(std::uint64_t round) {
  Dataset dataset;
  dataset.name = "random";
  dataset.kind = round % 2 == 0 ? DatasetKind::graph : DatasetKind::hierarchy;
  const bool weighted = round % 3 == 0;
  if (dataset.kind == DatasetKind::hierarchy) dataset.relations.add("is_below");
  std::set<std::tuple<unsigned, unsigned, unsigned>> seen;
  std::uint32_t slot = 0;
  const auto addEdges = [&](std::vector<Edge>& edges, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      Edge edge{};
      edge.head = dataset.entities.add(randomName(round, slot++));
      edge.tail = dataset.entities.add(randomName(round, slot++));
      if (dataset.kind == DatasetKind::graph) edge.relation = dataset.relations.add(randomName(round, 500 + slot % 3));
      if (edge.head == edge.tail || !seen.insert({edge.head, edge.relation, edge.tail}).second) continue;
      edges.push_back(edge);
      if (weighted && &edges == &dataset.train)
        dataset.trainWeights.push_back(philox(19, Stream::tests, round, slot).word[0] / 7.0);
    }
  };
  addEdges(dataset.train, 12);
  addEdges(dataset.valid, unsigned(round % 4));
  addEdges(dataset.test, unsigned(round % 3));
  dataset.entityCount = dataset.entities.size();
  dataset.sha256 = contentHash(dataset);
  return dataset;
}

}  // namespace

class TestDatasetFolder : public QObject {
  Q_OBJECT
 private slots:
  void writtenIsReadBack();
  void namesOfTwoPartsAreReadBack();
  void aGraphIsReadAsAHierarchy();
  void messySetsRoundTrip_data();
  void messySetsRoundTrip();
  void hashSeesEverything();
  void editedFilesAreTold();
  void nothingIsOverwritten();
  void failedImportLeavesNothing();
  void newerFormatIsRefused();
  void foreignJsonIsIgnored();
};

void TestDatasetFolder::writtenIsReadBack() {
  const Folder folder;
  int quoted = 0;
  for (std::uint64_t round = 0; round < 200; ++round) {
    const Dataset dataset = randomDataset(round);
    const std::string path = folder.path(fmt::format("d{}", round));
    DSA_REQUIRE(writeDataset(dataset, path));
    const auto back = importDataset(path, {});
    DSA_REQUIRE(back);
    QVERIFY2(back->dataset.sha256 == dataset.sha256, fmt::format("round {} in {}", round, path).c_str());
    QVERIFY(names(back->dataset.entities) == names(dataset.entities));
    QVERIFY(back->dataset.train == dataset.train && back->dataset.trainWeights == dataset.trainWeights);
    QVERIFY(!anyContains(back->dataset.warnings, "has changed"));
    quoted += back->report.quotes;
  }
  QVERIFY(quoted > 20 && quoted < 200);
}

void TestDatasetFolder::namesOfTwoPartsAreReadBack() {
  // The id is as long as one may be; "user" and a blank come before it.
  const Folder folder;
  const std::string file = folder.write("ratings.csv", "user,item\n" + std::string(65536, 'x') + ",7\n");
  const auto written = importToFolder(file, folder.path("out"));
  DSA_REQUIRE(written);
  const auto back = importDataset(folder.path("out"), {});
  DSA_REQUIRE(back);
  QVERIFY(back->dataset.sha256 == written->dataset.sha256);
}

void TestDatasetFolder::aGraphIsReadAsAHierarchy() {
  const Folder folder;
  const std::string openKe = std::string(DSA_TEST_DATA) + "/messy/25_openke";
  DSA_REQUIRE(importToFolder(openKe, folder.path("out")));
  ImportOptions options;
  options.asHierarchy = Choice::yes;
  const auto first = importDataset(openKe, options), second = importDataset(folder.path("out"), options);
  DSA_REQUIRE(first);
  DSA_REQUIRE(second);
  QVERIFY(second->dataset.kind == DatasetKind::hierarchy);
  QCOMPARE(names(second->dataset.relations), (std::vector<std::string>{"is_below"}));
  QCOMPARE(second->dataset.sha256, first->dataset.sha256);
  QVERIFY(!anyContains(second->dataset.warnings, "has changed"));
}

void TestDatasetFolder::messySetsRoundTrip_data() {
  QTest::addColumn<QByteArray>("file");
  for (const char* file : {"01_header_quotes.csv", "06_mini.obo", "07_weighted_edges.txt", "19_cyrillic_chinese.tsv",
                           "22_movielens_ratings.csv", "25_openke", "26_splits", "27_hierarchy_cycle.tsv",
                           "31_comments_and_hash_names.tsv"}) {
    QTest::newRow(file) << QByteArray(file);
  }
}

void TestDatasetFolder::messySetsRoundTrip() {
  QFETCH(QByteArray, file);
  const Folder folder;
  const auto written = importToFolder(std::string(DSA_TEST_DATA) + "/messy/" + file.toStdString(), folder.path("out"));
  DSA_REQUIRE(written);
  const auto back = loadDataset(folder.path("out"));
  DSA_REQUIRE(back);
  QCOMPARE(back->sha256, written->dataset.sha256);
  QCOMPARE(back->name, written->dataset.name);
  const auto json = nlohmann::json::parse(readTextFile(folder.path("out/dataset.json")).value());
  QCOMPARE(json["sha256"].get<std::string>(), written->dataset.sha256);
  QCOMPARE(json["train"].get<std::size_t>(), back->train.size());
}

void TestDatasetFolder::hashSeesEverything() {
  const Dataset base = randomDataset(0);
  std::set<std::string> hashes = {contentHash(base)};
  const auto changed = [&](auto change) {
    Dataset dataset = base;
    change(dataset);
    return hashes.insert(contentHash(dataset)).second;
  };
  QVERIFY(changed([](Dataset& d) { d.kind = DatasetKind::hierarchy; }));
  QVERIFY(changed([](Dataset& d) { d.entities.add("one more"); }));
  QVERIFY(changed([](Dataset& d) { d.relations.add("one more"); }));
  QVERIFY(changed([](Dataset& d) { std::swap(d.train[0], d.train[1]); }));
  QVERIFY(changed([](Dataset& d) { d.train[0].tail ^= 1; }));
  QVERIFY(changed([](Dataset& d) { d.trainWeights[0] += 1; }));
  QVERIFY(changed([](Dataset& d) { d.valid.push_back(d.train.back()), d.train.pop_back(); }));
  QVERIFY(!changed([](Dataset& d) { d.name = "other", d.licence = "other", d.warnings = {"other"}; }));
}

void TestDatasetFolder::editedFilesAreTold() {
  const Folder folder;
  const Dataset dataset = randomDataset(1);
  DSA_REQUIRE(writeDataset(dataset, folder.path("d")));
  std::ofstream(folder.path("d/train.tsv"), std::ios::app) << "new\tother\n";
  const auto back = importDataset(folder.path("d"), {});
  DSA_REQUIRE(back);
  QVERIFY(anyContains(back->dataset.warnings, "has changed since it was written"));
}

void TestDatasetFolder::nothingIsOverwritten() {
  const Folder folder;
  fs::create_directories(folder.path("full"));
  folder.write("full/precious", "x");
  const Dataset dataset = randomDataset(2);
  DSA_REFUSED(writeDataset(dataset, folder.path("full")), "nothing was written");
  QCOMPARE(std::distance(fs::directory_iterator(folder.path("full")), {}), 1);
  folder.write("file", "x");
  DSA_REFUSED(writeDataset(dataset, folder.path("file")), "something there already");
  fs::create_directories(folder.path("empty"));
  DSA_REQUIRE(writeDataset(dataset, folder.path("empty/")));
  QVERIFY(fs::exists(folder.path("empty/dataset.json")));
  DSA_REQUIRE(writeDataset(dataset, folder.path("new/deep/er")));
}

void TestDatasetFolder::failedImportLeavesNothing() {
  const Folder folder;
  const std::string messy = std::string(DSA_TEST_DATA) + "/messy/";
  QVERIFY(!importToFolder(messy + "13_missing_field.tsv", folder.path("out")));
  QVERIFY(!importToFolder(messy + "15_latin1.csv", folder.path("out")));
  QVERIFY(!importToFolder(messy + "16_empty.tsv", folder.path("out")));
  DSA_REFUSED(importToFolder("zipf:100", folder.path("out")), "no edges to write");
  QVERIFY(fs::is_empty(folder.path()));
  // A file-size limit in place of a full disk: writing fails half way.
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("node-{}\tr\tnode-{}\n", i, i + 1);
  folder.write("big.tsv", text);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto written = importToFolder(folder.path("big.tsv"), folder.path("out"));
    _exit(written ? 1 : written.error().code == ErrorCode::machine ? 0 : 2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  QVERIFY(WIFEXITED(status));
  QCOMPARE(WEXITSTATUS(status), 0);
  QCOMPARE(std::distance(fs::directory_iterator(folder.path()), {}), 1);  // big.tsv and no leavings
}

void TestDatasetFolder::newerFormatIsRefused() {
  const Folder folder;
  DSA_REQUIRE(writeDataset(randomDataset(4), folder.path("d")));
  folder.write("d/dataset.json", R"({"format": "dsa-lab dataset 2", "kind": "graph"})");
  DSA_REFUSED(importDataset(folder.path("d"), {}), "newer version");
}

void TestDatasetFolder::foreignJsonIsIgnored() {
  const Folder folder;
  folder.write("dataset.json", "{\"format\": 7}");
  folder.write("train.tsv", "a\tr\tb\n");
  const auto result = importDataset(folder.path(), {});
  DSA_REQUIRE(result);
  QCOMPARE(result->dataset.entityCount, std::uint64_t(2));
}

QTEST_APPLESS_MAIN(TestDatasetFolder)
#include "tst_dataset_folder.moc"
