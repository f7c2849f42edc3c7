// SPDX-License-Identifier: GPL-3.0-or-later
// Colours: readable in light and dark, told apart by colour-blind people and in grey print.
#include "ui/look/theme.h"

using namespace dsa::ui;

namespace {

struct Rgb {
  double r, g, b;
};

double toLinear(double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); }

Rgb linear(const QColor& c) { return {toLinear(c.redF()), toLinear(c.greenF()), toLinear(c.blueF())}; }

/// Machado, Oliveira and Fernandes 2009, severity 1.0: protan, deutan, tritan.
Rgb simulate(const QColor& colour, int kind) {
  static const double m[3][9] = {
      {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
      {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
      {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900}};
  const Rgb c = linear(colour);
  const double* k = m[kind];
  return {k[0] * c.r + k[1] * c.g + k[2] * c.b, k[3] * c.r + k[4] * c.g + k[5] * c.b,
          k[6] * c.r + k[7] * c.g + k[8] * c.b};
}

/// CIE 1976 difference in Lab, D65.
std::array<double, 3> lab(const Rgb& c) {
  const double x = (0.4124 * c.r + 0.3576 * c.g + 0.1805 * c.b) / 0.95047;
  const double y = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
  const double z = (0.0193 * c.r + 0.1192 * c.g + 0.9505 * c.b) / 1.08883;
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  return {116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))};
}

double distance(const Rgb& a, const Rgb& b) {
  const auto p = lab(a);
  const auto q = lab(b);
  return std::sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

}  // namespace

class TestLook : public QObject {
  Q_OBJECT
 private slots:
  void textIsReadable_data() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
  }
  void textIsReadable() {
    QFETCH(bool, dark);
    const Theme& t = dark ? Theme::darkOne() : Theme::light();
    for (const QColor& paper : {t.window, t.plot, t.field, t.button}) {
      QVERIFY(contrast(t.text, paper) >= 4.5);
      QVERIFY2(contrast(t.muted, paper) >= 4.5, qPrintable(paper.name()));
      for (const QColor& word : {t.error, t.warning, t.good})
        QVERIFY2(contrast(word, paper) >= 4.5, qPrintable(word.name() + paper.name()));
    }
    QVERIFY(contrast(t.text, t.selection) >= 4.5);
    for (const QColor& line : {t.reference, t.dsa, t.ram, t.gpu})
      QVERIFY2(contrast(line, t.plot) >= 3, qPrintable(line.name()));
  }

  void runsAreToldApart_data() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
  }
  void runsAreToldApart() {
    QFETCH(bool, dark);
    applyTheme(*qApp, dark ? ThemeMode::dark : ThemeMode::light);
    const QColor paper = Theme::current().plot;
    for (int a = 0; a < kRunColours; ++a) {
      QVERIFY2(contrast(runColour(a), paper) >= 3, qPrintable(runColour(a).name()));
      for (int b = a + 1; b < kRunColours; ++b) {
        // In grey print only the dash tells.
        QVERIFY(runPen(a).dashPattern() != runPen(b).dashPattern() || runPen(a).style() != runPen(b).style());
        for (int kind = 0; kind < 3; ++kind) {
          const double d = distance(simulate(runColour(a), kind), simulate(runColour(b), kind));
          QVERIFY2(d >= 8, qPrintable(QString("slots %1 %2, kind %3: %4").arg(a).arg(b).arg(kind).arg(d)));
        }
      }
    }
    applyTheme(*qApp, ThemeMode::light);
  }

  void twoArmsAreToldApartByEverybody() {
    for (const Theme* t : {&Theme::light(), &Theme::darkOne()})
      for (int kind = 0; kind < 3; ++kind)
        QVERIFY(distance(simulate(t->reference, kind), simulate(t->dsa, kind)) >= 20);
  }

  void momentsArePalerThanWeights() {
    const QColor place = Theme::current().ram;
    QVERIFY(contrast(partColour(place, 0), Theme::current().plot) >
            contrast(partColour(place, 1), Theme::current().plot));
    QVERIFY(contrast(partColour(place, 1), Theme::current().plot) >
            contrast(partColour(place, 2), Theme::current().plot));
  }

  void aRunKeepsItsColour() {
    // By the slot that is stored with it, whatever is filtered, sorted or started anew.
    QCOMPARE(runColour(3), runColour(3));
    QCOMPARE(runColour(11), runColour(3));
    QVERIFY(runColour(3) != runColour(4));
  }
};

QTEST_MAIN(TestLook)
#include "tst_look.moc"
