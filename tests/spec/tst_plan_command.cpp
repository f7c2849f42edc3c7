// SPDX-License-Identifier: Apache-2.0
// `dsa plan`: its exact figures, verdict against --fit, data sets, and errors with their exit codes.
#include <QTemporaryFile>
#include <QtTest>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/plan_command.h"

using namespace dsa;

namespace {

using Json = nlohmann::json;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

PlanContext context() {
  PlanContext result;
  result.machine.memory = 24 * kGiB;
  result.machine.disk = 100 * kGiB;
  result.datasetFacts = [](const std::string& dataset) -> Result<DatasetFacts> {
    if (dataset == "umls") return DatasetFacts{DatasetFacts::Kind::graph, 135, 46, 5216};
    if (dataset == "zipf:1000000") return DatasetFacts{DatasetFacts::Kind::pairs, 1'000'000, 0, 1'000'000};
    return fail(ErrorCode::input, "{}: no such data set", dataset);
  };
  return result;
}

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

std::string contentsOf(std::FILE* file) {
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  if (std::fread(text.data(), 1, text.size(), file) != text.size()) qFatal("cannot read a temporary file back");
  std::fclose(file);
  return text;
}

Outcome run(std::vector<std::string> words) {
  PlanArguments arguments;
  arguments.spec.recipeFolder = DSA_RESOURCES "/recipes";
  CLI::App app("plan");
  addPlanOptions(app, arguments);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  Outcome outcome;
  outcome.code = planCommand(arguments, context(), out, err);
  outcome.out = contentsOf(out);
  outcome.err = contentsOf(err);
  return outcome;
}

const std::vector<std::string> kTenMillion = {"--rows",       "10000000", "--dim",  "128",
                                              "--batch-rows", "10000",    "--rule", "sparse_adam"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

class TestPlanCommand : public QObject {
  Q_OBJECT
 private slots:
  void printsTheExactFigures();
  void fitDecidesTheVerdict();
  void placementDecidesTheVerdictWithoutFit();
  void textHasBytesAndUnits();
  void dataGivesTheRows();
  void recipeGivesTheTable();
  void errorsHaveExitCodes_data();
  void errorsHaveExitCodes();
  void thisMachineHasMemoryAndDisk();
};

void TestPlanCommand::printsTheExactFigures() {
  const Outcome outcome = run(with(kTenMillion, {"--json"}));
  QCOMPARE(outcome.code, 0);
  QCOMPARE(outcome.err, std::string());
  const Json json = Json::parse(outcome.out);
  QCOMPARE(json.at("weights").get<std::uint64_t>(), std::uint64_t{5'120'000'000});
  QCOMPARE(json.at("moments").get<std::uint64_t>(), std::uint64_t{10'240'000'000});
  QCOMPARE(json.at("total").get<std::uint64_t>(), std::uint64_t{15'360'000'000});
  QCOMPARE(json.at("batch").get<std::uint64_t>(), std::uint64_t{15'360'000});
  QCOMPARE(json.at("device").get<std::uint64_t>(), std::uint64_t{15'360'000});
  QCOMPARE(json.at("disk").get<std::uint64_t>(), std::uint64_t{15'360'000'000});
  QCOMPARE(json.at("rows").get<std::uint64_t>(), std::uint64_t{10'000'000});
  QCOMPARE(json.at("dim").get<std::uint64_t>(), std::uint64_t{128});
  QCOMPARE(json.at("rule").get<std::string>(), std::string("sparse_adam"));
  QCOMPARE(json.at("verdict").get<std::string>(), std::string("fits"));
  QVERIFY(json.at("rivals").size() >= 2);
}

void TestPlanCommand::fitDecidesTheVerdict() {
  const auto verdict = [](const char* size) {
    const Outcome outcome = run(with(kTenMillion, {"--json", "--fit", size}));
    if (outcome.code != 0) qFatal("%s", outcome.err.c_str());
    return Json::parse(outcome.out);
  };
  const Json small = verdict("12 GiB");
  QCOMPARE(small.at("verdict").get<std::string>(), std::string("does not fit"));
  QCOMPARE(small.at("message").get<std::string>(), std::string("needs 14.31 GiB, card has 12.00 GiB; nothing was run"));
  QCOMPARE(verdict("16GiB").at("verdict").get<std::string>(), std::string("tight"));
  QCOMPARE(verdict("24 GiB").at("verdict").get<std::string>(), std::string("fits"));
  bool adagrad = false;
  for (const Json& rival : small.at("rivals")) {
    adagrad = adagrad || (rival.at("name") == "row_adagrad on the GPU" && rival.at("bytes") == 5'160'000'000);
  }
  QVERIFY(adagrad);
}

void TestPlanCommand::placementDecidesTheVerdictWithoutFit() {
  const Json ram = Json::parse(run({"--rows", "20000000", "--dim", "128", "--placement", "ram", "--json"}).out);
  QCOMPARE(ram.at("verdict").get<std::string>(), std::string("does not fit"));
  QVERIFY(ram.at("message").get<std::string>().find("machine's memory has 24.00 GiB") != std::string::npos);
  const Json disk = Json::parse(run({"--rows", "20000000", "--dim", "128", "--json"}).out);
  QCOMPARE(disk.at("verdict").get<std::string>(), std::string("fits"));
  // No card was named and none is known: no verdict rather than a guess.
  const Json gpu = Json::parse(run({"--rows", "20000000", "--dim", "128", "--placement", "gpu", "--json"}).out);
  QVERIFY(gpu.at("verdict").is_null());
}

void TestPlanCommand::textHasBytesAndUnits() {
  const Outcome outcome = run(with(kTenMillion, {"--fit", "12 GiB"}));
  QCOMPARE(outcome.code, 0);
  const QString text = QString::fromStdString(outcome.out);
  for (const char* words : {"15360000000 bytes  14.31 GiB", "5120000000 bytes  4.77 GiB", "10240000000 bytes  9.54 GiB",
                            "15360000 bytes  14.65 MiB", "\nneeds 14.31 GiB, card has 12.00 GiB; nothing was run",
                            "row_adagrad on the GPU", "5160000000 bytes", "dim 91"}) {
    QVERIFY2(text.contains(words), qPrintable(text + "\nlacks " + words));
  }
}

void TestPlanCommand::dataGivesTheRows() {
  const Json json = Json::parse(run({"--data", "umls", "--dim", "64", "--json"}).out);
  QCOMPARE(json.at("rows").get<std::uint64_t>(), std::uint64_t{135});
  QCOMPARE(json.at("tables").size(), std::size_t{2});
  QCOMPARE(json.at("total").get<std::uint64_t>(), std::uint64_t{(135 + 46) * 3 * 64 * 4});
}

void TestPlanCommand::recipeGivesTheTable() {
  const Json json = Json::parse(run({"--recipe", "demo", "--json"}).out);
  QCOMPARE(json.at("total").get<std::uint64_t>(), std::uint64_t{1'536'000'000});
  QCOMPARE(json.at("batch").get<std::uint64_t>(), std::uint64_t{15'360'000});
}

void TestPlanCommand::errorsHaveExitCodes_data() {
  QTest::addColumn<QStringList>("words");
  QTest::addColumn<int>("code");
  QTest::addColumn<QString>("message");
  const auto row = [](const char* name, const QStringList& words, int code, const char* message) {
    QTest::newRow(name) << words << code << message;
  };
  row("nothing", {}, 2, "--rows");
  row("no dim", {"--rows", "5"}, 2, "--dim");
  row("rows 0", {"--rows", "0", "--dim", "5"}, 2, "--rows: 0 is out of range");
  row("rows text", {"--rows", "many", "--dim", "5"}, 2, "--rows: \"many\"");
  row("batch 0", {"--rows", "5", "--dim", "5", "--batch-rows", "0"}, 2, "--batch-rows: 0");
  row("dim 0", {"--rows", "5", "--dim", "0"}, 2, "--dim: 0");
  row("rule", {"--rows", "5", "--dim", "5", "--rule", "adam"}, 2, "--rule: \"adam\"");
  row("rule on the ball", {"--rows", "5", "--dim", "5", "--k", "1", "--rule", "sparse_adam"}, 2,
      "sparse_adam is Euclidean");
  row("absurd", {"--rows", "9000000000000000000", "--dim", "65536"}, 2, "2^63");
  row("fit", {"--rows", "5", "--dim", "5", "--fit", "big"}, 2, "--fit: \"big\"");
  row("rows and data", {"--rows", "5", "--data", "umls"}, 2, "exclude each other");
  row("no such data", {"--data", "nowhere.tsv"}, 3, "nowhere.tsv");
}

void TestPlanCommand::errorsHaveExitCodes() {
  QFETCH(QStringList, words);
  QFETCH(int, code);
  QFETCH(QString, message);
  std::vector<std::string> arguments = {"--json"};
  for (const QString& word : words) arguments.push_back(word.toStdString());
  const Outcome outcome = run(arguments);
  QCOMPARE(outcome.code, code);
  QCOMPARE(outcome.out, std::string());
  QVERIFY2(QString::fromStdString(outcome.err).contains(message), outcome.err.c_str());
}

void TestPlanCommand::thisMachineHasMemoryAndDisk() {
  const PlanCapacity here = machineCapacity("/tmp/not/yet/made");
  QVERIFY(here.memory && *here.memory > (1u << 20));
  QVERIFY(here.disk.has_value());
  QVERIFY(!here.card.has_value());
}

QTEST_APPLESS_MAIN(TestPlanCommand)
#include "tst_plan_command.moc"
