// SPDX-License-Identifier: Apache-2.0
// Which rows of a table are shown, how often they are read, and that a finished run's record shows its table.
#include <set>

#include "core/record/reader.h"
#include "core/train/embedding_sampler.h"
#include "core/train/runner.h"
#include "train_samples.h"

using namespace dsa;
using samples::finished;
using samples::setup;
using samples::trainIn;
using samples::treeSpec;
using samples::Watcher;

namespace {

/// zipf:`rows`, euclidean.
std::string zipfSpec(int rows, int dim, int batch = 100) {
  return fmt::format(
      R"({{"dataset": "zipf:{}", "model": "euclidean", "dim": {}, "k": 0, "optimizer": {{"rule": "sparse_adam", "placement": "ram"}}, "train": {{"steps": 40, "batch": {}, "negatives": 3, "seed": 5, "threads": 1}}}})",
      rows, dim, batch);
}

/// Rows of the positive pairs of the first `batches`.
std::set<std::uint64_t> positives(const RunSetup& run, std::uint64_t batches) {
  const Sampler sampler(run.dataset,
                        SamplerOptions{run.spec.train.seed, static_cast<std::uint32_t>(run.spec.train.batch),
                                       static_cast<std::uint32_t>(run.spec.train.negatives)});
  std::set<std::uint64_t> rows;
  Batch batch;
  for (std::uint64_t step = 0; step < batches; ++step) {
    sampler.draw(step, batch);
    for (std::uint32_t i = 0; i < batch.samples; ++i)
      rows.insert({batch.entities[i * batch.slotsPerSample], batch.entities[i * batch.slotsPerSample + 1]});
  }
  return rows;
}

/// Weights of the chosen rows, read one by one.
std::vector<float> read(const Tables& tables, const EmbeddingRows& of) {
  std::vector<float> weights(of.rows.size() * of.dim);
  for (std::size_t i = 0; i < of.rows.size(); ++i) tables.readWeights(0, of.rows[i], weights.data() + i * of.dim);
  return weights;
}

/// Looks as a window would, once a second of its own clock: at every step.
class Looker : public Watcher {
 public:
  explicit Looker(const RunSetup& run) : sampler(run, [this] { return now; }) {}
  void between(const Tables& standing) override {
    now += 1;
    const auto sample = sampler.whenDue(standing);
    if (!sample) return;
    seen.push_back(sample->step);
    equal = equal && sample->weights == read(standing, *sample->of) && sample->step == standing.step();
  }
  void ending(const Tables& standing) override { last = sampler.now(standing); }

  double now = 0;
  EmbeddingSampler sampler;
  std::vector<std::uint64_t> seen;
  EmbeddingSample last;
  bool equal = true;
};

}  // namespace

class TestEmbeddingSampler : public QObject {
  Q_OBJECT
 private slots:
  void aSmallTableIsShownWhole();
  void aLargeTableShowsRowsOfTheFirstBatches();
  void largeRowsAreFewer();
  void aSteepLawEndsTheSearch();
  void longNamesAreCutBetweenCharacters();
  void readingsKeepTheirDistance_data();
  void readingsKeepTheirDistance();
  void whatIsShownIsTheTableAndChangesNothing_data();
  void whatIsShownIsTheTableAndChangesNothing();
  void aPausedRunIsShownToo();
  void aFinishedRunsRecordIsItsTable_data();
  void aFinishedRunsRecordIsItsTable();

 private:
  const samples::FolderOfTest folder;
};

void TestEmbeddingSampler::aSmallTableIsShownWhole() {
  const RunSetup run = setup(treeSpec());
  const auto chosen = chooseEmbeddingRows(run);
  QCOMPARE(chosen->table, std::string("entities"));
  QCOMPARE(chosen->totalRows, std::uint64_t{121});
  QCOMPARE(chosen->dim, std::uint64_t{6});
  QCOMPARE(chosen->k, 1.0);
  QCOMPARE(chosen->rows.size(), std::size_t{121});
  for (std::uint64_t row = 0; row < 121; ++row) QCOMPARE(chosen->rows[row], row);
  QCOMPARE(chosen->labels.size(), std::size_t{121});
  for (std::uint64_t row = 0; row < 121; ++row) QCOMPARE(chosen->labels[row], run.dataset->entities.name(row));
}

void TestEmbeddingSampler::aLargeTableShowsRowsOfTheFirstBatches() {
  const RunSetup run = setup(zipfSpec(100000, 4));
  const auto chosen = chooseEmbeddingRows(run);
  QCOMPARE(chosen->rows.size(), std::size_t{2000});
  QVERIFY(chosen->labels.empty());  // numbered rows have no names
  QVERIFY(std::is_sorted(chosen->rows.begin(), chosen->rows.end()));
  QVERIFY(std::adjacent_find(chosen->rows.begin(), chosen->rows.end()) == chosen->rows.end());
  // The fewest batches that have so many: 200 rows each at most, so at least ten.
  std::uint64_t batches = 10;
  while (positives(run, batches).size() < 2000) QVERIFY(++batches < 40);
  const std::set<std::uint64_t> met = positives(run, batches), earlier = positives(run, batches - 1);
  for (const std::uint64_t row : chosen->rows) QVERIFY(met.contains(row));
  for (const std::uint64_t row : earlier) QVERIFY(std::binary_search(chosen->rows.begin(), chosen->rows.end(), row));
  QCOMPARE(chooseEmbeddingRows(run)->rows, chosen->rows);
}

void TestEmbeddingSampler::largeRowsAreFewer() {
  const auto chosen = chooseEmbeddingRows(setup(zipfSpec(100000, 1024)));
  QCOMPARE(chosen->rows.size(), std::size_t{64});  // 256 KiB of 4 KiB rows
  const auto whole = chooseEmbeddingRows(setup(zipfSpec(64, 1024)));
  QCOMPARE(whole->rows.size(), std::size_t{64});
  QCOMPARE(whole->rows.back(), std::uint64_t{63});
}

void TestEmbeddingSampler::aSteepLawEndsTheSearch() {
  // A short run meets few rows: what it never meets is not shown.
  const RunSetup run = setup(zipfSpec(100000, 4, 2));
  const auto chosen = chooseEmbeddingRows(run);
  const std::set<std::uint64_t> met = positives(run, 40);
  QCOMPARE(std::set<std::uint64_t>(chosen->rows.begin(), chosen->rows.end()), met);
  QVERIFY(chosen->rows.size() < 2000);
}

void TestEmbeddingSampler::longNamesAreCutBetweenCharacters() {
  RunSetup run = setup(treeSpec());
  auto renamed = std::make_shared<Dataset>(*run.dataset);
  renamed->entities = Vocabulary();
  const std::string three = "\u6c34";  // of three bytes: 120 is a border, 121 is none
  for (int i = 0; i < 121; ++i) {
    std::string name = i % 2 == 0 ? "x" : "";
    for (int j = 0; j < 50; ++j) name += three;
    renamed->entities.add(name + std::to_string(i));
  }
  run.dataset = renamed;
  const auto chosen = chooseEmbeddingRows(run);
  QCOMPARE(chosen->labels[0].size(), std::size_t{1 + 39 * 3 + 3});
  QCOMPARE(chosen->labels[1].size(), std::size_t{40 * 3 + 3});
  QVERIFY(chosen->labels[0].ends_with("\u2026"));
  QCOMPARE(QString::fromUtf8(chosen->labels[0].c_str()).toUtf8(), QByteArray(chosen->labels[0].c_str()));
}

void TestEmbeddingSampler::readingsKeepTheirDistance_data() {
  QTest::addColumn<double>("cost");
  QTest::addColumn<int>("rows");
  QTest::addColumn<int>("dim");
  QTest::addColumn<double>("pause");
  QTest::newRow("cheap: 8 a second") << 0.0001 << 100 << 4 << 0.125;
  QTest::newRow("costly: a hundredth of the time") << 0.004 << 100 << 4 << 0.4;
  QTest::newRow("large: 512 KiB a second") << 0.0001 << 100000 << 128 << 512 * (128 * 4 + 8) / 524288.0;
}

void TestEmbeddingSampler::readingsKeepTheirDistance() {
  QFETCH(double, cost);
  QFETCH(int, rows);
  QFETCH(int, dim);
  QFETCH(double, pause);
  const RunSetup run = setup(zipfSpec(rows, dim));
  // Each look at the clock takes `cost`: a reading, which looks at its beginning and its end, costs that much.
  double now = 100;
  EmbeddingSampler sampler(run, [&] { return now += cost; });
  std::vector<double> ends;
  Watcher watcher;
  watcher.onStep = [&](const StepReport&) {
    now += 0.05;
    if (sampler.whenDue(*watcher.tables)) ends.push_back(now);
  };
  finished(trainIn("", run, watcher));
  QVERIFY2(ends.size() >= 2, qPrintable(QString::number(ends.size())));
  for (std::size_t i = 1; i < ends.size(); ++i) {
    // Found due at the first step after the pause; then one more look at the clock, and the reading.
    const double apart = ends[i] - ends[i - 1];
    QVERIFY2(apart >= pause && apart <= pause + 0.05 + 3 * cost + 1e-9, qPrintable(QString::number(apart)));
  }
}

void TestEmbeddingSampler::whatIsShownIsTheTableAndChangesNothing_data() {
  QTest::addColumn<QString>("optimizer");
  QTest::addColumn<QString>("more");
  QTest::newRow("ram") << R"("placement": "ram")"
                       << R"("checkpoint": {"every_s": 0})";
  QTest::newRow("card") << R"("placement": "gpu")"
                        << R"("device": "sim:64 MiB")";
  QTest::newRow("disk") << R"("placement": "disk")"
                        << R"("checkpoint": {"every_steps": 0})";
}

void TestEmbeddingSampler::whatIsShownIsTheTableAndChangesNothing() {
  QFETCH(QString, optimizer);
  QFETCH(QString, more);
  const RunSetup run = setup(treeSpec(optimizer.toStdString(), more.toStdString()));
  Looker looker(run);
  const TrainOutcome watched = finished(trainIn(folder("watched"), run, looker));
  QVERIFY(looker.equal);
  QCOMPARE(looker.seen.size(), std::size_t{42});
  for (std::size_t i = 0; i < 42; ++i) QCOMPARE(looker.seen[i], std::uint64_t{i + 1});
  QCOMPARE(looker.last.step, std::uint64_t{42});
  Watcher nobody;
  const TrainOutcome alone = finished(trainIn(folder("alone"), run, nobody));
  QCOMPARE(watched.tableSha256, alone.tableSha256);
  QCOMPARE(watched.losses, alone.losses);
}

void TestEmbeddingSampler::aPausedRunIsShownToo() {
  const RunSetup run = setup(treeSpec(R"("placement": "ram")", R"("checkpoint": {"every_s": 0})"));
  Looker looker(run);
  looker.orderAt[7] = {Order::Kind::pause};
  looker.later = {Order::Kind::resume};
  std::vector<std::uint64_t> before;
  looker.onStep = [&](const StepReport& report) {
    // Set back, so that nothing is due after step 7 itself: only the pause can show it.
    if (report.step == 7) looker.now -= 2.5;
    if (report.step == 8) before = looker.seen;
  };
  finished(trainIn("", run, looker));
  QVERIFY(!before.empty());
  QCOMPARE(before.back(), std::uint64_t{7});
  QCOMPARE(std::count(before.begin(), before.end(), std::uint64_t{7}), 1);
}

void TestEmbeddingSampler::aFinishedRunsRecordIsItsTable_data() {
  QTest::addColumn<QString>("placement");
  QTest::newRow("ram") << "ram";
  QTest::newRow("disk") << "disk";
}

void TestEmbeddingSampler::aFinishedRunsRecordIsItsTable() {
  QFETCH(QString, placement);
  const std::string json = treeSpec(R"("placement": ")" + placement.toStdString() + "\"");
  auto spec = parseSpec(json);
  VERIFY_OK(spec);
  spec->cache = folder(QTest::currentDataTag());
  RunnerOptions options;
  options.database = folder(QTest::currentDataTag()) + ".sqlite";
  const auto report = startRun(*spec, options);
  VERIFY_OK(report);
  QCOMPARE(report->status, RunStatus::finished);
  const auto reader = Reader::open(options.database);
  VERIFY_OK(reader);
  const auto recorded = reader->embedding(1);
  VERIFY_OK(recorded);
  QVERIFY(recorded->has_value());
  const EmbeddingSample& shown = **recorded;
  QCOMPARE(shown.step, std::uint64_t{42});
  QCOMPARE(shown.of->rows.size(), std::size_t{121});
  // The same run, in memory: its table is the one that was trained.
  const RunSetup run = setup(treeSpec(R"("placement": "ram")"));
  class Keeper : public Watcher {
   public:
    std::vector<float> weights;
    std::shared_ptr<const EmbeddingRows> of;
    void ending(const Tables& ready) override { weights = read(ready, *of); }
  } keeper;
  keeper.of = shown.of;
  finished(trainIn("", run, keeper));
  QVERIFY(shown.weights == keeper.weights);
  QVERIFY(std::any_of(shown.weights.begin(), shown.weights.end(), [](float w) { return std::abs(w) > 0.01f; }));
}

QTEST_GUILESS_MAIN(TestEmbeddingSampler)
#include "tst_embedding_sampler.moc"
