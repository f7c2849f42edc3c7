// SPDX-License-Identifier: GPL-3.0-or-later
// The form: fields become a spec, wrong ones are named, the picture follows, nothing is touched.
#include "core/spec/resolve.h"
#include "tests/ui/window_fixture.h"
#include "ui/pages/new_run.h"
#include "ui/plots/fit_bars.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

QLineEdit* field(NewRunDialog& dialog, const QString& name) {
  for (auto* edit : dialog.findChildren<QLineEdit*>())
    if (edit->accessibleName() == name) return edit;
  qFatal("no field %s", qPrintable(name));
}

QComboBox* choice(NewRunDialog& dialog, const QString& name) {
  for (auto* box : dialog.findChildren<QComboBox*>())
    if (box->accessibleName() == name) return box;
  qFatal("no choice %s", qPrintable(name));
}

void type(QLineEdit* edit, const QString& text) {
  edit->setFocus();
  edit->selectAll();
  QTest::keyClicks(edit, text);
}

}  // namespace

class TestNewRun : public QObject {
  Q_OBJECT
 private:
  std::unique_ptr<test::WindowHome> m_home;

 private slots:
  void initTestCase() { m_home = std::make_unique<test::WindowHome>(); }

  void theFormBecomesASpec() {
    DatasetProbe probe;
    Hardware hardware;
    NewRunDialog dialog(probe, hardware);
    dialog.show();
    choice(dialog, "Dataset")->setCurrentText("wordnet-mammals");
    type(field(dialog, "Dimension"), "5");
    dialog.findChildren<QRadioButton*>().last()->click();  // Poincare
    type(field(dialog, "Curvature k"), "0.5");
    type(field(dialog, "Epochs"), "3");
    type(field(dialog, "Learning rate"), "0.25");
    choice(dialog, "Rule")->setCurrentIndex(choice(dialog, "Rule")->findData("rsgd"));
    choice(dialog, "Table in")->setCurrentIndex(choice(dialog, "Table in")->findData("ram"));
    QVERIFY2(dialog.problem().isEmpty(), qPrintable(dialog.problem()));
    const auto request = dialog.request();
    QVERIFY(request.has_value());
    QCOMPARE(*request->spec.dataset, std::string("wordnet-mammals"));
    QCOMPARE(*request->spec.dim, std::uint64_t{5});
    QCOMPARE(*request->spec.k, 0.5);
    QCOMPARE(*request->spec.train.epochs, std::uint64_t{3});
    QCOMPARE(*request->spec.optimizer.lr, 0.25);
    QVERIFY(*request->spec.optimizer.rule == Rule::rsgd);
    QVERIFY(*request->spec.optimizer.placement == PlacementChoice::ram);
    QVERIFY(request->arms.isEmpty());
    const QString line = commandLineFor(*request);
    for (const char* part :
         {"dsa train", "--dim 5", "--k 0.5", "--lr 0.25", "--rule rsgd", "--placement ram", "--epochs 3"})
      QVERIFY2(line.contains(part), qPrintable(line));
  }

  void aPairHasTwoArms() {
    DatasetProbe probe;
    Hardware hardware;
    NewRunDialog dialog(probe, hardware);
    choice(dialog, "Table in")->setCurrentIndex(choice(dialog, "Table in")->findData("pair"));
    const auto request = dialog.request();
    QVERIFY(request.has_value());
    QCOMPARE(request->arms, (QStringList{"ram:sparse_adam", "disk:sparse_adam"}));
    QVERIFY(commandLineFor(*request).startsWith("dsa compare"));
  }

  void wrongFieldsAreNamed_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::newRow("dimension 0") << "Dimension"
                                 << "0";
    QTest::newRow("a word") << "Epochs"
                            << "many";
    QTest::newRow("negative") << "Learning rate"
                              << "-1";
    QTest::newRow("batch 0") << "Batch"
                             << "0";
  }
  void wrongFieldsAreNamed() {
    QFETCH(QString, name);
    QFETCH(QString, text);
    DatasetProbe probe;
    Hardware hardware;
    NewRunDialog dialog(probe, hardware);
    type(field(dialog, name), text);
    QVERIFY(!dialog.request().has_value());
    QVERIFY2(dialog.problem().contains(name), qPrintable(dialog.problem()));
    field(dialog, name)->clear();
    QVERIFY2(dialog.request().has_value(), qPrintable(dialog.problem()));
  }

  void adamOnTheBallIsRefusedInWords() {
    DatasetProbe probe;
    Hardware hardware;
    NewRunDialog dialog(probe, hardware);
    dialog.findChildren<QRadioButton*>().last()->click();
    choice(dialog, "Rule")->setCurrentIndex(choice(dialog, "Rule")->findData("sparse_adam"));
    QVERIFY(!dialog.request().has_value());
    QVERIFY2(dialog.problem().contains("radam"), qPrintable(dialog.problem()));
    // No plan of other values stays beside it.
    QVERIFY(dialog.picture().bars().isEmpty());
    choice(dialog, "Rule")->setCurrentIndex(0);
    QVERIFY(!dialog.picture().bars().isEmpty());
  }

  void anUnwritableCacheIsAnError() {
    if (::geteuid() == 0) QSKIP("root may write everywhere");
    DatasetProbe probe;
    Hardware hardware;
    NewRunDialog dialog(probe, hardware);
    type(field(dialog, "Cache folder"), "/proc/tables");
    QVERIFY(!dialog.request().has_value());
  }

  void thePictureFollowsEveryKeystroke() {
    DatasetProbe probe;
    Hardware hardware;
    NewRunDialog dialog(probe, hardware);
    choice(dialog, "Dataset")->setCurrentText("zipf:1000000");
    QTRY_VERIFY(dialog.request().has_value());
    const auto bytesOf = [&] {
      double sum = 0;
      for (const FitSegment& segment : dialog.picture().bars().constFirst().segments) sum += segment.bytes;
      return sum;
    };
    type(field(dialog, "Dimension"), "64");
    const double half = bytesOf();
    type(field(dialog, "Dimension"), "128");
    QCOMPARE(bytesOf(), 2 * half);
    // Weights and two moments of a million rows, and the batch of 10,000.
    QCOMPARE(bytesOf(), 1'000'000.0 * 128 * 12 + 10'000.0 * 128 * 12);
  }

  void aSimulatedCardThatIsTooSmallIsSaid() {
    DatasetProbe probe;
    Hardware hardware;
    NewRunDialog dialog(probe, hardware);
    choice(dialog, "Dataset")->setCurrentText("zipf:10000000");
    choice(dialog, "Device")->setCurrentText("sim:12 GiB");
    QTRY_COMPARE(dialog.picture().bars().size(), 3);
    const FitBar& card = dialog.picture().bars().constFirst();
    QVERIFY(card.fit == Fit::doesNotFit);
    QVERIFY(card.title.contains("simulated"));
    QVERIFY(card.segments.constFirst().hatched);
    QVERIFY(card.verdict.contains("14.31"));
    // Without a card, no bar for one.
    choice(dialog, "Device")->setCurrentText("cpu");
    QCOMPARE(dialog.picture().bars().size(), 2);
  }

  void anUnknownDatasetIsAnError() {
    DatasetProbe probe;
    Hardware hardware;
    NewRunDialog dialog(probe, hardware);
    choice(dialog, "Dataset")->setCurrentText("wordnet-mamals");
    QTRY_VERIFY2(dialog.problem().contains("wordnet-mammals"), qPrintable(dialog.problem()));
    QVERIFY(!dialog.request().has_value());
  }

  void recipesFillTheForm() {
    DatasetProbe probe;
    Hardware hardware;
    NewRunDialog dialog(probe, hardware);
    auto* recipes = choice(dialog, "Recipe");
    const int index = recipes->findData("wordnet-mammals-radam");
    QVERIFY(index > 0);
    recipes->setCurrentIndex(index);
    emit recipes->activated(index);
    const auto request = dialog.request();
    QVERIFY2(request.has_value(), qPrintable(dialog.problem()));
    QVERIFY(*request->spec.optimizer.rule == Rule::radam);
    QVERIFY(request->spec.optimizer.eps.has_value());  // a key without a field is kept
  }
};

QTEST_MAIN(TestNewRun)
#include "tst_new_run.moc"
