// SPDX-License-Identifier: Apache-2.0
// Each kernel of a card, executed on the host in the grid that a card would get, at every size from 1 to 257 items.
#include <QtTest>
#include <cmath>
#include <limits>

#include "core/model/model.h"
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
      GatherRows work;
      work.records = table.data();
      work.stride = kStride;
      work.ids = ids.data();
      work.count = count;
      work.dim = kDim;
      std::vector<float> got(count * kDim, -1.0f);
      work.out = got.data();
      QVERIFY(runOnHost({work}));
      for (std::uint64_t i = 0; i < count * kDim; ++i) QCOMPARE(got[i], table[ids[i / kDim] * kStride + i % kDim]);
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

  void theFirstBadRowIsFound() {
    constexpr std::uint32_t kDim = 41, kStride = 44;
    for (const std::uint64_t count : sizes()) {
      std::vector<float> rows = values(count * kStride);
      for (float& value : rows) value *= 0.01f;
      for (std::uint64_t i = 0; i < count; ++i) rows[i * kStride + kDim] = HUGE_VALF;  // no weights of the row
      std::uint64_t first = kNoBadRow;
      FindBadRow work;
      work.rows = rows.data();
      work.stride = kStride;
      work.count = count;
      work.first = &first;
      work.dim = kDim;
      for (const double k : {0.0, 1.0}) {
        work.ballK = k;
        work.rows = rows.data();
        QVERIFY(runOnHost({work}));
        QCOMPARE(first, kNoBadRow);
        for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF, 1.0f}) {
          std::vector<float> with = rows;
          with[(count - 1) * kStride + kDim - 1] = bad;
          with[count / 2 * kStride + 33] = bad;
          work.rows = with.data();
          first = kNoBadRow;
          QVERIFY(runOnHost({work}));
          QCOMPARE(first, bad == 1.0f && k == 0 ? kNoBadRow : count / 2);
          first = kNoBadRow;
        }
      }
    }
  }

  void candidatesAreCounted() {
    constexpr std::uint32_t kDim = 3;
    for (const std::uint64_t count : sizes()) {
      // One query with one level, one with three; every fifth candidate is hidden.
      std::vector<float> rows(count * kDim);
      for (std::uint64_t i = 0; i < count; ++i) rows[i * kDim] = static_cast<float>(i % 7);
      const std::vector<float> fixed(kDim, 0.0f);
      RankQuery queries[2];
      queries[0].levelCount = 1;
      queries[1].levelBegin = 1;
      queries[1].levelCount = 3;
      const double levels[4] = {-3, -6, -2.5, 0};
      std::uint64_t above[4] = {}, equal[4] = {}, wantAbove[4] = {}, wantEqual[4] = {}, notFinite = ~0ull;
      const std::uint64_t words = (count + 63) / 64;
      std::vector<std::uint64_t> hidden(2 * words);
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto score = -static_cast<double>(i % 7);
        if (i % 5 == 0) {
          hidden[i / 64] |= std::uint64_t{1} << i % 64;
          hidden[words + i / 64] |= std::uint64_t{1} << i % 64;
          continue;
        }
        wantAbove[0] += score > -3 ? 1 : 0;
        wantEqual[0] += score == -3 ? 1 : 0;
        wantAbove[1] += score > -6 && score < -2.5 ? 1 : 0;
        wantEqual[1] += score == -6 ? 1 : 0;
        wantAbove[2] += score > -2.5 && score < 0 ? 1 : 0;
        wantEqual[3] += score == 0 ? 1 : 0;
      }
      CountCandidates work;
      work.ask.model = ModelKind::euclidean;
      work.ask.fixed = {fixed.data(), kDim};
      work.ask.queries = queries;
      work.ask.dim = kDim;
      work.candidates = {rows.data(), kDim};
      work.firstRow = 1000;
      work.levels = levels;
      work.hidden = hidden.data();
      work.above = above;
      work.equal = equal;
      work.notFinite = &notFinite;
      work.hiddenWords = words;
      work.queries = 2;
      work.candidateCount = static_cast<std::uint32_t>(count);
      QVERIFY(runOnHost({work}, count % 2 == 0));
      for (int i = 0; i < 4; ++i) {
        QCOMPARE(above[i], wantAbove[i]);
        QCOMPARE(equal[i], wantEqual[i]);
      }
      QCOMPARE(notFinite, ~0ull);
      // Of hidden ones, too: the row is bad whoever asks.
      rows[(count - 1) * kDim + 1] = HUGE_VALF;
      QVERIFY(runOnHost({work}));
      QCOMPARE(notFinite, (1000 + count - 1) << 32);
    }
  }

  void answersAreScored() {
    constexpr std::uint32_t kDim = 35;
    const std::vector<float> rows = values(300 * kDim), relations = values(4 * kDim);
    for (const std::uint64_t count : sizes()) {
      std::vector<RankQuery> queries(3);
      for (std::uint32_t q = 0; q < 3; ++q) {
        queries[q].fixed = q * 7;
        queries[q].relation = q + 1;
        queries[q].heads = q % 2;
      }
      std::vector<RankAnswer> answers;
      for (std::uint32_t i = 0; i < count; ++i) answers.push_back({i % 3, (i * 11 + 2) % 300});
      std::vector<double> scores(count, 1.0);
      ScoreAnswers work;
      work.ask.model = ModelKind::transe;
      work.ask.fixed = {rows.data(), kDim};
      work.ask.relations = {relations.data(), kDim};
      work.ask.queries = queries.data();
      work.ask.dim = kDim;
      work.rows = {rows.data(), kDim};
      work.answers = answers.data();
      work.scores = scores.data();
      work.count = count;
      QVERIFY(runOnHost({work}, count % 2 == 0));
      const ModelKernels kernels = modelKernels(ModelKind::transe, KernelLevel::warp);
      for (std::uint64_t i = 0; i < count; ++i) {
        const RankQuery& query = queries[answers[i].query];
        const float* const candidate = rows.data() + answers[i].row * kDim;
        double want = 0;
        kernels.score({rows.data() + query.fixed * kDim, relations.data() + query.relation * kDim, &candidate, 1, kDim,
                       0, query.heads != 0},
                      &want);
        QCOMPARE(scores[i], want);
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
