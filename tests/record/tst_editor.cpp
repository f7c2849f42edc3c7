// SPDX-License-Identifier: Apache-2.0
// What a window changes: whose process counts as gone, orders, names, tags, comparisons, removal.
#include <QObject>

#include "core/record/editor.h"
#include "core/record/process_identity.h"
#include "tests/record/record_fixture.h"

using namespace dsa;

namespace {

/// A running run whose process is what `change` makes of this one.
RunId runOf(const std::string& path, const std::string& change) {
  auto recorder = Recorder::open(path).value();
  const RunId run = recorder->createRun(test::row("x")).value();
  recorder->beginAttempt(0).value();
  recorder.reset();
  if (!change.empty()) test::raw(path).exec("UPDATE run SET " + change + " WHERE id = " + std::to_string(run));
  return run;
}

}  // namespace

class TestEditor : public QObject {
  Q_OBJECT
 private slots:
  void onlyAProcessThatIsGoneIsInterrupted_data() {
    QTest::addColumn<QString>("change");
    QTest::addColumn<bool>("gone");
    QTest::newRow("alive") << "" << false;
    QTest::newRow("alive but long silent") << "heartbeat_ms = 1" << false;
    QTest::newRow("its pid was given to another") << "pid_start = pid_start + 1" << true;
    QTest::newRow("no such pid") << "pid = 99999999" << true;
    QTest::newRow("the machine was restarted") << "boot_id = 'before', machine_id = machine_id || ''" << true;
    QTest::newRow("another machine, lively") << "boot_id = 'other', machine_id = 'other'" << false;
    QTest::newRow("another machine, silent") << "boot_id = 'other', machine_id = 'other', heartbeat_ms = 1" << true;
    QTest::newRow("another container, lively") << "pid = 99999999, pid_namespace = 'pid:[1]'" << false;
    QTest::newRow("another container, silent") << "pid_namespace = 'pid:[1]', heartbeat_ms = 1" << true;
    QTest::newRow("paused, gone") << "status = 'paused', pid = 99999999" << true;
    QTest::newRow("waits without a process") << "status = 'queued', pid = NULL" << false;
    QTest::newRow("finished") << "status = 'finished', pid = 99999999" << false;
  }

  void onlyAProcessThatIsGoneIsInterrupted() {
    QFETCH(QString, change);
    QFETCH(bool, gone);
    if (ProcessIdentity::ofSelf().machineId.empty() && change.contains("before")) {
      QSKIP("SKIP: this machine has no /etc/machine-id");
    }
    const test::Folder folder;
    const RunId run = runOf(folder.database(), change.toStdString());
    const auto before = Reader::open(folder.database())->run(run)->status;
    const auto interrupted = Editor::open(folder.database())->reconcile();
    MUST(interrupted);
    QCOMPARE(interrupted->size(), std::size_t{gone ? 1u : 0u});
    const auto after = Reader::open(folder.database())->run(run);
    QCOMPARE(after->status, gone ? RunStatus::interrupted : before);
    QCOMPARE(after->endedMs.has_value(), gone);
  }

  void ordersNeedAReaderAndASensibleValue() {
    const test::Folder folder;
    const RunId run = runOf(folder.database(), "");
    auto editor = Editor::open(folder.database());
    MUST(editor->sendCommand(run, CommandKind::setRamBudget, 0));
    QCOMPARE(editor->sendCommand(run, CommandKind::setRamBudget, -1).error().code, ErrorCode::input);
    QCOMPARE(editor->sendCommand(run, CommandKind::stop, 5).error().code, ErrorCode::input);
    QCOMPARE(editor->sendCommand(99, CommandKind::stop).error().code, ErrorCode::input);
    test::raw(folder.database()).exec("UPDATE run SET status = 'finished'");
    const auto late = editor->sendCommand(run, CommandKind::stop);
    QVERIFY(!late);
    QVERIFY(late.error().message.find("finished") != std::string::npos);
  }

  void namesNotesTagsColourAndArchive() {
    const test::Folder folder;
    const RunId run = runOf(folder.database(), "status = 'finished'");
    auto editor = Editor::open(folder.database());
    MUST(editor->rename(run, "best's \"run\""));
    MUST(editor->setNotes(run, "line one\nline two"));
    MUST(editor->setColour(run, 5));
    MUST(editor->setArchived(run, true));
    MUST(editor->addTag(run, "slow"));
    MUST(editor->addTag(run, "article, table 2"));
    MUST(editor->addTag(run, "slow"));
    const auto reader = Reader::open(folder.database());
    auto read = reader->run(run);
    QCOMPARE(read->name, std::string("best's \"run\""));
    QCOMPARE(read->notes, std::string("line one\nline two"));
    QCOMPARE(read->colour, 5);
    QVERIFY(read->archived);
    QCOMPARE(read->tags, (std::vector<std::string>{"article, table 2", "slow"}));
    MUST(editor->removeTag(run, "slow"));
    QCOMPARE(reader->run(run)->tags.size(), std::size_t{1});
    QVERIFY(!editor->rename(run, ""));
    QVERIFY(!editor->addTag(run, "two\nlines"));
    QVERIFY(!editor->addTag(run, ""));
    for (const auto& result :
         {editor->rename(99, "x"), editor->setNotes(99, ""), editor->addTag(99, "x"), editor->watch(99)}) {
      QVERIFY(!result);
      QCOMPARE(result.error().code, ErrorCode::input);
    }
  }

  void comparisonsNameTheirArms() {
    const test::Folder folder;
    const RunId a = runOf(folder.database(), "status = 'finished'");
    const RunId b = runOf(folder.database(), "status = 'refused'");
    auto editor = Editor::open(folder.database());
    const auto first = editor->addComparison({{b, "ram"}, {a, "disk"}});
    MUST(first);
    QCOMPARE(editor->addComparison({{a, "x"}}).value(), *first + 1);
    QVERIFY(!editor->addComparison({{a, "x"}, {99, "y"}}));
    const auto arms = Reader::open(folder.database())->comparison(*first);
    QCOMPARE(arms->size(), std::size_t{2});
    QCOMPARE(arms->at(0).run, b);
    QCOMPARE(arms->at(1).label, std::string("disk"));
  }

  void aRemovedRunLeavesNothingAndTheOtherAlone() {
    const test::Folder folder;
    for (int run = 0; run < 2; ++run) {
      auto recorder = Recorder::open(folder.database());
      MUST((*recorder)->createRun(test::row("x")));
      MUST((*recorder)->beginAttempt(0));
      const auto loss = (*recorder)->metric(test::loss());
      for (std::uint64_t step = 1; step <= 45000; ++step) (*recorder)->sample(step, loss, 1);  // three portions
      (*recorder)->event("phase", "x");
      MUST((*recorder)->finish(RunStatus::finished, "", "{}"));
    }
    auto editor = Editor::open(folder.database());
    MUST(editor->addTag(1, "x"));
    MUST(editor->remove(1));
    for (const char* table : {"run", "attempt", "event", "tag", "sample"}) {
      const std::string column = std::string(table) == "run" ? "id" : "run";
      QCOMPARE(test::number(folder.database(), fmt::format("SELECT count(*) FROM {} WHERE {} = 1", table, column)),
               std::int64_t{0});
    }
    QCOMPARE(test::number(folder.database(), "SELECT count(*) FROM sample"), std::int64_t{45000});
    QCOMPARE(editor->remove(1).error().code, ErrorCode::input);
    MUST(Database::open(folder.database())->check());
    // A number is never given twice.
    QCOMPARE(runOf(folder.database(), ""), RunId{3});
  }

  void anActiveRunIsNotRemovedUnlessItsProcessIsGone() {
    const test::Folder folder;
    const RunId run = runOf(folder.database(), "");
    auto editor = Editor::open(folder.database());
    QVERIFY(!editor->checkEnded(run));
    QVERIFY(!editor->tableDeleted(run));
    QVERIFY(!editor->remove(run));
    test::raw(folder.database()).exec("UPDATE run SET pid = 99999999");
    MUST(editor->checkEnded(run));
    MUST(editor->remove(run));
    QCOMPARE(editor->checkEnded(run).error().code, ErrorCode::input);
  }

  void aDeletedTableIsRecorded() {
    const test::Folder folder;
    const RunId run = runOf(folder.database(), "status = 'finished', step = 7, cache_folder = '/tables/run-1'");
    const auto reader = Reader::open(folder.database());
    QVERIFY(reader->run(run)->hasTable);
    QVERIFY(reader->runs()->front().hasTable);
    auto editor = Editor::open(folder.database());
    MUST(editor->tableDeleted(run));
    QVERIFY(!reader->run(run)->hasTable);
    QVERIFY(reader->run(run)->cacheFolder.empty());
    const auto events = reader->events(run);
    QCOMPARE(events->back().kind, std::string("table"));
    QCOMPARE(events->back().step, std::uint64_t{7});
  }
};

QTEST_GUILESS_MAIN(TestEditor)
#include "tst_editor.moc"
