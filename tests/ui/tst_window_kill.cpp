// SPDX-License-Identifier: GPL-3.0-or-later
// The window is killed five times while it watches a run: the trainer goes on, the database is whole.
#include <SQLiteCpp/SQLiteCpp.h>

#include "core/record/reader.h"
#include "tests/ui/window_fixture.h"

using namespace dsa;

class TestWindowKill : public QObject {
  Q_OBJECT
 private slots:
  void trainingIsUndisturbed() {
    test::WindowHome home;
    QDir().mkpath(QFileInfo(home.database()).absolutePath());
    QProcess trainer;
    trainer.start(DSA_BINARY, {"train", "--dataset", "zipf:20000", "--dim", "16", "--batch", "500", "--steps",
                               "1000000", "--threads", "1", "--db", home.database(), "--json"});
    QVERIFY(trainer.waitForStarted());
    const std::string path = home.database().toStdString();
    const auto number = [&](const char* sql) {
      if (!QFileInfo::exists(home.database())) return std::int64_t{-1};
      try {
        SQLite::Database db(path, SQLite::OPEN_READONLY, 5000);
        return db.execAndGet(sql).getInt64();
      } catch (const SQLite::Exception&) {
        return std::int64_t{-1};  // not there yet
      }
    };
    QTRY_VERIFY_WITH_TIMEOUT(number("SELECT count(*) FROM sample") > 0, 20000);
    for (int kill = 0; kill < 5; ++kill) {
      const std::int64_t watched = number("SELECT coalesce(max(watched_ms), 0) FROM run");
      const std::int64_t step = number("SELECT coalesce(step, 0) FROM run");
      QProcess window;
      window.start(DSA_LAB, {"--db", home.database(), "--run", "1"});
      QVERIFY(window.waitForStarted());
      // It looks at the run, and the run goes on under its eyes.
      QTRY_VERIFY_WITH_TIMEOUT(number("SELECT coalesce(max(watched_ms), 0) FROM run") > watched, 20000);
      QTRY_VERIFY_WITH_TIMEOUT(number("SELECT coalesce(step, 0) FROM run") > step, 20000);
      window.kill();
      QVERIFY(window.waitForFinished());
      QCOMPARE(trainer.state(), QProcess::Running);
    }
    const std::int64_t last = number("SELECT step FROM run");
    QTRY_VERIFY_WITH_TIMEOUT(number("SELECT step FROM run") > last, 20000);
    trainer.terminate();
    QVERIFY(trainer.waitForFinished(20000));
    QCOMPARE(trainer.exitCode(), 5);  // stopped, resumable
    auto reader = Reader::open(path);
    QVERIFY(reader.has_value());
    QVERIFY(reader->database().check().has_value());
    QCOMPARE(reader->attempts(1)->size(), std::size_t{1});
    // Gapless: the losses' steps rise, and the last one is where training ended.
    const auto metrics = reader->metrics(1);
    const auto loss =
        std::find_if(metrics->begin(), metrics->end(), [](const MetricInfo& m) { return m.name == "loss"; });
    QVERIFY(loss != metrics->end());
    const auto page = reader->samples(1, loss->id, {}, 1'000'000);
    QVERIFY(page->samples.size() > 10);
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < page->samples.size(); ++i) {
      QVERIFY(page->samples[i].step > page->samples[i - 1].step);
      longest = std::max(longest, page->samples[i].wallMs - page->samples[i - 1].wallMs);
    }
    // Ten samples a second; a gap of a second and more would be a loss (the limit is far above what load does).
    QVERIFY2(longest < 5000, qPrintable(QString::number(longest)));
  }
};

QTEST_MAIN(TestWindowKill)
#include "tst_window_kill.moc"
