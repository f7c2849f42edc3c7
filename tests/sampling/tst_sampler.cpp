// SPDX-License-Identifier: Apache-2.0
// Tests of core/data/sampler.h: epochs that visit every edge once, lawful negatives, the Zipf law, and steps in any
// order.
#include <QTest>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/base/random.h"
#include "core/data/sampler.h"

using namespace dsa;

namespace {

using Shared = std::shared_ptr<const Dataset>;
using Triple = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

constexpr std::uint64_t kScatterKey =
    0x5A697066;  // of the ranks of a zipf set over its rows; part of what a run's bits rest on

/// `edges` distinct triples over `entities` entities and 5 relations.
Shared graph(std::uint64_t entities, std::size_t edges, bool weights = false) {
  auto dataset = std::make_shared<Dataset>();
  dataset->kind = DatasetKind::graph;
  dataset->entityCount = entities;
  std::set<Triple> seen;
  for (std::uint64_t i = 0; seen.size() < edges; ++i) {
    const Random4 r = philox(17, Stream::tests, i, 1);
    const Edge edge{static_cast<std::uint32_t>(r.word[0] % entities), r.word[1] % 5,
                    static_cast<std::uint32_t>(r.word[2] % entities)};
    if (edge.head == edge.tail || !seen.insert({edge.head, edge.relation, edge.tail}).second) continue;
    dataset->train.push_back(edge);
    if (weights) dataset->trainWeights.push_back(static_cast<double>(dataset->train.size()) / 8);
  }
  return dataset;
}

/// The closure of a binary tree: entity i below i/2, i/4, ... 1 (ids from 0).
Shared tree(std::uint32_t entities) {
  auto dataset = std::make_shared<Dataset>();
  dataset->kind = DatasetKind::hierarchy;
  dataset->entityCount = entities;
  for (std::uint32_t i = entities; i > 1; --i) {
    for (std::uint32_t above = i / 2; above >= 1; above /= 2) dataset->train.push_back({i - 1, 0, above - 1});
  }
  return dataset;
}

Shared pairs(std::uint64_t rows, double exponent, std::uint64_t clusters) {
  auto dataset = std::make_shared<Dataset>();
  dataset->kind = DatasetKind::pairs;
  dataset->entityCount = rows;
  dataset->zipf = ZipfSpec{rows, exponent, clusters};
  return dataset;
}

SamplerOptions options(std::uint32_t batch, std::uint32_t negatives, std::uint64_t seed = 1) {
  SamplerOptions o;
  o.batch = batch;
  o.negatives = negatives;
  o.seed = seed;
  return o;
}

std::uint64_t slot(const Batch& batch, std::uint32_t sample, std::uint32_t j) {
  return batch.entities[std::uint64_t{sample} * batch.slotsPerSample + j];
}

Triple positive(const Batch& batch, std::uint32_t sample) {
  const bool heads = !batch.headsCorrupted.empty() && batch.headsCorrupted[sample] != 0;
  const std::uint64_t relation = batch.relations.empty() ? 0 : batch.relations[sample];
  return {slot(batch, sample, heads ? 1 : 0), relation, slot(batch, sample, heads ? 0 : 1)};
}

/// The positives of one epoch in the order of its batches.
std::vector<Triple> epochOf(const Sampler& sampler, std::uint64_t epoch) {
  std::vector<Triple> order;
  Batch batch;
  for (std::uint64_t i = 0; i < sampler.stepsPerEpoch(); ++i) {
    sampler.draw(epoch * sampler.stepsPerEpoch() + i, batch);
    for (std::uint32_t s = 0; s < batch.samples; ++s) order.push_back(positive(batch, s));
  }
  return order;
}

bool same(const Batch& a, const Batch& b) {
  return a.step == b.step && a.samples == b.samples && a.slotsPerSample == b.slotsPerSample &&
         a.entities == b.entities && a.relations == b.relations && a.headsCorrupted == b.headsCorrupted &&
         a.weights == b.weights;
}

/// Empty when the counts fit their expectations, else both. Cells expected less than 10 times are put together.
/// Chi square of f degrees of freedom has mean f and deviation sqrt(2 f); six of them, more at few degrees, where its
/// tail is longer.
QString unlikely(const std::vector<double>& count, const std::vector<double>& expected) {
  double chiSquare = 0;
  int cells = 0;
  double c = 0;
  double e = 0;
  for (std::size_t i = 0; i < count.size(); ++i) {
    c += count[i];
    e += expected[i];
    if (e < 10 && i + 1 < count.size()) continue;
    if (e > 0) chiSquare += (c - e) * (c - e) / e;
    ++cells;
    c = e = 0;
  }
  const double freedom = std::max(1, cells - 1);
  const double high = freedom + 6 * std::sqrt(2 * freedom) + 12;
  const double low = freedom - 4.5 * std::sqrt(2 * freedom);  // too even is as suspect as too uneven
  if (chiSquare < high && chiSquare > low) return "";
  return QString("chi square %1 at %2 degrees of freedom").arg(chiSquare).arg(freedom);
}

std::vector<double> zipfProbabilities(std::uint64_t n, double exponent) {
  std::vector<double> p(n);
  double sum = 0;
  for (std::uint64_t r = 0; r < n; ++r) sum += p[r] = std::pow(static_cast<double>(r + 1), -exponent);
  for (double& value : p) value /= sum;
  return p;
}

}  // namespace

class TestSampler : public QObject {
  Q_OBJECT

 private slots:
  void permutedIsABijection();
  void permutedDependsOnItsKey();
  void permutedIsABijectionBeyond32Bits();
  void everyEdgeOnceAnEpoch_data();
  void everyEdgeOnceAnEpoch();
  void everyHierarchyEdgeOnceAnEpoch();
  void everyEpochAndSeedHasItsOwnOrder();
  void positionsOfAnEdgeAreUniform();
  void anyStepAtAnyTimeIsTheSameBatch_data();
  void anyStepAtAnyTimeIsTheSameBatch();
  void weightsBelongToTheirEdges();
  void bothSidesAreCorruptedEquallyOften();
  void negativesAreNeverTheSampleItself_data();
  void negativesAreNeverTheSampleItself();
  void negativesOfAHierarchyAreNoAncestors();
  void negativesAreUniform_data();
  void negativesAreUniform();
  void negativesEndWhereNoneIsLawful();
  void zipfFrequenciesAreTheLaw_data();
  void zipfFrequenciesAreTheLaw();
  void zipfOctavesOfALargeTableAreTheLaw_data();
  void zipfOctavesOfALargeTableAreTheLaw();
  void zipfRanksStayInRange();
  void pairsShareTheirCluster_data();
  void pairsShareTheirCluster();
  void pairsFollowTheLawOverScatteredRows();
};

void TestSampler::permutedIsABijection() {
  for (const std::uint64_t key : {std::uint64_t{0}, kScatterKey, ~std::uint64_t{0}}) {
    for (std::uint64_t n = 1; n <= 3000; ++n) {
      std::vector<bool> seen(n, false);
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t to = permuted(i, n, key);
        // A message made 13 million times took 20 s.
        if (to >= n || seen[to]) QFAIL(qPrintable(QString("n %1, index %2 -> %3").arg(n).arg(i).arg(to)));
        seen[to] = true;
      }
    }
  }
}

void TestSampler::permutedDependsOnItsKey() {
  int fixedPoints = 0;
  int agreements = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    fixedPoints += permuted(i, 1000, 5) == i ? 1 : 0;
    agreements += permuted(i, 1000, 5) == permuted(i, 1000, 6) ? 1 : 0;
  }
  // About one of each in two random permutations: Poisson of mean 1 exceeds 12 with probability 1e-10.
  QVERIFY(fixedPoints <= 12);
  QVERIFY(agreements <= 12);
}

void TestSampler::permutedIsABijectionBeyond32Bits() {
  for (const std::uint64_t n : {(1ull << 32) - 1, 1ull << 32, (1ull << 32) + 1, (1ull << 40) - 12345, 1ull << 40}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      for (const std::uint64_t index : {i, n - 1 - i}) {
        const std::uint64_t to = permuted(index, n, kScatterKey);
        QVERIFY(to < n);
        seen.insert(to);
      }
    }
    QCOMPARE(seen.size(), std::size_t{4000});
    QVERIFY(*seen.rbegin() > n / 2);  // the neighbours 0 .. 1999 do not stay together
  }
}

void TestSampler::everyEdgeOnceAnEpoch_data() {
  QTest::addColumn<int>("edges");
  QTest::addColumn<int>("batch");
  for (const int edges : {1, 2, 7, 64, 100, 1009}) {
    for (const int batch : {1, 3, 10, 2000}) QTest::addRow("%d edges, batch %d", edges, batch) << edges << batch;
  }
}

void TestSampler::everyEdgeOnceAnEpoch() {
  QFETCH(int, edges);
  QFETCH(int, batch);
  const Shared dataset = graph(50, static_cast<std::size_t>(edges));
  const Sampler sampler(dataset, options(static_cast<std::uint32_t>(batch), 2));
  QCOMPARE(sampler.samplesPerEpoch(), static_cast<std::uint64_t>(edges));
  QCOMPARE(sampler.stepsPerEpoch(), static_cast<std::uint64_t>((edges + batch - 1) / batch));
  std::vector<Triple> want;
  for (const Edge& edge : dataset->train) want.emplace_back(edge.head, edge.relation, edge.tail);
  std::sort(want.begin(), want.end());
  for (const std::uint64_t epoch : {0ull, 1ull, 2ull, 1234567ull}) {
    std::vector<Triple> got = epochOf(sampler, epoch);
    std::sort(got.begin(), got.end());
    QVERIFY2(got == want, qPrintable(QString("epoch %1").arg(epoch)));
  }
}

void TestSampler::everyHierarchyEdgeOnceAnEpoch() {
  const Shared dataset = tree(200);
  const Sampler sampler(dataset, options(7, 1));
  std::vector<Triple> want;
  for (const Edge& edge : dataset->train) want.emplace_back(edge.head, 0, edge.tail);
  std::sort(want.begin(), want.end());
  std::vector<Triple> got = epochOf(sampler, 3);
  std::sort(got.begin(), got.end());
  QVERIFY(got == want);
  Batch batch;
  sampler.draw(0, batch);
  QVERIFY(batch.relations.empty() && batch.headsCorrupted.empty() && batch.weights.empty());
}

void TestSampler::everyEpochAndSeedHasItsOwnOrder() {
  const Shared dataset = graph(50, 300);
  const Sampler one(dataset, options(10, 1, 1));
  const Sampler two(dataset, options(10, 1, 2));
  const std::vector<Triple> reference = epochOf(one, 0);
  for (const auto& other : {epochOf(one, 1), epochOf(one, 2), epochOf(two, 0)}) {
    int agreements = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) agreements += reference[i] == other[i] ? 1 : 0;
    QVERIFY2(agreements <= 12, qPrintable(QString::number(agreements)));
  }
}

/// Over many epochs an edge is early as often as late: a shuffle that only rotates or swaps halves fails.
void TestSampler::positionsOfAnEdgeAreUniform() {
  const Shared dataset = graph(50, 20);
  const Sampler sampler(dataset, options(20, 1));
  const Edge& first = dataset->train[0];
  const Edge& second = dataset->train[1];
  std::vector<double> place(20, 0);
  std::vector<double> between(20, 0);
  constexpr int kEpochs = 4000;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const std::vector<Triple> order = epochOf(sampler, epoch);
    const auto at = [&](const Edge& edge) {
      return std::find(order.begin(), order.end(), Triple(edge.head, edge.relation, edge.tail)) - order.begin();
    };
    place[static_cast<std::size_t>(at(first))] += 1;
    between[static_cast<std::size_t>((at(second) - at(first) + 20) % 20)] += 1;
  }
  const QString wrongPlace = unlikely(place, std::vector<double>(20, kEpochs / 20.0));
  QVERIFY2(wrongPlace.isEmpty(), qPrintable(wrongPlace));
  std::vector<double> expected(20, kEpochs / 19.0);
  expected[0] = 0;
  QCOMPARE(between[0], 0.0);
  const QString wrongBetween = unlikely(between, expected);
  QVERIFY2(wrongBetween.isEmpty(), qPrintable(wrongBetween));
}

void TestSampler::anyStepAtAnyTimeIsTheSameBatch_data() {
  QTest::addColumn<int>("kind");
  QTest::newRow("graph") << 0;
  QTest::newRow("weighted graph") << 1;
  QTest::newRow("hierarchy") << 2;
  QTest::newRow("pairs") << 3;
}

void TestSampler::anyStepAtAnyTimeIsTheSameBatch() {
  QFETCH(int, kind);
  const Shared dataset = kind == 0   ? graph(60, 205)
                         : kind == 1 ? graph(60, 205, true)
                         : kind == 2 ? tree(90)
                                     : pairs(1003, 1.0, 10);
  const Sampler sampler(dataset, options(10, 5, 9));
  std::vector<std::uint64_t> steps;
  for (std::uint64_t i = 0; i < 3 * sampler.stepsPerEpoch(); ++i) steps.push_back(i);
  for (const std::uint64_t far : {1ull << 32, (1ull << 40) + 3}) steps.push_back(far);
  std::vector<Batch> inOrder(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) sampler.draw(steps[i], inOrder[i]);
  const Sampler later(dataset, options(10, 5, 9));
  Batch reused;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t j = static_cast<std::size_t>(permuted(i, steps.size(), 3));
    later.draw(steps[j], reused);
    QVERIFY2(same(reused, inOrder[j]), qPrintable(QString("step %1").arg(steps[j])));
    QCOMPARE(reused.entities.size(), std::size_t{reused.samples} * reused.slotsPerSample);
  }
  for (std::size_t i = 1; i < steps.size(); ++i) QVERIFY(inOrder[i].entities != inOrder[i - 1].entities);
  const Sampler other(dataset, options(10, 5, 10));
  other.draw(0, reused);
  QVERIFY(reused.entities != inOrder[0].entities);
}

void TestSampler::weightsBelongToTheirEdges() {
  const Shared dataset = graph(40, 150, true);
  std::map<Triple, float> weightOf;
  for (std::size_t i = 0; i < dataset->train.size(); ++i) {
    const Edge& edge = dataset->train[i];
    weightOf[{edge.head, edge.relation, edge.tail}] = static_cast<float>(dataset->trainWeights[i]);
  }
  const Sampler sampler(dataset, options(8, 1));
  Batch batch;
  for (std::uint64_t step = 0; step < 2 * sampler.stepsPerEpoch(); ++step) {
    sampler.draw(step, batch);
    QCOMPARE(batch.weights.size(), std::size_t{batch.samples});
    for (std::uint32_t s = 0; s < batch.samples; ++s) QCOMPARE(batch.weights[s], weightOf.at(positive(batch, s)));
  }
}

void TestSampler::bothSidesAreCorruptedEquallyOften() {
  const Sampler sampler(graph(40, 500), options(50, 1));
  double heads = 0;
  double all = 0;
  Batch batch;
  for (std::uint64_t step = 0; step < 400; ++step) {
    sampler.draw(step, batch);
    for (const std::uint8_t side : batch.headsCorrupted) heads += side;
    all += batch.samples;
  }
  // A binomial of 20,000: deviation 70.7; six of them.
  QVERIFY2(std::abs(heads - all / 2) < 3 * std::sqrt(all), qPrintable(QString::number(heads / all)));
}

void TestSampler::negativesAreNeverTheSampleItself_data() {
  QTest::addColumn<int>("kind");
  QTest::newRow("graph") << 0;
  QTest::newRow("hierarchy") << 2;
  QTest::newRow("pairs") << 3;
}

void TestSampler::negativesAreNeverTheSampleItself() {
  QFETCH(int, kind);
  // Sixty entities: without the check, one negative in thirty would be the sample's own.
  const Shared dataset = kind == 0 ? graph(60, 205) : kind == 2 ? tree(60) : pairs(60, 0.5, 5);
  const Sampler sampler(dataset, options(10, 50));
  Batch batch;
  for (std::uint64_t step = 0; step < 200; ++step) {
    sampler.draw(step, batch);
    for (std::uint32_t s = 0; s < batch.samples; ++s) {
      QVERIFY(slot(batch, s, 0) != slot(batch, s, 1));
      for (std::uint32_t j = 2; j < batch.slotsPerSample; ++j) {
        QVERIFY(slot(batch, s, j) < dataset->entityCount);
        QVERIFY(slot(batch, s, j) != slot(batch, s, 0) && slot(batch, s, j) != slot(batch, s, 1));
      }
    }
  }
}

void TestSampler::negativesOfAHierarchyAreNoAncestors() {
  const Shared dataset = tree(100);
  std::set<std::pair<std::uint64_t, std::uint64_t>> below;
  for (const Edge& edge : dataset->train) below.insert({edge.head, edge.tail});
  const Sampler sampler(dataset, options(10, 50));
  Batch batch;
  for (std::uint64_t step = 0; step < 500; ++step) {
    sampler.draw(step, batch);
    for (std::uint32_t s = 0; s < batch.samples; ++s) {
      QVERIFY(below.count({slot(batch, s, 0), slot(batch, s, 1)}) == 1);
      for (std::uint32_t j = 2; j < batch.slotsPerSample; ++j)
        QVERIFY(below.count({slot(batch, s, 0), slot(batch, s, j)}) == 0);
    }
  }
}

void TestSampler::negativesAreUniform_data() {
  QTest::addColumn<int>("kind");
  QTest::newRow("graph") << 0;
  QTest::newRow("hierarchy") << 2;
  QTest::newRow("pairs") << 3;
}

/// Over the entities that are lawful for each sample.
void TestSampler::negativesAreUniform() {
  QFETCH(int, kind);
  const Shared dataset = kind == 0 ? graph(60, 205) : kind == 2 ? tree(60) : pairs(60, 1.0, 5);
  std::set<std::pair<std::uint64_t, std::uint64_t>> below;
  if (kind == 2) {
    for (const Edge& edge : dataset->train) below.insert({edge.head, edge.tail});
  }
  const Sampler sampler(dataset, options(10, 50));
  std::vector<double> count(60, 0);
  std::vector<double> expected(60, 0);
  Batch batch;
  for (std::uint64_t step = 0; step < 400; ++step) {
    sampler.draw(step, batch);
    for (std::uint32_t s = 0; s < batch.samples; ++s) {
      std::vector<std::uint64_t> lawful;
      for (std::uint64_t id = 0; id < 60; ++id) {
        if (id != slot(batch, s, 0) && id != slot(batch, s, 1) && below.count({slot(batch, s, 0), id}) == 0)
          lawful.push_back(id);
      }
      for (const std::uint64_t id : lawful) expected[id] += 50.0 / static_cast<double>(lawful.size());
      for (std::uint32_t j = 2; j < batch.slotsPerSample; ++j) count[slot(batch, s, j)] += 1;
    }
  }
  const QString wrong = unlikely(count, expected);
  QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

/// Two entities leave no lawful negative: the draw ends all the same, with an id of the table.
void TestSampler::negativesEndWhereNoneIsLawful() {
  const Sampler sampler(graph(2, 1), options(1, 3));
  Batch batch;
  for (std::uint64_t step = 0; step < 20; ++step) {
    sampler.draw(step, batch);
    for (const std::uint64_t id : batch.entities) QVERIFY(id < 2);
  }
}

void TestSampler::zipfFrequenciesAreTheLaw_data() {
  QTest::addColumn<quint64>("n");
  QTest::addColumn<double>("exponent");
  for (const quint64 n : {1, 2, 3, 10, 100, 1000}) {
    for (const double exponent : {0.5, 1.0, 1.3}) QTest::addRow("n %llu, exponent %g", n, exponent) << n << exponent;
  }
}

void TestSampler::zipfFrequenciesAreTheLaw() {
  QFETCH(quint64, n);
  QFETCH(double, exponent);
  const ZipfLaw law(n, exponent);
  constexpr std::uint32_t kDraws = 300000;
  std::vector<double> count(n, 0);
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const std::uint64_t rank = law.draw(5, i / 1000, i % 1000);
    QVERIFY(rank < n);
    count[rank] += 1;
  }
  if (n == 1) {
    QCOMPARE(count[0], double{kDraws});
    return;
  }
  std::vector<double> expected = zipfProbabilities(n, exponent);
  for (double& e : expected) e *= kDraws;
  const QString wrong = unlikely(count, expected);
  QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

void TestSampler::zipfOctavesOfALargeTableAreTheLaw_data() {
  QTest::addColumn<quint64>("n");
  QTest::addColumn<double>("exponent");
  for (const quint64 n : {quint64{1000003}, quint64{1} << 40}) {
    for (const double exponent : {0.5, 1.0, 1.3}) QTest::addRow("n %llu, exponent %g", n, exponent) << n << exponent;
  }
}

/// Ranks 1 to 256 by themselves, the rest by octaves, whose sums are integrals by the midpoint rule (error below 1e-6
/// there).
void TestSampler::zipfOctavesOfALargeTableAreTheLaw() {
  QFETCH(quint64, n);
  QFETCH(double, exponent);
  constexpr std::uint64_t kAlone = 256;
  constexpr std::uint32_t kDraws = 300000;
  const auto integral = [&](long double a, long double b) {
    return static_cast<double>(exponent == 1.0
                                   ? std::log(b / a)
                                   : (std::pow(b, 1.0L - exponent) - std::pow(a, 1.0L - exponent)) / (1.0L - exponent));
  };
  std::vector<double> expected;
  std::vector<std::uint64_t> upTo;  // ranks from 1, inclusive
  for (std::uint64_t r = 1; r <= kAlone; ++r) {
    expected.push_back(std::pow(static_cast<double>(r), -exponent));
    upTo.push_back(r);
  }
  while (upTo.back() < n) {
    const std::uint64_t next = std::min<std::uint64_t>(n, upTo.back() * 2);
    expected.push_back(integral(static_cast<long double>(upTo.back()) + 0.5L, static_cast<long double>(next) + 0.5L));
    upTo.push_back(next);
  }
  double sum = 0;
  for (const double e : expected) sum += e;
  for (double& e : expected) e *= kDraws / sum;
  const ZipfLaw law(n, exponent);
  std::vector<double> count(expected.size(), 0);
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const std::uint64_t rank = law.draw(8, i, 3) + 1;
    QVERIFY(rank >= 1 && rank <= n);
    count[static_cast<std::size_t>(std::lower_bound(upTo.begin(), upTo.end(), rank) - upTo.begin())] += 1;
  }
  const QString wrong = unlikely(count, expected);
  QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

void TestSampler::zipfRanksStayInRange() {
  for (const std::uint64_t n : {2ull, 10ull, 1ull << 20, (1ull << 32) - 1, 1ull << 32, (1ull << 40) - 1, 1ull << 40}) {
    for (const double exponent : {0.01, 0.5, 0.999999999, 1.0, 1.000000001, 1.3, 3.0}) {
      const ZipfLaw law(n, exponent);
      std::uint64_t most = 0;
      for (std::uint32_t i = 0; i < 3000; ++i) {
        const std::uint64_t rank = law.draw(11, i, 0);
        QVERIFY2(rank < n, qPrintable(QString("n %1, exponent %2: rank %3").arg(n).arg(exponent).arg(rank)));
        QCOMPARE(law.draw(11, i, 0), rank);
        most = std::max(most, rank);
      }
      // At exponent 0.5 half of all draws lie beyond n/4: the far end is reached.
      if (exponent <= 0.5) QVERIFY2(most >= n / 2, qPrintable(QString("n %1: most %2").arg(n).arg(most)));
    }
  }
}

void TestSampler::pairsShareTheirCluster_data() {
  QTest::addColumn<quint64>("rows");
  QTest::addColumn<quint64>("clusters");
  QTest::addRow("one cluster") << quint64{50} << quint64{1};
  QTest::addRow("whole clusters") << quint64{1000} << quint64{10};
  QTest::addRow("a cut last row of clusters") << quint64{1007} << quint64{10};
  QTest::addRow("two or three rows a cluster") << quint64{250} << quint64{100};
}

void TestSampler::pairsShareTheirCluster() {
  QFETCH(quint64, rows);
  QFETCH(quint64, clusters);
  std::vector<std::uint64_t> rankOf(rows);
  for (std::uint64_t rank = 0; rank < rows; ++rank) rankOf[permuted(rank, rows, kScatterKey)] = rank;
  const Sampler sampler(pairs(rows, 1.0, clusters), options(100, 1));
  QCOMPARE(sampler.samplesPerEpoch(), std::uint64_t{rows});
  Batch batch;
  std::set<std::uint64_t> seen;
  for (std::uint64_t step = 0; step < 200; ++step) {
    sampler.draw(step, batch);
    for (std::uint32_t s = 0; s < batch.samples; ++s) {
      const std::uint64_t u = rankOf.at(slot(batch, s, 0));
      const std::uint64_t v = rankOf.at(slot(batch, s, 1));
      QVERIFY(u != v);
      QCOMPARE(u % clusters, v % clusters);
      seen.insert(u % clusters);
    }
  }
  QCOMPARE(seen.size(), std::size_t{clusters});
}

void TestSampler::pairsFollowTheLawOverScatteredRows() {
  constexpr std::uint64_t kRows = 500;
  const Sampler sampler(pairs(kRows, 1.0, 10), options(100, 1));
  std::vector<double> expected = zipfProbabilities(kRows, 1.0);
  std::vector<double> count(kRows, 0);
  std::vector<std::uint64_t> rankOf(kRows);
  for (std::uint64_t rank = 0; rank < kRows; ++rank) rankOf[permuted(rank, kRows, kScatterKey)] = rank;
  double draws = 0;
  Batch batch;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    sampler.draw(step, batch);
    for (std::uint32_t s = 0; s < batch.samples; ++s) count[rankOf[slot(batch, s, 0)]] += 1;
    draws += batch.samples;
  }
  for (double& e : expected) e *= draws;
  const QString wrong = unlikely(count, expected);
  QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

QTEST_APPLESS_MAIN(TestSampler)
#include "tst_sampler.moc"
