// SPDX-License-Identifier: Apache-2.0
// Defaults by data set and rule, and combinations that are refused.
#include <QtTest>
#include <cmath>

#include "core/spec/resolve.h"

using namespace dsa;

namespace {

const DatasetFacts kMammals{DatasetFacts::Kind::hierarchy, 1180, 0, 6540};
const DatasetFacts kUmls{DatasetFacts::Kind::graph, 135, 46, 5216};
const DatasetFacts kZipf{DatasetFacts::Kind::pairs, 1'000'000, 0, 1'000'000};

const DatasetFacts& factsNamed(const QString& name) {
  if (name == "hierarchy") return kMammals;
  return name == "graph" ? kUmls : kZipf;
}

Result<ResolvedSpec> resolved(const std::string& json, const DatasetFacts& facts) {
  auto spec = parseSpec(json);
  if (!spec) return tl::unexpected<Error>(spec.error());
  if (!spec->dataset) spec->dataset = "d";
  return resolve(*spec, facts);
}

}  // namespace

class TestResolve : public QObject {
  Q_OBJECT
 private slots:
  void defaultsFollowDataAndCurvature_data();
  void defaultsFollowDataAndCurvature();
  void fixedDefaults();
  void rowsAreSteppedWhereThatCanBe();
  void ratesFollowTheRule_data();
  void ratesFollowTheRule();
  void explicitValuesWin();
  void clashesAreRefusedInWords_data();
  void clashesAreRefusedInWords();
  void combinationsThatFit_data();
  void combinationsThatFit();
  void valuesSetByProgramsAreCheckedToo();
  void stepsDecideTheEpochs();
  void resolvingAgainChangesNothing();
};

void TestResolve::defaultsFollowDataAndCurvature_data() {
  QTest::addColumn<QString>("kind");
  QTest::addColumn<double>("k");
  QTest::addColumn<QString>("model");
  QTest::addColumn<QString>("rule");
  QTest::addColumn<int>("dim");
  QTest::addColumn<int>("batch");
  QTest::addColumn<int>("burnIn");
  QTest::newRow("hierarchy, flat") << "hierarchy" << 0.0 << "poincare"
                                   << "sparse_adam" << 10 << 10 << 0;
  QTest::newRow("hierarchy, ball") << "hierarchy" << 1.0 << "poincare"
                                   << "radam" << 10 << 10 << 20;
  QTest::newRow("graph") << "graph" << 0.0 << "distmult"
                         << "sparse_adam" << 10 << 512 << 0;
  QTest::newRow("pairs, flat") << "pairs" << 0.0 << "euclidean"
                               << "sparse_adam" << 128 << 1000 << 0;
  QTest::newRow("pairs, ball") << "pairs" << 1.0 << "poincare"
                               << "radam" << 128 << 1000 << 0;  // 1 epoch: a tenth is 0
}

void TestResolve::defaultsFollowDataAndCurvature() {
  QFETCH(QString, kind);
  QFETCH(double, k);
  const auto spec = resolved("{\"k\": " + std::to_string(k) + "}", factsNamed(kind));
  QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
  QTEST(QString::fromStdString(std::string(choiceName(spec->model))), "model");
  QTEST(QString::fromStdString(std::string(choiceName(spec->optimizer.rule))), "rule");
  QTEST(static_cast<int>(spec->dim), "dim");
  QTEST(static_cast<int>(spec->train.batch), "batch");
  QTEST(static_cast<int>(spec->train.burnIn), "burnIn");
}

void TestResolve::fixedDefaults() {
  const auto spec = resolved("{}", kMammals);
  QVERIFY(spec.has_value());
  QCOMPARE(spec->k, 0.0);
  QVERIFY(spec->optimizer.placement == PlacementChoice::disk);
  QVERIFY(spec->optimizer.engine == EngineChoice::automatic);
  QVERIFY(spec->optimizer.reduction == ReductionChoice::sum);
  QCOMPARE(spec->optimizer.ballMargin, 1e-5);
  QCOMPARE(spec->optimizer.gradientCap, 5.0);
  QCOMPARE(spec->optimizer.beta1, 0.9);
  QCOMPARE(spec->optimizer.beta2, 0.999);
  QCOMPARE(spec->optimizer.initScale, 1e-3);
  QCOMPARE(spec->train.seed, std::uint64_t{1});
  QVERIFY(spec->train.threads >= 1);
  QCOMPARE(spec->ramBudget, std::uint64_t{0});
  QCOMPARE(spec->device, std::string("cpu"));
  QCOMPARE(spec->checkpoint.everyS, 60.0);
  QVERIFY(spec->checkpoint.durability == DurabilityChoice::process);
  QCOMPARE(resolved("{}", kUmls)->optimizer.initScale, std::sqrt(0.3));
  QCOMPARE(resolved(R"({"optimizer": {"placement": "gpu"}})", kMammals)->device, std::string("cuda:0"));
  QVERIFY(spec->optimizer.update == UpdateChoice::automatic);
}

void TestResolve::rowsAreSteppedWhereThatCanBe() {
  for (const char* fits : {R"({"device": "sim:1 GiB", "optimizer": {"update": "device"}})",
                           R"({"device": "cuda:0", "optimizer": {"update": "device", "placement": "ram"}})",
                           R"({"device": "cuda:0", "optimizer": {"update": "device", "placement": "gpu"}})",
                           R"({"optimizer": {"update": "cpu"}})"})
    QVERIFY2(resolved(fits, kMammals).has_value(), fits);
  const auto noDevice = resolved(R"({"optimizer": {"update": "device"}})", kMammals);
  QVERIFY(!noDevice.has_value());
  QVERIFY(noDevice.error().message.find("optimizer.update: device does not fit device cpu") == 0);
  const auto onCard = resolved(R"({"optimizer": {"update": "cpu", "placement": "gpu"}})", kMammals);
  QVERIFY(!onCard.has_value());
  QVERIFY(onCard.error().message.find("optimizer.update: cpu does not fit placement gpu") == 0);
}

void TestResolve::ratesFollowTheRule_data() {
  QTest::addColumn<QString>("rule");
  QTest::addColumn<double>("k");
  QTest::addColumn<double>("lr");
  QTest::addColumn<double>("eps");
  QTest::addColumn<QString>("decay");
  QTest::addColumn<QString>("map");
  QTest::newRow("sparse_adam") << "sparse_adam" << 0.0 << 0.01 << 1e-8 << "none"
                               << "exp";
  QTest::newRow("dsa flat") << "dsa" << 0.0 << 0.01 << 1e-8 << "none"
                            << "exp";
  QTest::newRow("dsa ball") << "dsa" << 1.0 << 0.1 << 1.0 << "linear"
                            << "exp";
  QTest::newRow("radam flat") << "radam" << 0.0 << 0.01 << 1e-8 << "none"
                              << "exp";
  QTest::newRow("radam ball") << "radam" << 1.0 << 0.1 << 1.0 << "linear"
                              << "exp";
  QTest::newRow("rsgd ball") << "rsgd" << 1.0 << 0.1 << 1e-8 << "none"
                             << "retraction";
  QTest::newRow("rsgd flat") << "rsgd" << 0.0 << 0.1 << 1e-8 << "none"
                             << "retraction";
  QTest::newRow("row_adagrad") << "row_adagrad" << 0.0 << 0.1 << 1e-10 << "none"
                               << "exp";
}

void TestResolve::ratesFollowTheRule() {
  QFETCH(QString, rule);
  QFETCH(double, k);
  const std::string json = QString(R"({"k": %1, "optimizer": {"rule": "%2"}})").arg(k).arg(rule).toStdString();
  const auto spec = resolved(json, kMammals);
  QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
  QTEST(spec->optimizer.lr, "lr");
  QTEST(spec->optimizer.eps, "eps");
  QTEST(QString::fromStdString(std::string(choiceName(spec->optimizer.lrDecay))), "decay");
  QTEST(QString::fromStdString(std::string(choiceName(spec->optimizer.map))), "map");
}

void TestResolve::explicitValuesWin() {
  const auto spec =
      resolved(R"({"dim": 3, "k": 1, "optimizer": {"rule": "radam", "lr": 0.5, "eps": 0.25, "lr_decay": "none",
      "map": "retraction"}, "train": {"batch": 7, "burn_in": 0, "threads": 3}})",
               kMammals);
  QVERIFY(spec.has_value());
  QCOMPARE(spec->optimizer.lr, 0.5);
  QCOMPARE(spec->optimizer.eps, 0.25);
  QVERIFY(spec->optimizer.lrDecay == DecayChoice::none);
  QVERIFY(spec->optimizer.map == BallMap::retraction);
  QCOMPARE(spec->train.batch, std::uint64_t{7});
  QCOMPARE(spec->train.burnIn, std::uint64_t{0});
  QCOMPARE(spec->train.threads, std::uint64_t{3});
}

void TestResolve::clashesAreRefusedInWords_data() {
  QTest::addColumn<QString>("kind");
  QTest::addColumn<QString>("json");
  QTest::addColumn<QStringList>("words");
  const auto row = [](const char* name, const char* kind, const char* json, const QStringList& words) {
    QTest::newRow(name) << kind << json << words;
  };
  row("sparse_adam on the ball", "hierarchy", R"({"k": 1, "optimizer": {"rule": "sparse_adam"}})",
      {"optimizer.rule", "sparse_adam is Euclidean", "k = 1", "dsa, radam, rsgd"});
  row("row_adagrad on the ball", "hierarchy", R"({"k": 0.5, "optimizer": {"rule": "row_adagrad"}})",
      {"row_adagrad is Euclidean", "k = 0.5", "dsa, radam, rsgd"});
  row("distmult on the ball", "graph", R"({"k": 1})", {"model: distmult is Euclidean", "k = 1", "poincare"});
  row("transe on the ball", "graph", R"({"k": 1, "model": "transe"})", {"model: transe is Euclidean", "k = 1"});
  row("euclidean on the ball", "pairs", R"({"k": 1, "model": "euclidean"})",
      {"model: euclidean is Euclidean", "poincare"});
  row("transe without relations", "hierarchy", R"({"model": "transe"})",
      {"transe needs relations", "poincare, euclidean"});
  row("gpu on the cpu", "hierarchy", R"({"optimizer": {"placement": "gpu"}, "device": "cpu"})",
      {"optimizer.placement: gpu", "device cpu", "cuda:N", "sim:SIZE"});
  row("budget in ram", "hierarchy", R"({"optimizer": {"placement": "ram"}, "ram_budget": "1 GiB"})",
      {"ram_budget", "placement ram", "placement disk"});
  row("budget on the gpu", "hierarchy", R"({"optimizer": {"placement": "gpu"}, "ram_budget": "1 GiB"})",
      {"ram_budget", "placement gpu"});
  row("decay without dsa", "hierarchy", R"({"optimizer": {"rule": "sparse_adam", "weight_decay": 0.01}})",
      {"optimizer.weight_decay: 0.01", "sparse_adam", "only rule dsa"});
  row("k below float32", "hierarchy", R"({"k": 1e-12})", {"k: 1e-12", "too small", "1e-09"});
  row("start outside the ball", "hierarchy", R"({"k": 4, "dim": 4, "optimizer": {"init_scale": 0.5}})",
      {"optimizer.init_scale: 0.5", "outside the ball", "0.24"});
  row("too many slots", "hierarchy", R"({"train": {"batch": 16777216, "negatives": 65536}})",
      {"train.batch: 16777216", "65536 negatives", "16777215"});
}

void TestResolve::clashesAreRefusedInWords() {
  QFETCH(QString, kind);
  QFETCH(QString, json);
  QFETCH(QStringList, words);
  const auto spec = resolved(json.toStdString(), factsNamed(kind));
  QVERIFY(!spec.has_value());
  QVERIFY(spec.error().code == ErrorCode::usage);
  const QString message = QString::fromStdString(spec.error().message);
  for (const QString& word : words) QVERIFY2(message.contains(word), qPrintable(message + " lacks " + word));
}

void TestResolve::combinationsThatFit_data() {
  QTest::addColumn<QString>("json");
  QTest::newRow("rsgd flat is SGD") << R"({"k": 0, "optimizer": {"rule": "rsgd"}})";
  QTest::newRow("radam flat") << R"({"k": 0, "optimizer": {"rule": "radam"}})";
  QTest::newRow("the Euclidean twin") << R"({"k": 0, "model": "poincare"})";
  QTest::newRow("simulated gpu") << R"({"optimizer": {"placement": "gpu"}, "device": "sim:12 GiB"})";
  QTest::newRow("budget on disk") << R"({"ram_budget": "256 MiB"})";
  QTest::newRow("no budget in ram") << R"({"ram_budget": null, "optimizer": {"placement": "ram"}})";
  QTest::newRow("decay with dsa") << R"({"optimizer": {"rule": "dsa", "weight_decay": 0.01}})";
  QTest::newRow("mmap") << R"({"optimizer": {"engine": "mmap"}})";
  QTest::newRow("a small ball") << R"({"k": 1e6, "dim": 65536})";
  QTest::newRow("a recipe cut short") << R"({"k": 1, "train": {"epochs": 5, "burn_in": 20}})";
}

void TestResolve::combinationsThatFit() {
  QFETCH(QString, json);
  const auto spec = resolved(json.toStdString(), kMammals);
  QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
}

void TestResolve::valuesSetByProgramsAreCheckedToo() {
  RunSpec spec;
  const auto nameless = resolve(spec, kMammals);
  QVERIFY(!nameless && nameless.error().message.find("dataset") == 0);
  spec.dataset = "d";
  spec.dim = 0;
  QVERIFY(resolve(spec, kMammals).error().message.find("dim: 0 is out of range") == 0);
  spec.dim = 5;
  spec.optimizer.lr = std::nan("");
  QVERIFY(resolve(spec, kMammals).error().message.find("optimizer.lr: nan is not a finite number") == 0);
  spec.optimizer.lr = 0.1;
  QVERIFY(resolve(spec, kMammals).has_value());
  const auto empty = resolve(spec, DatasetFacts{DatasetFacts::Kind::hierarchy, 0, 0, 0});
  QVERIFY(!empty && empty.error().code == ErrorCode::input);
}

void TestResolve::stepsDecideTheEpochs() {
  const auto demo = resolved(R"({"train": {"steps": 400, "batch": 1000}})", kZipf);
  QCOMPARE(stepsPerEpoch(*demo, kZipf), std::uint64_t{1000});
  QCOMPARE(plannedSteps(*demo, kZipf), std::uint64_t{400});
  const auto longer = resolved(R"({"train": {"steps": 2500, "batch": 1000}})", kZipf);
  QCOMPARE(longer->train.epochs, std::uint64_t{3});
  QCOMPARE(plannedSteps(*longer, kZipf), std::uint64_t{2500});
  const auto both = resolved(R"({"train": {"steps": 2500, "batch": 1000, "epochs": 2}})", kZipf);
  QCOMPARE(plannedSteps(*both, kZipf), std::uint64_t{2000});
  const auto whole = resolved(R"({"train": {"epochs": 3, "batch": 1000}})", kMammals);
  QCOMPARE(plannedSteps(*whole, kMammals), std::uint64_t{21});  // 6,540 pairs: seven batches, the last short
}

void TestResolve::resolvingAgainChangesNothing() {
  for (const DatasetFacts& facts : {kMammals, kUmls, kZipf}) {
    const auto once = resolved("{}", facts);
    QVERIFY(once.has_value());
    const auto twice = resolve(asRunSpec(*once), facts);
    QVERIFY(twice && *twice == *once);
    const auto read = parseSpec(specToJson(*once));
    QVERIFY(read.has_value());
    QCOMPARE(canonicalForHash(*resolve(*read, facts)), canonicalForHash(*once));
  }
}

QTEST_APPLESS_MAIN(TestResolve)
#include "tst_resolve.moc"
