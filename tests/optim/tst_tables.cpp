// SPDX-License-Identifier: Apache-2.0
// One rule, three places, the same bits: disk, RAM and a simulated card against rows stepped one by one in plain
// memory.
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/random.h"
#include "core/base/residency.h"
#include "core/data/batch_index.h"
#include "core/data/sampler.h"
#include "core/optim/tables.h"
#include "core/rows/row_init.h"

using namespace dsa;

namespace {

constexpr std::uint64_t kSteps = 50;

struct Case {
  Rule rule = Rule::sparseAdam;
  BallMap map = BallMap::exponential;
  double k = 0;
  unsigned threads = 1;
  std::uint32_t dim = 17;
};

StoreShape shapeFor(const Case& c) {
  StoreShape shape;
  shape.seed = 11;
  shape.lossCapacity = kSteps;
  // 700 rows a step: above the 256 from which a store shares them between threads.
  shape.tables.push_back({"entities", 2000, c.dim, c.rule, 0.05f, 900});
  shape.tables.push_back({"relations", 30, c.dim, c.rule, 0.05f, 30});
  return shape;
}

StepParams paramsFor(const Case& c, std::uint64_t step) {
  StepParams p;
  p.rule = c.rule;
  p.map = c.map;
  p.dim = c.dim;
  p.k = c.k;
  p.weightDecay = c.rule == Rule::dsa ? 0.01 : 0;
  return makeStep(p, step + 1, 0.02);
}

/// Slots of a step, with duplicates: many of them from the first 50 rows.
std::vector<std::uint64_t> slotsOf(std::uint64_t step, std::uint32_t t, std::uint64_t rows) {
  std::vector<std::uint64_t> drawn(t == 0 ? 900 : 25);
  for (std::uint32_t i = 0; i < drawn.size(); ++i) {
    const Random4 r = philox(3, Stream::tests, step, t * 100000 + i);
    drawn[i] = belowFrom(r.word[0], r.word[1], r.word[2] % 4 == 0 ? std::min<std::uint64_t>(50, rows) : rows);
  }
  return drawn;
}

float slotGradient(std::uint64_t step, std::uint32_t t, std::uint32_t slot, std::uint32_t i) {
  return symmetricFrom(philox(4, Stream::tests, step * 4 + t, slot * 1000 + i).word[0], 1.0f);
}

/// Ids and the sums of the batch's gradients, in sample order, as a training step hands them over.
std::uint64_t fillStep(Tables& tables, std::uint64_t step, std::uint32_t t) {
  const TableShape& table = tables.shape().tables[t];
  BatchIndex index;
  index.build(slotsOf(step, t, table.rows));
  std::copy(index.ids().begin(), index.ids().end(), tables.ids(t));
  for (std::uint64_t row = 0; row < index.ids().size(); ++row) {
    for (std::uint32_t i = 0; i < table.dim; ++i) {
      float sum = 0;
      for (std::uint32_t s = index.rowStart()[row]; s < index.rowStart()[row + 1]; ++s) {
        const float g = slotGradient(step, t, index.slotsByRow()[s], i);
        sum = s == index.rowStart()[row] ? g : sum + g;
      }
      tables.grads(t)[row * table.dim + i] = sum;
    }
  }
  return index.ids().size();
}

Result<void> stepAll(Tables& tables, const Case& c, std::uint64_t step, ThreadPool& pool) {
  std::vector<std::uint64_t> counts;
  std::vector<StepParams> params;
  for (std::uint32_t t = 0; t < 2; ++t) {
    counts.push_back(fillStep(tables, step, t));
    params.push_back(paramsFor(c, step));
  }
  StateBlob state;
  std::memcpy(state.bytes, &step, sizeof step);
  return tables.apply(counts, params, state, 0, {}, pool);
}

/// The oracle: no index, no pool, no level but scalar; a map of rows, each stepped alone.
class Plain {
 public:
  explicit Plain(const Case& c) : m_case(c), m_shape(shapeFor(c)) {
    for (std::uint32_t t = 0; t < 2; ++t) {
      const TableShape& table = m_shape.tables[t];
      std::vector<float> rows(table.rows * table.recordFloats(), 0.0f);
      for (std::uint64_t r = 0; r < table.rows; ++r)
        initialWeights(m_shape.seed, t, r, table.dim, table.initScale, rows.data() + r * table.recordFloats());
      m_rows.push_back(std::move(rows));
      m_touched.emplace_back(table.rows, false);
    }
  }
  void step(std::uint64_t step) {
    for (std::uint32_t t = 0; t < 2; ++t) {
      const TableShape& table = m_shape.tables[t];
      const std::vector<std::uint64_t> drawn = slotsOf(step, t, table.rows);
      for (std::uint64_t r = 0; r < table.rows; ++r) {
        std::vector<float> sum;
        for (std::uint32_t s = 0; s < drawn.size(); ++s) {
          if (drawn[s] != r) continue;
          const bool first = sum.empty();
          sum.resize(table.dim);
          for (std::uint32_t i = 0; i < table.dim; ++i)
            sum[i] = first ? slotGradient(step, t, s, i) : sum[i] + slotGradient(step, t, s, i);
        }
        if (sum.empty()) continue;
        float* row = m_rows[t].data() + r * table.recordFloats();
        rowKernels(KernelLevel::scalar).update(paramsFor(m_case, step), &row, sum.data(), table.dim, 1);
        m_touched[t][r] = true;
      }
    }
  }
  /// Empty when the tables are equal, else the first difference.
  [[nodiscard]] std::string difference(const Tables& tables) const {
    for (std::uint32_t t = 0; t < 2; ++t) {
      const TableShape& table = m_shape.tables[t];
      std::vector<float> weights(table.dim);
      for (std::uint64_t r = 0; r < table.rows; ++r) {
        const float* want = m_rows[t].data() + r * table.recordFloats();
        if (tables.touchedBits(t).test(r) != m_touched[t][r])
          return fmt::format("{} row {}: touched {}", table.name, r, tables.touchedBits(t).test(r));
        tables.readWeights(t, r, weights.data());
        if (std::memcmp(weights.data(), want, table.dim * 4) != 0)
          return fmt::format("{} row {}: weights", table.name, r);
        if (m_touched[t][r] && std::memcmp(tables.record(t, r), want, table.recordFloats() * 4) != 0)
          return fmt::format("{} row {}: state", table.name, r);
      }
    }
    return {};
  }

 private:
  Case m_case;
  StoreShape m_shape;
  std::vector<std::vector<float>> m_rows;
  std::vector<std::vector<bool>> m_touched;
};

std::unique_ptr<Tables> made(Result<std::unique_ptr<Tables>> tables) {
  if (!tables) qFatal("%s", tables.error().message.c_str());
  return std::move(*tables);
}

std::unique_ptr<Tables> onDisk(const Case& c, const std::string& folder, Durability durability, KernelLevel level) {
  if (const auto created = RowStore::create(folder, shapeFor(c)); !created)
    qFatal("%s", created.error().message.c_str());
  return made(openDiskTables(folder, {.durability = durability}, rowKernels(level)));
}

}  // namespace

#define VERIFY_OK(expression)                                             \
  do {                                                                    \
    const auto okResult = (expression);                                   \
    QVERIFY2(okResult, okResult ? "" : okResult.error().message.c_str()); \
  } while (false)

class TestTables : public QObject {
  Q_OBJECT
 private slots:
  void everyPlaceGivesTheSameBits_data();
  void everyPlaceGivesTheSameBits();
  void evictionKeepsEveryBitAndTrainingGoesOn();
  void budgetsAreKeptAndChangeNoBit_data();
  void budgetsAreKeptAndChangeNoBit();
  void memoryHasNothingToEvict();
  void theDiskKeepsStepStateAndRowsWhenClosed();
  void accountsOfAPlace();
  void badGradientIsFoundWhereItIs_data();
  void badGradientIsFoundWhereItIs();
  void aFullCardLeavesNothingBehind();
};

void TestTables::everyPlaceGivesTheSameBits_data() {
  QTest::addColumn<int>("rule");
  QTest::addColumn<int>("map");
  QTest::addColumn<double>("k");
  QTest::addColumn<int>("threads");
  for (const int threads : {1, 2}) {
    const auto add = [&](const char* name, Rule rule, BallMap map, double k) {
      QTest::addRow("%s, k %g, %d threads", name, k, threads)
          << static_cast<int>(rule) << static_cast<int>(map) << k << threads;
    };
    add("sparse_adam", Rule::sparseAdam, BallMap::exponential, 0);
    add("dsa", Rule::dsa, BallMap::exponential, 0);
    add("dsa", Rule::dsa, BallMap::exponential, 1);
    add("radam exp", Rule::radam, BallMap::exponential, 1);
    add("radam retraction", Rule::radam, BallMap::retraction, 1);
    add("rsgd exp", Rule::rsgd, BallMap::exponential, 1);
    add("row_adagrad", Rule::rowAdagrad, BallMap::exponential, 0);
  }
}

void TestTables::everyPlaceGivesTheSameBits() {
  QFETCH(int, rule);
  QFETCH(int, map);
  QFETCH(double, k);
  QFETCH(int, threads);
  const Case c{static_cast<Rule>(rule), static_cast<BallMap>(map), k, static_cast<unsigned>(threads), 17};
  const KernelLevel level = availableLevels().size() > 3 ? availableLevels()[1] : KernelLevel::scalar;
  QTemporaryDir dir;
  ThreadPool pool(c.threads);
  std::vector<std::unique_ptr<Tables>> places;
  places.push_back(onDisk(c, dir.filePath("process").toStdString(), Durability::process, level));
  places.push_back(onDisk(c, dir.filePath("power").toStdString(), Durability::power, level));
  places.push_back(made(makeMemoryTables(shapeFor(c), Device::cpu(), rowKernels(level), pool)));
  places.push_back(made(makeMemoryTables(shapeFor(c), Device::simulated(1ull << 30), rowKernels(level), pool)));
  Plain plain(c);
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    for (const auto& tables : places) VERIFY_OK(stepAll(*tables, c, step, pool));
    plain.step(step);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    QCOMPARE(places[i]->step(), kSteps);
    const std::string difference = plain.difference(*places[i]);
    QVERIFY2(difference.empty(), fmt::format("place {}: {}", i, difference).c_str());
  }
}

void TestTables::evictionKeepsEveryBitAndTrainingGoesOn() {
  const Case c{Rule::radam, BallMap::exponential, 1, 2, 16};
  QTemporaryDir dir;
  ThreadPool pool(2);
  for (const Durability durability : {Durability::process, Durability::power}) {
    const auto tables = onDisk(c, dir.filePath(durability == Durability::power ? "power" : "process").toStdString(),
                               durability, KernelLevel::scalar);
    Plain plain(c);
    for (std::uint64_t step = 0; step < 9; ++step) {
      VERIFY_OK(stepAll(*tables, c, step, pool));
      plain.step(step);
      if (step % 3 == 1) {
        VERIFY_OK(tables->evict());
        const std::string difference = plain.difference(*tables);
        QVERIFY2(difference.empty(), difference.c_str());
      }
    }
    QCOMPARE(plain.difference(*tables), std::string());
    QCOMPARE(tables->files().size(), std::size_t{2});
  }
}

void TestTables::budgetsAreKeptAndChangeNoBit_data() {
  QTest::addColumn<bool>("direct");
  QTest::newRow("mmap") << false;
  QTest::newRow("direct") << true;
}

/// G8: a table of 29 MiB within 8, then 12, then 6 MiB.
void TestTables::budgetsAreKeptAndChangeNoBit() {
  QFETCH(bool, direct);
  StoreShape shape;
  shape.tables.push_back({"entities", 40000, 64, Rule::sparseAdam, 0.05f, 300});
  QTemporaryDir dir;
  ThreadPool pool(2);
  const auto open = [&](const char* name, const DiskOptions& options) {
    const std::string folder = dir.filePath(name).toStdString();
    if (!RowStore::create(folder, shape)) qFatal("no store");
    return made(openDiskTables(folder, options, rowKernels(KernelLevel::scalar)));
  };
  const std::uint64_t first = 8 << 20;
  const auto bound = open("bound", {.engine = direct ? DiskEngine::direct : DiskEngine::mmap, .ramBudget = first});
  const auto free = open("free", {});
  if (!direct && !ResidencyProbe::open(bound->files()[0])->read()) QSKIP("the kernel does not say what is cached");
  StepParams params;
  params.dim = 64;
  const auto step = [&](Tables& tables, std::uint64_t s) {
    for (std::uint64_t i = 0; i < 300; ++i) tables.ids(0)[i] = permuted(i, 40000, s + 1);
    std::sort(tables.ids(0), tables.ids(0) + 300);
    for (std::uint64_t i = 0; i < 300 * 64; ++i) tables.grads(0)[i] = static_cast<float>((i * 7 + s) % 13) - 6.0f;
    const std::vector<std::uint64_t> counts = {300};
    const std::vector<StepParams> all = {makeStep(params, s + 1, 0.01)};
    return tables.apply(counts, all, StateBlob{}, 0, {}, pool);
  };
  const auto held = [&] {
    if (direct) return *bound->traffic().cacheBytes;
    return ResidencyProbe::open(bound->files()[0])->read()->residentBytes;
  };
  std::uint64_t budget = first;
  for (std::uint64_t s = 0; s < 90; ++s) {
    if (s == 30 || s == 60) {
      budget = s == 30 ? 12 << 20 : 6 << 20;
      VERIFY_OK(bound->setRamBudget(budget));
      QCOMPARE(*bound->traffic().budget, budget);
    }
    VERIFY_OK(step(*bound, s));
    VERIFY_OK(step(*free, s));
    if (direct) QVERIFY(held() <= budget);
  }
  // Briefly it may be more: a step touches a sixth of it, and the pages must be written before they go.
  QTRY_VERIFY(held() <= budget + budget / 20);
  if (!direct) QVERIFY(ResidencyProbe::open(free->files()[0])->read()->residentBytes > 2 * budget);
  std::vector<float> wanted, got;
  VERIFY_OK(free->scanTouched(0, [&](std::uint64_t, const float* r) { wanted.insert(wanted.end(), r, r + 192); }));
  VERIFY_OK(bound->scanTouched(0, [&](std::uint64_t, const float* r) { got.insert(got.end(), r, r + 192); }));
  QVERIFY(wanted == got);
  VERIFY_OK(bound->close());
}

void TestTables::memoryHasNothingToEvict() {
  ThreadPool pool(1);
  const Case c;
  const auto tables = made(makeMemoryTables(shapeFor(c), Device::cpu(), rowKernels(KernelLevel::scalar), pool));
  VERIFY_OK(stepAll(*tables, c, 0, pool));
  const auto evicted = tables->evict();
  QVERIFY(!evicted);
  QCOMPARE(exitCode(evicted.error()), 2);
  QVERIFY2(evicted.error().message.find("placement disk") != std::string::npos, evicted.error().message.c_str());
  Plain plain(c);
  plain.step(0);
  QCOMPARE(plain.difference(*tables), std::string());
  QVERIFY(tables->files().empty());
}

void TestTables::theDiskKeepsStepStateAndRowsWhenClosed() {
  const Case c{Rule::dsa, BallMap::exponential, 1, 1, 8};
  QTemporaryDir dir;
  const std::string folder = dir.filePath("run").toStdString();
  ThreadPool pool(1);
  Plain plain(c);
  {
    const auto tables = onDisk(c, folder, Durability::process, KernelLevel::scalar);
    for (std::uint64_t step = 0; step < 5; ++step) {
      VERIFY_OK(stepAll(*tables, c, step, pool));
      plain.step(step);
    }
    tables->losses()[3] = 1.25;
    VERIFY_OK(tables->close());
  }
  const auto again = made(openDiskTables(folder, {}, rowKernels(KernelLevel::scalar)));
  QCOMPARE(again->step(), std::uint64_t{5});
  QVERIFY(again->recovery() == Recovery::clean);
  QCOMPARE(again->losses()[3], 1.25);
  const StateBlob state = again->state();
  std::uint64_t last = 0;
  std::memcpy(&last, state.bytes, sizeof last);
  QCOMPARE(last, std::uint64_t{4});
  QCOMPARE(plain.difference(*again), std::string());
}

void TestTables::accountsOfAPlace() {
  const Case c{Rule::sparseAdam, BallMap::exponential, 0, 1, 16};
  const StoreShape shape = shapeFor(c);
  const std::uint64_t bytes = (2000 + 30) * 3 * 16 * 4;
  ThreadPool pool(1);
  const auto card = Device::simulated(1ull << 30);
  {
    const auto tables = made(makeMemoryTables(shape, card, rowKernels(KernelLevel::scalar), pool));
    QCOMPARE(tables->tableBytes(), bytes);
    QCOMPARE(card->usedFor(Purpose::weights), bytes / 3);
    QCOMPARE(card->usedFor(Purpose::moments), bytes / 3 * 2);
    // Of the rows of a step: their gradients and their numbers.
    QCOMPARE(card->usedFor(Purpose::batch), std::uint64_t{(900 + 30) * (16 * 4 + 8)});
    QCOMPARE(card->peak(), card->used());
    QCOMPARE(*tables->diskBytes(), std::uint64_t{0});
  }
  QCOMPARE(card->used(), std::uint64_t{0});
  QTemporaryDir dir;
  const auto disk = onDisk(c, dir.filePath("run").toStdString(), Durability::process, KernelLevel::scalar);
  QCOMPARE(disk->tableBytes(), bytes);
  QVERIFY(*disk->diskBytes() > 0);
}

void TestTables::badGradientIsFoundWhereItIs_data() {
  QTest::addColumn<int>("table");
  QTest::addColumn<int>("place");
  QTest::addColumn<int>("element");
  QTest::addColumn<float>("value");
  QTest::addColumn<bool>("found");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  QTest::newRow("none") << 0 << 3 << 2 << std::numeric_limits<float>::max() << false;
  QTest::newRow("nan, first row") << 0 << 0 << 0 << nan << true;
  QTest::newRow("nan, last element of a row") << 0 << 7 << 16 << nan << true;
  QTest::newRow("infinite") << 0 << 11 << 5 << infinite << true;
  QTest::newRow("minus infinite, last row of the second table") << 1 << 4 << 16 << -infinite << true;
  QTest::newRow("behind the rows of this step") << 1 << 5 << 0 << nan << false;
}

void TestTables::badGradientIsFoundWhereItIs() {
  QFETCH(int, table);
  QFETCH(int, place);
  QFETCH(int, element);
  QFETCH(float, value);
  QFETCH(bool, found);
  ThreadPool pool(1);
  const Case c;
  const auto tables = made(makeMemoryTables(shapeFor(c), Device::cpu(), rowKernels(KernelLevel::scalar), pool));
  const std::vector<std::uint64_t> counts = {12, 5};
  for (std::uint32_t t = 0; t < 2; ++t) std::fill_n(tables->grads(t), counts[t] * c.dim, 0.5f);
  tables->grads(static_cast<std::uint32_t>(table))[place * static_cast<int>(c.dim) + element] = value;
  const BadGradient bad = findBadGradient(*tables, counts);
  QCOMPARE(bad.found, found);
  if (found) {
    QCOMPARE(static_cast<int>(bad.table), table);
    QCOMPARE(static_cast<int>(bad.place), place);
  }
}

void TestTables::aFullCardLeavesNothingBehind() {
  ThreadPool pool(1);
  const Case c;
  const auto card = Device::simulated(200000);  // the table alone has 414 kB
  const auto refused = makeMemoryTables(shapeFor(c), card, rowKernels(KernelLevel::scalar), pool);
  QVERIFY(!refused);
  QCOMPARE(exitCode(refused.error()), 4);
  QCOMPARE(card->used(), std::uint64_t{0});
}

QTEST_APPLESS_MAIN(TestTables)
#include "tst_tables.moc"
