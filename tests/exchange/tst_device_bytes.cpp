// SPDX-License-Identifier: Apache-2.0
// What the disk itself is made to write, by its own counters: on a loop device nobody else writes.
#include <QtTest>
#include <algorithm>
#include <set>

#include "core/data/sampler.h"
#include "core/exchange/export_table.h"
#include "core/metrics/block_device.h"
#include "core/optim/tables.h"
#include "core/store/row_scan.h"
#include "core/train/table_hash.h"
#include "tests/app/mounted.h"

using namespace dsa;

namespace {

constexpr std::uint64_t kRows = 100000, kBatch = 500, kMostRows = 2000;
constexpr std::uint32_t kDim = 128;
constexpr std::uint64_t kRecord = kDim * 3 * sizeof(float);

/// Distinct rows of step s, sorted.
std::vector<std::uint64_t> rowsOf(std::uint64_t s) {
  std::vector<std::uint64_t> rows(kBatch);
  for (std::uint64_t i = 0; i < kBatch; ++i) rows[i] = permuted(i, kRows, s + 1);
  std::sort(rows.begin(), rows.end());
  return rows;
}

#define ASSERT_OK(expression)                                         \
  do {                                                                \
    const auto outcome = (expression);                                \
    if (!outcome.has_value()) QFAIL(outcome.error().message.c_str()); \
  } while (false)

}  // namespace

class TestDeviceBytes : public QObject {
  Q_OBJECT
 private slots:
  void init() {
    m_disk = std::make_unique<app::Mounted>(app::Mounted::Kind::ext4, 640);
    if (!m_disk->error.isEmpty()) QSKIP(qPrintable(m_disk->error));
    m_device = BlockDevice::of(m_disk->path().toStdString());
    if (!m_device || !m_device->counters()) QSKIP("the loop device has no counters");
    m_folder = m_disk->cache().toStdString();
    StoreShape shape;
    shape.tables.push_back(TableShape{"entities", kRows, kDim, Rule::sparseAdam, 1e-3f, kMostRows});
    ASSERT_OK(RowStore::create(m_folder, shape));
    m_params.rule = Rule::sparseAdam;
    m_params.dim = kDim;
    m_step = 0;
  }
  void cleanup() {
    m_tables.reset();
    m_disk.reset();
  }

  void mmapWritesThePagesOfItsRows();
  void directWritesItsRecords();
  void scansDoNotMakeStepsWriteMore_data();
  void scansDoNotMakeStepsWriteMore();

 private:
  void open(DiskEngine engine) {
    DiskOptions options;
    options.engine = engine;
    options.ramBudget = engine == DiskEngine::direct ? 32ull << 20 : 0;
    auto tables = openDiskTables(m_folder, options, rowKernels(KernelLevel::scalar));
    if (!tables) QFAIL(tables.error().message.c_str());
    m_tables = std::move(*tables);
  }
  void step(const std::vector<std::uint64_t>& rows) {
    std::copy(rows.begin(), rows.end(), m_tables->ids(0));
    for (std::uint64_t i = 0; i < rows.size() * kDim; ++i)
      m_tables->grads(0)[i] = static_cast<float>(i % 13) * 0.1f - 0.6f;
    const std::uint64_t ticket = m_tables->wantsRows() ? m_tables->announce({rows}) : 0;
    m_tables->prefetch(0, rows);
    const std::uint64_t counts[] = {rows.size()};
    const StepParams params[] = {makeStep(m_params, m_tables->step() + 1, 0.01)};
    ASSERT_OK(m_tables->apply(counts, params, StateBlob{}, ticket, {}, m_pool));
  }
  /// Every row has a record on the disk, none of it in memory.
  void touchAll() {
    std::vector<std::uint64_t> rows(kMostRows);
    for (std::uint64_t first = 0; first < kRows && !QTest::currentTestFailed(); first += rows.size()) {
      for (std::uint64_t i = 0; i < rows.size(); ++i) rows[i] = first + i;
      step(rows);
    }
    settle();
  }
  /// All that is in memory alone goes to the disk; with mmap nothing is left in memory.
  void settle() {
    ASSERT_OK(m_tables->checkpoint());
    if (const auto evicted = m_tables->evict(); !evicted) QCOMPARE(evicted.error().code, ErrorCode::usage);
  }
  /// Bytes that the device writes for ten steps of their own, to the last.
  std::uint64_t writtenForSteps(std::set<std::uint64_t>* changed) {
    ::sync();
    const std::uint64_t before = m_device->counters()->writtenBytes;
    for (int i = 0; i < 10; ++i) {
      const std::vector<std::uint64_t> rows = rowsOf(m_step++);
      step(rows);
      if (changed != nullptr) changed->insert(rows.begin(), rows.end());
    }
    settle();
    ::sync();
    return m_device->counters()->writtenBytes - before;
  }
  static std::uint64_t pagesOf(const std::set<std::uint64_t>& rows) {
    std::set<std::uint64_t> pages;
    for (const std::uint64_t row : rows) {
      for (std::uint64_t page = row * kRecord / 4096; page <= ((row + 1) * kRecord - 1) / 4096; ++page)
        pages.insert(page);
    }
    return pages.size();
  }
  /// All of them, as `dsa store verify`, `dsa store export`, an evaluation and `--hash` read a table.
  void scanIt() {
    const auto store = RowStore::openReadOnly(m_folder);
    if (!store) QFAIL(store.error().message.c_str());
    for (const ScanRows rows : {ScanRows::touched, ScanRows::all}) {
      auto scan = RowScan::open(**store, 0, rows);
      if (!scan) QFAIL(scan.error().message.c_str());
      std::uint64_t seen = 0;
      for (;;) {
        auto block = (*scan)->next();
        if (!block) QFAIL(block.error().message.c_str());
        if (!*block) break;
        seen += (*block)->count;
      }
      QVERIFY(seen > 0);
    }
    ExportOptions options;
    // Not on the device that is watched.
    ASSERT_OK(
        exportTable(**store, m_elsewhere.filePath(QString("table%1.npy").arg(m_exports++)).toStdString(), options));
    ASSERT_OK(tableSha256(*m_tables, "{}"));
    std::vector<float> weights(1000 * kDim);
    for (std::uint64_t first = 0; first < kRows; first += 1000)
      ASSERT_OK(m_tables->scanWeights(0, first, 1000, weights.data()));
  }

  std::unique_ptr<app::Mounted> m_disk;
  QTemporaryDir m_elsewhere;
  std::optional<BlockDevice> m_device;
  std::string m_folder;
  StepParams m_params;
  ThreadPool m_pool{1};
  std::unique_ptr<Tables> m_tables;
  std::uint64_t m_step = 0;
  int m_exports = 0;
};

void TestDeviceBytes::mmapWritesThePagesOfItsRows() {
  open(DiskEngine::mmap);
  if (m_tables == nullptr) return;
  touchAll();
  std::set<std::uint64_t> changed;
  const std::uint64_t written = writtenForSteps(&changed);
  const double ratio = static_cast<double>(written) / static_cast<double>(pagesOf(changed) * 4096);
  qInfo("%.3f bytes written for a byte of the %zu rows' pages", ratio, changed.size());
  QVERIFY2(ratio > 0.99 && ratio <= 1.1, qPrintable(QString::number(ratio)));
}

void TestDeviceBytes::directWritesItsRecords() {
  open(DiskEngine::direct);
  if (m_tables == nullptr) return;
  touchAll();
  std::set<std::uint64_t> changed;
  const std::uint64_t written = writtenForSteps(&changed);
  const double ratio = static_cast<double>(written) / static_cast<double>(changed.size() * kRecord);
  qInfo("%.3f bytes written for a byte of the %zu rows' records", ratio, changed.size());
  QVERIFY2(ratio > 0.99 && ratio <= 1.2, qPrintable(QString::number(ratio)));
}

void TestDeviceBytes::scansDoNotMakeStepsWriteMore_data() {
  QTest::addColumn<int>("engine");
  QTest::newRow("mmap") << static_cast<int>(DiskEngine::mmap);
  QTest::newRow("direct") << static_cast<int>(DiskEngine::direct);
}

void TestDeviceBytes::scansDoNotMakeStepsWriteMore() {
  QFETCH(int, engine);
  open(static_cast<DiskEngine>(engine));
  if (m_tables == nullptr) return;
  touchAll();
  const std::uint64_t before = writtenForSteps(nullptr);
  for (int round = 0; round < 2; ++round) {
    scanIt();
    const std::uint64_t after = writtenForSteps(nullptr);
    qInfo("%llu bytes before, %llu after the scans", static_cast<unsigned long long>(before),
          static_cast<unsigned long long>(after));
    // Other rows, hence other neighbours: a few in a hundred.
    QVERIFY2(after < before * 106 / 100, qPrintable(QString("%1, %2").arg(before).arg(after)));
  }
}

QTEST_GUILESS_MAIN(TestDeviceBytes)
#include "tst_device_bytes.moc"
