// SPDX-License-Identifier: Apache-2.0
// The warp's lane policy on the host: 32 fibers in place of 32 threads, which run one after another from shuffle to
// shuffle.

#include <QtTest>
#include <array>

#include "core/device/cuda_launch.h"
#include "core/device/lanes_warp.h"
#include "core/rows/row_math.h"
#include "tests/gpu/host_card.h"
#include "tests/gpu/row_cases.h"

using dsa::test::Fibers;
using dsa::test::FiberWarp;
using dsa::test::kLanes;
using dsa::test::RowCase;
using dsa::test::sameBits;

namespace {

/// A warp that forgets to wait, and one that adds in another order: the faults that the comparison must find.
struct HastyWarp : FiberWarp {
  static void meet() {}
};
struct TurnedWarp : FiberWarp {
  static double shuffleXor(double x, int mask) { return Fibers::exchange(x, kLanes / 2 / mask); }
};

/// The table after `steps` steps; empty where the lanes did not stay together.
template <class Warp>
std::vector<float> updated(const RowCase& c, std::uint64_t steps, bool backwards) {
  std::vector<float> table = c.table;
  for (std::uint64_t t = 1; t <= steps; ++t) {
    const dsa::UpdateRowsWork work{c.step(t), table.data(), c.width, c.ids.data(), c.grads.data(), c.ids.size()};
    if (!dsa::test::runOnHost<Warp>({work}, backwards)) return {};
  }
  return table;
}

/// Values whose squares differ in size, so that their sum depends on the order.
std::vector<float> wideValues(std::uint32_t dim) {
  std::vector<float> values(dim);
  for (std::uint32_t i = 0; i < dim; ++i)
    values[i] = std::ldexp(dsa::test::random(dim, i, 1), static_cast<int>(i * 7 % 19));
  return values;
}

template <class Warp>
std::array<double, kLanes> sumOfEachLane(const std::vector<float>& values) {
  static Fibers fibers;
  std::array<double, kLanes> sums{};
  const bool met = fibers.run(
      [&] {
        const dsa::Sum sum =
            dsa::squaredNorm<dsa::WarpLanes<Warp>>(values.data(), static_cast<std::uint32_t>(values.size()));
        sums[static_cast<std::size_t>(Fibers::lane())] = sum.high;
      },
      false);
  if (!met) sums.fill(NAN);
  return sums;
}

}  // namespace

class tst_lanes_warp : public QObject {
  Q_OBJECT
 private slots:
  void thirtyTwoLanesGiveTheBitsOfTheEmulatedLevel_data() { dsa::test::addRules(); }
  void thirtyTwoLanesGiveTheBitsOfTheEmulatedLevel() {
    QFETCH(int, rule);
    QFETCH(int, map);
    QFETCH(double, k);
    for (const std::uint32_t dim : {1u, 2u, 5u, 15u, 16u, 17u, 31u, 32u, 33u, 64u, 100u, 131u}) {
      const RowCase c(static_cast<dsa::Rule>(rule), static_cast<dsa::BallMap>(map), k, dim, 19);
      const std::vector<float> want = c.expected(3);
      QVERIFY(!sameBits(want, c.table));
      for (const bool backwards : {false, true}) {
        const std::vector<float> got = updated<FiberWarp>(c, 3, backwards);
        QVERIFY2(!got.empty(), qPrintable(QString("dim %1: the lanes branched apart").arg(dim)));
        QVERIFY2(sameBits(got, want), qPrintable(QString("dim %1, backwards %2").arg(dim).arg(backwards)));
      }
    }
  }

  void aWarpThatDoesNotWaitIsFound() {
    const RowCase c(dsa::Rule::radam, dsa::BallMap::exponential, 1.0, 33, 5);
    QVERIFY(sameBits(updated<FiberWarp>(c, 2, false), c.expected(2)));
    QVERIFY(!sameBits(updated<HastyWarp>(c, 2, false), c.expected(2)));
  }

  void everyLaneHasTheSumOfTheEmulatedLevel() {
    int turned = 0;
    for (std::uint32_t dim = 1; dim <= 131; ++dim) {
      const std::vector<float> values = wideValues(dim);
      const double want = dsa::squaredNorm<dsa::ArrayLanes<float, kLanes>>(values.data(), dim).high;
      for (const double sum : sumOfEachLane<FiberWarp>(values))
        QVERIFY2(sum == want, qPrintable(QString("dim %1").arg(dim)));
      // Had the order of additions no effect on these values, the line above would prove nothing.
      if (sumOfEachLane<TurnedWarp>(values)[0] != want) ++turned;
    }
    QVERIFY2(turned > 30, qPrintable(QString::number(turned)));
  }
};

QTEST_APPLESS_MAIN(tst_lanes_warp)
#include "tst_lanes_warp.moc"
