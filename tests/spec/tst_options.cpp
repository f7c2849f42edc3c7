// SPDX-License-Identifier: Apache-2.0
// Flags: one for each key; flags override --spec, which overrides the recipe, which overrides defaults.
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>

#include "app/options.h"
#include "core/base/file.h"
#include "core/spec/resolve.h"
#include "core/spec/spec_table.h"

using namespace dsa;

namespace {

struct Parsed {
  SpecArguments spec;
  OutputArguments output;
  std::string usage;  ///< what CLI11 said against it
  std::string help;
};

Parsed parsed(std::vector<std::string> words) {
  Parsed result;
  result.spec.recipeFolder = DSA_RESOURCES "/recipes";
  CLI::App app("test");
  addSpecOptions(app, result.spec);
  addOutputOptions(app, result.output);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    result.usage = error.what();
  }
  result.help = app.help();
  return result;
}

Result<RunSpec> gathered(const std::vector<std::string>& words) {
  const Parsed result = parsed(words);
  if (!result.usage.empty()) return fail(ErrorCode::usage, "{}", result.usage);
  return gatherSpec(result.spec);
}

}  // namespace

class TestOptions : public QObject {
  Q_OBJECT
 private slots:
  void everyKeyHasItsFlagAndItsHelp();
  void everyFlagReachesItsKey();
  void aliases();
  void flagsOverrideSpecOverridesRecipeOverridesDefaults();
  void noneTakesABudgetAway();
  void badValuesNameTheFlag_data();
  void badValuesNameTheFlag();
  void aBadSpecFileIsNamed();
  void outputFlags();
};

void TestOptions::everyKeyHasItsFlagAndItsHelp() {
  const QString help = QString::fromStdString(parsed({}).help);
  for (const SpecKey& key : specTable()) {
    QVERIFY2(help.contains(QString::fromStdString(flagOf(key.path))), key.path.c_str());
    QVERIFY2(help.contains(QString::fromStdString(key.help)), key.path.c_str());
  }
  QVERIFY(help.contains("--recipe") && help.contains("--spec"));
}

void TestOptions::everyFlagReachesItsKey() {
  for (const SpecKey& key : specTable()) {
    std::string text = "1";  // a count, a number
    if (key.type == SpecType::text) text = "words of text";
    if (key.type == SpecType::size) text = "3 MiB";
    if (key.type == SpecType::device) text = "cuda:1";
    if (key.type == SpecType::choice) text = key.choices.back();
    if (key.range.highExcluded) text = "0.5";
    if (key.path == "optimizer.ball_margin") text = "0.001";
    for (const QString& flag : QString::fromStdString(key.flags).split(',')) {
      const auto spec = gathered({flag.toStdString(), text});
      QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
      RunSpec expected;
      key.set(expected, *valueFromText(key, text, key.path));
      QVERIFY2(*spec == expected, qPrintable(flag));  // this key and no other
    }
  }
}

void TestOptions::aliases() {
  QCOMPARE(*gathered({"--checkpoint-steps", "50"})->checkpoint.everySteps, std::uint64_t{50});
  QCOMPARE(*gathered({"--checkpoint-every-s=2.5"})->checkpoint.everyS, 2.5);
  QCOMPARE(*gathered({"--eval-every", "7"})->evaluate.every, std::uint64_t{7});
  QVERIFY(*gathered({"--durability", "power"})->checkpoint.durability == DurabilityChoice::power);
  QCOMPARE(*gathered({"--burn-in", "3"})->train.burnIn, std::uint64_t{3});
}

void TestOptions::flagsOverrideSpecOverridesRecipeOverridesDefaults() {
  QTemporaryDir folder;
  const std::string file = folder.filePath("spec.json").toStdString();
  QVERIFY(writeTextFileAtomically(file, R"({"dim": 3, "optimizer": {"lr": 0.7}, "train": {"epochs": 9}})").has_value());
  const auto recipeOnly = gathered({"--recipe", "wordnet-mammals"});
  QCOMPARE(*recipeOnly->dim, std::uint64_t{5});
  QCOMPARE(*recipeOnly->optimizer.lr, 0.1);
  // The order of the words does not matter.
  for (const auto& words : {std::vector<std::string>{"--recipe", "wordnet-mammals", "--spec", file, "--epochs", "2"},
                            std::vector<std::string>{"--epochs", "2", "--spec", file, "--recipe", "wordnet-mammals"}}) {
    const auto spec = gathered(words);
    QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
    QCOMPARE(*spec->train.epochs, std::uint64_t{2});  // flag over file over recipe
    QCOMPARE(*spec->dim, std::uint64_t{3});           // file over recipe
    QCOMPARE(*spec->optimizer.lr, 0.7);
    QCOMPARE(*spec->train.burnIn, std::uint64_t{20});  // recipe over default
    QVERIFY(!spec->optimizer.beta1.has_value());       // nobody: left to resolve
    const auto resolved = resolve(*spec, DatasetFacts{DatasetFacts::Kind::hierarchy, 1180, 0, 6540});
    QCOMPARE(resolved->optimizer.beta1, 0.9);
    QCOMPARE(resolved->train.burnIn, std::uint64_t{20});
  }
}

void TestOptions::noneTakesABudgetAway() {
  QTemporaryDir folder;
  const std::string file = folder.filePath("spec.json").toStdString();
  QVERIFY(writeTextFileAtomically(file, R"({"ram_budget": "256 MiB"})").has_value());
  QCOMPARE(*gathered({"--spec", file})->ramBudget, std::uint64_t{256} << 20);
  QCOMPARE(*gathered({"--spec", file, "--ram-budget", "none"})->ramBudget, std::uint64_t{0});
  QCOMPARE(*gathered({"--checkpoint-every-s", "none"})->checkpoint.everyS, 0.0);
}

void TestOptions::badValuesNameTheFlag_data() {
  QTest::addColumn<QStringList>("words");
  QTest::addColumn<QString>("message");
  QTest::newRow("negative k") << QStringList{"--k", "-1"}
                              << "--k: -1 is out of range; allowed is a number from 0 to 1e+06";
  QTest::newRow("nan") << QStringList{"--lr", "nan"} << "--lr: nan is not a finite number";
  QTest::newRow("dim 0") << QStringList{"--dim", "0"}
                         << "--dim: 0 is out of range; allowed is a whole number from 1 to 65536";
  QTest::newRow("dim text") << QStringList{"--dim", "ten"} << "--dim: \"ten\" is not a whole number";
  QTest::newRow("threads 0") << QStringList{"--threads", "0"} << "--threads: 0 is out of range";
  QTest::newRow("rule") << QStringList{"--rule", "adam"} << "--rule: \"adam\" is not known";
  QTest::newRow("near rule") << QStringList{"--rule", "rdam"} << "did you mean radam?";
  QTest::newRow("burn-in") << QStringList{"--burn-in", "-3"} << "--burn-in: -3 is out of range";
  QTest::newRow("empty") << QStringList{"--dataset", ""} << "--dataset: \"\" is empty";
  QTest::newRow("recipe") << QStringList{"--recipe", "demmo"} << "did you mean demo?";
  QTest::newRow("file") << QStringList{"--spec", "/nowhere/spec.json"} << "/nowhere/spec.json";
  QTest::newRow("unknown flag") << QStringList{"--learning-rate", "1"} << "--learning-rate";
  QTest::newRow("twice") << QStringList{"--lr", "1", "--lr", "2"} << "--lr";
}

void TestOptions::badValuesNameTheFlag() {
  QFETCH(QStringList, words);
  QFETCH(QString, message);
  std::vector<std::string> arguments;
  for (const QString& word : words) arguments.push_back(word.toStdString());
  const auto spec = gathered(arguments);
  QVERIFY(!spec.has_value());
  const QString said = QString::fromStdString(spec.error().message);
  QVERIFY2(said.contains(message), qPrintable(said));
}

void TestOptions::aBadSpecFileIsNamed() {
  QTemporaryDir folder;
  const std::string file = folder.filePath("spec.json").toStdString();
  QVERIFY(writeTextFileAtomically(file, R"({"dimm": 3})").has_value());
  const auto spec = gathered({"--spec", file});
  QVERIFY(!spec && spec.error().code == ErrorCode::usage);
  QVERIFY(spec.error().message.find(file) == 0);
  QVERIFY(spec.error().message.find("did you mean dim?") != std::string::npos);
}

void TestOptions::outputFlags() {
  const Parsed result = parsed({"--db", "runs.db", "--hash", "--json", "--seed", "5"});
  QCOMPARE(result.usage, std::string());
  QCOMPARE(result.output.database, std::string("runs.db"));
  QVERIFY(result.output.hash && result.output.json);
  QCOMPARE(result.spec.values.at("train.seed"), std::string("5"));
}

QTEST_APPLESS_MAIN(TestOptions)
#include "tst_options.moc"
