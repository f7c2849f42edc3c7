// SPDX-License-Identifier: GPL-3.0-or-later
// The table of runs: colours and selection stay, numbers sort as numbers, no trace of samples.
#include <QSignalSpy>

#include "ui/look/theme.h"
#include "ui/pages/runs_model.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

RunSummary run(RunId id, const std::string& name, std::uint64_t dim) {
  RunSummary run;
  run.id = id;
  run.name = name;
  run.dim = dim;
  run.colour = static_cast<int>((id - 1) % kRunColours);
  run.status = RunStatus::finished;
  return run;
}

QColor colourOf(const QAbstractItemModel& model, const QString& name) {
  for (int row = 0; row < model.rowCount(); ++row) {
    const QModelIndex index = model.index(row, RunsModel::Name);
    if (index.data().toString() != name) continue;
    return index.data(Qt::DecorationRole).value<QPixmap>().toImage().pixelColor(12, 12);
  }
  return {};
}

}  // namespace

class TestRunsModel : public QObject {
  Q_OBJECT
 private slots:
  void coloursStayThroughFilterSortAndRestart() {
    const RunList runs = {run(1, "one", 8), run(2, "two", 128), run(3, "three", 16)};
    RunsModel model;
    model.setRuns(runs);
    RunsFilterModel shown(model);
    const QColor before = colourOf(shown, "three");
    QCOMPARE(before, runColour(2));
    shown.setFilterText("three");
    QCOMPARE(colourOf(shown, "three"), before);
    shown.setFilterText("");
    shown.sort(RunsModel::Dim, Qt::DescendingOrder);
    QCOMPARE(colourOf(shown, "three"), before);
    RunsModel later;
    later.setRuns({runs[0], runs[2]});
    QCOMPARE(colourOf(later, "three"), before);
  }

  void numbersSortAsNumbers() {
    RunsModel model;
    model.setRuns({run(1, "a", 1000), run(2, "b", 9), run(3, "c", 128)});
    RunsFilterModel shown(model);
    shown.sort(RunsModel::Dim, Qt::AscendingOrder);
    QCOMPARE(shown.index(0, RunsModel::Name).data().toString(), QString("b"));
    QCOMPARE(shown.index(2, RunsModel::Name).data().toString(), QString("a"));
  }

  void nanIsNamedAndLast() {
    RunSummary diverged = run(1, "diverged", 8);
    diverged.progress.lossLast = std::nan("");
    RunSummary fine = run(2, "fine", 8);
    fine.progress.lossLast = 0.5;
    RunsModel model;
    model.setRuns({diverged, fine});
    QCOMPARE(model.index(0, RunsModel::Loss).data().toString(), QString("NaN"));
    RunsFilterModel shown(model);
    shown.sort(RunsModel::Loss, Qt::AscendingOrder);
    QCOMPARE(shown.index(0, RunsModel::Name).data().toString(), QString("fine"));
  }

  void selectionSurvivesAnUpdate() {
    RunsModel model;
    RunList runs = {run(1, "one", 8), run(2, "two", 16)};
    model.setRuns(runs);
    QPersistentModelIndex second(model.index(1, 0));
    runs[1].progress.lossLast = 1;
    runs.push_back(run(3, "three", 32));
    model.setRuns(runs);
    QVERIFY(second.isValid());
    QCOMPARE(second.data().toString(), QString("two"));
    QCOMPARE(model.rowCount(), 3);
  }

  void archivedRunsAreHidden() {
    RunsModel model;
    RunList runs = {run(1, "one", 8), run(2, "two", 16)};
    runs[0].archived = true;
    model.setRuns(runs);
    RunsFilterModel shown(model);
    QCOMPARE(shown.rowCount(), 1);
    shown.setShowArchived(true);
    QCOMPARE(shown.rowCount(), 2);
  }

  void renamingAsksTheRecord() {
    RunsModel model;
    model.setRuns({run(7, "one", 8)});
    QSignalSpy wanted(&model, &RunsModel::renameWanted);
    QVERIFY(model.setData(model.index(0, RunsModel::Name), "better", Qt::EditRole));
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted[0][1].toString(), QString("better"));
    QVERIFY(!model.setData(model.index(0, RunsModel::Name), "  ", Qt::EditRole));
    QCOMPARE(model.index(0, RunsModel::Name).data().toString(), QString("one"));
  }
};

QTEST_MAIN(TestRunsModel)
#include "tst_runs_model.moc"
