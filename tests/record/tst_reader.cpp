// SPDX-License-Identifier: Apache-2.0
// Reading: pages that join without gap or repetition, names that must be unique, and no statement that walks the
// samples.
#include <QObject>

#include "core/record/editor.h"
#include "core/record/queries.h"
#include "core/record/reader.h"
#include "tests/record/record_fixture.h"

using namespace dsa;

namespace {

/// Three runs with two metrics each, 3,000 steps, the second run resumed at 2,000.
void fill(const std::string& path) {
  for (int run = 1; run <= 3; ++run) {
    auto recorder = Recorder::open(path).value();
    recorder->createRun(test::row(run == 3 ? "twin" : "run " + std::to_string(run))).value();
    recorder->beginAttempt(0).value();
    const auto loss = recorder->metric(test::loss());
    const auto memory = recorder->metric(test::memory());
    for (std::uint64_t step = 1; step <= 3000; ++step) {
      const std::array<std::pair<Recorder::Metric, double>, 2> values = {
          std::pair(loss, static_cast<double>(run * 10000) + static_cast<double>(step)), std::pair(memory, 1.0)};
      recorder->samples(step, values);
    }
    if (run == 2) {
      recorder->supersedeAfter(2000).value();
      for (std::uint64_t step = 2001; step <= 2500; ++step) recorder->sample(step, loss, -1);
    }
    QVERIFY(recorder->finish(RunStatus::finished, "", "{}"));
  }
}

std::vector<std::string> planOf(SQLite::Database& db, const std::string& query) {
  std::vector<std::string> plan;
  SQLite::Statement rows(db, "EXPLAIN QUERY PLAN " + query);
  while (rows.executeStep()) plan.push_back(rows.getColumn(3).getString());
  return plan;
}

/// The list walks the few rows of `run` and `metric`; samples, events, commands and attempts are only searched.
bool walksALongTable(const std::string& step) {
  if (!step.starts_with("SCAN")) return false;
  for (const char* allowed : {"SCAN r", "SCAN m", "SCAN t", "SCAN run USING INDEX run_active"}) {
    if (step == allowed || step.starts_with(std::string(allowed) + " USING")) return false;
  }
  return true;
}

}  // namespace

class TestReader : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    fill(m_folder.database());
    m_reader = std::make_unique<Reader>(Reader::open(m_folder.database()).value());
  }

  void pagesJoinWithoutGapOrRepetition_data() {
    QTest::addColumn<int>("page");
    for (const int page : {1, 7, 500, 2000, 3000, 100000}) QTest::addRow("%d", page) << page;
  }

  void pagesJoinWithoutGapOrRepetition() {
    QFETCH(int, page);
    const auto samples = test::series(*m_reader, 2, "loss", static_cast<std::size_t>(page));
    QCOMPARE(samples.size(), std::size_t{2500});
    for (std::size_t i = 0; i < samples.size(); ++i) {
      QCOMPARE(samples[i].step, std::uint64_t{i + 1});
      QCOMPARE(samples[i].value, i < 2000 ? 20000.0 + static_cast<double>(i + 1) : -1.0);
    }
    QCOMPARE(test::series(*m_reader, 2, "memory.private", static_cast<std::size_t>(page)).size(), std::size_t{2000});
  }

  void theEndOfASeriesStaysTheEnd() {
    const MetricId metric = m_reader->metrics(1)->at(0).id;
    const auto all = m_reader->samples(1, metric, {}, 3000);
    QCOMPARE(all->samples.size(), std::size_t{3000});
    const auto rest = m_reader->samples(1, metric, all->next, 3000);
    QVERIFY(rest->samples.empty());
    QVERIFY(!rest->more);
    QCOMPARE(rest->next.step, std::int64_t{3000});
  }

  void theRangeLeavesSupersededSamplesOut() {
    MetricId loss = 0;
    const auto metrics = m_reader->metrics(2);
    for (const MetricInfo& metric : *metrics) loss = metric.name == "loss" ? metric.id : loss;
    const auto range = m_reader->range(2, loss);
    QCOMPARE(range->count, std::uint64_t{2500});
    QCOMPARE(range->min, std::optional<double>(-1));
    QCOMPARE(range->max, std::optional<double>(22000));
    QVERIFY(!m_reader->range(2, 999)->min.has_value());
  }

  void runsAreFoundByNumberOrUniqueName() {
    QCOMPARE(m_reader->find("2").value(), RunId{2});
    QCOMPARE(m_reader->find("run 1").value(), RunId{1});
    QCOMPARE(m_reader->find("nobody").error().code, ErrorCode::input);
    auto editor = Editor::open(m_folder.database());
    MUST(editor->rename(1, "twin"));
    const auto twins = m_reader->find("twin");
    QVERIFY(!twins);
    QVERIFY(twins.error().message.find("1, 3") != std::string::npos);
    MUST(editor->rename(1, "2"));
    QCOMPARE(m_reader->find("2").value(), RunId{2});  // the number goes first
    QVERIFY(!m_reader->run(99));
    MUST(editor->rename(1, "run 1"));
  }

  void theListIsInOrderAndLeavesTheArchiveOut() {
    auto editor = Editor::open(m_folder.database());
    MUST(editor->setArchived(2, true));
    QCOMPARE(m_reader->runs()->size(), std::size_t{2});
    const auto all = m_reader->runs(true);
    QCOMPARE(all->size(), std::size_t{3});
    QCOMPARE(all->at(1).id, RunId{2});
    QCOMPARE(all->at(1).attempts, 2);
    QCOMPARE(all->at(2).colour, 2);
    MUST(editor->setArchived(2, false));
  }

  void aDamagedEmbeddingIsSaidAsSuch_data() {
    QTest::addColumn<QString>("change");
    QTest::newRow("half a row number") << "rows = x'0102'";
    QTest::newRow("half a weight") << "weights = x'010203'";
    QTest::newRow("a row too few") << "rows = x'0000000000000000'";
    QTest::newRow("no dim") << "dim = 0";
    QTest::newRow("a dim beyond all bounds") << "dim = 0x7fffffffffffffff";
    QTest::newRow("names that are none") << "labels = '{'";
    QTest::newRow("numbers for names") << "labels = '[1, 2, 3]'";
    QTest::newRow("a name too few") << "labels = '[\"a\", \"b\"]'";
  }
  void aDamagedEmbeddingIsSaidAsSuch() {
    QFETCH(QString, change);
    const test::Folder folder;
    auto recorder = Recorder::open(folder.database());
    MUST((*recorder)->createRun(test::row("drawn")));
    (*recorder)->embedding(test::embedding(1));
    MUST((*recorder)->finish(RunStatus::finished, "", "{}"));
    const auto reader = Reader::open(folder.database());
    QVERIFY(reader->embedding(1)->has_value());
    test::raw(folder.database()).exec(("UPDATE embedding SET " + change).toStdString());
    const auto read = reader->embedding(1);
    QVERIFY(!read);
    QCOMPARE(read.error().code, ErrorCode::input);
    QVERIFY(read.error().message.find("damaged") != std::string::npos);
  }

  void noStatementWalksTheSamples() {
    SQLite::Database db = test::raw(m_folder.database());
    QVERIFY(walksALongTable(planOf(db, "SELECT sum(value) FROM sample s").at(0)));  // the check can fail
    for (const char* query : sql::kAll) {
      for (const std::string& step : planOf(db, query)) {
        QVERIFY2(!walksALongTable(step), (step + " in " + query).c_str());
      }
    }
    const auto page = planOf(db, sql::kSamplePage);
    QVERIFY2(page.size() == 1 && page[0].find("run=? AND metric=? AND attempt=?") != std::string::npos,
             page[0].c_str());
    QVERIFY2(page[0].find("step") != std::string::npos, page[0].c_str());
  }

  void aReaderDoesNotStopAWriterNorTheOtherWayRound() {
    auto recorder = Recorder::open(m_folder.database());
    MUST((*recorder)->createRun(test::row("beside")));
    SQLite::Database open = test::raw(m_folder.database());
    open.exec("BEGIN");
    const std::int64_t before = open.execAndGet("SELECT count(*) FROM run").getInt64();
    MUST((*recorder)->beginAttempt(0));
    MUST((*recorder)->finish(RunStatus::finished, "", "{}"));
    QCOMPARE(open.execAndGet("SELECT count(*) FROM run").getInt64(), before);
    open.exec("COMMIT");
    open.exec("BEGIN IMMEDIATE");
    MUST(m_reader->runs());
    open.exec("COMMIT");
  }

 private:
  test::Folder m_folder;
  std::unique_ptr<Reader> m_reader;
};

QTEST_GUILESS_MAIN(TestReader)
#include "tst_reader.moc"
