// SPDX-License-Identifier: GPL-3.0-or-later
// Time left, by a clock of the test's: silent while it would be a guess, then near the truth.
#include "ui/run/eta.h"

using namespace dsa::ui;

class TestEta : public QObject {
  Q_OBJECT
 private slots:
  void silentAtFirst() {
    Eta eta;
    // 10,000 steps of 0.1 s: 2% is step 200, at 20 s.
    for (int step = 0; step <= 199; ++step) {
      eta.feed(step * 0.1, static_cast<std::uint64_t>(step), 10'000);
      QVERIFY(!eta.secondsLeft(step * 0.1));
    }
    eta.feed(20.1, 201, 10'000);
    QVERIFY(eta.secondsLeft(20.1).has_value());
  }

  void thirtySecondsAreEnough() {
    Eta eta;
    for (int step = 0; step <= 10; ++step) eta.feed(step * 3.0, static_cast<std::uint64_t>(step), 1'000'000);
    QVERIFY(eta.secondsLeft(30).has_value());
  }

  void withinThirtyPercentEvenWhenTheRateChanges() {
    Eta eta;
    double now = 0;
    std::uint64_t step = 0;
    for (; step < 500; ++step) eta.feed(now += 0.2, step, 2'000);
    for (; step < 1'000; ++step) eta.feed(now += 0.3, step, 2'000);  // slower from here on
    const auto left = eta.secondsLeft(now);
    QVERIFY(left.has_value());
    const double truth = 1'000 * 0.3;
    QVERIFY2(std::abs(*left - truth) < 0.3 * truth, qPrintable(QString::number(*left)));
  }

  void silentWhenItStandsStill() {
    Eta eta;
    for (int step = 0; step < 100; ++step) eta.feed(step * 1.0, static_cast<std::uint64_t>(step), 200);
    QVERIFY(eta.secondsLeft(99).has_value());
    QVERIFY(!eta.secondsLeft(120).has_value());
  }

  void startsAnewAfterARollback() {
    Eta eta;
    for (int step = 0; step < 100; ++step) eta.feed(step * 1.0, static_cast<std::uint64_t>(step), 200);
    eta.feed(100, 50, 200);
    QVERIFY(!eta.secondsLeft(100).has_value());
  }

  void nothingIsLeftAtTheEnd() {
    Eta eta;
    for (int step = 0; step <= 100; ++step) eta.feed(step * 1.0, static_cast<std::uint64_t>(step), 100);
    QVERIFY(!eta.secondsLeft(100).has_value());
  }
};

QTEST_MAIN(TestEta)
#include "tst_eta.moc"
