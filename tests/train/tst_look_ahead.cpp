// SPDX-License-Identifier: Apache-2.0
// The look-ahead hands out what the sampler draws, in order, whatever its depth and however slowly batches come back.
#include <QTest>
#include <mutex>

#include "core/data/catalogue.h"
#include "core/train/look_ahead.h"

using namespace dsa;

namespace {

std::shared_ptr<const Sampler> samplerOf(const std::string& name, std::uint32_t batch = 20,
                                         std::uint32_t negatives = 3) {
  qputenv("DSA_RESOURCES", DSA_RESOURCES);
  auto dataset = loadDataset(name);
  if (!dataset) qFatal("%s", dataset.error().message.c_str());
  SamplerOptions options;
  options.seed = 9;
  options.batch = batch;
  options.negatives = negatives;
  return std::make_shared<const Sampler>(std::make_shared<const Dataset>(std::move(*dataset)), options);
}

}  // namespace

class TestLookAhead : public QObject {
  Q_OBJECT
 private slots:
  void equalsTheSamplerInOrder_data();
  void equalsTheSamplerInOrder();
  void preparesEachBatchOnceAndNeverMoreThanItsDepth();
  void endsWhileBatchesAreOut();
  void endsWithoutAStep();
};

void TestLookAhead::equalsTheSamplerInOrder_data() {
  QTest::addColumn<QString>("dataset");
  QTest::addColumn<int>("depth");
  QTest::addColumn<int>("held");
  for (const char* dataset : {"tree:3,4", "umls", "zipf:5000"}) {
    for (const int depth : {1, 2, 8, 64}) {
      for (const int held : {0, depth - 1}) {
        if (held != 0 || depth > 1)
          QTest::addRow("%s, depth %d, %d kept", dataset, depth, held) << dataset << depth << held;
      }
      if (depth == 1) continue;
    }
  }
}

void TestLookAhead::equalsTheSamplerInOrder() {
  QFETCH(QString, dataset);
  QFETCH(int, depth);
  QFETCH(int, held);
  const auto sampler = samplerOf(dataset.toStdString());
  const bool relations = dataset == "umls";
  constexpr std::uint64_t kFirst = 13, kLast = 113;
  LookAhead ahead(sampler, relations ? 2 : 1, kFirst, kLast, static_cast<std::size_t>(depth), nullptr);
  std::deque<std::unique_ptr<PreparedBatch>> queue, kept;
  Batch want;
  BatchIndex index;
  for (std::uint64_t step = kFirst; step < kLast; ++step) {
    if (queue.empty()) queue = ahead.take();
    std::unique_ptr<PreparedBatch> got = std::move(queue.front());
    queue.pop_front();
    sampler->draw(step, want);
    QCOMPARE(got->batch.step, step);
    QCOMPARE(got->batch.samples, want.samples);
    QCOMPARE(got->batch.entities, want.entities);
    QCOMPARE(got->batch.relations, want.relations);
    QCOMPARE(got->batch.headsCorrupted, want.headsCorrupted);
    QCOMPARE(got->ticket, std::uint64_t{0});
    QCOMPARE(got->tables.size(), std::size_t{relations ? 2u : 1u});
    index.build(want.entities);
    QCOMPARE(got->tables[0].ids(), index.ids());
    QCOMPARE(got->tables[0].rowOfSlot(), index.rowOfSlot());
    if (relations) {
      index.build(want.relations);
      QCOMPARE(got->tables[1].ids(), index.ids());
    }
    got->ticket = step;  // of a used batch: must not come back
    kept.push_back(std::move(got));
    while (kept.size() > static_cast<std::size_t>(held)) {
      ahead.give(std::move(kept.front()));
      kept.pop_front();
    }
  }
}

void TestLookAhead::preparesEachBatchOnceAndNeverMoreThanItsDepth() {
  std::mutex mutex;
  std::vector<std::uint64_t> prepared;
  LookAhead ahead(samplerOf("tree:3,4"), 1, 0, 40, 4, [&](const PreparedBatch& batch) {
    const std::lock_guard lock(mutex);
    prepared.push_back(batch.batch.step);
    if (batch.tables.at(0).ids().empty()) qFatal("a batch without an index");
  });
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return prepared.size();
  };
  QTRY_COMPARE(count(), std::size_t{4});
  QTest::qWait(50);
  QCOMPARE(count(), std::size_t{4});
  std::uint64_t taken = 0;
  while (taken < 40) {
    for (auto& batch : ahead.take()) {
      QCOMPARE(batch->batch.step, taken++);
      ahead.give(std::move(batch));
    }
  }
  QCOMPARE(count(), std::size_t{40});
  for (std::uint64_t i = 0; i < 40; ++i) QCOMPARE(prepared[i], i);
}

void TestLookAhead::endsWhileBatchesAreOut() {
  for (int round = 0; round < 50; ++round) {
    LookAhead ahead(samplerOf("zipf:100"), 1, 0, 1u << 30, 3, nullptr);
    if (round % 2 == 0) {
      const auto taken = ahead.take();
      QVERIFY(!taken.empty());
    }
  }
}

void TestLookAhead::endsWithoutAStep() { LookAhead ahead(samplerOf("zipf:100"), 1, 5, 5, 3, nullptr); }

QTEST_GUILESS_MAIN(TestLookAhead)
#include "tst_look_ahead.moc"
