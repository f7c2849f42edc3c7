// SPDX-License-Identifier: Apache-2.0
// Tests of core/data/batch_index.h: distinct sorted rows and their slots in sample order, against std::map.
#include <QTest>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "core/base/random.h"
#include "core/data/batch_index.h"

using namespace dsa;

namespace {

using Slots = std::vector<std::uint64_t>;

/// `n` ids below `range` (0: all of 64 bits), moved by `offset`.
Slots randomSlots(std::uint64_t seed, std::size_t n, std::uint64_t range, std::uint64_t offset = 0) {
  Slots batch(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Random4 r = philox(seed, Stream::tests, i, 0);
    batch[i] =
        offset + (range == 0 ? (std::uint64_t{r.word[1]} << 32) | r.word[0] : belowFrom(r.word[0], r.word[1], range));
  }
  return batch;
}

/// Empty when the index is the map's, else what differs.
QString difference(const BatchIndex& index, const Slots& batch) {
  std::map<std::uint64_t, std::vector<std::uint32_t>> want;
  for (std::uint32_t i = 0; i < batch.size(); ++i) want[batch[i]].push_back(i);
  if (index.ids().size() != want.size()) return QString("%1 ids, not %2").arg(index.ids().size()).arg(want.size());
  if (index.rowStart().size() != want.size() + 1) return "length of rowStart";
  if (index.rowOfSlot().size() != batch.size() || index.slotsByRow().size() != batch.size())
    return "length of the slots' lists";
  std::uint32_t row = 0;
  for (const auto& [id, places] : want) {
    if (index.ids()[row] != id) return QString("id of row %1").arg(row);
    const std::uint32_t begin = index.rowStart()[row];
    if (index.rowStart()[row + 1] - begin != places.size()) return QString("number of slots of row %1").arg(row);
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      if (index.slotsByRow()[begin + i] != places[i]) return QString("slot %1 of row %2").arg(i).arg(row);
      if (index.rowOfSlot()[places[i]] != row) return QString("row of slot %1").arg(places[i]);
      if (index.single(places[i]) != (places.size() == 1)) return QString("single(%1)").arg(places[i]);
    }
    ++row;
  }
  return index.rowStart().front() == 0 ? "" : "rowStart does not begin at 0";
}

}  // namespace

class TestBatchIndex : public QObject {
  Q_OBJECT

 private slots:
  void isTheMapOfTheSlots_data();
  void isTheMapOfTheSlots();
  void isReusedForLargerAndSmallerBatches();
  void equalIdsStayInSampleOrder();
};

void TestBatchIndex::isTheMapOfTheSlots_data() {
  QTest::addColumn<Slots>("batch");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  QTest::newRow("empty") << Slots{};
  QTest::newRow("one, id 0") << Slots{0};
  QTest::newRow("one, largest id") << Slots{kMost};
  QTest::newRow("two, downwards") << Slots{5, 3};
  QTest::newRow("all 0") << Slots(777, 0);
  QTest::newRow("all equal") << Slots(777, 123456789);
  QTest::newRow("all equal, beyond 32 bits") << Slots(777, (1ull << 40) + 7);
  QTest::newRow("all equal, largest id") << Slots(5, kMost);
  // One digit of the sort apart: a pass that is left out, or cut at 32 bits, mixes them up.
  Slots powers;
  for (int bit = 63; bit >= 0; --bit) {
    for (const std::uint64_t more : {1, 0}) powers.push_back((1ull << bit) + more);
  }
  QTest::newRow("powers of two, downwards") << powers;
  Slots low32;
  for (std::uint64_t i = 0; i < 500; ++i) low32.push_back(((500 - i) << 32) | 9);
  QTest::newRow("equal in their low 32 bits") << low32;
  for (const std::uint64_t n : {2, 10, 100, 2000, 20000}) {
    for (const std::uint64_t range :
         {1ull, 2ull, 10ull, 2047ull, 2048ull, 2049ull, 1ull << 22, 10000000ull, 1ull << 33, 1ull << 44, 0ull}) {
      QTest::addRow("%llu below %llu", static_cast<unsigned long long>(n), static_cast<unsigned long long>(range))
          << randomSlots(n + range, n, range);
    }
  }
  QTest::newRow("a narrow band beyond 32 bits") << randomSlots(3, 5000, 300, 1ull << 35);
}

void TestBatchIndex::isTheMapOfTheSlots() {
  QFETCH(Slots, batch);
  BatchIndex index;
  index.build(batch);
  const QString wrong = difference(index, batch);
  QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

void TestBatchIndex::isReusedForLargerAndSmallerBatches() {
  BatchIndex index;
  std::uint64_t seed = 0;
  for (const std::size_t n : {1000u, 5000u, 3u, 0u, 1u, 0u, 2500u, 2500u}) {
    ++seed;
    const Slots batch = randomSlots(seed, n, seed % 2 == 0 ? 100 : 0);
    index.build(batch);
    const QString wrong = difference(index, batch);
    QVERIFY2(wrong.isEmpty(), qPrintable(QString("%1 slots: %2").arg(n).arg(wrong)));
  }
}

/// The order of the gradients' sum, hence the bits of the table.
void TestBatchIndex::equalIdsStayInSampleOrder() {
  Slots batch;
  for (std::uint64_t i = 0; i < 6000; ++i) batch.push_back(i % 3 == 0 ? 1ull << 50 : i % 3 == 1 ? 4 : 1ull << 20);
  BatchIndex index;
  index.build(batch);
  QCOMPARE(index.ids(), (Slots{4, 1ull << 20, 1ull << 50}));
  for (std::uint32_t row = 0; row < 3; ++row) {
    for (std::uint32_t i = index.rowStart()[row] + 1; i < index.rowStart()[row + 1]; ++i) {
      QVERIFY(index.slotsByRow()[i - 1] < index.slotsByRow()[i]);
    }
  }
}

QTEST_APPLESS_MAIN(TestBatchIndex)
#include "tst_batch_index.moc"
