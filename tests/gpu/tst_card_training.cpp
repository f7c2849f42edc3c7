// SPDX-License-Identifier: Apache-2.0
// Whole trainings whose steps are a card's kernels, run on the host: the bits of the processor's, in every placement;
// the bytes that the planner said; a card's errors.
#include "core/device/cuda_device.h"
#include "core/spec/planner.h"
#include "tests/gpu/host_card.h"
#include "tests/gpu/training_cases.h"
#include "tests/train/train_samples.h"

using namespace dsa;
using namespace samples;
using dsa::test::HostCard;
using dsa::test::specOf;
using dsa::test::TrainingCase;

namespace {

std::shared_ptr<HostCard> plugged;

Result<std::vector<CudaDevice>> devices() { return std::vector<CudaDevice>(1); }
Result<std::shared_ptr<Card>> open(const CudaDevice&) { return std::shared_ptr<Card>(plugged); }
constexpr CudaBackend kBackend{devices, open};

// Small: a score takes a card of fibers 100 us.
constexpr const char* kGraph = "graph";

constexpr TrainingCase kCases[] = {
    {"poincare, radam", "tree:3,3", "poincare", 1.0, R"("rule": "radam")", 6,
     R"("epochs": 2, "batch": 16, "negatives": 4)"},
    {"poincare, rsgd", "tree:2,4", "poincare", 0.5, R"("rule": "rsgd", "lr": 0.3)", 5,
     R"("epochs": 2, "batch": 10, "negatives": 3)"},
    {"poincare, dsa, mean", "tree:3,3", "poincare", 1.0, R"("rule": "dsa", "reduction": "mean", "weight_decay": 0.01)",
     33, R"("epochs": 1, "batch": 16, "negatives": 4)"},
    {"transe, sparse_adam", kGraph, "transe", 0, R"("rule": "sparse_adam")", 17,
     R"("epochs": 2, "batch": 60, "negatives": 2)"},
    {"distmult, row_adagrad", kGraph, "distmult", 0, R"("rule": "row_adagrad")", 8,
     R"("epochs": 2, "batch": 50, "negatives": 2)"},
    {"euclidean, sparse_adam", "zipf:400", "euclidean", 0, R"("rule": "sparse_adam")", 40,
     R"("epochs": 1, "batch": 50, "negatives": 3)"},
};

/// A folder of 40 entities, 3 relations, 300 training edges and 8 of each other split.
std::string graphFolder(const std::string& folder) {
  QDir().mkpath(QString::fromStdString(folder));
  std::uint32_t i = 0;
  for (const auto& [split, edges] : {std::pair{"train", 300}, {"valid", 8}, {"test", 8}}) {
    QFile file(QString::fromStdString(folder + "/" + split + ".txt"));
    if (!file.open(QFile::WriteOnly)) qFatal("%s", folder.c_str());
    for (int e = 0; e < edges; ++e, ++i)
      file.write(fmt::format("e{}\tr{}\te{}\n", i * 7 % 40, i % 3, (i * i + 3) % 40).c_str());
  }
  return folder;
}

}  // namespace

class TestCardTraining : public QObject {
  Q_OBJECT
 private slots:
  void init() {
    plugged = std::make_shared<HostCard>();
    setCudaBackend(&kBackend);
  }
  void cleanup() {
    setCudaBackend(nullptr);
    plugged.reset();
  }

  void everyPlacementGivesTheBitsOfTheProcessor_data();
  void everyPlacementGivesTheBitsOfTheProcessor();
  void aGradientThatIsNotFiniteNamesItsRow();
  void aFullCardSaysWhatWasAskedFor();
  void aFailingCardEndsTheRun();

 private:
  FolderOfTest m_folder;
};

void TestCardTraining::everyPlacementGivesTheBitsOfTheProcessor_data() {
  QTest::addColumn<int>("index");
  for (int i = 0; i < static_cast<int>(std::size(kCases)); ++i) QTest::newRow(kCases[i].name) << i;
}

void TestCardTraining::everyPlacementGivesTheBitsOfTheProcessor() {
  QFETCH(int, index);
  TrainingCase c = kCases[index];
  const std::string graph = graphFolder(m_folder("graph"));
  if (c.dataset == kGraph) c.dataset = graph.c_str();
  const auto folder = [&](const std::string& name) { return m_folder(fmt::format("{}-{}", index, name).c_str()); };
  Watcher quiet;
  const TrainOutcome want = finished(trainIn(folder("cpu"), setup(specOf(c, "disk", "cpu")), quiet));
  const struct {
    const char* placement;
    const char* update;
    const char* engine;
  } places[] = {
      {"disk", "cpu", "mmap"}, {"disk", "device", "direct"}, {"ram", "device", "auto"}, {"gpu", "auto", "auto"}};
  for (const auto& place : places) {
    const std::string placement = fmt::format("{}-{}-{}", place.placement, place.update, place.engine);
    const std::string more = fmt::format(R"("update": "{}", "engine": "{}")", place.update, place.engine);
    const RunSetup run = setup(specOf(c, place.placement, "cuda:0", more));
    Watcher watcher;
    plugged->pinned = 0;
    const std::uint64_t before = plugged->launches;
    const TrainOutcome got = finished(trainIn(folder(placement), run, watcher));
    QVERIFY(plugged->launches >= before + got.steps * 3);
    QCOMPARE(got.losses, want.losses);
    QCOMPARE(got.tableSha256, want.tableSha256);
    QCOMPARE(got.metrics.queries, want.metrics.queries);
    QCOMPARE(got.metrics.meanRank, want.metrics.meanRank);
    QCOMPARE(got.metrics.mrr, want.metrics.mrr);
    // The planner, the card and the simulated card have the same bytes.
    const RunSetup simulated = setup(specOf(c, place.placement, "sim:1 GiB", more));
    Watcher other;
    const TrainOutcome counted = finished(trainIn(folder(placement + "-sim"), simulated, other));
    QCOMPARE(counted.tableSha256, want.tableSha256);
    QCOMPARE(got.devicePeak, counted.devicePeak);
    const auto planned = plan(planInputFor(run.spec, run.facts, {}));
    QVERIFY(planned.has_value());
    QCOMPARE(got.devicePeak, planned->device);
    QCOMPARE(plugged->pinned, planned->pinned);
  }
}

void TestCardTraining::aGradientThatIsNotFiniteNamesItsRow() {
  const TrainingCase c{"diverges",
                       "umls",
                       "distmult",
                       0,
                       R"("rule": "rsgd", "lr": 1e6, "gradient_cap": 0)",
                       8,
                       R"("epochs": 3, "batch": 64, "negatives": 4)"};
  Watcher quiet;
  const auto want = trainIn(m_folder("cpu"), setup(specOf(c, "ram", "cpu")), quiet);
  QVERIFY(!want);
  for (const std::string placement : {"disk", "gpu"}) {
    Watcher watcher;
    const auto got = trainIn(m_folder(placement.c_str()), setup(specOf(c, placement, "cuda:0")), watcher);
    QVERIFY(!got);
    QCOMPARE(got.error().message, want.error().message);
    QCOMPARE(exitCode(got.error()), 3);
  }
}

void TestCardTraining::aFullCardSaysWhatWasAskedFor() {
  const TrainingCase c{"large",
                       "zipf:1000",
                       "euclidean",
                       0,
                       R"("rule": "sparse_adam")",
                       32,
                       R"("epochs": 1, "batch": 50, "negatives": 3)"};
  plugged = std::make_shared<HostCard>(300000);  // the table alone has 384 kB
  Watcher watcher;
  const auto refused = trainIn(m_folder("gpu"), setup(specOf(c, "gpu", "cuda:0")), watcher);
  QVERIFY(!refused);
  QCOMPARE(exitCode(refused.error()), 4);
  QVERIFY2(refused.error().message.find("cuda:0 (host card): out of memory: 375.00 KiB for weights and moments") !=
               std::string::npos,
           refused.error().message.c_str());
  // The same run with the table on disk needs the batch alone.
  Watcher again;
  QVERIFY(trainIn(m_folder("disk"), setup(specOf(c, "disk", "cuda:0")), again).has_value());
}

void TestCardTraining::aFailingCardEndsTheRun() {
  const TrainingCase c{
      "small", "tree:3,3", "poincare", 1.0, R"("rule": "radam")", 6, R"("epochs": 2, "batch": 16, "negatives": 4)"};
  for (const std::string placement : {"disk", "gpu"}) {
    plugged = std::make_shared<HostCard>();
    Watcher watcher;
    watcher.onStep = [](const StepReport& report) { plugged->failLaunches = report.step == 5; };
    const auto ended = trainIn(m_folder(placement.c_str()), setup(specOf(c, placement, "cuda:0")), watcher);
    QVERIFY(!ended);
    QCOMPARE(exitCode(ended.error()), 4);
    QCOMPARE(watcher.steps.back().step, std::uint64_t{5});
  }
  // The table on disk is whole: the run goes on, on another device, as if nothing had been.
  Watcher quiet;
  const TrainOutcome want = finished(trainIn(m_folder("cpu"), setup(specOf(c, "disk", "cpu")), quiet));
  Watcher watcher;
  const TrainOutcome resumed = finished(trainIn(m_folder("disk"), setup(specOf(c, "disk", "cpu")), watcher));
  QCOMPARE(resumed.startStep, std::uint64_t{5});
  QCOMPARE(resumed.tableSha256, want.tableSha256);
}

QTEST_GUILESS_MAIN(TestCardTraining)
#include "tst_card_training.moc"
