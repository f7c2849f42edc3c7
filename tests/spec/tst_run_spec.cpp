// SPDX-License-Identifier: Apache-2.0
// The spec's JSON: what is read, what is refused and in which words, and which keys the canonical line holds.
#include <QtTest>
#include <algorithm>
#include <set>

#include "tests/spec/spec_samples.h"

using namespace dsa;

class TestRunSpec : public QObject {
  Q_OBJECT
 private slots:
  void refusesInWords_data();
  void refusesInWords();
  void readsTheExampleOfTheDesign();
  void everyDefaultIsAllowedAndEveryPathAndFlagUnique();
  void jsonRoundTripsEveryKey();
  void unsetKeysStayOutOfTheJson();
  void canonicalLineIsFrozen();
  void canonicalLineChangesWithResultKeysOnly_data();
  void canonicalLineChangesWithResultKeysOnly();
  void onlyTheNamedKeysAreOutsideTheCanonicalLine();
  void minusZeroHashesAsZero();
  void overlayReplacesOnlyWhatIsSet();
  void countsReadAsExponentsAndRefuseFractions();
  void devices();
};

void TestRunSpec::refusesInWords_data() {
  QTest::addColumn<QString>("json");
  QTest::addColumn<int>("code");
  QTest::addColumn<QStringList>("words");
  const auto usage = static_cast<int>(ErrorCode::usage);
  const auto input = static_cast<int>(ErrorCode::input);
  const auto row = [](const char* name, const char* json, int code, const QStringList& words) {
    QTest::newRow(name) << QString::fromUtf8(json) << code << words;
  };
  row("dim 0", R"({"dim": 0})", usage, {"dim", "0 is out of range", "from 1 to 65536"});
  row("dim too large", R"({"dim": 65537})", usage, {"dim", "65537", "65536"});
  row("dim negative", R"({"dim": -4})", usage, {"dim", "-4 is out of range", "from 1 to 65536"});
  row("dim a text", R"({"dim": "ten"})", usage, {"dim", "\"ten\" is text", "whole number"});
  row("dim a fraction", R"({"dim": 2.5})", usage, {"dim", "2.5 is not a whole number"});
  row("dim null", R"({"dim": null})", usage, {"dim", "null", "whole number"});
  row("dim a list", R"({"dim": [5]})", usage, {"dim", "a list"});
  row("k negative", R"({"k": -1})", usage, {"k: -1 is out of range", "from 0 to 1e+06"});
  row("k huge", R"({"k": 1e7})", usage, {"k", "1e+07"});
  row("k a text", R"({"k": "1"})", usage, {"k", "\"1\" is text", "number"});
  row("NaN", R"({"k": NaN})", input, {"not JSON", "line 1"});
  row("overflow", R"({"k": 1e999})", input, {"not JSON", "1e999"});
  row("lr 0", R"({"optimizer": {"lr": 0}})", usage, {"optimizer.lr", "0 is out of range", "above 0"});
  row("beta1 one", R"({"optimizer": {"beta1": 1}})", usage, {"optimizer.beta1", "from 0 to below 1"});
  row("beta2 above", R"({"optimizer": {"beta2": 1.5}})", usage, {"optimizer.beta2", "1.5"});
  row("eps 0", R"({"optimizer": {"eps": 0}})", usage, {"optimizer.eps", "1e-30"});
  row("margin 0", R"({"optimizer": {"ball_margin": 0}})", usage, {"optimizer.ball_margin"});
  row("batch 0", R"({"train": {"batch": 0}})", usage, {"train.batch", "0 is out of range", "from 1"});
  row("threads 0", R"({"train": {"threads": 0}})", usage, {"train.threads", "0", "1024"});
  row("negatives 0", R"({"train": {"negatives": 0}})", usage, {"train.negatives"});
  row("epochs true", R"({"train": {"epochs": true}})", usage, {"train.epochs", "true or false"});
  row("seed negative", R"({"train": {"seed": -1}})", usage, {"train.seed", "18446744073709551615"});
  row("rule unknown", R"({"optimizer": {"rule": "sparse_adm"}})", usage,
      {"optimizer.rule", "\"sparse_adm\"", "did you mean sparse_adam", "sparse_adam, dsa, radam, rsgd, row_adagrad"});
  row("model unknown", R"({"model": "rotate"})", usage,
      {"model", "\"rotate\"", "poincare, transe, distmult, euclidean"});
  row("durability", R"({"checkpoint": {"durability": "none"}})", usage, {"checkpoint.durability", "process, power"});
  row("device", R"({"device": "gpu"})", usage, {"device", "\"gpu\"", "cpu, cuda:N or sim:SIZE"});
  row("budget a word", R"({"ram_budget": "lots"})", usage, {"ram_budget", "\"lots\"", "256 MiB", "none"});
  row("budget small", R"({"ram_budget": 4096})", usage, {"ram_budget", "4096", "1.00 MiB"});
  row("budget negative", R"({"ram_budget": -1})", usage, {"ram_budget", "-1"});
  row("dataset empty", R"({"dataset": ""})", usage, {"dataset", "empty"});
  row("dataset number", R"({"dataset": 5})", usage, {"dataset", "5 is a number", "text"});
  row("dataset control", R"({"dataset": "a\u0000b"})", usage, {"dataset", "control character"});
  row("unknown at the top", R"({"datset": "x"})", usage, {"\"datset\" is not a key", "did you mean dataset"});
  row("leaf in no group", R"({"lr": 0.1})", usage, {"\"lr\"", "did you mean optimizer.lr"});
  row("unknown in a group", R"({"train": {"epoch": 3}})", usage, {"\"train.epoch\"", "did you mean train.epochs"});
  row("unknown far", R"({"zzzzzzzz": 3})", usage, {"\"zzzzzzzz\"", "the keys are name, dataset"});
  row("group a number", R"({"optimizer": 3})", usage, {"optimizer: 3 is a number", "rule, placement"});
  row("leaf an object", R"({"k": {"a": 1}})", usage, {"k: {...} is an object"});
  row("key twice", R"({"k": 1, "k": 0})", input, {"\"k\" twice"});
  row("key twice in a group", R"({"train": {"seed": 1, "seed": 2}})", input, {"\"seed\" twice"});
  row("not an object", "[1]", usage, {"the spec", "a list", "an object"});
  row("empty text", "", input, {"not JSON"});
  row("cut", R"({"k": 1)", input, {"not JSON", "line 1"});
  row("two texts", "{} {}", input, {"not JSON"});
}

void TestRunSpec::refusesInWords() {
  QFETCH(QString, json);
  QFETCH(int, code);
  QFETCH(QStringList, words);
  const auto spec = parseSpec(json.toStdString());
  QVERIFY(!spec.has_value());
  const QString message = QString::fromStdString(spec.error().message);
  QVERIFY2(static_cast<int>(spec.error().code) == code, qPrintable(message));
  for (const QString& word : words) QVERIFY2(message.contains(word), qPrintable(message + " lacks " + word));
}

void TestRunSpec::readsTheExampleOfTheDesign() {
  const auto spec = parseSpec(R"({ "name": "n", "dataset": "wordnet-mammals", "model": "poincare", "dim": 5, "k": 1.0,
    "optimizer": {"rule": "rsgd", "placement": "disk", "engine": "auto", "lr": 0.3, "lr_decay": "none",
                  "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0, "ball_margin": 1e-5,
                  "map": "exp", "gradient_cap": 5.0, "reduction": "sum"},
    "train": {"epochs": 1200, "batch": 10, "negatives": 50, "burn_in": 20, "seed": 1, "threads": 2},
    "cache": "DIR", "ram_budget": "256 MiB", "device": "sim:12 GiB",
    "evaluate": {"every": 100}, "checkpoint": {"every_steps": null, "every_s": 60, "durability": "process"} })");
  QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
  QCOMPARE(*spec->name, std::string("n"));
  QCOMPARE(*spec->dataset, std::string("wordnet-mammals"));
  QVERIFY(*spec->model == ModelChoice::poincare);
  QCOMPARE(*spec->dim, std::uint64_t{5});
  QCOMPARE(*spec->k, 1.0);
  QVERIFY(*spec->optimizer.rule == Rule::rsgd);
  QVERIFY(*spec->optimizer.engine == EngineChoice::automatic);
  QVERIFY(*spec->optimizer.map == BallMap::exponential);
  QCOMPARE(*spec->optimizer.eps, 1e-8);
  QCOMPARE(*spec->train.burnIn, std::uint64_t{20});
  QCOMPARE(*spec->ramBudget, std::uint64_t{256} << 20);
  QCOMPARE(*spec->device, std::string("sim:12 GiB"));
  QCOMPARE(*spec->checkpoint.everySteps, std::uint64_t{0});
  QCOMPARE(*spec->checkpoint.everyS, 60.0);
  QVERIFY(!spec->train.steps.has_value());
}

void TestRunSpec::everyDefaultIsAllowedAndEveryPathAndFlagUnique() {
  std::set<std::string> seen;
  for (const SpecKey& key : specTable()) {
    QVERIFY2(seen.insert(key.path).second, key.path.c_str());
    for (const QString& flag : QString::fromStdString(key.flags).split(',')) {
      QVERIFY2(flag.startsWith("--") && seen.insert(flag.toStdString()).second, qPrintable(flag));
      QVERIFY2(!flag.contains('_'), qPrintable(flag));
    }
    QVERIFY2(!key.help.empty() && !key.defaultText.empty(), key.path.c_str());
    if (key.fixedDefault) QVERIFY2(checkValue(key, *key.fixedDefault, key.path).has_value(), key.path.c_str());
  }
  // Leaf keys keep their own name as a flag but for the two groups that design.md names differently.
  for (const SpecKey& key : specTable()) {
    if (key.path.starts_with("checkpoint.every") || key.path.starts_with("evaluate.")) continue;
    std::string flag = "--" + key.path.substr(key.path.rfind('.') + 1);
    std::replace(flag.begin(), flag.end(), '_', '-');
    QCOMPARE(key.flags, flag);
  }
}

void TestRunSpec::jsonRoundTripsEveryKey() {
  const ResolvedSpec base = baseSpec();
  for (const SpecKey& key : specTable()) {
    const auto changed = changedIn(key, base);
    QVERIFY2(changed.has_value(), key.path.c_str());
    const std::string json = specToJson(*changed);
    const auto back = parseSpec(json);
    QVERIFY2(back.has_value(), back ? "" : back.error().message.c_str());
    QVERIFY2(*back == asRunSpec(*changed), json.c_str());
    QVERIFY2(json != specToJson(base), key.path.c_str());
  }
}

void TestRunSpec::unsetKeysStayOutOfTheJson() {
  QCOMPARE(specToJson(RunSpec{}), std::string("{}"));
  RunSpec spec;
  spec.train.seed = 7;
  spec.ramBudget = 0;
  QCOMPARE(specToJson(spec), std::string("{\n  \"train\": {\n    \"seed\": 7\n  },\n  \"ram_budget\": null\n}"));
}

// Table hashes of recorded runs hold this line: a change of order, name or number format breaks every one of them.
void TestRunSpec::canonicalLineIsFrozen() {
  QCOMPARE(
      canonicalForHash(baseSpec()),
      std::string(
          R"({"dataset":"umls","model":"poincare","dim":5,"k":0,"optimizer.rule":"dsa","optimizer.lr":0.01,)"
          R"("optimizer.lr_decay":"none","optimizer.beta1":0.9,"optimizer.beta2":0.999,"optimizer.eps":1e-08,)"
          R"("optimizer.weight_decay":0,"optimizer.ball_margin":1e-05,"optimizer.map":"exp","optimizer.gradient_cap":5,)"
          R"("optimizer.reduction":"sum","optimizer.init_scale":0.001,"train.epochs":100,"train.steps":0,"train.batch":512,)"
          R"("train.negatives":32,"train.burn_in":0,"train.seed":1})"));
}

void TestRunSpec::canonicalLineChangesWithResultKeysOnly_data() {
  QTest::addColumn<QString>("path");
  for (const SpecKey& key : specTable()) QTest::newRow(key.path.c_str()) << QString::fromStdString(key.path);
}

void TestRunSpec::canonicalLineChangesWithResultKeysOnly() {
  QFETCH(QString, path);
  const SpecKey* key = findSpecKey(path.toStdString());
  QVERIFY(key != nullptr);
  const ResolvedSpec base = baseSpec();
  const auto changed = changedIn(*key, base);
  QVERIFY2(changed.has_value(), "no other value is allowed");
  const bool differs = canonicalForHash(*changed) != canonicalForHash(base);
  QCOMPARE(differs, key->effect == SpecEffect::result);
}

void TestRunSpec::onlyTheNamedKeysAreOutsideTheCanonicalLine() {
  std::set<std::string> outside;
  for (const SpecKey& key : specTable()) {
    if (key.effect == SpecEffect::none) outside.insert(key.path);
  }
  const std::set<std::string> named = {"name",
                                       "optimizer.placement",
                                       "optimizer.engine",
                                       "optimizer.update",
                                       "train.threads",
                                       "cache",
                                       "ram_budget",
                                       "device",
                                       "evaluate.every",
                                       "checkpoint.every_steps",
                                       "checkpoint.every_s",
                                       "checkpoint.durability"};
  QVERIFY(outside == named);
}

void TestRunSpec::minusZeroHashesAsZero() {
  RunSpec spec = asRunSpec(baseSpec());
  spec.k = -0.0;
  spec.optimizer.gradientCap = 0;
  const auto minus = resolve(spec, kGraph);
  spec.k = 0.0;
  const auto plus = resolve(spec, kGraph);
  QVERIFY(minus && plus);
  QCOMPARE(canonicalForHash(*minus), canonicalForHash(*plus));
}

void TestRunSpec::overlayReplacesOnlyWhatIsSet() {
  RunSpec base;
  base.dim = 5;
  base.optimizer.lr = 0.3;
  RunSpec top;
  top.optimizer.lr = 0.1;
  top.ramBudget = 0;
  const RunSpec merged = overlay(base, top);
  QCOMPARE(*merged.dim, std::uint64_t{5});
  QCOMPARE(*merged.optimizer.lr, 0.1);
  QVERIFY(merged.ramBudget.has_value());
  QVERIFY(!merged.k.has_value());
}

void TestRunSpec::countsReadAsExponentsAndRefuseFractions() {
  const SpecKey& steps = *findSpecKey("train.steps");
  QCOMPARE(std::get<std::uint64_t>(*valueFromText(steps, "1e6", "--steps")), std::uint64_t{1'000'000});
  const auto spec = parseSpec(R"({"train": {"steps": 4e2, "seed": 18446744073709551615}})");
  QVERIFY(spec.has_value());
  QCOMPARE(*spec->train.steps, std::uint64_t{400});
  QCOMPARE(*spec->train.seed, UINT64_MAX);
  for (const char* bad : {"", " 5", "5 ", "0x10", "1.5", "-1", "nan", "inf", "1e30", "five", "1,000"}) {
    QVERIFY2(!valueFromText(steps, bad, "--steps"), bad);
  }
  for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "0,5", "--lr", "0.1x"}) {
    QVERIFY2(!valueFromText(*findSpecKey("optimizer.lr"), bad, "--lr"), bad);
  }
}

void TestRunSpec::devices() {
  QVERIFY(parseDevice("cpu")->kind == DeviceChoice::Kind::cpu);
  QCOMPARE(parseDevice("cuda:3")->index, 3u);
  QCOMPARE(parseDevice("sim:12 GiB")->bytes, std::uint64_t{12} << 30);
  QVERIFY(parseDevice("sim:12 GiB")->kind == DeviceChoice::Kind::simulated);
  for (const char* bad : {"", "CPU", "cuda", "cuda:", "cuda:-1", "cuda:x", "cuda:1 ", "cuda:1024", "sim:", "sim:0",
                          "sim:-1 GiB", "gpu"}) {
    QVERIFY2(!parseDevice(bad), bad);
  }
}

QTEST_APPLESS_MAIN(TestRunSpec)
#include "tst_run_spec.moc"
