// SPDX-License-Identifier: Apache-2.0
#include <QTest>

#include "core/optim/cold_steps.h"

using namespace dsa;

class TestColdSteps : public QObject {
  Q_OBJECT
 private slots:
  // A resumed run's table may lie on the disk alone.
  void beginsCold() { QVERIFY(ColdSteps().cold()); }
  void oneStepWithoutFaultsDoesNotEndTheReadingAhead() {
    ColdSteps steps;
    steps.met(true);
    steps.met(false);
    QVERIFY(steps.cold());
  }
  void manyDo() {
    ColdSteps steps;
    steps.met(true);
    int after = 0;
    for (; steps.cold() && after < 100; ++after) steps.met(false);
    QVERIFY2(after > 1 && after < 20, qPrintable(QString::number(after)));
    steps.met(false);
    QVERIFY(!steps.cold());
    steps.met(true);
    QVERIFY(steps.cold());
  }
};

QTEST_GUILESS_MAIN(TestColdSteps)
#include "tst_cold_steps.moc"
