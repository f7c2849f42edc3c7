// SPDX-License-Identifier: GPL-3.0-or-later
// The page of points: what its header says, what it says where there are none, whose frames it takes.
#include <QtTest>
#include <QtWidgets>

#include "ui/look/theme.h"
#include "ui/pages/embedding_page.h"
#include "ui/pages/empty_state.h"
#include "ui/plots/scatter.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

RunSummary summary(RunId id, RunStatus status, std::uint64_t dim, double k) {
  RunSummary run;
  run.id = id;
  run.name = "run " + std::to_string(id);
  run.status = status;
  run.dim = dim;
  run.k = k;
  run.placement = "disk";
  return run;
}

EmbeddingFrame frameOf(RunId run, std::uint64_t shown, std::uint64_t total, std::uint64_t dim, double k) {
  EmbeddingSample sample;
  auto of = std::make_shared<EmbeddingRows>();
  of->totalRows = total;
  of->dim = dim;
  of->k = k;
  for (std::uint64_t row = 0; row < shown; ++row) {
    of->rows.push_back(row);
    of->labels.push_back("name " + std::to_string(row));
    for (std::uint64_t j = 0; j < dim; ++j) sample.weights.push_back(row % dim == j ? 0.5F : 0.01F);
  }
  sample.step = 12345;
  sample.of = of;
  return Projector().frame(run, sample);
}

}  // namespace

class TestEmbeddingPage : public QObject {
  Q_OBJECT
 private:
  std::unique_ptr<RunsModel> m_model;
  std::unique_ptr<EmbeddingPage> m_page;

 private slots:
  void initTestCase() {
    applyTheme(*qApp, ThemeMode::light);
    QLocale::setDefault(QLocale("en"));
  }
  void init() {
    m_model = std::make_unique<RunsModel>();
    m_model->setRuns({summary(1, RunStatus::finished, 2, 1), summary(2, RunStatus::running, 128, 0)});
    m_page = std::make_unique<EmbeddingPage>(*m_model);
    m_page->resize(900, 600);
    m_page->show();
  }
  void cleanup() { m_page.reset(); }

  void theHeaderSaysWhatIsDrawn_data() {
    QTest::addColumn<int>("shown");
    QTest::addColumn<int>("total");
    QTest::addColumn<int>("dim");
    QTest::addColumn<double>("k");
    QTest::addColumn<QString>("rows");
    QTest::addColumn<QString>("plane");
    QTest::newRow("whole, flat") << 1180 << 1180 << 2 << 1.0 << "all 1,180 rows"
                                 << "first two coordinates";
    QTest::newRow("some, PCA") << 2000 << 1000000 << 8 << 0.0 << "2,000 of 1,000,000 rows, those the first batches met"
                               << "PCA, ";
    QTest::newRow("ball") << 40 << 40 << 5 << 1.0 << "all 40 rows"
                          << "two leading directions through the origin, ";
    QTest::newRow("a line") << 4 << 4 << 1 << 0.0 << "all 4 rows"
                            << "the only coordinate";
  }
  void theHeaderSaysWhatIsDrawn() {
    QFETCH(int, shown);
    QFETCH(int, total);
    QFETCH(int, dim);
    QFETCH(double, k);
    QFETCH(QString, rows);
    QFETCH(QString, plane);
    m_page->showRun(1);
    m_page->takeFrame(frameOf(1, shown, total, dim, k));
    const QString facts = m_page->facts();
    QVERIFY2(facts.contains("step 12,345") && facts.contains(rows) && facts.contains(plane), qPrintable(facts));
    if (plane.endsWith(", "))
      QVERIFY2(QRegularExpression("[1-9][0-9]? % of").match(facts).hasMatch(), qPrintable(facts));
  }

  void framesOfOtherRunsAreNotShown() {
    m_page->showRun(1);
    m_page->takeFrame(frameOf(2, 4, 4, 2, 0));
    QVERIFY(!m_page->scatter().frame().of);
    m_page->takeFrame(frameOf(1, 4, 4, 2, 1));
    QCOMPARE(m_page->scatter().frame().points.size(), 4);
    // Another run begins without the first one's points.
    m_page->showRun(2);
    QVERIFY(!m_page->scatter().frame().of);
  }

  void whereThereAreNonePagesSayWhy() {
    const auto* empty = m_page->findChild<EmptyState*>();
    QVERIFY(empty->isVisible());
    QSignalSpy wanted(m_page.get(), &EmbeddingPage::demoWanted);
    empty->findChild<QPushButton*>()->click();
    QCOMPARE(wanted.size(), 1);
    m_page->showRun(2);
    QVERIFY(!empty->isVisible());
    EmbeddingFrame none;
    none.run = 2;
    m_page->takeFrame(none);
    QVERIFY(m_page->scatter().accessibleDescription().contains("first steps"));
    m_page->showRun(1);
    none.run = 1;
    m_page->takeFrame(none);
    QVERIFY(m_page->scatter().accessibleDescription().contains("No points were recorded"));
    none.problem = "it is damaged";
    m_page->takeFrame(none);
    QCOMPARE(m_page->scatter().accessibleDescription(), QString("it is damaged"));
    m_page->expect();
    QVERIFY(!empty->isVisible());
    QVERIFY(m_page->scatter().accessibleDescription().contains("about to begin"));
    m_page->showRun(0);
    QVERIFY(empty->isVisible());
  }

  void theFieldFindsAndEnterGoesOn() {
    m_page->showRun(1);
    m_page->takeFrame(frameOf(1, 40, 40, 2, 1));
    auto* field = m_page->findChild<QLineEdit*>();
    QVERIFY(!field->accessibleName().isEmpty());
    QTest::keyClicks(field, "name 3");
    QCOMPARE(m_page->scatter().matches(), 11);  // 3, 30 to 39
    const auto says = [&](const QString& text) {
      for (const QLabel* label : m_page->findChildren<QLabel*>())
        if (label->isVisible() && label->text() == text) return true;
      return false;
    };
    QVERIFY(says("11 found"));
    QTest::keyClick(field, Qt::Key_Return);
    const int first = m_page->scatter().pointed();
    QVERIFY(first >= 0);
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(m_page->scatter().pointed() != first);
    field->clear();
    QVERIFY(!says("11 found"));
    QCOMPARE(m_page->scatter().matches(), 0);
  }

  void thePickerOffersTheRuns() {
    m_page->showRun(1);
    auto* picker = m_page->findChild<QComboBox*>();
    QCOMPARE(picker->count(), 2);
    QCOMPARE(picker->currentText(), QString("run 1"));
    QSignalSpy chosen(m_page.get(), &EmbeddingPage::runChosen);
    picker->setCurrentIndex(0);
    emit picker->activated(0);
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen[0][0].value<RunId>(), RunId{2});
  }
};

QTEST_MAIN(TestEmbeddingPage)
#include "tst_embedding_page.moc"
