// SPDX-License-Identifier: Apache-2.0
// Bundled recipes are what their sources say; a file that is no recipe is refused.
#include <QTemporaryDir>
#include <QtTest>
#include <set>

#include "core/base/file.h"
#include "core/spec/recipe.h"
#include "core/spec/resolve.h"

using namespace dsa;

namespace {

const std::string kFolder = DSA_RESOURCES "/recipes";

DatasetFacts factsOf(const std::string& dataset) {
  if (dataset == "umls") return {DatasetFacts::Kind::graph, 135, 46, 5216};
  if (dataset.starts_with("zipf:")) return {DatasetFacts::Kind::pairs, 1'000'000, 0, 1'000'000};
  return {DatasetFacts::Kind::hierarchy, 1180, 0, 6540};
}

}  // namespace

class TestRecipe : public QObject {
  Q_OBJECT
 private slots:
  void everyBundledRecipeResolves();
  void mammalsAreTheMeasuredSettings();
  void mammalsAdamHasTheTunedEpsilon();
  void demoIsTheOneMinuteDemo();
  void secondActIsADiskOnTheDisk();
  void unknownNameSuggests();
  void namesDoNotLeaveTheFolder();
  void brokenFilesAreRefused_data();
  void brokenFilesAreRefused();
  void missingFolderIsRefused();
};

void TestRecipe::everyBundledRecipeResolves() {
  const auto recipes = listRecipes(kFolder);
  QVERIFY2(recipes.has_value(), recipes ? "" : recipes.error().message.c_str());
  std::set<std::string> names;
  for (const Recipe& recipe : *recipes) {
    names.insert(recipe.name);
    QVERIFY2(!recipe.expect.empty(), recipe.name.c_str());
    const auto spec = resolve(recipe.spec, factsOf(*recipe.spec.dataset));
    QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
  }
  const std::set<std::string> expected = {"demo",
                                          "demo-disk",
                                          "umls",
                                          "wordnet-mammals",
                                          "wordnet-mammals-dsa",
                                          "wordnet-mammals-euclidean",
                                          "wordnet-mammals-radam"};
  for (const std::string& name : expected) QVERIFY2(names.contains(name), name.c_str());
}

void TestRecipe::mammalsAreTheMeasuredSettings() {
  const auto recipe = loadRecipe(kFolder, "wordnet-mammals");
  QVERIFY2(recipe.has_value(), recipe ? "" : recipe.error().message.c_str());
  const auto spec = resolve(recipe->spec, factsOf("wordnet-mammals"));
  QVERIFY(spec->optimizer.rule == Rule::rsgd);
  QCOMPARE(spec->dim, std::uint64_t{5});
  QCOMPARE(spec->k, 1.0);
  QCOMPARE(spec->optimizer.lr, 0.1);
  QVERIFY(spec->optimizer.map == BallMap::retraction);
  QVERIFY(spec->optimizer.reduction == ReductionChoice::sum);
  QCOMPARE(spec->train.epochs, std::uint64_t{300});
  QCOMPARE(spec->train.batch, std::uint64_t{10});
  QCOMPARE(spec->train.negatives, std::uint64_t{50});
  QCOMPARE(spec->train.burnIn, std::uint64_t{20});
  QCOMPARE(recipe->expect.front().metric, std::string("map"));
  QVERIFY(recipe->expect.front().low >= 0.9 && recipe->expect.front().high > 1);
}

void TestRecipe::mammalsAdamHasTheTunedEpsilon() {
  for (const char* name : {"wordnet-mammals-radam", "wordnet-mammals-dsa"}) {
    const auto recipe = loadRecipe(kFolder, name);
    QVERIFY(recipe.has_value());
    const auto spec = resolve(recipe->spec, factsOf("wordnet-mammals"));
    QCOMPARE(spec->optimizer.lr, 0.1);
    QCOMPARE(spec->optimizer.eps, 1.0);
    QVERIFY(spec->optimizer.lrDecay == DecayChoice::linear);
    QVERIFY(spec->optimizer.map == BallMap::exponential);
    QCOMPARE(spec->train.epochs, std::uint64_t{300});
  }
}

void TestRecipe::demoIsTheOneMinuteDemo() {
  const auto recipe = loadRecipe(kFolder, "demo");
  QVERIFY(recipe.has_value());
  const auto spec = resolve(recipe->spec, factsOf("zipf:1000000"));
  QCOMPARE(spec->dataset, std::string("zipf:1000000"));
  QVERIFY(spec->model == ModelChoice::euclidean);
  QCOMPARE(spec->dim, std::uint64_t{128});
  QVERIFY(spec->optimizer.rule == Rule::sparseAdam);
  QCOMPARE(spec->optimizer.lr, 0.01);
  QCOMPARE(batchSlots(spec->train.batch, spec->train.negatives), std::uint64_t{10'000});
  QCOMPARE(plannedSteps(*spec, factsOf("zipf:1000000")), std::uint64_t{400});
  QCOMPARE(spec->train.threads, std::uint64_t{2});
}

void TestRecipe::secondActIsADiskOnTheDisk() {
  const auto recipe = loadRecipe(kFolder, "demo-disk");
  QVERIFY(recipe.has_value());
  const auto spec = resolve(recipe->spec, factsOf("wordnet-mammals"));
  QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
  QVERIFY(spec->model == ModelChoice::poincare);
  QCOMPARE(spec->dim, std::uint64_t{2});
  QCOMPARE(spec->k, 1.0);
  QVERIFY(spec->optimizer.placement == PlacementChoice::disk);
  QCOMPARE(spec->train.seed, std::uint64_t{1});
  QCOMPARE(plannedSteps(*spec, factsOf("wordnet-mammals")), std::uint64_t{160 * 654});
}

void TestRecipe::unknownNameSuggests() {
  const auto recipe = loadRecipe(kFolder, "wordnet-mamals");
  QVERIFY(!recipe && recipe.error().code == ErrorCode::usage);
  const QString message = QString::fromStdString(recipe.error().message);
  QVERIFY2(message.contains("\"wordnet-mamals\"") && message.contains("did you mean wordnet-mammals?") &&
               message.contains("demo"),
           qPrintable(message));
}

void TestRecipe::namesDoNotLeaveTheFolder() {
  for (const char* name : {"../recipes/demo", "", ".", "demo.json"}) {
    const auto recipe = loadRecipe(kFolder, name);
    QVERIFY2(!recipe && recipe.error().code == ErrorCode::usage, name);
  }
}

void TestRecipe::brokenFilesAreRefused_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("word");
  const auto row = [](const char* name, const char* text, const char* word) { QTest::newRow(name) << text << word; };
  row("not JSON", "{", "not a JSON object");
  row("a list", "[]", "not a JSON object");
  row("no title", R"({"source": "s", "spec": {"dataset": "d"}})", "title, source and spec");
  row("no dataset", R"({"title": "t", "source": "s", "spec": {}})", "title, source and spec");
  row("unknown key", R"({"titel": "t"})", "titel");
  row("bad spec", R"({"title": "t", "source": "s", "spec": {"dim": 0}})", "dim: 0 is out of range");
  row("bad band", R"({"title": "t", "expect": {"map": 0.9}})", "at_least or at_most");
  row("bad bound", R"({"title": "t", "expect": {"map": {"at_least": "x"}}})", "expect.map.at_least");
  row("unknown bound", R"({"title": "t", "expect": {"map": {"about": 1}}})", "at_least, at_most");
  row("empty band", R"({"title": "t", "expect": {"map": {"at_least": 2, "at_most": 1}}})", "above");
}

void TestRecipe::brokenFilesAreRefused() {
  QFETCH(QString, text);
  QFETCH(QString, word);
  QTemporaryDir folder;
  const std::string path = folder.filePath("mine.json").toStdString();
  QVERIFY(writeTextFileAtomically(path, text.toStdString()).has_value());
  const auto recipe = loadRecipe(folder.path().toStdString(), "mine");
  QVERIFY(!recipe && recipe.error().code == ErrorCode::input);
  const QString message = QString::fromStdString(recipe.error().message);
  QVERIFY2(message.contains(word) && message.contains("mine"), qPrintable(message));
  QVERIFY(!listRecipes(folder.path().toStdString()));
}

void TestRecipe::missingFolderIsRefused() {
  const auto recipes = listRecipes("/nowhere/recipes");
  QVERIFY(!recipes && recipes.error().message.find("/nowhere/recipes") == 0);
}

QTEST_APPLESS_MAIN(TestRecipe)
#include "tst_recipe.moc"
