// SPDX-License-Identifier: GPL-3.0-or-later
// The handle for a running table's memory: what it says, what it asks for, and that showing a run asks for nothing.
#include <QtTest>
#include <QtWidgets>

#include "ui/look/units.h"
#include "ui/pages/budget_slider.h"

using namespace dsa::ui;

class TestBudgetSlider : public QObject {
  Q_OBJECT
 private slots:
  void beginsWithoutABudget();
  void showingARunAsksForNothing();
  void movingAsksOnceItRests();
};

void TestBudgetSlider::beginsWithoutABudget() {
  const BudgetSlider slider;
  QCOMPARE(slider.budget(), quint64{0});
  QVERIFY(!slider.findChild<QSlider*>()->accessibleName().isEmpty());
  const auto labels = slider.findChildren<QLabel*>();
  QVERIFY(std::any_of(labels.begin(), labels.end(), [](QLabel* label) { return label->text() == "no budget"; }));
}

void TestBudgetSlider::showingARunAsksForNothing() {
  BudgetSlider slider;
  QSignalSpy spy(&slider, &BudgetSlider::chosen);
  slider.setBudget(64ull << 20);
  QCOMPARE(slider.budget(), quint64{64} << 20);
  // Between two places: the next one up, never less than the run may take.
  slider.setBudget(70ull << 20);
  QCOMPARE(slider.budget(), quint64{96} << 20);
  slider.setBudget(1ull << 62);
  QCOMPARE(slider.budget(), quint64{0});
  slider.setBudget(std::nullopt);
  QCOMPARE(slider.budget(), quint64{0});
  QTest::qWait(400);
  QCOMPARE(spy.size(), 0);
}

void TestBudgetSlider::movingAsksOnceItRests() {
  BudgetSlider slider;
  QSignalSpy spy(&slider, &BudgetSlider::chosen);
  auto* const handle = slider.findChild<QSlider*>();
  for (int place = handle->maximum() - 1; place >= 0; --place) handle->setValue(place);
  QVERIFY(spy.wait(2000));
  QCOMPARE(spy.size(), 1);
  QCOMPARE(spy.at(0).at(0).toULongLong(), quint64{16} << 20);
  const auto labels = slider.findChildren<QLabel*>();
  QVERIFY(
      std::any_of(labels.begin(), labels.end(), [](QLabel* label) { return label->text() == Units::bytes(16 << 20); }));
}

QTEST_MAIN(TestBudgetSlider)
#include "tst_budget_slider.moc"
