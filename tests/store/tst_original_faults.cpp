// SPDX-License-Identifier: Apache-2.0
// What the original package does wrong, one claim a fault, that this store does not. Elsewhere: gradients that are not
// finite (tst_tables badGradientIsFoundWhereItIs, tst_trainer badGradientStopsBeforeItsBatchIsWritten), errors that are
// swallowed (tst_io_errors), dense filling at the start (tst_row_store hugeTableStaysSparse), steps after the end
// (tst_store_faults closedStoreTakesNothingMore).
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <fstream>
#include <set>

#include "fault_calls.h"
#include "store_harness.h"

using namespace dsa;

namespace {

namespace fs = std::filesystem;

/// The touched rows of a store's tables in plain memory, stepped one after the other.
class Twin {
 public:
  explicit Twin(StoreShape shape) : m_shape(std::move(shape)) {}
  void apply(std::uint64_t step, const StepRows& rows) {
    for (std::uint32_t t = 0; t < rows.size(); ++t) {
      const TableShape& table = m_shape.tables[t];
      std::vector<float> grad(table.dim);
      for (const std::uint64_t row : rows[t]) {
        auto [at, isNew] = m_rows.try_emplace({t, row}, table.recordFloats(), 0.0f);
        if (isNew) initialWeights(m_shape.seed, t, row, table.dim, table.initScale, at->second.data());
        for (std::uint32_t i = 0; i < table.dim; ++i) grad[i] = harness::gradient(step, t, row, i);
        float* record[1] = {at->second.data()};
        rowKernels(KernelLevel::scalar).update(harness::params(table, step), record, grad.data(), table.dim, 1);
      }
    }
  }
  /// Empty, or the first row that differs: in its weights, or in what the optimizer keeps of it.
  [[nodiscard]] std::string compare(const RowStore& store) const {
    for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) {
      std::uint64_t touched = 0;
      store.touchedBits(t).forEach([&](std::uint64_t row) { touched += m_rows.contains({t, row}) ? 1 : 1ull << 32; });
      const auto ofTable = [&](const auto& entry) { return entry.first.first == t; };
      if (touched != static_cast<std::uint64_t>(std::count_if(m_rows.begin(), m_rows.end(), ofTable)))
        return fmt::format("table {}: other rows are touched", t);
    }
    for (const auto& [key, record] : m_rows) {
      if (std::memcmp(store.record(key.first, key.second), record.data(), record.size() * sizeof(float)) != 0)
        return fmt::format("table {} row {}", key.first, key.second);
    }
    return "";
  }

 private:
  StoreShape m_shape;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<float>> m_rows;
};

Result<void> applyRows(RowStore& store, const StepRows& rows, ThreadPool& pool, std::uint64_t ticket = 0) {
  const std::uint64_t step = store.step() + 1;
  std::vector<std::uint64_t> counts;
  std::vector<StepParams> params;
  for (std::uint32_t t = 0; t < rows.size(); ++t) {
    const TableShape& table = store.shape().tables[t];
    std::copy(rows[t].begin(), rows[t].end(), store.ids(t));
    for (std::size_t r = 0; r < rows[t].size(); ++r) {
      for (std::uint32_t i = 0; i < table.dim; ++i)
        store.grads(t)[r * table.dim + i] = harness::gradient(step, t, rows[t][r], i);
    }
    counts.push_back(rows[t].size());
    params.push_back(harness::params(table, step));
  }
  return store.apply(counts, params, harness::stateAfter(step), ticket, pool);
}

std::unique_ptr<RowStore> opened(const std::string& folder, Durability durability,
                                 const RowKernels& kernels = harness::kernels()) {
  auto store = RowStore::open(folder, durability, kernels);
  if (!store) qFatal("%s", store.error().message.c_str());
  return std::move(*store);
}

void addDurabilities() {
  QTest::addColumn<bool>("power");
  QTest::newRow("process") << false;
  QTest::newRow("power") << true;
}

std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() != "lock") out[entry.path().filename()] = *readTextFile(entry.path());
  }
  return out;
}

/// A child that does this; its wait status.
template <class Work>
int child(const Work& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGABRT, SIG_DFL);  // not Qt Test's own handler
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

long g_callsLeft = -1;
UpdateRows g_update = nullptr;
/// Changes half of the chunk's rows and the weights, not the moments, of one more, then dies.
void dieInAChunk(const StepParams& p, float* const* rows, const float* grads, std::uint64_t stride,
                 std::uint64_t n) noexcept {
  if (--g_callsLeft == 0) {
    g_update(p, rows, grads, stride, n / 2);
    for (std::uint32_t i = 0; i < p.dim; ++i) rows[n / 2][i] += 1;
    ::kill(::getpid(), SIGKILL);
  }
  g_update(p, rows, grads, stride, n);
}

}  // namespace

class tst_original_faults : public QObject {
  Q_OBJECT
 private slots:
  /// There: a row of a batch that is still queued is read from the file, and the later update overwrites the earlier.
  void everyUpdateOfAHubRowCounts_data() { addDurabilities(); }
  void everyUpdateOfAHubRowCounts() {
    QFETCH(bool, power);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(2000, 8);
    QVERIFY(RowStore::create(run, shape).has_value());
    const auto store = opened(run, harness::durabilityOf(power));
    constexpr std::uint64_t kHub = 77;
    const auto rowsOf = [&](std::uint64_t step) {
      StepRows rows = harness::stepRows(shape, step);
      rows[0].push_back(kHub);
      std::sort(rows[0].begin(), rows[0].end());
      rows[0].erase(std::unique(rows[0].begin(), rows[0].end()), rows[0].end());
      return rows;
    };
    Twin twin(shape);
    ThreadPool pool(2);
    std::deque<std::uint64_t> tickets;
    std::uint64_t announced = 0;
    for (std::uint64_t step = 1; step <= 200; ++step) {
      while (announced < step + 32) tickets.push_back(store->announce(rowsOf(++announced)));
      QVERIFY(applyRows(*store, rowsOf(step), pool, tickets.front()).has_value());
      tickets.pop_front();
      twin.apply(step, rowsOf(step));
    }
    QCOMPARE(twin.compare(*store), std::string());
  }

  /// There: a full queue drops a whole batch, after the step was counted.
  void aSlowDiskDropsNoBatchOfAFourMillionRowTable() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    StoreShape shape = harness::shape(4000000, 4);
    shape.tables[0].stepCapacity = 1000;
    QVERIFY(RowStore::create(run, shape).has_value());
    const auto store = opened(run, Durability::power);
    const auto rowsOf = [&](std::uint64_t step) {
      std::set<std::uint64_t> chosen;
      for (std::uint32_t i = 0; i < 1000; ++i) {
        const auto r = philox(11, Stream::tests, step, i);
        chosen.insert(belowFrom(r.word[0], r.word[1], shape.tables[0].rows));
      }
      return StepRows{{chosen.begin(), chosen.end()}, {step % 40}};
    };
    const faults::Watch watch;
    std::atomic<int> slow{0};
    faults::before = [&](const faults::Call& call) {
      if (call.name == "fdatasync" && call.path.ends_with("/undo.journal") && ++slow < 50) ::usleep(20000);
      return 0;
    };
    constexpr std::uint64_t kSteps = 150;
    Twin twin(shape);
    ThreadPool pool(2);
    std::vector<std::uint64_t> tickets;
    // All at once: far more than a disk that takes 20 ms a block has written.
    for (std::uint64_t step = 1; step <= kSteps; ++step) tickets.push_back(store->announce(rowsOf(step)));
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
      QVERIFY(applyRows(*store, rowsOf(step), pool, tickets[step - 1]).has_value());
      twin.apply(step, rowsOf(step));
    }
    QVERIFY(slow > 0);
    QCOMPARE(store->step(), kSteps);
    QCOMPARE(twin.compare(*store), std::string());
  }

  /// There: weights, moments and tables are written by themselves, and nothing can tell that they are of several steps.
  void weightsMomentsAndTablesAreOfOneStepAfterSigkill_data() { addDurabilities(); }
  void weightsMomentsAndTablesAreOfOneStepAfterSigkill() {
    QFETCH(bool, power);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(400, 8);
    QVERIFY(RowStore::create(run, shape).has_value());
    Twin twin(shape);
    std::uint64_t done = 0;
    // A step has up to 22 calls for the first table and one for the second: in each of them, and between the tables.
    for (long calls = 1; calls <= 24; ++calls) {
      const int status = child([&] {
        RowKernels kernels = harness::kernels();
        g_update = std::exchange(kernels.update, dieInAChunk);
        g_callsLeft = calls;
        const auto store = opened(run, harness::durabilityOf(power), kernels);
        ThreadPool pool(1);
        for (int i = 0; i < 2; ++i) (void)applyRows(*store, harness::stepRows(shape, store->step() + 1), pool);
      });
      QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
      const auto store = opened(run, harness::durabilityOf(power));
      QVERIFY(store->step() > done);
      while (done < store->step()) {
        ++done;
        twin.apply(done, harness::stepRows(shape, done));
      }
      QCOMPARE(twin.compare(*store), std::string());
    }
  }

  /// There: what is queued is lost with the process.
  void theLastStepStandsAfterSigkill_data() { addDurabilities(); }
  void theLastStepStandsAfterSigkill() {
    QFETCH(bool, power);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(2000, 8);
    QVERIFY(RowStore::create(run, shape).has_value());
    const int status = child([&] {
      const auto store = opened(run, harness::durabilityOf(power));
      ThreadPool pool(2);
      for (int i = 0; i < 9; ++i) (void)harness::advance(*store, pool);
      ::kill(::getpid(), SIGKILL);
    });
    QVERIFY(WIFSIGNALED(status));
    const auto store = opened(run, harness::durabilityOf(power));
    QCOMPARE(store->step(), std::uint64_t{9});
    harness::Memory memory(shape);
    memory.advanceTo(9);
    QCOMPARE(memory.compare(*store), std::string());
  }

  /// There: t starts at 1 again over warm moments, and the steps are a third as long.
  void theStepCounterGoesOnAfterReopening_data() { addDurabilities(); }
  void theStepCounterGoesOnAfterReopening() {
    QFETCH(bool, power);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(500, 8);
    QVERIFY(RowStore::create(run, shape).has_value());
    ThreadPool pool(1);
    for (std::uint64_t session = 0; session < 8; ++session) {
      const auto store = opened(run, harness::durabilityOf(power));
      QCOMPARE(store->step(), session * 3);
      for (int i = 0; i < 3; ++i) QVERIFY(harness::advance(*store, pool).has_value());
      if (session % 2 == 0) QVERIFY(store->close().has_value());
    }
    harness::Memory memory(shape);  // never interrupted
    memory.advanceTo(24);
    QCOMPARE(memory.compare(*opened(run, harness::durabilityOf(power))), std::string());
  }

  /// There: the files have no header, and another d, N or table is read as if it were this one.
  void aFileOfAnotherShapeIsNotReinterpreted_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("dim");
    QTest::newRow("half the rows, twice the dim: as many bytes") << 500 << 16;
    QTest::newRow("more rows") << 4000 << 8;
    QTest::newRow("the same shape of another run") << 1000 << 8;
    QTest::newRow("raw floats, as numpy writes them") << 0 << 0;
  }
  void aFileOfAnotherShapeIsNotReinterpreted() {
    QFETCH(int, rows);
    QFETCH(int, dim);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run", other = dir.path().toStdString() + "/other";
    ThreadPool pool(1);
    QVERIFY(RowStore::create(run, harness::shape(1000, 8)).has_value());
    QVERIFY(opened(run, Durability::process)->close().has_value());
    if (rows > 0) {
      QVERIFY(RowStore::create(other, harness::shape(static_cast<std::uint64_t>(rows), static_cast<std::uint32_t>(dim)))
                  .has_value());
      {
        const auto store = opened(other, Durability::process);
        QVERIFY(harness::advance(*store, pool).has_value());
        QVERIFY(store->close().has_value());
      }
      fs::copy_file(other + "/entities.rows", run + "/entities.rows", fs::copy_options::overwrite_existing);
    } else {
      const std::vector<float> raw(1000 * 24 + 1024, 0.5f);
      std::ofstream(run + "/entities.rows", std::ios::binary)
          .write(reinterpret_cast<const char*>(raw.data()), static_cast<std::streamsize>(raw.size() * sizeof(float)));
    }
    const auto before = contents(run);
    for (const bool readOnly : {false, true}) {
      const auto refused =
          readOnly ? RowStore::openReadOnly(run) : RowStore::open(run, Durability::process, harness::kernels());
      QVERIFY(!refused.has_value());
      QCOMPARE(refused.error().code, ErrorCode::input);
      QVERIFY2(refused.error().message.find("entities.rows") != std::string::npos, refused.error().message.c_str());
    }
    QVERIFY(contents(run) == before);
  }

  /// There: where a file of the name exists, the given weights are ignored without a word.
  void givenWeightsNeitherReplaceAFileNorGiveWayToIt() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    ThreadPool pool(1);
    QVERIFY(RowStore::create(run, harness::shape(1000, 8)).has_value());
    {
      const auto store = opened(run, Durability::process);
      QVERIFY(harness::advance(*store, pool).has_value());
      QVERIFY(store->close().has_value());
    }
    const auto before = contents(run);
    StoreShape others = harness::shape(1000, 8);
    others.seed = 43;
    for (const StoreShape& wanted : {harness::shape(1000, 8), others, harness::shape(10, 4)}) {
      const auto refused = RowStore::create(run, wanted);
      QVERIFY(!refused.has_value());
      QCOMPARE(refused.error().code, ErrorCode::input);
      QVERIFY2(refused.error().message.find("holds a table already") != std::string::npos,
               refused.error().message.c_str());
    }
    QVERIFY(contents(run) == before);
  }

  /// There: id -1 updates the last row.
  void negativeAndOutOfRangeIdsReachNoRow_data() {
    QTest::addColumn<quint64>("first");
    QTest::addColumn<quint64>("second");
    QTest::newRow("-1") << quint64(3) << ~quint64(0);
    QTest::newRow("one behind the last") << quint64(3) << quint64(400);
    QTest::newRow("behind the file") << quint64(3) << (quint64(1) << 40);
    QTest::newRow("twice the same") << quint64(3) << quint64(3);
    QTest::newRow("out of order, the first too large") << quint64(400) << quint64(3);
  }
  void negativeAndOutOfRangeIdsReachNoRow() {
    QFETCH(quint64, first);
    QFETCH(quint64, second);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(400, 8);
    QVERIFY(RowStore::create(run, shape).has_value());
    ThreadPool pool(1);
    {
      const auto store = opened(run, Durability::process);
      QVERIFY(harness::advance(*store, pool).has_value());
    }
    const int status = child([&] {
      const auto store = opened(run, Durability::process);
      (void)applyRows(*store, StepRows{{first, second}, {}}, pool);
    });
    QVERIFY2(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "such a step is a bug, and ends the program");
    harness::Memory memory(shape);
    memory.advanceTo(1);
    QCOMPARE(memory.compare(*opened(run, Durability::process)), std::string());
  }
};

QTEST_APPLESS_MAIN(tst_original_faults)
#include "tst_original_faults.moc"
