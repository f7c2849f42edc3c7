// SPDX-License-Identifier: Apache-2.0
// The metrics: worked examples, ties, filters and refusals; and random sets against the naive definition, in every way
// of computing.
#include <QtTest>
#include <cmath>
#include <limits>

#include "tests/eval/eval_samples.h"

using namespace dsa;
using namespace dsa::test;

namespace {

Result<EvalMetrics> measure(const Dataset& dataset, ModelKind model, double k, const Table& entities,
                            const Table* relations = nullptr, const EvalOptions& options = {}, unsigned threads = 1,
                            KernelLevel level = KernelLevel::scalar) {
  ThreadPool pool(threads);
  const WeightSource source = entities.source();
  const WeightSource relationSource = relations ? relations->source() : WeightSource{};
  return evaluate(dataset, model, k, source, relations ? &relationSource : nullptr, level, pool, options);
}

Result<EvalMetrics> onLine(const Dataset& dataset, std::vector<float> positions, const EvalOptions& options = {}) {
  return measure(dataset, ModelKind::euclidean, 0, Table{1, std::move(positions)}, nullptr, options);
}

bool sameBits(const EvalMetrics& a, const EvalMetrics& b) {
  const auto all = [](const EvalMetrics& m) {
    return std::tuple(m.map, m.meanRank, m.mrr, m.hits1, m.hits3, m.hits10, m.mrrOptimistic, m.mrrPessimistic,
                      m.queries, m.queriesTotal, m.ranks, m.filterEdges, m.filteredOut);
  };
  return all(a) == all(b);
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

/// Every budget, thread count and level gives the bits of `want`.
QString differingWay(const EvalMetrics& want, const Dataset& dataset, ModelKind model, double k, const Table& entities,
                     const Table* relations) {
  for (const std::uint64_t budget : {1u, 700u, 3000u, 100'000u}) {
    for (const unsigned threads : {1u, 2u, 5u}) {
      for (const KernelLevel level : availableLevels()) {
        EvalOptions options;
        options.budgetBytes = budget;
        const auto got = measure(dataset, model, k, entities, relations, options, threads, level);
        if (!got) return QString::fromStdString(got.error().message);
        if (!sameBits(*got, want)) {
          const std::string name(levelName(level));
          return QString("budget %1, %2 threads, %3").arg(budget).arg(threads).arg(QString::fromStdString(name));
        }
      }
    }
  }
  return {};
}

void addSeeds() {
  QTest::addColumn<quint64>("seed");
  for (quint64 seed = 0; seed < 16; ++seed) QTest::addRow("seed %llu", seed) << seed;
}

}  // namespace

class TestEvaluate : public QObject {
  Q_OBJECT
 private slots:
  void aSmallHierarchyByHand() {
    Dataset dataset = makeDataset(DatasetKind::hierarchy, 4);
    dataset.train = {{0, 0, 2}, {0, 0, 3}, {1, 0, 0}};
    // From 0 at 0: 1 at distance 1, then 2 (3) and 3 (7). Ranks 2 and 2, precisions 1/2 and 2/3. From 1: 0 first.
    const auto metrics = onLine(dataset, {0, 1, 3, 7});
    QVERIFY(metrics);
    QVERIFY(near(*metrics->meanRank, 5.0 / 3));
    QVERIFY(near(*metrics->map, (7.0 / 12 + 1) / 2));
    QCOMPARE(metrics->queries, std::uint64_t{2});
    QCOMPARE(metrics->queriesTotal, std::uint64_t{2});
    QCOMPARE(metrics->ranks, std::uint64_t{3});
    QCOMPARE(metrics->filterEdges, std::uint64_t{3});
    QCOMPARE(metrics->filteredOut, std::uint64_t{2});  // each of 2 and 3 for the other
    QVERIFY(!metrics->mrr && !metrics->hits1 && !metrics->hits3 && !metrics->hits10);
    QVERIFY(metrics->note.empty());
  }

  void tiesCountHalfWhateverTheirIds() {
    // As above, and one more node where 2 is; its id before or after that of 2.
    for (const bool before : {false, true}) {
      Dataset dataset = makeDataset(DatasetKind::hierarchy, 5);
      const std::uint32_t two = before ? 3 : 2;
      const std::uint32_t last = before ? 4 : 3;
      dataset.train = {{0, 0, two}, {0, 0, last}, {1, 0, 0}};
      const auto metrics = before ? onLine(dataset, {0, 1, 3, 3, 7}) : onLine(dataset, {0, 1, 3, 7, 3});
      QVERIFY(metrics);
      QVERIFY(near(*metrics->meanRank, (2.5 + 3 + 1) / 3));
      QVERIFY(near(*metrics->map, ((1.0 / 3 + 2.0 / 4) / 2 + 1) / 2));
    }
  }

  void aPerfectChainHasMapAndMeanRankOne() {
    constexpr std::uint32_t kNodes = 8;
    Dataset dataset = makeDataset(DatasetKind::hierarchy, kNodes);
    Table flat{1, {}};
    Table ball{1, {}};
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      for (std::uint32_t j = 0; j < i; ++j) dataset.train.push_back({i, 0, j});
      // At 3^i every ancestor is nearer than any descendant; on the ball 2 atanh(r) is the distance from the centre.
      flat.values.push_back(std::pow(3.0f, static_cast<float>(i)));
      ball.values.push_back(static_cast<float>(std::tanh(0.002 * std::pow(3.0, i) / 2)));
    }
    for (const bool onBall : {false, true}) {
      const auto metrics = measure(dataset, ModelKind::poincare, onBall ? 1 : 0, onBall ? ball : flat);
      QVERIFY(metrics);
      QCOMPARE(*metrics->map, 1.0);
      QCOMPARE(*metrics->meanRank, 1.0);
    }
    std::swap(flat.values[2], flat.values[6]);
    QVERIFY(*measure(dataset, ModelKind::poincare, 0, flat)->map < 1);
  }

  void aConstantScorerHasTheMiddleRank() {
    constexpr std::uint32_t kEntities = 101;
    Dataset graph = makeDataset(DatasetKind::graph, kEntities);
    graph.test = {{0, 0, 1}, {4, 0, 9}};
    const auto links = measure(graph, ModelKind::euclidean, 0, Table{1, std::vector<float>(kEntities, 0.5f)});
    QVERIFY(links);
    QCOMPARE(*links->meanRank, (kEntities + 1) / 2.0);
    QCOMPARE(*links->mrr, 2.0 / (kEntities + 1));
    QCOMPARE(*links->mrrOptimistic, 1.0);
    QCOMPARE(*links->mrrPessimistic, 1.0 / kEntities);
    QCOMPARE(*links->hits10, 0.0);
    Dataset hierarchy = makeDataset(DatasetKind::hierarchy, kEntities);
    hierarchy.train = {{7, 0, 3}};
    const auto tree = measure(hierarchy, ModelKind::poincare, 1, Table{1, std::vector<float>(kEntities, 0.5f)});
    QVERIFY(tree);
    QCOMPARE(*tree->meanRank, kEntities / 2.0);  // the node itself is no candidate
    QCOMPARE(*tree->map, 1.0 / (kEntities - 1));
  }

  void aKnownValidEdgeMovesTheRankByOne() {
    Dataset dataset = makeDataset(DatasetKind::graph, 6, 2);
    dataset.train = {{0, 0, 1}};
    dataset.test = {{0, 0, 2}};
    const std::vector<float> positions = {0, 1, 5, 3, 2, 4};
    // (0, 0, ?): 0, 4, 3 and 5 come before 2, and 1, which is known: rank 5. (?, 0, 2): 2, 5, 3, 4, 1 come before 0:
    // rank 6.
    const auto rankSum = [&] { return *onLine(dataset, positions)->meanRank * 2; };
    QCOMPARE(rankSum(), 11.0);
    dataset.valid = {{0, 0, 3}};
    QCOMPARE(rankSum(), 10.0);
    QCOMPARE(onLine(dataset, positions)->filteredOut, std::uint64_t{2});
    QCOMPARE(onLine(dataset, positions)->filterEdges, std::uint64_t{3});
    dataset.valid = {{0, 1, 3}};  // another relation
    QCOMPARE(rankSum(), 11.0);
    dataset.valid = {{3, 0, 0}};  // another side
    QCOMPARE(rankSum(), 11.0);
    dataset.valid = {};
    // Test edges filter each other: (0, 0, ?) ranks 2 fourth and 3 third; (?, 0, 2) and (?, 0, 3) have 0 sixth.
    dataset.test.push_back({0, 0, 3});
    QCOMPARE(*onLine(dataset, positions)->meanRank * 4, 4.0 + 3 + 6 + 6);
  }

  void hitsCountRanksUpToTheirNumber() {
    Dataset dataset = makeDataset(DatasetKind::graph, 30);
    std::vector<float> positions(30);
    for (std::uint32_t i = 0; i < 30; ++i) positions[i] = static_cast<float>(i);
    dataset.test = {{0, 0, 2}, {0, 0, 29}};
    const auto metrics = onLine(dataset, positions);
    // (0,?): 2 ranks 3; 29 ranks 29 (2 is filtered). (?,2): 2, 1 and 3, then 0 level with 4: rank 4.5. (?,29): rank 30.
    QVERIFY(metrics);
    QCOMPARE(*metrics->meanRank * 4, 3 + 29 + 4.5 + 30);
    QCOMPARE(*metrics->hits1, 0.0);
    QCOMPARE(*metrics->hits3, 0.25);
    QCOMPARE(*metrics->hits10, 0.5);
    QVERIFY(near(*metrics->mrr, (1.0 / 3 + 1.0 / 29 + 1 / 4.5 + 1.0 / 30) / 4));
    QVERIFY(near(*metrics->mrrOptimistic, (1.0 / 3 + 1.0 / 29 + 1.0 / 4 + 1.0 / 30) / 4));
    QVERIFY(near(*metrics->mrrPessimistic, (1.0 / 3 + 1.0 / 29 + 1.0 / 5 + 1.0 / 30) / 4));
  }

  void entitiesUnseenInTrainingAreKept() {
    Dataset dataset = makeDataset(DatasetKind::graph, 4);
    dataset.train = {{0, 0, 1}};
    dataset.test = {{2, 0, 3}};
    const auto metrics = onLine(dataset, {0, 1, 10, 12});
    QVERIFY(metrics);
    QCOMPARE(metrics->queries, std::uint64_t{2});
    QCOMPARE(*metrics->meanRank, 2.0);  // itself, then the other
  }

  void randomHierarchiesEqualTheDefinition_data() { addSeeds(); }
  void randomHierarchiesEqualTheDefinition() {
    QFETCH(quint64, seed);
    const std::uint32_t nodes = 3 + draw(seed, 0, 9, 90);
    const Dataset dataset = randomHierarchy(seed, nodes);
    const bool coarse = seed % 2 == 0;
    const double k = seed % 4 < 2 ? 0 : 0.25;
    // Inside the ball of radius 2: |x| <= 0.8 sqrt(3). Coarse values times 0.5 keep every score of k = 0 exact.
    const Table table = randomTable(seed, nodes, 1 + static_cast<std::uint32_t>(seed % 3), coarse, 0.5f);
    const auto want = measure(dataset, ModelKind::poincare, k, table);
    QVERIFY2(want, want ? "" : want.error().message.c_str());
    // On the ball ties of the naive formula are those of the kernels only for equal rows; a fine table has none.
    if (k == 0 || !coarse) {
      const NaiveReconstruction naive = naiveReconstruction(dataset, ModelKind::poincare, k, table);
      QCOMPARE(*want->meanRank, naive.meanRank);
      QVERIFY2(near(*want->map, naive.map), qPrintable(QString("%1 against %2").arg(*want->map).arg(naive.map)));
    }
    QCOMPARE(differingWay(*want, dataset, ModelKind::poincare, k, table, nullptr), QString());
  }

  void randomGraphsEqualTheDefinition_data() { addSeeds(); }
  void randomGraphsEqualTheDefinition() {
    QFETCH(quint64, seed);
    constexpr ModelKind kKinds[] = {ModelKind::transe, ModelKind::distmult, ModelKind::euclidean};
    const ModelKind model = kKinds[seed % 3];
    const std::uint32_t entities = 2 + draw(seed, 0, 9, 50);
    const Dataset dataset = randomGraph(seed, entities, 3);
    const auto dim = 1 + static_cast<std::uint32_t>(seed % 5);
    const Table table = randomTable(seed, entities, dim, seed % 2 == 0);
    const Table relations = randomTable(seed + 100, 3, dim, seed % 2 == 0);
    const auto want = measure(dataset, model, 0, table, &relations);
    QVERIFY2(want, want ? "" : want.error().message.c_str());
    const NaiveLinks naive = naiveLinks(dataset, model, table, relations);
    QCOMPARE(*want->meanRank, naive.meanRank);
    QCOMPARE(*want->hits1, naive.hits1);
    QCOMPARE(*want->hits3, naive.hits3);
    QCOMPARE(*want->hits10, naive.hits10);
    QVERIFY(near(*want->mrr, naive.mrr));
    QVERIFY(near(*want->mrrOptimistic, naive.optimistic));
    QVERIFY(near(*want->mrrPessimistic, naive.pessimistic));
    QCOMPARE(want->ranks, std::uint64_t{2 * dataset.test.size()});
    QVERIFY(!want->map);
    QCOMPARE(differingWay(*want, dataset, model, 0, table, &relations), QString());
  }

  void valuesThatAreNotFiniteAreRefused_data() {
    QTest::addColumn<float>("value");
    QTest::addColumn<bool>("inRelation");
    QTest::addColumn<quint64>("budget");
    for (const quint64 budget : {1u, 1u << 20}) {
      for (const bool inRelation : {false, true}) {
        QTest::addRow("nan %d %llu", inRelation, budget) << std::nanf("") << inRelation << budget;
        QTest::addRow("inf %d %llu", inRelation, budget)
            << std::numeric_limits<float>::infinity() << inRelation << budget;
      }
    }
  }
  void valuesThatAreNotFiniteAreRefused() {
    QFETCH(float, value);
    QFETCH(bool, inRelation);
    QFETCH(quint64, budget);
    Dataset dataset = makeDataset(DatasetKind::graph, 9, 2);
    dataset.test = {{0, 1, 1}};
    for (const std::uint64_t row : {0, 1, 5}) {  // fixed or answer, and a mere candidate
      Table table = randomTable(1, 9, 3, false);
      Table relations = randomTable(2, 2, 3, false);
      const std::uint64_t bad = inRelation ? 1 : row;
      (inRelation ? relations : table).values[bad * 3 + 2] = value;
      EvalOptions options;
      options.budgetBytes = budget;
      const auto result = measure(dataset, ModelKind::distmult, 0, table, &relations, options, 2);
      QVERIFY(!result);
      QCOMPARE(result.error().code, ErrorCode::input);
      const std::string start = inRelation ? "relation row 1 (r1): coordinate 2 is "
                                           : fmt::format("entity row {0} (e{0}): coordinate 2 is ", bad);
      QVERIFY2(result.error().message.find(start + (std::isnan(value) ? "nan" : "inf")) == 0,
               result.error().message.c_str());
    }
  }

  void aRowThatCannotBeReadEndsIt_data() {
    QTest::addColumn<bool>("inBlock");
    QTest::addColumn<quint64>("budget");
    for (const bool inBlock : {true, false}) {
      for (const quint64 budget : {1u, 1u << 20}) QTest::addRow("%d %llu", inBlock, budget) << inBlock << budget;
    }
  }
  void aRowThatCannotBeReadEndsIt() {
    QFETCH(bool, inBlock);
    QFETCH(quint64, budget);
    Dataset dataset = makeDataset(DatasetKind::graph, 9, 2);
    dataset.test = {{0, 1, 1}};
    const Table table = randomTable(1, 9, 3, false), relations = randomTable(2, 2, 3, false);
    WeightSource entities = table.source();
    entities.read = [&, whole = entities.read](std::uint64_t begin, std::uint64_t count, float* out) -> Result<void> {
      if ((count > 1) == inBlock) return fail(ErrorCode::machine, "entities.rows: cannot read: worn out");
      return whole(begin, count, out);
    };
    const WeightSource relationSource = relations.source();
    ThreadPool pool(2);
    EvalOptions options;
    options.budgetBytes = budget;
    const auto result =
        evaluate(dataset, ModelKind::distmult, 0, entities, &relationSource, KernelLevel::scalar, pool, options);
    // With the least budget a block is one row, and none is read in a block.
    if (inBlock && budget == 1) {
      QVERIFY(result.has_value());
      return;
    }
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::machine);
    QVERIFY2(result.error().message.find("worn out. Nothing was measured") != std::string::npos,
             result.error().message.c_str());
  }

  void rowsOutsideTheBallAreRefused() {
    Dataset dataset = makeDataset(DatasetKind::hierarchy, 4);
    dataset.train = {{0, 0, 1}};
    for (const float outside : {1.0f, 3.0f}) {
      const auto result = measure(dataset, ModelKind::poincare, 1, Table{1, {0, 0.5f, outside, 0.9f}});
      QVERIFY(!result);
      QVERIFY2(result.error().message.find("entity row 2 (e2): its length is ") == 0, result.error().message.c_str());
      // Both outside: their distance would be a number.
      QVERIFY(!measure(dataset, ModelKind::poincare, 1, Table{1, {4, 3, outside, 5}}));
      QVERIFY(measure(dataset, ModelKind::poincare, 0, Table{1, {0, 0.5f, outside, 0.9f}}));
    }
  }

  void tablesOfAnotherDatasetAreRefused() {
    const Dataset dataset = randomGraph(1, 10, 2);
    const auto fails = [&](std::uint64_t entities, std::uint64_t relations, std::uint32_t relationDim) {
      const Table table = randomTable(1, entities, 3, false);
      const Table relationTable = randomTable(1, relations, relationDim, false);
      const auto result = measure(dataset, ModelKind::transe, 0, table, &relationTable);
      return !result && result.error().code == ErrorCode::input;
    };
    QVERIFY(!fails(10, 2, 3));
    QVERIFY(fails(11, 2, 3));
    QVERIFY(fails(9, 2, 3));
    QVERIFY(fails(10, 1, 3));
    QVERIFY(fails(10, 2, 4));
  }

  void whatCannotBeMeasuredSaysWhy() {
    Dataset pairs = makeDataset(DatasetKind::pairs, 3);
    Dataset graph = makeDataset(DatasetKind::graph, 3);
    graph.train = {{0, 0, 1}};
    const Dataset hierarchy = makeDataset(DatasetKind::hierarchy, 3);
    for (const Dataset& dataset : {pairs, graph, hierarchy}) {
      const auto metrics = onLine(dataset, {0, 1, 2});
      QVERIFY(metrics);
      QVERIFY(!metrics->map && !metrics->meanRank && !metrics->mrr && !metrics->hits10);
      QCOMPARE(metrics->queries, std::uint64_t{0});
      QVERIFY(!metrics->note.empty());
    }
    EvalOptions options;
    options.split = EvalSplit::train;
    QVERIFY(onLine(graph, {0, 1, 2}, options)->mrr);
  }

  void fiftyQueriesOfATableOfNouns() {
    constexpr std::uint64_t kNodes = 82'115;
    Dataset dataset = makeDataset(DatasetKind::hierarchy, kNodes);
    for (std::uint32_t i = 1; i < kNodes; ++i) {
      for (std::uint32_t above = i / 3;; above /= 3) {
        dataset.train.push_back({i, 0, above});
        if (above == 0) break;
      }
    }
    const Table table = randomTable(5, kNodes, 10, false, 0.3f);
    EvalOptions options;
    options.maxQueries = 50;
    options.budgetBytes = 1 << 20;
    const auto metrics = measure(dataset, ModelKind::poincare, 1, table, nullptr, options, 2);
    QVERIFY(metrics);
    QCOMPARE(metrics->queries, std::uint64_t{50});
    QCOMPARE(metrics->queriesTotal, kNodes - 1);
    // About 500 ranks of a random table: their mean is within 8 deviations (0.29 N / sqrt 500, correlated) of N/2.
    QVERIFY2(*metrics->meanRank > 0.3 * kNodes && *metrics->meanRank < 0.7 * kNodes,
             qPrintable(QString::number(*metrics->meanRank)));
    options.budgetBytes = 64 << 20;
    QVERIFY(sameBits(*metrics, *measure(dataset, ModelKind::poincare, 1, table, nullptr, options, 1)));
    options.seed = 2;
    QVERIFY(!sameBits(*metrics, *measure(dataset, ModelKind::poincare, 1, table, nullptr, options, 1)));
  }
};

QTEST_APPLESS_MAIN(TestEvaluate)
#include "tst_evaluate.moc"
