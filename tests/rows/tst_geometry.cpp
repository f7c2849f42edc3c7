// SPDX-License-Identifier: Apache-2.0
// The ball's functions in double against 60-digit values, near zero and near the boundary too.
#include "core/rows/geometry.h"

#include <QtTest>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using nlohmann::json;
using Lanes = dsa::ArrayLanes<double, 1>;

namespace {

double worst(const std::vector<double>& got, const std::vector<double>& want) {
  double norm = 0;
  double difference = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    norm = std::max(norm, std::abs(want[i]));
    difference = std::max(difference, std::abs(got[i] - want[i]));
  }
  return difference == 0 ? 0 : difference / norm;
}

}  // namespace

class tst_geometry : public QObject {
  Q_OBJECT
 private slots:
  void functionsEqualThe60DigitValues_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<int>("pair");
    for (int which = 0; which < 3; ++which) {
      for (int pair = 0; pair < 20; ++pair) QTest::addRow("case %d pair %d", which, pair) << which << pair;
    }
  }
  void functionsEqualThe60DigitValues() {
    QFETCH(int, which);
    QFETCH(int, pair);
    std::ifstream stream(DSA_TEST_DATA "/reference/geoopt_functions_f64.json");
    const json file = json::parse(stream);
    const json& group = file["cases"][static_cast<std::size_t>(which)];
    const double k = group["c"];
    const json& row = group["rows"][static_cast<std::size_t>(pair)];
    const json& exact = row["exact"];
    const std::vector<double> x = row["x"], y = row["y"], u = row["u"], v = row["v"];
    const auto dim = static_cast<std::uint32_t>(x.size());
    std::vector<double> out(x.size());
    const double bound = 5e-12;

    const double distance = dsa::distance<Lanes>(x.data(), y.data(), dim, k);
    const double wantDistance = exact["dist"];
    QVERIFY2(std::abs(distance - wantDistance) <= bound * std::abs(wantDistance),
             qPrintable(QString("dist %1").arg(distance, 0, 'g', 17)));
    const double lambda = dsa::conformalFactor<Lanes>(x.data(), dim, k);
    QVERIFY(std::abs(lambda / exact["lambda_x"].get<double>() - 1) <= bound);

    const auto check = [&](const char* name) {
      const double error = worst(out, exact[name].get<std::vector<double>>());
      if (error > 1e-13) qInfo("%s %.2e", name, error);
      QVERIFY2(error <= bound, qPrintable(QString("%1: %2").arg(name).arg(error)));
    };
    dsa::exponentialMap<Lanes>(x.data(), u.data(), out.data(), dim, k);
    check("expmap_raw");
    dsa::logarithmicMap<Lanes>(x.data(), y.data(), out.data(), dim, k);
    check("logmap");
    dsa::mobiusAdd<Lanes>(x.data(), y.data(), out.data(), dim, k);
    check("mobius_add_raw");
    dsa::riemannianGradient<Lanes>(x.data(), v.data(), out.data(), dim, k);
    check("egrad2rgrad_x_v");
    std::vector<double> from = x;
    out = v;
    dsa::transportAlong<Lanes>(from.data(), y.data(), out.data(), dim, k);
    check("transp_x_y_v");
  }

  void distanceAtKZeroIsEuclidean() {
    const double x[3] = {1, 2, 3};
    const double y[3] = {1, 5, 7};
    QCOMPARE(dsa::distance<Lanes>(x, y, 3, 0), 5.0);
  }
};

QTEST_APPLESS_MAIN(tst_geometry)
#include "tst_geometry.moc"
