// SPDX-License-Identifier: Apache-2.0
// A run carried from one database to another stays the same run, sample for sample.
#include <QObject>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/file.h"
#include "core/record/bundle.h"
#include "core/record/editor.h"
#include "tests/record/record_fixture.h"

using namespace dsa;

namespace {

/// Run 1 with two attempts, a NaN, an event, a command and a tag.
void makeRun(const std::string& path) {
  auto recorder = Recorder::open(path).value();
  recorder->createRun(test::row("traveller")).value();
  recorder->beginAttempt(0).value();
  const auto loss = recorder->metric(test::loss());
  const auto memory = recorder->metric(test::memory());
  for (std::uint64_t step = 1; step <= 200; ++step) {
    recorder->sample(step, loss, step == 50 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(step));
    recorder->sample(step, memory, 7);
  }
  recorder->supersedeAfter(150).value();
  for (std::uint64_t step = 151; step <= 180; ++step) recorder->sample(step, loss, -static_cast<double>(step));
  recorder->event("phase", "hello", 3);
  recorder->embedding(test::embedding(180));
  auto editor = Editor::open(path).value();
  editor.sendCommand(1, CommandKind::checkpoint).value();
  QVERIFY(editor.addTag(1, "x"));
  QVERIFY(recorder->finish(RunStatus::finished, "", R"({"loss_last": 1})"));
}

void makeOther(const std::string& path) {
  auto recorder = Recorder::open(path).value();
  recorder->createRun(test::row("at home")).value();
  recorder->beginAttempt(0).value();
  // Other metrics first, so that the same name has another number here.
  recorder->sample(1, recorder->metric(MetricInfo{0, "mrr", "", "", MetricAxis::step}), 0.5);
  recorder->sample(1, recorder->metric(test::memory()), 1);
  QVERIFY(recorder->finish(RunStatus::finished, "", "{}"));
}

}  // namespace

class TestBundle : public QObject {
  Q_OBJECT
 private slots:
  void aRunTravelsWhole() {
    const test::Folder folder;
    const std::string there = folder.file("there.sqlite");
    const std::string here = folder.file("here.sqlite");
    const std::string bundle = folder.file("run.dsarun");
    makeRun(there);
    test::raw(there).exec("UPDATE run SET cache_folder = '/tables/run-1'");
    makeOther(here);
    MUST(exportRun(there, 1, bundle));
    QVERIFY(!std::filesystem::exists(bundle + ".part"));
    QVERIFY(!std::filesystem::exists(bundle + "-wal"));
    const auto imported = importRuns(here, bundle, OnSameRun::refuse);
    MUST(imported);
    QCOMPARE(*imported, std::vector<RunId>{2});

    const auto old = Reader::open(there);
    const auto moved = Reader::open(here);
    const auto a = old->run(1);
    const auto b = moved->run(2);
    QCOMPARE(b->uuid, a->uuid);
    QCOMPARE(b->name, a->name);
    QCOMPARE(b->result, a->result);
    QCOMPARE(b->seed, a->seed);
    QCOMPARE(b->tags, a->tags);
    QCOMPARE(b->status, RunStatus::finished);
    // Where the run came from keeps its table; here it has none that could be resumed or deleted.
    QCOMPARE(a->cacheFolder, std::string("/tables/run-1"));
    QVERIFY(b->cacheFolder.empty());
    for (const char* name : {"loss", "memory.private"}) {
      const auto before = test::series(*old, 1, name);
      const auto after = test::series(*moved, 2, name);
      QVERIFY(!before.empty());
      QCOMPARE(after.size(), before.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        QCOMPARE(after[i].step, before[i].step);
        QCOMPARE(after[i].attempt, before[i].attempt);
        QCOMPARE(after[i].wallMs, before[i].wallMs);
        QVERIFY(after[i].value == before[i].value || (std::isnan(after[i].value) && std::isnan(before[i].value)));
      }
    }
    QCOMPARE(moved->attempts(2)->size(), std::size_t{2});
    QCOMPARE(moved->events(2)->size(), old->events(1)->size());
    QCOMPARE(moved->commands(2)->size(), std::size_t{1});
    QCOMPARE(test::series(*moved, 1, "memory.private").size(), std::size_t{1});
    const auto points = moved->embedding(2);
    QVERIFY(points && points->has_value());
    QCOMPARE((*points)->step, std::uint64_t{180});
    QCOMPARE((*points)->wallMs, (*old->embedding(1))->wallMs);
    QCOMPARE((*points)->of->labels, test::embedding(180).of->labels);
    QCOMPARE((*points)->of->rows, test::embedding(180).of->rows);
    QCOMPARE((*points)->weights[0], 180.0f);
    MUST(moved->database().check());
    // A bundle is a database of its own.
    QCOMPARE(Reader::open(bundle)->runs()->size(), std::size_t{1});
  }

  void theSameRunIsRefusedOrReplaced() {
    const test::Folder folder;
    const std::string bundle = folder.file("run.dsarun");
    makeRun(folder.database());
    MUST(exportRun(folder.database(), 1, bundle));
    const std::string bytes = readTextFile(bundle).value();
    auto editor = Editor::open(folder.database());
    MUST(editor->rename(1, "changed here"));
    const auto refused = importRuns(folder.database(), bundle, OnSameRun::refuse);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::input);
    QCOMPARE(Reader::open(folder.database())->run(1)->name, std::string("changed here"));
    const auto replaced = importRuns(folder.database(), bundle, OnSameRun::replace);
    MUST(replaced);
    const auto runs = Reader::open(folder.database())->runs();
    QCOMPARE(runs->size(), std::size_t{1});
    QCOMPARE(runs->at(0).name, std::string("traveller"));
    QCOMPARE(test::number(folder.database(), "SELECT count(DISTINCT run) FROM sample"), std::int64_t{1});
    QCOMPARE(readTextFile(bundle).value(), bytes);
    test::raw(folder.database()).exec("UPDATE run SET status = 'running'");
    QVERIFY(!importRuns(folder.database(), bundle, OnSameRun::replace));
  }

  void aBundleOfAnOlderFormatIsImported_data() {
    QTest::addColumn<int>("format");
    for (int format = 1; format < builtInMigrations().back().version; ++format)
      QTest::addRow("format %d", format) << format;
  }
  void aBundleOfAnOlderFormatIsImported() {
    QFETCH(int, format);
    const test::Folder folder;
    const std::string bundle = folder.file("old.dsarun");
    DatabaseOptions older;
    older.migrations = builtInMigrations().first(static_cast<std::size_t>(format));
    MUST(Database::open(bundle, older));
    test::raw(bundle).exec(
        "INSERT INTO run (uuid, name, spec, status, created_ms) VALUES ('u', 'old', '{}', 'finished', 7)");
    const auto imported = importRuns(folder.database(), bundle, OnSameRun::refuse);
    MUST(imported);
    const auto reader = Reader::open(folder.database());
    QCOMPARE(reader->run(imported->at(0))->name, std::string("old"));
    QVERIFY(!reader->embedding(imported->at(0))->has_value());
    QCOMPARE(test::number(bundle, "PRAGMA user_version"), std::int64_t{format});
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("")))
      QVERIFY2(entry.path().string().find(".backup") == std::string::npos, entry.path().c_str());
  }

  void aRunningRunIsExportedAsInterrupted() {
    const test::Folder folder;
    auto recorder = Recorder::open(folder.database());
    MUST((*recorder)->createRun(test::row("x")));
    MUST((*recorder)->beginAttempt(0));
    MUST(exportRun(folder.database(), 1, folder.file("run.dsarun")));
    QCOMPARE(Reader::open(folder.file("run.dsarun"))->run(1)->status, RunStatus::interrupted);
    QCOMPARE(Reader::open(folder.database())->run(1)->status, RunStatus::running);
  }

  void whatCannotBeDoneLeavesNothing() {
    const test::Folder folder;
    makeRun(folder.database());
    const std::string bundle = folder.file("run.dsarun");
    QCOMPARE(exportRun(folder.database(), 9, bundle).error().code, ErrorCode::input);
    QVERIFY(!std::filesystem::exists(bundle) && !std::filesystem::exists(bundle + ".part"));
    std::ofstream(bundle) << "mine";
    QCOMPARE(exportRun(folder.database(), 1, bundle).error().code, ErrorCode::input);
    QCOMPARE(readTextFile(bundle).value(), std::string("mine"));
    QCOMPARE(importRuns(folder.database(), bundle, OnSameRun::refuse).error().code, ErrorCode::input);
    QCOMPARE(importRuns(folder.database(), folder.file("none"), OnSameRun::refuse).error().code, ErrorCode::input);
    MUST(exportRun(folder.database(), 1, folder.file("new/folder/run")));
    QCOMPARE(Reader::open(folder.database())->runs()->size(), std::size_t{1});
    // No copy of the bundle is left beside the database.
    for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
      QVERIFY2(entry.path().string().find(".import-") == std::string::npos, entry.path().c_str());
    }
  }
};

QTEST_GUILESS_MAIN(TestBundle)
#include "tst_bundle.moc"
