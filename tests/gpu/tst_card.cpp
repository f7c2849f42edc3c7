// SPDX-License-Identifier: Apache-2.0
// What only a card can show: its kernels give the bits of the host's, its trainings the processor's table, and its
// memory is counted. Without a card every call says why, and the rest says SKIP.
#include <QtTest>

#include "core/device/cuda_device.h"
#include "core/optim/card_work.h"
#include "core/spec/planner.h"
#include "tests/gpu/row_cases.h"
#include "tests/gpu/training_cases.h"
#include "tests/train/train_samples.h"

using namespace dsa;
using namespace samples;
using dsa::test::RowCase;
using dsa::test::specOf;
using dsa::test::TrainingCase;

namespace {

/// Values on the card; freed with it.
template <class T>
class OnCard {
 public:
  OnCard(Card& card, const std::vector<T>& values) : m_card(card), m_count(values.size()) {
    auto memory = card.allocate(m_count * sizeof(T));
    if (!memory) return;
    m_memory = *memory;
    const auto copied = card.copy(m_memory, reinterpret_cast<const std::byte*>(values.data()), m_count * sizeof(T),
                                  Card::Copy::toCard, Card::Stream::compute);
    m_worked = copied && card.wait(Card::Stream::compute);
  }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;
  ~OnCard() {
    if (m_memory != nullptr) m_card.release(m_memory);
  }
  [[nodiscard]] bool worked() const { return m_worked; }
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(m_memory); }
  [[nodiscard]] std::vector<T> back() const {
    std::vector<T> values(m_count);
    const auto copied = m_card.copy(reinterpret_cast<std::byte*>(values.data()), m_memory, m_count * sizeof(T),
                                    Card::Copy::toHost, Card::Stream::compute);
    if (!copied || !m_card.wait(Card::Stream::compute)) values.clear();
    return values;
  }

 private:
  Card& m_card;
  std::byte* m_memory = nullptr;
  std::size_t m_count = 0;
  bool m_worked = false;
};

/// The table after `steps` steps on the card; empty where a call failed.
std::vector<float> updatedOnCard(Card& card, const RowCase& c, std::uint64_t steps) {
  const OnCard<float> table(card, c.table);
  const OnCard<float> grads(card, c.grads);
  const OnCard<std::uint64_t> ids(card, c.ids);
  bool worked = table.worked() && grads.worked() && ids.worked();
  for (std::uint64_t t = 1; worked && t <= steps; ++t) {
    worked = card.launch({UpdateRowsWork{c.step(t), table.data(), c.width, ids.data(), grads.data(), c.ids.size()}},
                         Card::Stream::compute)
                 .has_value();
  }
  worked = card.wait(Card::Stream::compute).has_value() && worked;
  return worked ? table.back() : std::vector<float>{};
}

constexpr const char* kTrain = R"("epochs": 2, "batch": 256, "negatives": 9)";
constexpr TrainingCase kCases[] = {
    {"poincare radam", "tree:3,4", "poincare", 1.0, R"("rule": "radam")", 10, kTrain},
    {"poincare rsgd", "wordnet-mammals", "poincare", 1.0, R"("rule": "rsgd", "lr": 0.3)", 5, kTrain},
    {"poincare dsa", "tree:3,4", "poincare", 1.0, R"("rule": "dsa", "reduction": "mean")", 33, kTrain},
    {"transe sparse_adam", "umls", "transe", 0, R"("rule": "sparse_adam")", 100, kTrain},
    {"distmult row_adagrad", "umls", "distmult", 0, R"("rule": "row_adagrad")", 64, kTrain},
    {"euclidean sparse_adam", "zipf:20000", "euclidean", 0, R"("rule": "sparse_adam")", 128, kTrain},
};

}  // namespace

class TestCard : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    const auto devices = cudaDevices();
    if (devices) m_card = *openCudaCard(0);
    m_why = devices ? "" : devices.error().message;
  }
  void cleanupTestCase() { m_card.reset(); }

  void devicesAreDescribedOrTheReasonIsGiven() {
    const auto devices = cudaDevices();
    if (devices) {
      QVERIFY(!devices->empty());
      for (const CudaDevice& device : *devices) {
        QVERIFY(!device.name.empty() && device.memoryTotal > 0 && device.major > 0);
        QVERIFY(!device.memoryFree || *device.memoryFree <= device.memoryTotal);
      }
      return;
    }
    QCOMPARE(exitCode(devices.error()), 4);
#if defined(DSA_WITH_CUDA)
    QVERIFY2(m_why.find("CUDA driver") != std::string::npos || m_why.find("no CUDA device") != std::string::npos,
             m_why.c_str());
#else
    QVERIFY2(m_why.find("built without CUDA") != std::string::npos, m_why.c_str());
#endif
  }

  void withoutACardARunIsRefusedBeforeAnythingIsMade() {
    if (m_card) QSKIP("there is a CUDA device: its absence is not proved");
    const auto refused = openCudaCard(0);
    QVERIFY(!refused);
    QCOMPARE(refused.error().message, m_why);
    Watcher watcher;
    const std::string place = m_folder("run");
    const auto run = trainIn(place, setup(specOf(kCases[0], "disk", "cuda:0")), watcher);
    QVERIFY(!run);
    QCOMPARE(exitCode(run.error()), 4);
    QCOMPARE(run.error().message, "device cuda:0: " + m_why + ". Nothing was run");
    QVERIFY(!QFile::exists(QString::fromStdString(place + "/store.dsa")));
  }

  void updatesHaveTheBitsOfTheEmulatedWarp_data() { test::addRules(); }
  void updatesHaveTheBitsOfTheEmulatedWarp() {
    if (!m_card) QSKIP(("not proved on a card: " + m_why).c_str());
    QFETCH(int, rule);
    QFETCH(int, map);
    QFETCH(double, k);
    for (const std::uint32_t dim : {1u, 2u, 5u, 15u, 16u, 17u, 31u, 32u, 33u, 64u, 100u, 128u, 131u, 512u}) {
      for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{33}, std::uint64_t{2049}}) {
        const RowCase c(static_cast<Rule>(rule), static_cast<BallMap>(map), k, dim, count);
        const std::vector<float> want = c.expected(5);
        const std::vector<float> got = updatedOnCard(*m_card, c, 5);
        QVERIFY2(got.size() == want.size(), "a CUDA call failed");
        QVERIFY2(test::sameBits(got, want), qPrintable(QString("dim %1, %2 rows").arg(dim).arg(count)));
      }
    }
  }

  void trainingsHaveTheTableOfTheProcessor_data() {
    QTest::addColumn<int>("index");
    for (int i = 0; i < static_cast<int>(std::size(kCases)); ++i) QTest::newRow(kCases[i].name) << i;
  }
  void trainingsHaveTheTableOfTheProcessor() {
    if (!m_card) QSKIP(("not proved on a card: " + m_why).c_str());
    QFETCH(int, index);
    const TrainingCase& c = kCases[index];
    const auto folder = [&](const std::string& name) { return m_folder(fmt::format("{}-{}", index, name).c_str()); };
    Watcher quiet;
    const TrainOutcome want = finished(trainIn(folder("cpu"), setup(specOf(c, "ram", "cpu")), quiet));
    for (const std::string placement : {"disk", "ram", "gpu", "disk, stepped on the card"}) {
      const bool stepped = placement == "disk, stepped on the card";
      const RunSetup run = setup(
          specOf(c, stepped ? "disk" : placement, "cuda:0", stepped ? R"("update": "device")" : R"("update": "auto")"));
      Watcher watcher;
      const TrainOutcome got = finished(trainIn(folder(placement), run, watcher));
      QCOMPARE(got.losses, want.losses);
      QCOMPARE(got.tableSha256, want.tableSha256);
      QCOMPARE(got.metrics.map, want.metrics.map);
      QCOMPARE(got.metrics.meanRank, want.metrics.meanRank);
      QCOMPARE(got.metrics.mrr, want.metrics.mrr);
      const auto planned = plan(planInputFor(run.spec, run.facts, {}));
      QVERIFY(planned.has_value());
      QCOMPARE(got.devicePeak, planned->device);
    }
  }

  void whatTheDriverCountsIsWhatWasAllocated() {
    if (!m_card) QSKIP(("not proved on a card: " + m_why).c_str());
    const auto device = Device::onCard("cuda:0", m_card);
    const std::uint64_t before = *cudaDevices()->front().memoryFree;
    const auto buffer = device->allocate(1ull << 30, Purpose::weights);
    QVERIFY(buffer.has_value());
    const std::uint64_t taken = before - *cudaDevices()->front().memoryFree;
    QVERIFY2(taken >= 1ull << 30 && taken < (1ull << 30) * 105 / 100, qPrintable(QString::number(taken)));
    const auto refused = device->allocate(1ull << 50, Purpose::weights);
    QVERIFY(!refused);
    QVERIFY2(refused.error().message.find("out of memory") != std::string::npos, refused.error().message.c_str());
  }

 private:
  std::shared_ptr<Card> m_card;
  std::string m_why;
  FolderOfTest m_folder;
};

QTEST_GUILESS_MAIN(TestCard)
#include "tst_card.moc"
