// SPDX-License-Identifier: Apache-2.0
// The planner's figures, verdicts, rivals, and sizes that no machine has.
#include <QtTest>

#include "core/spec/planner.h"

using namespace dsa;

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

PlanInput tenMillion(Rule rule = Rule::sparseAdam, double k = 0) {
  PlanInput input;
  input.tables.push_back({"entities", 10'000'000, rule, 128});
  input.batchRows = 10'000;
  input.k = k;
  return input;
}

const Rival* rivalNamed(const Plan& plan, const std::string& name) {
  for (const Rival& rival : plan.rivals) {
    if (rival.name == name) return &rival;
  }
  return nullptr;
}

}  // namespace

class TestPlanner : public QObject {
  Q_OBJECT
 private slots:
  void theFiguresEverythingStartsFrom();
  void bytesOfEachRule_data();
  void bytesOfEachRule();
  void bytesByPlacement();
  void verdicts_data();
  void verdicts();
  void buffersCountAndAreToldApart();
  void tightBoundaryIsExact();
  void diskShortageIsAWarning();
  void honestRivals();
  void largestDim();
  void batchHasAtMostAllRows();
  void absurdSizesAreRefused_data();
  void absurdSizesAreRefused();
  void demoTakesItsGigabytes();
  void graphsHaveARelationTable();
};

void TestPlanner::theFiguresEverythingStartsFrom() {
  const auto result = plan(tenMillion());
  QVERIFY(result.has_value());
  QCOMPARE(result->weights, std::uint64_t{5'120'000'000});
  QCOMPARE(result->moments, std::uint64_t{10'240'000'000});
  QCOMPARE(result->total, std::uint64_t{15'360'000'000});
  QCOMPARE(result->batch, std::uint64_t{15'360'000});
}

void TestPlanner::bytesOfEachRule_data() {
  QTest::addColumn<int>("rule");
  QTest::addColumn<double>("k");
  QTest::addColumn<qulonglong>("total");
  QTest::newRow("sparse_adam") << int(Rule::sparseAdam) << 0.0 << 15'360'000'000ull;
  QTest::newRow("dsa") << int(Rule::dsa) << 1.0 << 15'360'000'000ull;
  QTest::newRow("radam") << int(Rule::radam) << 1.0 << 10'280'000'000ull;
  QTest::newRow("rsgd") << int(Rule::rsgd) << 1.0 << 5'120'000'000ull;
  QTest::newRow("row_adagrad") << int(Rule::rowAdagrad) << 0.0 << 5'160'000'000ull;
}

void TestPlanner::bytesOfEachRule() {
  QFETCH(int, rule);
  QFETCH(double, k);
  QFETCH(qulonglong, total);
  const auto result = plan(tenMillion(static_cast<Rule>(rule), k));
  QVERIFY(result.has_value());
  QCOMPARE(result->total, std::uint64_t{total});
  QCOMPARE(result->weights, std::uint64_t{5'120'000'000});
  QCOMPARE(result->weights + result->moments, result->total);
  QCOMPARE(result->batch * 1000, result->total);
}

void TestPlanner::bytesByPlacement() {
  PlanInput input = tenMillion();
  input.contextBytes = 300u << 20;
  const auto disk = plan(input);
  QCOMPARE(disk->device, disk->batch + input.contextBytes);
  QCOMPARE(disk->memory, disk->batch);
  QCOMPARE(disk->disk, disk->total);
  input.placement = PlacementChoice::ram;
  const auto ram = plan(input);
  QCOMPARE(ram->memory, ram->total + ram->batch);
  QCOMPARE(ram->disk, std::uint64_t{0});
  input.placement = PlacementChoice::gpu;
  const auto gpu = plan(input);
  QCOMPARE(gpu->device, gpu->total + gpu->batch + input.contextBytes);
  // Of rows alone a plan says weights and two kinds of gradients: as much as w, m and v of sparse_adam. Of samples it
  // says all that a card allocates (tst_card_training compares).
  input.samples = 1000;
  input.slotsPerSample = 10;
  const std::uint64_t index = 3 * 40000 + 16 + 4000 + 1008;  // 10,000 slots, weight and side of 1,000 samples
  QCOMPARE(plan(input)->device,
           gpu->device + 2 * index + 1000 * 8 + 1000 * 4 * 9 * 8 + 8 /* not finite */ + 10000 * 8 /* numbers */);
  input.placement = PlacementChoice::disk;
  QCOMPARE(plan(input)->device, disk->device + 2 * index + 1000 * 8 + 1000 * 4 * 9 * 8 + 8);
  QCOMPARE(gpu->memory, gpu->batch);
  QCOMPARE(gpu->disk, std::uint64_t{0});
}

void TestPlanner::verdicts_data() {
  QTest::addColumn<qulonglong>("gib");
  QTest::addColumn<QString>("fit");
  QTest::addColumn<QString>("message");
  QTest::newRow("8") << 8ull << "does not fit"
                     << "needs 14.31 GiB, card has 8.00 GiB; nothing was run";
  QTest::newRow("12") << 12ull << "does not fit"
                      << "needs 14.31 GiB, card has 12.00 GiB; nothing was run";
  QTest::newRow("16") << 16ull << "tight"
                      << "needs 14.31 GiB, card has 16.00 GiB: tight, 1.69 GiB to spare; buffers take 14.65 MiB more";
  QTest::newRow("24") << 24ull << "fits"
                      << "needs 14.31 GiB, card has 24.00 GiB: fits, 9.69 GiB to spare; buffers take 14.65 MiB more";
}

void TestPlanner::verdicts() {
  QFETCH(qulonglong, gib);
  PlanInput input = tenMillion();
  input.placement = PlacementChoice::gpu;
  input.capacity.card = gib * kGiB;
  const auto result = plan(input);
  QVERIFY(result && result->placement.has_value());
  QTEST(QString::fromStdString(std::string(fitName(result->placement->fit))), "fit");
  QTEST(QString::fromStdString(result->placement->message), "message");
  QCOMPARE(result->placement->needs, std::uint64_t{15'360'000'000});
}

void TestPlanner::buffersCountAndAreToldApart() {
  const Verdict verdict = judge(1000, 25, 1024, "card");
  QVERIFY(verdict.fit == Fit::doesNotFit);
  QCOMPARE(verdict.message, std::string("needs 1000 B, card has 1.00 KiB; buffers take 25 B more; nothing was run"));
  QVERIFY(judge(1000, 24, 1024, "card").fit == Fit::tight);
}

void TestPlanner::tightBoundaryIsExact() {
  QVERIFY(judge(85, 0, 100, "card").fit == Fit::fits);  // 15% to spare
  QVERIFY(judge(86, 0, 100, "card").fit == Fit::tight);
  QVERIFY(judge(100, 0, 100, "card").fit == Fit::tight);
  QVERIFY(judge(101, 0, 100, "card").fit == Fit::doesNotFit);
  QVERIFY(judge(6, 0, 7, "card").fit == Fit::tight);  // 1/7 = 14.3%
  QVERIFY(judge(5, 0, 6, "card").fit == Fit::fits);   // 1/6 = 16.7%
  // The exact boundary at the largest sizes, where a product would overflow: 20 needs = 17 capacity.
  const std::uint64_t unit = UINT64_MAX / 20;
  QVERIFY(judge(17 * unit, 0, 20 * unit, "card").fit == Fit::fits);
  QVERIFY(judge(17 * unit + 1, 0, 20 * unit, "card").fit == Fit::tight);
}

void TestPlanner::diskShortageIsAWarning() {
  PlanInput input = tenMillion();
  input.capacity.disk = 10 * kGiB;
  const auto result = plan(input);
  QVERIFY(result && result->placement && result->placement->fit == Fit::doesNotFit);
  QVERIFY(result->placement->message.find("only as rows are touched") != std::string::npos);
  QVERIFY(result->placement->message.find("nothing was run") == std::string::npos);
}

void TestPlanner::honestRivals() {
  PlanInput input = tenMillion();
  input.capacity.card = 12 * kGiB;
  input.capacity.memory = 24 * kGiB;
  const auto result = plan(input);
  const Rival* ram = rivalNamed(*result, "table in host RAM");
  QVERIFY(ram != nullptr);
  QCOMPARE(ram->bytes, std::uint64_t{15'360'000'000});
  QVERIFY(ram->verdict->fit == Fit::fits);
  const Rival* adagrad = rivalNamed(*result, "row_adagrad on the GPU");
  QVERIFY(adagrad != nullptr);
  QCOMPARE(adagrad->bytes, std::uint64_t{5'160'000'000});
  QVERIFY(adagrad->verdict->fit == Fit::fits);
  const Rival* same = rivalNamed(*result, "the same rule on the GPU");
  QVERIFY(same != nullptr && same->verdict->fit == Fit::doesNotFit);
  const Rival* smaller = rivalNamed(*result, "the largest dim that fits the card");
  QVERIFY(smaller != nullptr);
  QCOMPARE(*smaller->dim, std::uint64_t{91});  // .85 x 12 GiB / 120,120,000 bytes a coordinate, batch included
  QCOMPARE(smaller->bytes, std::uint64_t{10'000'000} * 12 * 91);
  // On the ball there is no row_adagrad; on a large card no smaller dim is offered.
  QVERIFY(rivalNamed(*plan(tenMillion(Rule::radam, 1)), "row_adagrad on the GPU") == nullptr);
  input.capacity.card = 100 * kGiB;
  QVERIFY(rivalNamed(*plan(input), "the largest dim that fits the card") == nullptr);
}

void TestPlanner::largestDim() {
  const PlanInput input = tenMillion();
  for (const std::uint64_t capacity : {kGiB, 7 * kGiB, 12 * kGiB, 80 * kGiB}) {
    const std::uint64_t dim = largestDimThatFits(input, capacity);
    PlanInput at = input;
    at.capacity.card = capacity;
    at.placement = PlacementChoice::gpu;
    at.tables[0].dim = dim;
    QVERIFY(plan(at)->placement->fit == Fit::fits);
    at.tables[0].dim = dim + 1;
    QVERIFY(plan(at)->placement->fit != Fit::fits);
  }
  QCOMPARE(largestDimThatFits(input, 1000), std::uint64_t{0});
  QCOMPARE(largestDimThatFits(input, std::uint64_t{1} << 62), std::uint64_t{65536});
}

void TestPlanner::batchHasAtMostAllRows() {
  PlanInput input = tenMillion();
  input.tables[0].rows = 135;
  QCOMPARE(plan(input)->batch, plan(input)->total);
}

void TestPlanner::absurdSizesAreRefused_data() {
  QTest::addColumn<qulonglong>("rows");
  QTest::addColumn<qulonglong>("dim");
  QTest::addColumn<qulonglong>("batch");
  QTest::addColumn<QString>("word");
  QTest::newRow("no rows") << 0ull << 128ull << 1ull << "0 rows";
  QTest::newRow("no dim") << 10ull << 0ull << 1ull << "dim 0";
  QTest::newRow("dim too large") << 10ull << 65537ull << 1ull << "65537";
  QTest::newRow("dim wraps") << 10ull << ~0ull << 1ull << "65536";
  QTest::newRow("no batch") << 10ull << 128ull << 0ull << "batch rows";
  QTest::newRow("rows wrap") << ~0ull << 65536ull << 1ull << "2^63";
  QTest::newRow("product wraps to little") << (1ull << 55) << 128ull << 1ull << "2^63";
  QTest::newRow("just above an off_t") << 6'004'799'503'160'662ull << 128ull << 1ull << "2^63";
}

void TestPlanner::absurdSizesAreRefused() {
  QFETCH(qulonglong, rows);
  QFETCH(qulonglong, dim);
  QFETCH(qulonglong, batch);
  QFETCH(QString, word);
  PlanInput input;
  input.tables.push_back({"entities", rows, Rule::sparseAdam, dim});
  input.batchRows = batch;
  const auto result = plan(input);
  QVERIFY(!result && result.error().code == ErrorCode::usage);
  QVERIFY2(QString::fromStdString(result.error().message).contains(word), result.error().message.c_str());
  // Two tables that are possible alone and not together.
  PlanInput pair = tenMillion();
  pair.tables[0].rows = 1'700'000'000'000'000;  // 2.6e18 of at most 9.2e18 bytes
  QVERIFY(plan(pair).has_value());
  pair.tables.resize(4, pair.tables[0]);
  QVERIFY(!plan(pair));
}

void TestPlanner::demoTakesItsGigabytes() {
  const DatasetFacts facts{DatasetFacts::Kind::pairs, 1'000'000, 0, 1'000'000};
  RunSpec spec;
  spec.dataset = "zipf:1000000";
  spec.optimizer.placement = PlacementChoice::ram;
  PlanCapacity capacity;
  capacity.memory = 4 * kGiB;
  const auto result = plan(planInputFor(*resolve(spec, facts), facts, capacity));
  QVERIFY(result.has_value());
  QCOMPARE(result->total, std::uint64_t{1'536'000'000});  // 1.43 GiB
  QCOMPARE(result->batch, std::uint64_t{15'360'000});
  QCOMPARE(result->placement->message.substr(0, 47), std::string("needs 1.43 GiB, machine's memory has 4.00 GiB: "));
  QVERIFY(result->placement->fit == Fit::fits);
}

void TestPlanner::graphsHaveARelationTable() {
  const DatasetFacts facts{DatasetFacts::Kind::graph, 135, 46, 5216};
  RunSpec spec;
  spec.dataset = "umls";
  spec.dim = 64;
  const PlanInput input = planInputFor(*resolve(spec, facts), facts, {});
  QCOMPARE(input.tables.size(), std::size_t{2});
  QCOMPARE(plan(input)->total, std::uint64_t{(135 + 46) * 3 * 64 * 4});
  QCOMPARE(plan(input)->batch, plan(input)->total);  // 512 x 34 slots name every row
}

QTEST_APPLESS_MAIN(TestPlanner)
#include "tst_planner.moc"
