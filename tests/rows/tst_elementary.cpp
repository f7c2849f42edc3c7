// SPDX-License-Identifier: Apache-2.0
// The stated errors of our elementary functions, in ulps of the 80-bit result rounded to double.
#include <QtTest>
#include <cmath>
#include <limits>

#include "core/base/random.h"
#include "core/rows/elementary.h"

namespace {

using Ours = double (*)(double);
using Exact = long double (*)(long double);

double ulps(double got, long double exact) {
  const double rounded = static_cast<double>(exact);
  if (got == rounded) return 0;
  const double next = std::nextafter(std::abs(rounded), std::numeric_limits<double>::infinity());
  const long double unit = static_cast<long double>(next) - std::abs(rounded);
  return static_cast<double>(std::abs(got - exact) / unit);
}

struct Function {
  const char* name;
  Ours ours;
  Exact exact;
  double low, high;  // range walked
  bool exponents;    // walk by exponent, both signs of it
  double bound;      // ulp, as elementary.h states
};

double oursExp(double x) { return dsa::math::exp(x); }
double oursExpm1(double x) { return dsa::math::expm1(x); }
double oursLog(double x) { return dsa::math::log(x); }
double oursLog1p(double x) { return dsa::math::log1p(x); }
double oursTanh(double x) { return dsa::math::tanh(x); }
double oursAsinh(double x) { return dsa::math::asinh(x); }
double oursSin(double x) { return dsa::math::sin(x); }
double oursCos(double x) { return dsa::math::cos(x); }

const Function kFunctions[] = {
    {"exp", oursExp, std::exp, -700, 709, false, 1},
    {"exp small", oursExp, std::exp, -1, 1, true, 1},
    {"expm1", oursExpm1, std::expm1, -40, 700, false, 1.5},
    {"expm1 small", oursExpm1, std::expm1, -2, 2, true, 1.5},
    {"log", oursLog, std::log, 1e-300, 1e300, true, 1},
    {"log near 1", oursLog, std::log, 0.5, 2, false, 1},
    {"log1p", oursLog1p, std::log1p, -0.9, 1e6, false, 2},
    {"log1p small", oursLog1p, std::log1p, 1e-20, 1, true, 2},
    {"tanh", oursTanh, std::tanh, -25, 25, false, 2.5},
    {"tanh small", oursTanh, std::tanh, 1e-20, 1, true, 2.5},
    {"asinh", oursAsinh, std::asinh, -50, 50, false, 2.5},
    {"asinh wide", oursAsinh, std::asinh, 1e-20, 1e20, true, 2.5},
    {"sin", oursSin, std::sin, -100, 100, false, 1},
    {"sin far", oursSin, std::sin, -800000, 800000, false, 1},
    {"cos", oursCos, std::cos, -100, 100, false, 1},
    {"cos far", oursCos, std::cos, -800000, 800000, false, 1},
};

}  // namespace

class tst_elementary : public QObject {
  Q_OBJECT
 private slots:
  void errorIsWithinTheStatedBound_data() {
    QTest::addColumn<int>("index");
    for (int i = 0; i < static_cast<int>(std::size(kFunctions)); ++i) QTest::newRow(kFunctions[i].name) << i;
  }
  void errorIsWithinTheStatedBound() {
    QFETCH(int, index);
    const Function& f = kFunctions[index];
    double worst = 0;
    double where = 0;
    for (std::uint32_t i = 0; i < 400000; ++i) {
      const auto r = dsa::philox(7, dsa::Stream::tests, i, static_cast<std::uint32_t>(index));
      const double u = dsa::unitFrom(r.word[0], r.word[1]);
      double x = f.low + (f.high - f.low) * u;
      if (f.exponents) {
        const double low = std::log2(std::max(std::abs(f.low), 1e-300));
        const double high = std::log2(f.high);
        const double from = f.low < 0 ? -60 : low;
        x = std::exp2(from + (high - from) * u);
        if (f.low < 0 && (r.word[2] & 1) != 0) x = -x;
      }
      const double error = ulps(f.ours(x), f.exact(x));
      if (!(error <= worst)) {
        worst = error;
        where = x;
      }
    }
    qInfo("%s: worst %.3f ulp at %.17g", f.name, worst, where);
    QVERIFY2(worst <= f.bound, qPrintable(QString("%1 ulp at %2").arg(worst).arg(where, 0, 'g', 17)));
  }

  void edgesAreTheOnesOfTheFunctions() {
    const double infinity = std::numeric_limits<double>::infinity();
    QCOMPARE(dsa::math::exp(0), 1.0);
    QCOMPARE(dsa::math::exp(1000), infinity);
    QCOMPARE(dsa::math::exp(-infinity), 0.0);
    QVERIFY(std::isnan(dsa::math::exp(std::nan(""))));
    QCOMPARE(dsa::math::log(1), 0.0);
    QCOMPARE(dsa::math::log(0), -infinity);
    QVERIFY(std::isnan(dsa::math::log(-1)));
    QCOMPARE(dsa::math::log(infinity), infinity);
    QVERIFY(ulps(dsa::math::log(5e-324), std::log(static_cast<long double>(5e-324))) <= 1);
    QVERIFY(ulps(dsa::math::exp(-744), std::exp(-744.0L)) <= 1);
    QCOMPARE(dsa::math::tanh(infinity), 1.0);
    QCOMPARE(dsa::math::tanh(-infinity), -1.0);
    QVERIFY(std::isnan(dsa::math::tanh(std::nan(""))));
    QVERIFY(std::signbit(dsa::math::tanh(-0.0)));
    QVERIFY(std::signbit(dsa::math::asinh(-0.0)));
    QVERIFY(std::isnan(dsa::math::asinh(std::nan(""))));
    QVERIFY(std::isnan(dsa::math::sin(1e9)));
    QVERIFY(std::isnan(dsa::math::cos(infinity)));
    QCOMPARE(dsa::math::cos(0), 1.0);
  }

  void sineNearMultiplesOfHalfPiKeepsItsDigits() {
    for (int n = 1; n < 500000; n += 37) {
      const double x = static_cast<double>(n * 1.57079632679489661923132L);
      QVERIFY2(ulps(dsa::math::sin(x), std::sin(static_cast<long double>(x))) <= 1, qPrintable(QString::number(n)));
      QVERIFY2(ulps(dsa::math::cos(x), std::cos(static_cast<long double>(x))) <= 1, qPrintable(QString::number(n)));
    }
  }
};

QTEST_APPLESS_MAIN(tst_elementary)
#include "tst_elementary.moc"
