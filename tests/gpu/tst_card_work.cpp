// SPDX-License-Identifier: Apache-2.0
// Each kernel of a card, executed on the host in the grid that a card would get, at every size from 1 to 257 items.
#include <QtTest>
#include <cmath>
#include <limits>

#include "core/rows/row_init.h"
#include "tests/gpu/host_card.h"
#include "tests/gpu/row_cases.h"

using namespace dsa;
using dsa::test::FiberWarp;
using dsa::test::RowCase;
using dsa::test::runOnHost;
using dsa::test::sameBits;

namespace {

/// Every size where the last block or the last warp has little to do, and some between.
std::vector<std::uint64_t> sizes() {
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = 1; n <= 257; n += n < 40 || n > 250 ? 1 : 13) all.push_back(n);
  return all;
}

std::vector<float> values(std::uint64_t n) {
  std::vector<float> made(n);
  for (std::uint64_t i = 0; i < n; ++i) made[i] = test::random(i, 3, 2.0f);
  return made;
}

}  // namespace

class tst_card_work : public QObject {
  Q_OBJECT
 private slots:
  void nothingIsLaunchedForNoItems() { QVERIFY(runOnHost({GatherRows{}})); }

  void fillGivesTheInitialRows() {
    for (const std::uint64_t rows : sizes()) {
      const std::uint32_t dim = static_cast<std::uint32_t>(rows % 140) + 1;
      FillRows work;
      work.stride = rowFloats(Rule::radam, dim);
      work.rows = rows;
      work.seed = 99;
      work.table = 1;
      work.dim = dim;
      work.scale = 0.05f;
      std::vector<float> got(rows * work.stride, -1.0f), want(rows * work.stride, 0.0f);
      work.records = got.data();
      for (std::uint64_t row = 0; row < rows; ++row)
        initialWeights(99, 1, row, dim, 0.05f, want.data() + row * work.stride);
      QVERIFY(runOnHost({work}, rows % 2 == 0));
      QVERIFY2(sameBits(got, want), qPrintable(QString("%1 rows, dim %2").arg(rows).arg(dim)));
    }
  }

  void gatherTakesTheNamedRows() {
    constexpr std::uint32_t kDim = 37, kStride = 80;
    const std::vector<float> table = values(600 * kStride);
    for (const std::uint64_t count : sizes()) {
      std::vector<std::uint64_t> ids(count);
      for (std::uint64_t i = 0; i < count; ++i) ids[i] = (i * 7 + 3) % 600;
      for (const bool named : {true, false}) {
        GatherRows work;
        work.records = table.data();
        work.stride = kStride;
        work.ids = named ? ids.data() : nullptr;
        work.first = named ? 0 : 11;
        work.count = count;
        work.dim = kDim;
        std::vector<float> got(count * kDim, -1.0f);
        work.out = got.data();
        QVERIFY(runOnHost({work}));
        for (std::uint64_t i = 0; i < count * kDim; ++i) {
          const std::uint64_t row = named ? ids[i / kDim] : 11 + i / kDim;
          QCOMPARE(got[i], table[row * kStride + i % kDim]);
        }
      }
    }
  }

  void slotsAreAddedInTheirOrder() {
    constexpr std::uint32_t kDim = 45;
    for (const std::uint64_t rows : sizes()) {
      // Row r has r % 4 + 1 slots, scattered.
      std::vector<std::uint32_t> rowStart = {0}, slotsByRow;
      for (std::uint64_t r = 0; r < rows; ++r)
        rowStart.push_back(rowStart.back() + static_cast<std::uint32_t>(r % 4) + 1);
      const std::uint32_t slotCount = rowStart.back();
      for (std::uint32_t s = 0; s < slotCount; ++s) slotsByRow.push_back((s * 7 + 1) % slotCount);
      std::vector<float> slotGradients = values(std::uint64_t{slotCount} * kDim);
      std::vector<float> sums(rows * kDim, 5.0f);
      SumSlots work;
      work.table.rowStart = rowStart.data();
      work.table.slotsByRow = slotsByRow.data();
      work.table.slotGradients = slotGradients.data();
      work.table.rowGradients = sums.data();
      work.rows = rows;
      work.dim = kDim;
      QVERIFY(runOnHost({work}));
      for (std::uint64_t r = 0; r < rows; ++r) {
        for (std::uint32_t i = 0; i < kDim; ++i) {
          float want = 5.0f;  // the only slot of a row wrote its gradient in place
          if (rowStart[r + 1] - rowStart[r] > 1) {
            want = slotGradients[std::uint64_t{slotsByRow[rowStart[r]]} * kDim + i];
            for (std::uint32_t s = rowStart[r] + 1; s < rowStart[r + 1]; ++s)
              want += slotGradients[std::uint64_t{slotsByRow[s]} * kDim + i];
          }
          QCOMPARE(sums[r * kDim + i], want);
        }
      }
    }
  }

  void theFirstRowThatIsNotFiniteIsFound() {
    constexpr std::uint32_t kDim = 41;
    constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t rows : sizes()) {
      std::vector<float> grads = values(rows * kDim);
      grads[0] = std::numeric_limits<float>::max();
      std::uint64_t first = kNone;
      FindNotFinite work{grads.data(), rows, &first, kDim};
      QVERIFY(runOnHost({work}));
      QCOMPARE(first, kNone);
      for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -HUGE_VALF}) {
        std::vector<float> with = grads;
        with[rows * kDim - 1] = bad;
        with[rows / 2 * kDim + 33] = bad;
        work.grads = with.data();
        first = kNone;
        QVERIFY(runOnHost({work}));
        QCOMPARE(first, rows / 2);
      }
    }
  }

  void updatesEqualTheEmulatedLevel_data() { test::addRules(); }
  void updatesEqualTheEmulatedLevel() {
    QFETCH(int, rule);
    QFETCH(int, map);
    QFETCH(double, k);
    for (const std::uint64_t rows : {1ull, 2ull, 3ull, 4ull, 5ull, 9ull, 31ull, 257ull}) {
      const RowCase c(static_cast<Rule>(rule), static_cast<BallMap>(map), k, rows > 100 ? 3 : 37, rows);
      std::vector<float> table = c.table;
      UpdateRowsWork work;
      work.records = table.data();
      work.stride = c.width;
      work.ids = c.ids.data();
      work.grads = c.grads.data();
      work.count = c.ids.size();
      for (std::uint64_t t = 1; t <= 2; ++t) {
        work.params = c.step(t);
        QVERIFY(runOnHost({work}, t == 2));
      }
      QVERIFY2(sameBits(table, c.expected(2)), qPrintable(QString("%1 rows").arg(rows)));
    }
  }
};

QTEST_APPLESS_MAIN(tst_card_work)
#include "tst_card_work.moc"
