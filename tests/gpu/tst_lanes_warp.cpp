// SPDX-License-Identifier: Apache-2.0
// The warp's lane policy on the host: 32 fibers in place of 32 threads, which run one after another from shuffle to
// shuffle.
//
// That order is the hardest one a warp may take: the first lane is a whole stretch ahead of the last, so a value of the
// row that is overwritten before all lanes have read it shows; lanes that branch apart show as well.
#include <ucontext.h>

#include <QtTest>
#include <array>
#include <functional>
#include <memory>

#include "core/device/cuda_launch.h"
#include "core/device/lanes_warp.h"
#include "core/rows/row_math.h"
#include "tests/gpu/row_cases.h"

using dsa::test::RowCase;
using dsa::test::sameBits;

namespace {

constexpr int kLanes = 32;
constexpr std::size_t kStackBytes = 256 * 1024;

/// Runs one function in 32 fibers that meet at each shuffle.
class Fibers {
 public:
  /// False: the lanes did not meet at the same place.
  bool run(const std::function<void()>& body, bool backwards) {
    m_body = &body;
    s_running = this;
    for (int lane = 0; lane < kLanes; ++lane) start(lane);
    for (;;) {
      for (int turn = 0; turn < kLanes; ++turn) {
        m_lane = backwards ? kLanes - 1 - turn : turn;
        swapcontext(&m_main, &m_lanes[index(m_lane)].context);
      }
      for (const Lane& lane : m_lanes) {
        if (lane.place != m_lanes[0].place) return false;
      }
      if (m_lanes[0].place == kDone) return true;
      for (std::size_t i = 0; i < kLanes; ++i) m_seen[i] = m_lanes[i].offered;
    }
  }
  static int lane() { return s_running->m_lane; }
  /// Waits until every lane has come to `place`, then gives what lane ^ place offered.
  static double exchange(double offered, int place) {
    Fibers& fibers = *s_running;
    const int lane = fibers.m_lane;
    fibers.m_lanes[index(lane)].offered = offered;
    fibers.m_lanes[index(lane)].place = place;
    swapcontext(&fibers.m_lanes[index(lane)].context, &fibers.m_main);
    return fibers.m_seen[index(lane ^ place)];
  }

 private:
  static constexpr int kDone = -1;
  struct Lane {
    ucontext_t context;
    std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStackBytes);
    double offered = 0;
    int place = kDone;
  };
  static std::size_t index(int lane) { return static_cast<std::size_t>(lane); }
  static void enter() {
    (*s_running->m_body)();
    s_running->m_lanes[index(s_running->m_lane)].place = kDone;
  }
  void start(int lane) {
    Lane& fiber = m_lanes[index(lane)];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = &m_main;
    makecontext(&fiber.context, enter, 0);
  }
  static inline Fibers* s_running = nullptr;
  const std::function<void()>* m_body = nullptr;
  ucontext_t m_main{};
  std::array<Lane, kLanes> m_lanes;
  std::array<double, kLanes> m_seen{};
  int m_lane = 0;
};

struct FiberWarp {
  static int lane() { return Fibers::lane(); }
  static double shuffleXor(double x, int mask) { return Fibers::exchange(x, mask); }
  static void meet() { Fibers::exchange(0, 0); }
};
/// A warp that forgets to wait, and one that adds in another order: the faults that the comparison must find.
struct HastyWarp : FiberWarp {
  static void meet() {}
};
struct TurnedWarp : FiberWarp {
  static double shuffleXor(double x, int mask) { return Fibers::exchange(x, kLanes / 2 / mask); }
};

template <class Warp, template <class> class RuleOnRow>
bool updateAll(const RowCase& c, const dsa::StepParams& p, std::vector<float>& table, bool backwards) {
  static Fibers fibers;
  using Lanes = dsa::WarpLanes<Warp>;
  const dsa::LaunchShape shape = dsa::launchShape(c.ids.size());
  bool met = true;
  for (std::uint32_t block = 0; block < shape.blocks; ++block) {
    for (std::uint32_t warp = 0; warp < dsa::kWarpsPerBlock; ++warp) {
      met = met && fibers.run(
                       [&] {
                         const auto rule = RuleOnRow<Lanes>::make(p);
                         dsa::rowsOfWarp(shape, block, warp, [&](std::uint64_t i) {
                           rule(table.data() + c.ids[i] * c.width, c.grads.data() + i * p.dim);
                         });
                       },
                       backwards);
    }
  }
  return met;
}

/// The table after `steps` steps; empty where the lanes did not stay together.
template <class Warp>
std::vector<float> updated(const RowCase& c, std::uint64_t steps, bool backwards) {
  std::vector<float> table = c.table;
  for (std::uint64_t t = 1; t <= steps; ++t) {
    const dsa::StepParams p = c.step(t);
    bool met = false;
    switch (p.rule) {
      case dsa::Rule::sparseAdam:
        met = updateAll<Warp, dsa::SparseAdamRule>(c, p, table, backwards);
        break;
      case dsa::Rule::dsa:
        met = updateAll<Warp, dsa::DsaRule>(c, p, table, backwards);
        break;
      case dsa::Rule::radam:
        met = updateAll<Warp, dsa::RadamRule>(c, p, table, backwards);
        break;
      case dsa::Rule::rsgd:
        met = updateAll<Warp, dsa::RsgdRule>(c, p, table, backwards);
        break;
      case dsa::Rule::rowAdagrad:
        met = updateAll<Warp, dsa::RowAdagradRule>(c, p, table, backwards);
        break;
    }
    if (!met) return {};
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
