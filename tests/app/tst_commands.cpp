// SPDX-License-Identifier: Apache-2.0
// Every command as a user types it: figures of the plan, record, data, store, bench, doctor, help.
#include "app_fixture.h"

using namespace app;

class TestCommands : public QObject {
  Q_OBJECT
 private slots:
  void planGivesTheArticlesFigures();
  void planAnswersWhatDoesNotFit();
  void helpIsNoError_data();
  void helpIsNoError();
  void trainTellsEveryCommonKey();
  void flagsOverrideRecipeAndSpec();
  void runsListShowExportImportRemove();
  void dataListInspectImport();
  void storeInfoAndVerify();
  void evalMeasuresWithoutChangingTheFiles();
  void benchRows();
  void doctorTellsTheMachine();
  void runsShareACacheFolder();
};

void TestCommands::planGivesTheArticlesFigures() {
  const Home home;
  const Ended ended = home.run("plan --rows 10000000 --dim 128 --batch-rows 10000 --rule sparse_adam --json");
  COMPARE_EXIT(ended, 0);
  const Json plan = ended.json();
  QCOMPARE(plan["weights"].get<std::uint64_t>(), std::uint64_t{5'120'000'000});
  QCOMPARE(plan["moments"].get<std::uint64_t>(), std::uint64_t{10'240'000'000});
  QCOMPARE(plan["total"].get<std::uint64_t>(), std::uint64_t{15'360'000'000});
  QCOMPARE(plan["batch"].get<std::uint64_t>(), std::uint64_t{15'360'000});
  QCOMPARE(plan["disk"].get<std::uint64_t>(), std::uint64_t{15'360'000'000});
  for (const char* key : {"device", "verdict"}) QVERIFY(plan.contains(key));
  const Ended text = home.run("plan --rows 10000000 --dim 128 --batch-rows 10000 --rule sparse_adam");
  COMPARE_EXIT(text, 0);
  QVERIFY2(text.out.contains("14.31 GiB") && text.out.contains("15360000000 bytes"), qPrintable(text.out));
  const Json rival = home.run("plan --rows 10000000 --dim 128 --batch-rows 10000 --rule row_adagrad --json").json();
  QCOMPARE(rival["total"].get<std::uint64_t>(), std::uint64_t{5'160'000'000});
}

void TestCommands::planAnswersWhatDoesNotFit() {
  const Home home;
  const auto verdict = [&](const QString& card) {
    const Ended ended = home.run(
        "plan --rows 10000000 --dim 128 --batch-rows 10000 --rule sparse_adam --placement gpu --json --fit", {card});
    return ended.code == 0 ? QString::fromStdString(ended.json()["verdict"].get<std::string>()) : ended.err;
  };
  QCOMPARE(verdict("12 GiB"), QString("does not fit"));
  QCOMPARE(verdict("16 GiB"), QString("tight"));
  QCOMPARE(verdict("24 GiB"), QString("fits"));
  const Ended text = home.run(
      "plan --rows 10000000 --dim 128 --batch-rows 10000 --rule sparse_adam --placement gpu --fit", {"12 GiB"});
  QVERIFY2(text.out.contains("needs 14.31 GiB, card has 12.00 GiB"), qPrintable(text.out));
}

void TestCommands::helpIsNoError_data() {
  QTest::addColumn<QString>("line");
  QTest::addColumn<QString>("says");
  QTest::newRow("program") << "--help"
                           << "compare";
  QTest::newRow("version") << "--version"
                           << "dsa ";
  for (const char* command : {"train", "compare", "resume", "plan", "eval", "doctor"})
    QTest::addRow("%s", command) << QString("%1 --help").arg(command) << "--json";
  for (const char* group : {"data", "store", "runs", "bench"})
    QTest::addRow("%s", group) << QString("%1 --help").arg(group) << "Subcommands";
  for (const char* flag : {"--lr", "--burn-in", "--eval-every", "--checkpoint-steps", "--ball-margin", "--ram-budget"})
    QTest::addRow("train has %s", flag) << "train --help" << flag;
}

void TestCommands::helpIsNoError() {
  QFETCH(QString, line);
  QFETCH(QString, says);
  const Ended ended = Home().run(line);
  COMPARE_EXIT(ended, 0);
  QVERIFY2(ended.out.contains(says), qPrintable(ended.out));
  QVERIFY2(ended.err.isEmpty(), qPrintable(ended.err));
}

void TestCommands::trainTellsEveryCommonKey() {
  const Home home;
  const Ended ended = home.run(
      "train --dataset umls --dim 8 --epochs 2 --batch 512 --negatives 8 --hash --json --cache", {home.cache()});
  COMPARE_EXIT(ended, 0);
  const Json object = ended.json();
  for (const char* key :
       {"run", "status", "reason", "steps", "epochs", "loss_first", "loss_last", "losses", "metrics", "seconds",
        "rows_per_s", "samples_per_s", "memory", "faults", "io", "table_sha256", "seconds_to_first_step"}) {
    QVERIFY2(object.contains(key), key);
  }
  for (const char* key : {"private_peak", "table_resident_peak", "device_peak", "table_bytes", "disk_bytes"})
    QVERIFY2(object["memory"].contains(key), key);
  for (const char* key : {"mrr", "hits_1", "hits_3", "hits_10"}) QVERIFY2(object["metrics"].contains(key), key);
  QCOMPARE(object["epochs"].get<double>(), 2.0);
  QCOMPARE(object["losses"].size(), std::size_t{2});
  QVERIFY(object["loss_first"] == object["losses"][0] && object["loss_last"] == object["losses"][1]);
  QVERIFY(object["memory"]["private_peak"].get<std::uint64_t>() > 100000);
  QVERIFY(object["faults"]["minor"].get<int>() > 0);
  // Two tables: 135 entities and 46 relations of 3 x 8 floats.
  QCOMPARE(object["memory"]["table_bytes"].get<int>(), (135 + 46) * 96);
}

void TestCommands::flagsOverrideRecipeAndSpec() {
  const Home home;
  QFile spec(home.path("spec.json"));
  QVERIFY(spec.open(QIODevice::WriteOnly));
  spec.write(R"({"dataset": "tree:3,4", "dim": 3, "train": {"epochs": 2, "batch": 64}})");
  spec.close();
  const Ended file = home.run("train --dim 7 --json", {"--spec", home.path("spec.json"), "--cache", home.cache()});
  COMPARE_EXIT(file, 0);
  QCOMPARE(file.json()["dim"].get<int>(), 7);
  QCOMPARE(file.json()["epochs"].get<double>(), 2.0);
  const Ended recipe = home.run("train --recipe wordnet-mammals --steps 3 --dim 2 --json --cache", {home.cache()});
  COMPARE_EXIT(recipe, 0);
  QCOMPARE(recipe.json()["steps"].get<int>(), 3);
  QCOMPARE(recipe.json()["dim"].get<int>(), 2);
  QCOMPARE(recipe.json()["rule"].get<std::string>(), std::string("rsgd"));
}

void TestCommands::runsListShowExportImportRemove() {
  const Home home;
  QCOMPARE(home.run("runs list --json").json()["runs"].size(), std::size_t{0});
  const Ended first =
      home.run("train --dataset tree:3,4 --dim 4 --epochs 2 --name alpha --json --hash --cache", {home.cache()});
  const Ended second = home.run("train --dataset tree:3,4 --dim 5 --epochs 1 --placement ram --json");
  COMPARE_EXIT(first, 0);
  COMPARE_EXIT(second, 0);
  const Json runs = home.run("runs list --json").json()["runs"];
  QCOMPARE(runs.size(), std::size_t{2});
  QCOMPARE(runs[0]["name"].get<std::string>(), std::string("alpha"));
  QCOMPARE(runs[1]["run"].get<int>(), 2);
  for (const Json& run : runs) QCOMPARE(run["status"].get<std::string>(), std::string("finished"));
  const Ended shown = home.run("runs show alpha --json");
  COMPARE_EXIT(shown, 0);
  QVERIFY(shown.json()["result"] == first.json());
  QCOMPARE(shown.json()["spec"]["dim"].get<int>(), 4);

  const QString bundle = home.path("alpha.dsarun");
  COMPARE_EXIT(home.run("runs export alpha --out", {bundle}), 0);
  const Ended twice = home.run("runs import", {bundle});
  COMPARE_EXIT(twice, 3);
  const Home other;
  COMPARE_EXIT(other.run("runs import", {bundle}), 0);
  const Json imported = other.run("runs show alpha --json").json();
  QVERIFY(imported["result"]["losses"] == first.json()["losses"]);
  QVERIFY(imported["status"] == "finished");

  // What is imported has no table: removing it leaves the one of the run that it came from.
  const QString table = home.tableOf(1);
  QVERIFY(QDir(table).exists());
  COMPARE_EXIT(other.run("runs rm alpha --table-only"), 3);
  COMPARE_EXIT(other.run("runs rm alpha"), 0);
  QVERIFY(QDir(table).exists());

  QVERIFY(QFile::copy(bundle, table + "/mine.txt"));
  COMPARE_EXIT(home.run("runs rm alpha --table-only"), 0);
  QCOMPARE(QDir(table).entryList(QDir::Files), QStringList{"mine.txt"});
  QCOMPARE(home.tableOf(1), QString());
  const Ended evaluated = home.run("eval alpha");
  COMPARE_EXIT(evaluated, 3);
  VERIFY_SAYS(evaluated, "deleted");
  QCOMPARE(home.run("runs list --json").json()["runs"].size(), std::size_t{2});
  COMPARE_EXIT(home.run("runs rm alpha --table-only --keep-table"), 2);
  COMPARE_EXIT(home.run("runs rm alpha"), 0);
  QVERIFY(QFile::exists(table + "/mine.txt"));
  QCOMPARE(home.run("runs list --json").json()["runs"].size(), std::size_t{1});
  COMPARE_EXIT(home.run("runs show alpha"), 3);
  COMPARE_EXIT(home.run("runs rm 2"), 0);
}

void TestCommands::dataListInspectImport() {
  const Home home;
  const Json list = home.run("data list --json").json()["datasets"];
  std::map<std::string, Json> sets;
  for (const Json& set : list) sets[set["name"].get<std::string>()] = set;
  QCOMPARE(sets["wordnet-nouns"]["entities"].get<int>(), 82115);
  QCOMPARE(sets["wordnet-nouns"]["train"].get<int>(), 743241);
  for (const char* name : {"wordnet-mammals", "umls", "wn18rr"}) QVERIFY2(sets.contains(name), name);
  QFile file(home.path("edges.csv"));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write("head,relation,tail\n");
  for (int i = 0; i < 50; ++i) file.write(QString("n%1,likes,n%2\n").arg(i).arg((i * 7 + 1) % 50).toUtf8());
  file.close();
  const Ended inspected = home.run("data inspect --json", {home.path("edges.csv")});
  COMPARE_EXIT(inspected, 0);
  QVERIFY2(inspected.out.contains("50"), qPrintable(inspected.out));
  const Ended imported = home.run("data import", {home.path("edges.csv"), "--out", home.path("clean")});
  COMPARE_EXIT(imported, 0);
  const Ended fromFile =
      home.run("train --dim 4 --epochs 2 --hash --json --dataset", {home.path("edges.csv"), "--cache", home.cache()});
  const Ended fromFolder =
      home.run("train --dim 4 --epochs 2 --hash --json --dataset", {home.path("clean"), "--cache", home.cache()});
  COMPARE_EXIT(fromFile, 0);
  COMPARE_EXIT(fromFolder, 0);
  QVERIFY(fromFile.json()["losses"] == fromFolder.json()["losses"]);
}

void TestCommands::storeInfoAndVerify() {
  const Home home;
  const Ended trained =
      home.run("train --dataset tree:3,4 --dim 4 --k 1 --epochs 3 --batch 50 --json --cache", {home.cache()});
  COMPARE_EXIT(trained, 0);
  const auto before = contentsOf(home.cache());
  const Ended info = home.run("store info 1 --json");
  COMPARE_EXIT(info, 0);
  QVERIFY(info.json()["step"] == trained.json()["steps"]);
  QCOMPARE(info.json()["tables"][0]["rows"].get<int>(), 121);
  QCOMPARE(info.json()["tables"][0]["bytes_per_row"].get<int>(), 36);
  QCOMPARE(info.json()["tables"][0]["touched_rows"].get<int>(), 121);
  const Ended verified = home.run("store verify --json", {home.tableOf(1)});
  COMPARE_EXIT(verified, 0);
  QCOMPARE(verified.json()["verified_rows"].get<int>(), 121);
  QVERIFY(contentsOf(home.cache()) == before);
  // A row that is no number: found, named, left alone.
  QFile rows;
  for (const QString& name : QDir(home.tableOf(1)).entryList({"*rows*"}, QDir::Files))
    rows.setFileName(home.tableOf(1) + "/" + name);
  QVERIFY(rows.open(QIODevice::ReadWrite));
  QVERIFY(rows.seek(4096 + 5 * 36 + 4));
  rows.write(QByteArray("\x00\x00\xc0\x7f", 4));
  rows.close();
  const Ended damaged = home.run("store verify 1 --json");
  COMPARE_EXIT(damaged, 3);
  VERIFY_SAYS(damaged, "entities row 5");
}

void TestCommands::evalMeasuresWithoutChangingTheFiles() {
  const Home home;
  const Ended trained =
      home.run("train --dataset wordnet-mammals --dim 5 --k 1 --epochs 3 --batch 64 --negatives 10 --json --cache",
               {home.cache()});
  COMPARE_EXIT(trained, 0);
  const auto before = contentsOf(home.cache());
  QVERIFY(before.size() >= 4);
  const Ended measured = home.run("eval 1 --json");
  COMPARE_EXIT(measured, 0);
  QVERIFY(measured.json()["metrics"] == trained.json()["metrics"]);
  QVERIFY(measured.json()["metrics"]["map"].get<double>() > 0);
  QVERIFY(contentsOf(home.cache()) == before);
  COMPARE_EXIT(home.run("train --dataset tree:3,4 --dim 4 --epochs 1 --placement ram"), 0);
  const Ended gone = home.run("eval 2");
  COMPARE_EXIT(gone, 3);
  VERIFY_SAYS(gone, "ram");
}

void TestCommands::benchRows() {
  const Home home;
  for (const char* placement : {"ram", "disk"}) {
    const Ended ended = home.run(
        QString(
            "bench rows --rows 20000 --dim 32 --batch-rows 2000 --steps 5 --threads 2 --json --placement %1 --cache")
            .arg(placement),
        {home.cache()});
    COMPARE_EXIT(ended, 0);
    const Json object = ended.json();
    QCOMPARE(object["batch_rows"].get<int>(), 2000);
    QVERIFY(object["rows_per_s"].get<double>() > 1000);
    QVERIFY(object["touch_rows_per_s"].get<double>() > 1000);
  }
  // What it made is gone.
  QVERIFY(QDir(home.cache()).entryList(QDir::Dirs | QDir::NoDotAndDotDot).isEmpty());
  COMPARE_EXIT(home.run("bench rows --rows 0"), 2);
  COMPARE_EXIT(home.run("bench rows --rule sparse_adam --k 1"), 2);
}

void TestCommands::doctorTellsTheMachine() {
  const Home home;
  const Ended ended = home.run("doctor --json");
  COMPARE_EXIT(ended, 0);
  const Json object = ended.json();
  for (const char* key : {"version", "kernels", "cores", "memory_total", "memory_available", "disk", "machine"})
    QVERIFY2(object.contains(key), key);
  QVERIFY(object["cores"].get<int>() > 0);
  QVERIFY(object["memory_total"].get<std::uint64_t>() >= object["memory_available"].get<std::uint64_t>());
  QVERIFY(object["disk"]["free"].get<std::uint64_t>() > 0);
  COMPARE_EXIT(home.run("doctor"), 0);
}

void TestCommands::runsShareACacheFolder() {
  const Home home;
  const auto a = home.start("train --dataset wordnet-mammals --dim 4 --k 1 --epochs 6 --seed 1 --hash --json --cache",
                            {home.cache()});
  const auto b = home.start("train --dataset wordnet-mammals --dim 4 --k 1 --epochs 6 --seed 1 --hash --json --cache",
                            {home.cache()});
  const Ended first = Home::end(*a), second = Home::end(*b);
  COMPARE_EXIT(first, 0);
  COMPARE_EXIT(second, 0);
  QVERIFY(first.json()["table_sha256"] == second.json()["table_sha256"]);
  QVERIFY(first.json()["run"] != second.json()["run"]);
  QCOMPARE(QDir(home.cache()).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), 2);
}

QTEST_GUILESS_MAIN(TestCommands)
#include "tst_commands.moc"
