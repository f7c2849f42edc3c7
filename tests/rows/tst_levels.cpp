// SPDX-License-Identifier: Apache-2.0
// Every kernel level gives the same bits as the scalar one, for every rule and odd sizes; rows not named stay as they
// were.
#include <QtTest>
#include <cmath>
#include <cstring>

#include "core/base/random.h"
#include "core/rows/kernels.h"

using dsa::Rule;
using dsa::StepParams;

namespace {

constexpr std::uint32_t kDims[] = {1, 2, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 128, 131};
constexpr std::uint64_t kRows = 37;

float random(std::uint64_t i, std::uint32_t slot, float scale) {
  return dsa::symmetricFrom(dsa::philox(11, dsa::Stream::tests, i, slot).word[0], scale);
}

struct Case {
  StepParams params;
  std::vector<float> table;
  std::vector<float> grads;
};

Case makeCase(Rule rule, dsa::BallMap map, double k, std::uint32_t dim) {
  Case c;
  c.params.rule = rule;
  c.params.map = map;
  c.params.k = k;
  c.params.dim = dim;
  c.params.weightDecay = rule == Rule::dsa ? 0.01 : 0;
  const std::uint64_t width = dsa::rowFloats(rule, dim);
  c.table.assign(kRows * width, 0);
  for (std::uint64_t r = 0; r < kRows; ++r) {
    // From the middle to close to the boundary.
    const float scale =
        static_cast<float>(0.999 * static_cast<double>(r) / kRows / std::sqrt(static_cast<double>(dim)));
    for (std::uint32_t i = 0; i < dim; ++i) c.table[r * width + i] = random(r, i, scale);
  }
  c.grads.resize(kRows * dim);
  for (std::uint64_t i = 0; i < c.grads.size(); ++i) c.grads[i] = random(1000 + i, 3, 2.0f);
  return c;
}

std::vector<float> run(Case c, dsa::KernelLevel level, int steps) {
  const std::uint64_t width = dsa::rowFloats(c.params.rule, c.params.dim);
  std::vector<float*> rows;
  std::vector<float> grads;
  for (std::uint64_t r = 0; r < kRows; r += 2) {  // odd rows are not named
    rows.push_back(c.table.data() + r * width);
    grads.insert(grads.end(), c.grads.begin() + static_cast<long>(r * c.params.dim),
                 c.grads.begin() + static_cast<long>((r + 1) * c.params.dim));
  }
  for (int t = 1; t <= steps; ++t) {
    dsa::rowKernels(level).update(dsa::makeStep(c.params, static_cast<std::uint64_t>(t), 0.02), rows.data(),
                                  grads.data(), c.params.dim, rows.size());
  }
  return c.table;
}

}  // namespace

class tst_levels : public QObject {
  Q_OBJECT
 private slots:
  void everyLevelGivesTheBitsOfTheScalarOne_data() {
    QTest::addColumn<int>("rule");
    QTest::addColumn<int>("map");
    QTest::addColumn<double>("k");
    for (const Rule rule : {Rule::sparseAdam, Rule::dsa, Rule::radam, Rule::rsgd, Rule::rowAdagrad}) {
      for (const int map : {1, 2}) {
        for (const double k : {0.0, 1.0, 0.3}) {
          if (!dsa::ruleAllows(rule, k)) continue;
          QTest::addRow("%s map %d k %g", std::string(dsa::ruleName(rule)).c_str(), map, k)
              << static_cast<int>(rule) << map << k;
        }
      }
    }
  }
  void everyLevelGivesTheBitsOfTheScalarOne() {
    QFETCH(int, rule);
    QFETCH(int, map);
    QFETCH(double, k);
    for (const std::uint32_t dim : kDims) {
      const Case c = makeCase(static_cast<Rule>(rule), static_cast<dsa::BallMap>(map), k, dim);
      const std::vector<float> want = run(c, dsa::KernelLevel::scalar, 5);
      for (const float value : want) QVERIFY(std::isfinite(value));
      QVERIFY(std::memcmp(want.data(), c.table.data(), want.size() * sizeof(float)) != 0);
      for (const dsa::KernelLevel level : dsa::availableLevels()) {
        const std::vector<float> got = run(c, level, 5);
        QVERIFY2(
            std::memcmp(got.data(), want.data(), want.size() * sizeof(float)) == 0,
            qPrintable(QString("%1, dim %2").arg(QString::fromStdString(std::string(dsa::levelName(level)))).arg(dim)));
      }
      const std::uint64_t width = dsa::rowFloats(c.params.rule, dim);
      for (std::uint64_t r = 1; r < kRows; r += 2) {
        QVERIFY(std::memcmp(want.data() + r * width, c.table.data() + r * width, width * sizeof(float)) == 0);
      }
    }
  }

  void pointsOnTheBoundaryStayFiniteForAThousandSteps_data() { everyLevelGivesTheBitsOfTheScalarOne_data(); }
  void pointsOnTheBoundaryStayFiniteForAThousandSteps() {
    QFETCH(int, rule);
    QFETCH(int, map);
    QFETCH(double, k);
    StepParams p;
    p.rule = static_cast<Rule>(rule);
    p.map = static_cast<dsa::BallMap>(map);
    p.k = k;
    p.dim = 2;
    float row[6] = {k > 0 ? static_cast<float>(1 / std::sqrt(k)) : 1, 0, 0, 0, 0, 0};
    float* rows[1] = {row};
    for (std::uint64_t t = 1; t <= 1000; ++t) {
      const float grad[2] = {-1, t % 2 == 0 ? 1.0f : -1.0f};
      dsa::rowKernels(dsa::KernelLevel::scalar).update(dsa::makeStep(p, t, 0.01), rows, grad, 2, 1);
      for (const float value : row) QVERIFY2(std::isfinite(value), qPrintable(QString("step %1").arg(t)));
    }
    if (k > 0) QVERIFY(k * (static_cast<double>(row[0]) * row[0] + static_cast<double>(row[1]) * row[1]) < 1);
  }

  void notFiniteGradientIsFoundByRow() {
    std::vector<float> values(10 * 4, 1.0f);
    QCOMPARE(dsa::firstNotFinite(values.data(), 10, 4, 3), -1);
    values[7 * 4 + 3] = NAN;  // padding is not looked at
    QCOMPARE(dsa::firstNotFinite(values.data(), 10, 4, 3), -1);
    values[7 * 4 + 2] = -INFINITY;
    QCOMPARE(dsa::firstNotFinite(values.data(), 10, 4, 3), 7);
    values[2 * 4] = NAN;
    QCOMPARE(dsa::firstNotFinite(values.data(), 10, 4, 3), 2);
  }
};

QTEST_APPLESS_MAIN(tst_levels)
#include "tst_levels.moc"
