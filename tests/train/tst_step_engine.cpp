// SPDX-License-Identifier: Apache-2.0
// A batch's gradients and loss against the naive way: one sample after the other, added row by row.
#include <cstring>
#include <map>

#include "train_samples.h"

using namespace dsa;

namespace {

struct Case {
  std::string dataset = "tree:3,4";
  ModelKind model = ModelKind::poincare;
  double k = 1;
  std::uint32_t dim = 9, batch = 60, negatives = 7;
  bool mean = false;
};

struct Naive {
  std::map<std::uint64_t, std::vector<float>> gradients[2];
  double loss = 0;

  void add(int table, std::uint64_t row, const std::vector<float>& gradient) {
    const auto [place, isNew] = gradients[table].try_emplace(row, gradient);
    if (isNew) return;
    for (std::size_t i = 0; i < gradient.size(); ++i) place->second[i] += gradient[i];
  }
};

/// Rows are read one by one; each sample has fresh memory for its gradients.
Naive naive(const Case& c, const Batch& batch, const Tables& tables) {
  Naive out;
  const ModelKernels kernels = modelKernels(c.model, KernelLevel::scalar);
  const std::uint32_t candidates = batch.slotsPerSample - 1;
  for (std::uint32_t s = 0; s < batch.samples; ++s) {
    std::vector<std::vector<float>> weights(batch.slotsPerSample + 1, std::vector<float>(c.dim)), grads = weights;
    const std::uint64_t* const named = batch.entities.data() + std::uint64_t{s} * batch.slotsPerSample;
    for (std::uint32_t i = 0; i < batch.slotsPerSample; ++i) tables.readWeights(0, named[i], weights[i].data());
    std::vector<const float*> rows;
    std::vector<float*> places;
    for (std::uint32_t i = 0; i < candidates; ++i) {
      rows.push_back(weights[i + 1].data());
      places.push_back(grads[i + 1].data());
    }
    SampleRows in;
    in.fixed = weights[0].data();
    in.candidates = rows.data();
    in.count = candidates;
    in.dim = c.dim;
    in.k = c.k;
    in.candidatesAreHeads = !batch.headsCorrupted.empty() && batch.headsCorrupted[s] != 0;
    SampleGradients gradients;
    gradients.fixed = grads[0].data();
    gradients.candidates = places.data();
    if (hasRelations(c.model)) {
      tables.readWeights(1, batch.relations[s], weights.back().data());
      in.relation = weights.back().data();
      gradients.relation = grads.back().data();
    }
    double scale = batch.weights.empty() ? 1.0 : static_cast<double>(batch.weights[s]);
    if (c.mean) scale /= batch.samples;
    std::vector<double> scratch(4 * candidates);
    out.loss += kernels.sample(in, gradients, scale, scratch.data());
    for (std::uint32_t i = 0; i < batch.slotsPerSample; ++i) out.add(0, named[i], grads[i]);
    if (hasRelations(c.model)) out.add(1, batch.relations[s], grads.back());
  }
  return out;
}

StoreShape shapeFor(const Case& c, const Dataset& data) {
  StoreShape shape;
  shape.seed = 3;
  shape.tables.push_back({"entities", data.entityCount, c.dim, Rule::rsgd, 0.3f,
                          std::min<std::uint64_t>(data.entityCount, c.batch * (2 + c.negatives))});
  if (hasRelations(c.model))
    shape.tables.push_back({"relations", data.relations.size(), c.dim, Rule::rsgd, 0.3f, c.batch});
  return shape;
}

}  // namespace

class TestStepEngine : public QObject {
  Q_OBJECT
 private slots:
  void sumsEqualTheNaiveWay_data();
  void sumsEqualTheNaiveWay();
  void weightsOfEdgesScaleTheirGradients();
  void buffersAreCountedAndASmallCardRefuses();
};

void TestStepEngine::sumsEqualTheNaiveWay_data() {
  QTest::addColumn<QString>("dataset");
  QTest::addColumn<int>("model");
  QTest::addColumn<double>("k");
  QTest::addColumn<bool>("mean");
  QTest::addColumn<int>("threads");
  const auto add = [](const char* name, const char* dataset, ModelKind model, double k, bool mean) {
    for (const int threads : {1, 2, 3})
      QTest::addRow("%s, %d threads", name, threads) << dataset << static_cast<int>(model) << k << mean << threads;
  };
  add("poincare", "tree:3,4", ModelKind::poincare, 1, false);
  add("euclidean, mean", "tree:3,4", ModelKind::euclidean, 0, true);
  add("transe", "umls", ModelKind::transe, 0, false);
  add("distmult, mean", "umls", ModelKind::distmult, 0, true);
  add("few rows, many duplicates", "zipf:6", ModelKind::euclidean, 0, false);
}

void TestStepEngine::sumsEqualTheNaiveWay() {
  QFETCH(QString, dataset);
  QFETCH(int, model);
  QFETCH(double, k);
  QFETCH(bool, mean);
  QFETCH(int, threads);
  Case c;
  c.dataset = dataset.toStdString();
  c.model = static_cast<ModelKind>(model);
  c.k = k;
  c.mean = mean;
  const auto data = samples::dataset(c.dataset);
  const auto sampler = std::make_shared<const Sampler>(data, SamplerOptions{5, c.batch, c.negatives});
  ThreadPool pool(static_cast<unsigned>(threads));
  const std::uint32_t tableCount = hasRelations(c.model) ? 2 : 1;
  auto tables = makeMemoryTables(shapeFor(c, *data), Device::cpu(), rowKernels(KernelLevel::scalar), pool);
  VERIFY_OK(tables);
  for (const KernelLevel level : availableLevels()) {
    StepEngine::Options options{c.model, level, c.k, c.dim, c.batch, 2 + c.negatives, c.mean};
    auto engine = StepEngine::make(options, Device::cpu(), pool);
    VERIFY_OK(engine);
    LookAhead ahead(sampler, tableCount, 0, 9, 4, nullptr);
    for (std::uint64_t step = 0; step < 9;) {
      for (auto& batch : ahead.take()) {
        const Naive want = naive(c, batch->batch, **tables);
        QVERIFY((*engine)->compute(*batch, nullptr, **tables).has_value());
        QCOMPARE((*engine)->lossSum(), want.loss);
        QCOMPARE((*engine)->counts().size(), std::size_t{tableCount});
        for (std::uint32_t t = 0; t < tableCount; ++t) {
          QCOMPARE((*engine)->counts()[t], want.gradients[t].size());
          std::uint64_t place = 0;
          for (const auto& [row, gradient] : want.gradients[t]) {
            QCOMPARE((*tables)->ids(t)[place], row);
            const bool same = std::memcmp((*tables)->grads(t) + place * c.dim, gradient.data(), c.dim * 4) == 0;
            QVERIFY2(same, fmt::format("{}: step {}, table {}, row {}", levelName(level), step, t, row).c_str());
            ++place;
          }
        }
        ++step;
        ahead.give(std::move(batch));
      }
    }
  }
}

void TestStepEngine::weightsOfEdgesScaleTheirGradients() {
  Case c;
  const auto data = samples::dataset(c.dataset);
  ThreadPool pool(2);
  auto tables = makeMemoryTables(shapeFor(c, *data), Device::cpu(), rowKernels(KernelLevel::scalar), pool);
  VERIFY_OK(tables);
  auto engine = StepEngine::make({c.model, KernelLevel::scalar, c.k, c.dim, c.batch, 2 + c.negatives, false},
                                 Device::cpu(), pool);
  VERIFY_OK(engine);
  PreparedBatch batch;
  const Sampler sampler(data, {5, c.batch, c.negatives});
  sampler.draw(0, batch.batch);
  for (std::uint32_t s = 0; s < batch.batch.samples; ++s)
    batch.batch.weights.push_back(static_cast<float>(s % 3) * 0.75f);
  batch.tables.resize(1);
  batch.tables[0].build(batch.batch.entities);
  const Naive want = naive(c, batch.batch, **tables);
  QVERIFY((*engine)->compute(batch, nullptr, **tables).has_value());
  std::uint64_t place = 0;
  for (const auto& [row, gradient] : want.gradients[0])
    QVERIFY(std::memcmp((*tables)->grads(0) + c.dim * place++, gradient.data(), c.dim * 4) == 0);
  batch.batch.weights.clear();
  QVERIFY(naive(c, batch.batch, **tables).gradients[0] != want.gradients[0]);
}

void TestStepEngine::buffersAreCountedAndASmallCardRefuses() {
  ThreadPool pool(1);
  const StepEngine::Options options{ModelKind::transe, KernelLevel::scalar, 0, 16, 100, 12, false};
  const auto card = Device::simulated(1 << 20);
  {
    auto engine = StepEngine::make(options, card, pool);
    VERIFY_OK(engine);
    // By the batch, never by N. Entities and relations: weights and gradients of the rows of 1,200 and 100 slots, which
    // slot is whose (12 bytes a slot and 4 more, twice: one batch ahead), weight and side of 100 samples.
    const auto sixteenths = [](std::uint64_t bytes) { return (bytes + 15) / 16 * 16; };
    const std::uint64_t index = sixteenths(1200 * 4) * 2 + sixteenths(1201 * 4) + sixteenths(100 * 4) * 2 +
                                sixteenths(101 * 4) + sixteenths(100 * 4) + sixteenths(100);
    QCOMPARE(card->usedFor(Purpose::batch), std::uint64_t{(1200 + 100) * 16 * 4 * 2} + 2 * index);
    // Gradients slot by slot; a loss a sample, and four numbers a candidate.
    QCOMPARE(card->usedFor(Purpose::model), std::uint64_t{(1200 + 100) * 16 * 4 + 100 * 8 + 100 * 4 * 11 * 8});
    QCOMPARE(card->usedFor(Purpose::workspace), std::uint64_t{2 * 8});
    QCOMPARE(card->usedFor(Purpose::weights) + card->usedFor(Purpose::moments), std::uint64_t{0});
  }
  QCOMPARE(card->used(), std::uint64_t{0});
  const auto refused = StepEngine::make(options, Device::simulated(100000), pool);
  QVERIFY(!refused);
  QCOMPARE(exitCode(refused.error()), 4);
}

QTEST_APPLESS_MAIN(TestStepEngine)
#include "tst_step_engine.moc"
