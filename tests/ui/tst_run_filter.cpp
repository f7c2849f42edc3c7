// SPDX-License-Identifier: GPL-3.0-or-later
// Words and conditions above the list of runs.
#include "ui/run/run_filter.h"

using namespace dsa;
using namespace dsa::ui;

class TestRunFilter : public QObject {
  Q_OBJECT
 private slots:
  void conditionsAndWords_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("matches");
    QTest::newRow("nothing") << "" << true;
    QTest::newRow("a word of the name") << "evening" << true;
    QTest::newRow("two words, both there") << "evening MAMMALS" << true;
    QTest::newRow("two words, one missing") << "evening umls" << false;
    QTest::newRow("a tag") << "keep" << true;
    QTest::newRow("dim above") << "dim>=128" << true;
    QTest::newRow("dim below") << "dim<128" << false;
    QTest::newRow("k") << "k=0" << true;
    QTest::newRow("done is finished") << "status:done" << true;
    QTest::newRow("finished") << "status:finished" << true;
    QTest::newRow("another status") << "status:failed" << false;
    QTest::newRow("not that status") << "status!=failed" << true;
    QTest::newRow("together") << "dim>=128 k=0 status:done place:disk" << true;
    QTest::newRow("one does not hold") << "dim>=128 k=1 status:done" << false;
    QTest::newRow("loss") << "loss<0.9" << true;
    QTest::newRow("no number there") << "epoch>=0" << false;
    QTest::newRow("not understood: a word") << "dim>=many" << false;
    QTest::newRow("unknown key: a word") << "colour:red" << false;
  }
  void conditionsAndWords() {
    QFETCH(QString, text);
    QFETCH(bool, matches);
    RunSummary run;
    run.name = "Evening run";
    run.dataset = "wordnet-mammals";
    run.dim = 128;
    run.rule = "sparse_adam";
    run.placement = "disk";
    run.status = RunStatus::finished;
    run.progress.lossLast = 0.8;
    run.tags = {"keep"};
    QCOMPARE(RunFilter(text).matches(run), matches);
  }
};

QTEST_MAIN(TestRunFilter)
#include "tst_run_filter.moc"
