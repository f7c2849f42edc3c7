// SPDX-License-Identifier: Apache-2.0
// The learning rate of each step.
#include <QTest>

#include "core/train/schedule.h"

using namespace dsa;

class TestSchedule : public QObject {
  Q_OBJECT
 private slots:
  void rateOfAStep_data();
  void rateOfAStep();
  void decayFallsEvenlyAndStaysAboveZero();
};

void TestSchedule::rateOfAStep_data() {
  QTest::addColumn<quint64>("burnIn");
  QTest::addColumn<bool>("linear");
  QTest::addColumn<quint64>("step");
  QTest::addColumn<double>("rate");
  const auto row = [](const char* name, quint64 burnIn, bool linear, quint64 step, double rate) {
    QTest::newRow(name) << burnIn << linear << step << rate;
  };
  row("constant, first", 0, false, 0, 0.5);
  row("constant, last", 0, false, 99, 0.5);
  row("burn-in, first", 10, false, 0, 0.005);
  row("burn-in, last of it", 10, false, 9, 0.005);
  row("burn-in, over", 10, false, 10, 0.5);
  row("decay, first", 0, true, 0, 0.5);
  row("decay, half", 0, true, 50, 0.25);
  row("decay, last", 0, true, 99, 0.005);
  row("decay in burn-in", 60, true, 50, 0.0025);
  row("decay after burn-in", 10, true, 75, 0.125);
}

void TestSchedule::rateOfAStep() {
  QFETCH(quint64, burnIn);
  QFETCH(bool, linear);
  QFETCH(quint64, step);
  QFETCH(double, rate);
  const Schedule schedule{0.5, burnIn, 100, linear};
  const double got = schedule.at(step);
  QVERIFY2(std::abs(got - rate) <= 4e-16, qPrintable(QString::number(got, 'g', 17)));
}

void TestSchedule::decayFallsEvenlyAndStaysAboveZero() {
  const Schedule schedule{0.3, 0, 1000, true};
  for (std::uint64_t step = 1; step < 1000; ++step) {
    QVERIFY(schedule.at(step) > 0);
    QVERIFY(std::abs(schedule.at(step - 1) - schedule.at(step) - 0.3 / 1000) < 1e-15);
  }
}

QTEST_APPLESS_MAIN(TestSchedule)
#include "tst_schedule.moc"
