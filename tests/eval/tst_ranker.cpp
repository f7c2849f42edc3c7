// SPDX-License-Identifier: Apache-2.0
// What the ranker reads and holds within its budget, and how it ends on scores that are not numbers and when stopped.
#include <sys/resource.h>

#include <QtTest>
#include <atomic>
#include <cmath>
#include <mutex>

#include "core/eval/ranker.h"
#include "tests/eval/eval_samples.h"

using namespace dsa;
using namespace dsa::test;

namespace {

/// Counts what is read of a table that is made on the fly.
struct Meter {
  std::uint64_t rows;
  std::uint32_t dim;
  std::atomic<std::uint64_t> single{0}, blocks{0}, largest{0};

  WeightSource source() {
    return {rows, dim, [this](std::uint64_t begin, std::uint64_t count, float* out) -> Result<void> {
              (count == 1 ? single : blocks) += count;
              if (count > largest) largest = count;
              for (std::uint64_t i = 0; i < count * dim; ++i) {
                out[i] = symmetricFrom(static_cast<std::uint32_t>((begin * dim + i) * 2654435761u), 0.1f);
              }
              return {};
            }};
  }
};

/// Not a score: the candidate with first coordinate 7 against the fixed row with first coordinate 2.
void scoreWithHole(const SampleRows& rows, double* scores) noexcept {
  for (std::uint32_t c = 0; c < rows.count; ++c) {
    scores[c] = rows.candidates[c][0] == 7 && rows.fixed[0] == 2 ? NAN : -rows.candidates[c][0];
  }
}

RankJob jobOf(const Dataset& dataset, const WeightSource& entities, std::uint64_t budget) {
  RankJob job;
  job.kernels = modelKernels(ModelKind::euclidean, KernelLevel::scalar);
  job.entities = &entities;
  job.dataset = &dataset;
  job.budgetBytes = budget;
  return job;
}

long peakKib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void ignore(std::uint64_t, std::span<const TargetRank>) {}

}  // namespace

class TestRanker : public QObject {
  Q_OBJECT
 private slots:
  void aTableOfHalfTheBudgetIsReadOnce() {
    const Dataset dataset = randomHierarchy(1, 500);
    const QuerySet set = reconstructionQueries(dataset, {});
    Meter meter{500, 8};
    const WeightSource source = meter.source();
    ThreadPool pool(2);
    // 500 x (32 + 8) bytes fill half; the queries (120 bytes and 48 an answer) need many chunks of the other half.
    QVERIFY(rankAll(jobOf(dataset, source, 40'000), set, pool, ignore));
    QVERIFY(set.targets.size() * 48 > 2 * 20'000);
    QCOMPARE(meter.blocks.load(), std::uint64_t{500});
    QCOMPARE(meter.single.load(), std::uint64_t{set.groups.size()});  // the queries' own rows
  }

  void aLargerTableIsReadOnceAChunkOfQueries() {
    const Dataset dataset = randomHierarchy(2, 2000);
    const QuerySet set = reconstructionQueries(dataset, {});
    constexpr std::uint64_t kBudget = 60'000;
    Meter meter{2000, 8};
    const WeightSource source = meter.source();
    ThreadPool pool(2);
    std::uint64_t groups = 0;
    QVERIFY(rankAll(jobOf(dataset, source, kBudget), set, pool, [&](std::uint64_t group, std::span<const TargetRank>) {
      QCOMPARE(group, groups);
      ++groups;
    }));
    QCOMPARE(groups, std::uint64_t{set.groups.size()});
    QVERIFY(meter.largest * 32 <= kBudget);
    QCOMPARE(meter.blocks % 2000, std::uint64_t{0});
    const std::uint64_t needed = set.groups.size() * 72 + set.targets.size() * 48;
    const std::uint64_t chunks = meter.blocks / 2000;
    QVERIFY2(chunks >= needed / (kBudget / 2) && chunks <= needed / (kBudget / 2) * 3 / 2 + 2,
             qPrintable(QString("%1 chunks").arg(chunks)));
    QCOMPARE(meter.single.load(), std::uint64_t{set.groups.size() + set.targets.size()});
  }

  void memoryStaysWithinTheBudget() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("the sanitizer keeps memory of its own");
#endif
    constexpr std::uint64_t kRows = 1'000'000;  // x 64 floats: 244 MiB
    Dataset dataset;
    dataset.kind = DatasetKind::hierarchy;
    dataset.entityCount = kRows;
    dataset.entities = Vocabulary::numbered(kRows);
    dataset.train = {{5, 0, 700'000}, {6, 0, 1}, {999'999, 0, 3}};
    const QuerySet set = reconstructionQueries(dataset, {});
    Meter meter{kRows, 64};
    const WeightSource source = meter.source();
    ThreadPool pool(2);
    const long before = peakKib();
    QVERIFY(rankAll(jobOf(dataset, source, 8 << 20), set, pool, ignore));
    QCOMPARE(meter.blocks.load(), kRows);
    // Half of the budget is the block; 2 MiB for what the process itself touches first.
    QVERIFY2(peakKib() - before < (8 + 2) * 1024, qPrintable(QString("%1 KiB").arg(peakKib() - before)));
  }

  void aScoreThatIsNoNumberNamesBothRows_data() {
    QTest::addColumn<quint64>("budget");
    QTest::addColumn<quint32>("target");
    for (const quint64 budget : {1u, 1u << 20}) {
      QTest::addRow("candidate, budget %llu", budget) << budget << 4u;
      QTest::addRow("answer, budget %llu", budget) << budget << 7u;
    }
  }
  void aScoreThatIsNoNumberNamesBothRows() {
    QFETCH(quint64, budget);
    QFETCH(quint32, target);
    Dataset dataset = makeDataset(DatasetKind::hierarchy, 9);
    dataset.train = {{0, 0, 1}, {2, 0, target}, {3, 0, 5}};
    const Table table{1, {0, 1, 2, 3, 4, 5, 6, 7, 8}};
    const WeightSource source = table.source();
    RankJob job = jobOf(dataset, source, budget);
    job.kernels.score = scoreWithHole;
    ThreadPool pool(3);
    const auto result = rankAll(job, reconstructionQueries(dataset, {}), pool, ignore);
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::input);
    QVERIFY2(result.error().message.find("entity row 7 (e7): its score against entity row 2 (e2) is nan") == 0,
             result.error().message.c_str());
  }

  void stoppingEndsSoonAndGivesNothing() {
    const Dataset dataset = randomHierarchy(3, 3000);
    const Table table = randomTable(3, 3000, 4, false);
    const WeightSource source = table.source();
    RankJob job = jobOf(dataset, source, 1 << 20);
    std::atomic<int> asked{0};
    job.shouldStop = [&] { return ++asked > 2000; };
    ThreadPool pool(2);
    std::uint64_t given = 0;
    const auto result = rankAll(job, reconstructionQueries(dataset, {}), pool,
                                [&](std::uint64_t, std::span<const TargetRank>) { ++given; });
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::stopped);
    QCOMPARE(given, std::uint64_t{0});
    QVERIFY2(asked < 2010, qPrintable(QString::number(asked)));
  }
};

QTEST_APPLESS_MAIN(TestRanker)
#include "tst_ranker.moc"
