// SPDX-License-Identifier: Apache-2.0
// Evaluations by a card's kernels, run on the host: the processor's ranks, whatever the pieces and wherever the tables
// lie; rows that no score can be made from; a card that is wrong.
#include <QtTest>
#include <cmath>

#include "core/eval/card_ranking.h"
#include "core/eval/query_set.h"
#include "tests/eval/eval_samples.h"
#include "tests/gpu/host_card.h"

using namespace dsa;
using namespace dsa::test;

namespace {

/// Spoils the rows that come to it, as memory that went bad.
class WrongCard final : public HostCard {
 public:
  Result<void> copy(std::byte* to, const std::byte* from, std::uint64_t bytes, Copy direction, Stream stream) override {
    DSA_TRY(HostCard::copy(to, from, bytes, direction, stream));
    if (!spoil || direction != Copy::toCard || bytes != rowBytes) return {};
    DSA_TRY(wait(stream));
    reinterpret_cast<float*>(to)[3] = NAN;
    return {};
  }
  bool spoil = false;
  std::uint64_t rowBytes = 0;
};

struct Ranked {
  std::vector<std::vector<TargetRank>> groups;
  std::string error;
  ErrorCode code = ErrorCode::bug;
};

/// A ranking and where it takes place.
struct Ground {
  Dataset dataset;
  QuerySet queries;
  Table entities, relations;
  WeightSource entitySource, relationSource;
  RankJob job;

  Ground(Dataset set, ModelKind model, double k, std::uint32_t dim, float scale)
      : dataset(std::move(set)),
        entities(randomTable(3, dataset.entityCount, dim, k == 0, scale)),
        relations(randomTable(4, dataset.relations.size(), dim, true)) {
    EvalOptions options;
    options.maxQueries = 24;
    queries = dataset.kind == DatasetKind::hierarchy ? reconstructionQueries(dataset, options)
                                                     : linkQueries(dataset, options);
    entitySource = entities.source();
    relationSource = relations.source();
    job.model = model;
    job.kernels = modelKernels(model, KernelLevel::scalar);
    job.k = k;
    job.onBall = k > 0;
    job.entities = &entitySource;
    job.relations = hasRelations(model) ? &relationSource : nullptr;
    job.dataset = &dataset;
    job.budgetBytes = 1 << 20;
  }

  Ranked rank(const CardRankMemory* card = nullptr) {
    Ranked all;
    job.card = card;
    ThreadPool pool(2);
    const auto done = rankAll(job, queries, pool, [&](std::uint64_t group, std::span<const TargetRank> ranks) {
      QCOMPARE(group, std::uint64_t{all.groups.size()});
      all.groups.emplace_back(ranks.begin(), ranks.end());
    });
    if (!done) {
      all.error = done.error().message;
      all.code = done.error().code;
    }
    return all;
  }
};

/// A table on the card: weights, and other values of the records after them.
DeviceBuffer put(const Table& table, std::uint64_t stride, const std::shared_ptr<Device>& device) {
  const std::uint64_t rows = table.values.size() / table.dim;
  auto buffer = device->allocate(rows * stride * sizeof(float), Purpose::weights);
  if (!buffer) qFatal("%s", buffer.error().message.c_str());
  std::fill_n(buffer->as<float>(), rows * stride, 77.0f);
  for (std::uint64_t i = 0; i < rows; ++i) std::copy_n(table.row(i), table.dim, buffer->as<float>() + i * stride);
  return std::move(*buffer);
}

struct OnCard {
  std::shared_ptr<Device> device;
  std::unique_ptr<CardRankMemory> memory;
  DeviceBuffer entities, relations;
};

OnCard placed(const Ground& ground, CardRankShape shape, const std::shared_ptr<Card>& card) {
  OnCard made;
  made.device = Device::onCard("cuda:0", card);
  shape.rows = ground.dataset.entityCount;
  shape.dim = ground.entities.dim;
  auto memory = CardRankMemory::make(shape, made.device);
  if (!memory) qFatal("%s", memory.error().message.c_str());
  made.memory = std::move(*memory);
  if (made.device->used() != cardRankBytes(shape).total()) qFatal("other bytes than the planner's");
  if (shape.tablesOnCard) {
    const std::uint64_t stride = shape.dim * 2 + 1;
    made.entities = put(ground.entities, stride, made.device);
    made.memory->entities = CardTable{made.entities.as<float>(), stride, nullptr, nullptr};
    if (ground.job.relations != nullptr) {
      made.relations = put(ground.relations, stride, made.device);
      made.memory->relations = CardTable{made.relations.as<float>(), stride, nullptr, nullptr};
    }
  }
  return made;
}

/// In one piece, and cut into as many as there can be.
CardRankShape shapeOf(bool cut, bool tablesOnCard) {
  CardRankShape shape;
  shape.tablesOnCard = tablesOnCard;
  if (cut) {
    shape.queries = 3;
    shape.answers = 5;
    shape.blockRows = 64;
  }
  return shape;
}

struct Kind {
  const char* name;
  ModelKind model;
  double k;
  bool graph;
};
constexpr Kind kKinds[] = {{"poincare", ModelKind::poincare, 1.0, false},
                           {"euclidean", ModelKind::euclidean, 0.0, false},
                           {"transe", ModelKind::transe, 0.0, true},
                           {"distmult", ModelKind::distmult, 0.0, true}};

Ground groundOf(const Kind& kind) {
  return Ground(kind.graph ? randomGraph(5, 70, 3) : randomHierarchy(6, 70), kind.model, kind.k, kind.graph ? 5 : 34,
                kind.k > 0 ? 0.15f : 1.0f);
}

void addPlaces() {
  QTest::addColumn<bool>("onCard");
  QTest::newRow("rows brought") << false;
  QTest::newRow("rows there") << true;
}

}  // namespace

class tst_card_ranking : public QObject {
  Q_OBJECT
 private slots:
  void everyPieceGivesTheRanksOfTheProcessor_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<bool>("onCard");
    QTest::addColumn<bool>("cut");
    for (int kind = 0; kind < static_cast<int>(std::size(kKinds)); ++kind) {
      for (const bool onCard : {false, true}) {
        for (const bool cut : {false, true})
          QTest::addRow("%s, rows %s, %s", kKinds[kind].name, onCard ? "there" : "brought", cut ? "cut" : "whole")
              << kind << onCard << cut;
      }
    }
  }
  void everyPieceGivesTheRanksOfTheProcessor() {
    QFETCH(int, kind);
    QFETCH(bool, onCard);
    QFETCH(bool, cut);
    Ground ground = groundOf(kKinds[kind]);
    const Ranked want = ground.rank();
    QCOMPARE(want.error, std::string());
    const auto card = std::make_shared<HostCard>();
    const OnCard there = placed(ground, shapeOf(cut, onCard), card);
    const Ranked got = ground.rank(there.memory.get());
    QCOMPARE(got.error, std::string());
    QVERIFY(card->launches > (cut ? 10u : 0u));
    QCOMPARE(got.groups.size(), want.groups.size());
    bool ties = false;
    for (std::size_t g = 0; g < want.groups.size(); ++g) {
      QCOMPARE(got.groups[g].size(), want.groups[g].size());
      for (std::size_t i = 0; i < want.groups[g].size(); ++i) {
        QCOMPARE(got.groups[g][i].score, want.groups[g][i].score);
        QCOMPARE(got.groups[g][i].better, want.groups[g][i].better);
        QCOMPARE(got.groups[g][i].equal, want.groups[g][i].equal);
        ties = ties || want.groups[g][i].equal > 0;
      }
    }
    if (kKinds[kind].graph) QVERIFY(ties);  // coarse values: what is level is told from what is above
  }

  void aRowThatHasNoRankIsNamed_data() {
    QTest::addColumn<bool>("onCard");
    QTest::addColumn<float>("value");
    for (const bool onCard : {false, true}) {
      QTest::addRow("not a number, rows %s", onCard ? "there" : "brought") << onCard << std::nanf("");
      QTest::addRow("outside the ball, rows %s", onCard ? "there" : "brought") << onCard << 1.5f;
    }
  }
  void aRowThatHasNoRankIsNamed() {
    QFETCH(bool, onCard);
    QFETCH(float, value);
    Ground ground = groundOf(kKinds[0]);
    ground.entities.values[66 * ground.entities.dim + 33] = value;
    const Ranked want = ground.rank();
    QVERIFY2(want.error.find("entity row 66 (e66)") == 0, want.error.c_str());
    for (const bool cut : {false, true}) {
      const auto card = std::make_shared<HostCard>();
      const OnCard there = placed(ground, shapeOf(cut, onCard), card);
      QCOMPARE(ground.rank(there.memory.get()).error, want.error);
    }
    Ground graph = groundOf(kKinds[2]);
    graph.relations.values[2 * graph.relations.dim] = HUGE_VALF;
    const auto card = std::make_shared<HostCard>();
    const OnCard there = placed(graph, shapeOf(false, onCard), card);
    QCOMPARE(graph.rank(there.memory.get()).error, graph.rank().error);
  }

  /// Rows that only the card takes for bad are no fault of the table.
  void aCardThatIsWrongIsNotBelieved_data() { addPlaces(); }
  void aCardThatIsWrongIsNotBelieved() {
    QFETCH(bool, onCard);
    Ground ground = groundOf(kKinds[1]);
    const auto card = std::make_shared<WrongCard>();
    const OnCard there = placed(ground, shapeOf(false, onCard), card);
    card->rowBytes = ground.entities.values.size() * sizeof(float);
    if (onCard) {
      there.entities.as<float>()[3] = NAN;
    } else {
      card->spoil = true;
    }
    const Ranked got = ground.rank(there.memory.get());
    QCOMPARE(got.code, ErrorCode::machine);
    QVERIFY2(got.error.find("cannot be believed") != std::string::npos, got.error.c_str());
    QVERIFY(got.groups.empty());
  }

  void aCardThatFailsEndsIt_data() { addPlaces(); }
  void aCardThatFailsEndsIt() {
    QFETCH(bool, onCard);
    Ground ground = groundOf(kKinds[1]);
    const auto card = std::make_shared<HostCard>();
    const OnCard there = placed(ground, shapeOf(true, onCard), card);
    card->failLaunches = true;
    const Ranked got = ground.rank(there.memory.get());
    QCOMPARE(got.code, ErrorCode::machine);
    QVERIFY2(got.error.find("a kernel's launch failed") != std::string::npos, got.error.c_str());
  }

  void stoppingEndsIt_data() { addPlaces(); }
  void stoppingEndsIt() {
    QFETCH(bool, onCard);
    Ground ground = groundOf(kKinds[1]);
    std::atomic<int> asked = 0;
    ground.job.shouldStop = [&] { return ++asked > (onCard ? 20 : 40); };
    const auto card = std::make_shared<HostCard>();
    const OnCard there = placed(ground, shapeOf(true, onCard), card);
    const Ranked got = ground.rank(there.memory.get());
    QCOMPARE(got.code, ErrorCode::stopped);
    QVERIFY(got.groups.empty());
  }

  /// However many rows and queries: within a few tens of MB.
  void theBytesAreThoseOfABlock() {
    for (const std::uint64_t dim : {1u, 16u, 128u, 1000u, 4096u}) {
      const std::uint64_t elsewhere = cardRankBytes({1'000'000'000, dim, false}).total();
      QCOMPARE(elsewhere, cardRankBytes({100'000'000, dim, false}).total());
      QVERIFY(elsewhere < 40u << 20);
      QVERIFY(cardRankBytes({1'000'000'000, dim, true}).total() < 8u << 20);
    }
    QVERIFY(cardRankBytes({100, 16, false}).total() < 400'000);
  }
};

QTEST_APPLESS_MAIN(tst_card_ranking)
#include "tst_card_ranking.moc"
