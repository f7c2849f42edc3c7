// SPDX-License-Identifier: Apache-2.0
// Scans give the table's rows, and leave the page cache of its file as it was: cold, half of it there, or just changed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <QtTest>
#include <cstdarg>

#include "core/store/row_scan.h"
#include "store_harness.h"

using namespace dsa;

namespace {

/// How the file system takes O_DIRECT.
enum class Direct {
  real,
  refusedAtOpen,   // as a file system without it does
  refusedAtRead,   // as some network file systems do
  silentlyCached,  // as ext4 does for journalled or encrypted files: taken, and read through the page cache
};
Direct g_direct = Direct::real;

}  // namespace

// Before the C library's: the program's own definitions win.
extern "C" {
int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  if ((flags & O_DIRECT) != 0 && g_direct == Direct::refusedAtOpen) {
    errno = EINVAL;
    return -1;
  }
  if (g_direct == Direct::silentlyCached) flags &= ~O_DIRECT;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  if (g_direct == Direct::refusedAtRead && (::fcntl(fd, F_GETFL) & O_DIRECT) != 0) {
    errno = EINVAL;
    return -1;
  }
  return ::syscall(SYS_pread64, fd, bytes, count, offset);
}
}

namespace {

/// A byte a page: whether it is in the page cache. By a mapping of its own, gone again; nothing is read.
std::vector<unsigned char> residencyOf(const std::string& path) {
  const auto file = File::open(path, File::Mode::readOnly);
  const std::uint64_t bytes = *file->size();
  const auto map = Mapping::map(*file, bytes, Mapping::Kind::sharedReadOnly);
  std::vector<unsigned char> pages(wholePages(bytes) / kPage);
  if (::mincore(map->data(), bytes, pages.data()) != 0) qFatal("mincore");
  for (unsigned char& page : pages) page &= 1;
  return pages;
}

std::uint64_t residentPages(const std::vector<unsigned char>& pages) {
  return static_cast<std::uint64_t>(std::count(pages.begin(), pages.end(), 1));
}

bool isTmpfs(const std::string& path) {
  struct statfs info {};
  return ::statfs(path.c_str(), &info) == 0 && info.f_type == 0x01021994;
}

StoreShape oneTable(std::uint64_t rows, std::uint32_t dim, Rule rule) {
  StoreShape shape;
  shape.seed = 42;
  shape.tables.push_back({"entities", rows, dim, rule, 0.5f, rows});
  return shape;
}

/// One step over these rows, each with a gradient of its own.
void touch(RowStore& store, ThreadPool& pool, const std::vector<std::uint64_t>& rows) {
  const TableShape& table = store.shape().tables[0];
  const std::uint64_t step = store.step() + 1;
  std::copy(rows.begin(), rows.end(), store.ids(0));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::uint32_t i = 0; i < table.dim; ++i)
      store.grads(0)[r * table.dim + i] = harness::gradient(step, 0, rows[r], i);
  }
  const std::vector<std::uint64_t> counts = {rows.size()};
  const std::vector<StepParams> params = {harness::params(table, step)};
  if (!store.apply(counts, params, StateBlob{}, 0, pool)) qFatal("the step failed");
}

/// Which rows a table of `rows` has touched, by the name of a pattern.
std::vector<std::uint64_t> pattern(const QString& name, std::uint64_t rows) {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::uint32_t dice = philox(3, Stream::tests, r, 0).word[0] % 1000;
    if (name == "all" || (name == "mixed" && dice < 400) || (name == "rare" && dice < 5) ||
        (name == "ends" && (r == 0 || r + 1 == rows)) || (name == "middle" && r >= rows / 3 && r < rows / 2))
      chosen.push_back(r);
  }
  return chosen;
}

struct Made {
  QTemporaryDir dir;
  std::string folder = dir.path().toStdString() + "/run";
  std::unique_ptr<RowStore> store;
  ThreadPool pool{2};
  Made(const StoreShape& shape, const std::vector<std::uint64_t>& rows) {
    if (!RowStore::create(folder, shape)) qFatal("create");
    auto opened = RowStore::open(folder, Durability::process, harness::kernels());
    if (!opened) qFatal("open");
    store = std::move(*opened);
    touch(*store, pool, rows);
  }
};

/// Every record as the store itself gives it, row by row; untouched ones with zero state. Faults every page in.
std::vector<float> recordsOf(const RowStore& store) {
  const TableShape& table = store.shape().tables[0];
  std::vector<float> records(table.rows * table.recordFloats(), 0.0f);
  for (std::uint64_t r = 0; r < table.rows; ++r) {
    float* const record = records.data() + r * table.recordFloats();
    if (store.touched(0, r))
      std::copy_n(store.record(0, r), table.recordFloats(), record);
    else
      store.readWeights(0, r, record);
  }
  return records;
}

/// Empty when the scan gives these records.
std::string compareAll(const RowStore& store, ScanRows rows, const std::vector<float>& want) {
  const TableShape& table = store.shape().tables[0];
  const std::uint64_t floats = table.recordFloats();
  const auto scan = RowScan::open(store, 0, rows);
  if (!scan) return scan.error().message;
  std::uint64_t expected = 0;
  const auto leftOut = [&](std::uint64_t until) {
    for (; expected < until; ++expected) {
      if (rows == ScanRows::all || store.touched(0, expected)) return true;
    }
    return false;
  };
  for (;;) {
    const auto block = (*scan)->next();
    if (!block) return block.error().message;
    if (!*block) break;
    const RowBlock& b = **block;
    if (b.first < expected || b.count == 0) return fmt::format("block at {} after {}", b.first, expected);
    if (leftOut(b.first)) return fmt::format("row {} is left out", expected);
    for (std::uint64_t i = 0; i < b.count; ++i, ++expected) {
      if (rows == ScanRows::touched && !store.touched(0, expected)) continue;
      if (b.record(i).size() != floats ||
          std::memcmp(b.record(i).data(), want.data() + expected * floats, floats * 4) != 0)
        return fmt::format("row {} differs", expected);
    }
  }
  return leftOut(table.rows) ? fmt::format("row {} is left out", expected) : "";
}

}  // namespace

class tst_row_scan : public QObject {
  Q_OBJECT
 private slots:
  void aRangeOfBitsEndsWhereItIsToldTo() {
    std::vector<std::uint64_t> words(5, 0);
    const TouchedBits bits(words.data(), 300);
    for (const std::uint64_t row : {0, 63, 64, 130, 299}) bits.set(row);
    for (std::uint64_t from = 0; from <= 300; ++from) {
      for (std::uint64_t end = 0; end <= 300; ++end) {
        std::uint64_t expected = from;
        while (expected < end && !bits.test(expected)) ++expected;
        QCOMPARE(bits.next(from, end), std::min(std::max(from, expected), end));
      }
      QCOMPARE(bits.next(from), bits.next(from, 300));
    }
  }
  void cleanup() { g_direct = Direct::real; }
  void givesEveryRow_data();
  void givesEveryRow();
  void weightsOfAnyRange();
  void leavesTheCacheAsItWas_data();
  void leavesTheCacheAsItWas();
  void seesRowsThatAreNotYetOnTheDisk();
  void tmpfsGivesTheSame();
  void aShortenedFileIsAnError();
};

void tst_row_scan::givesEveryRow_data() {
  QTest::addColumn<quint64>("rows");
  QTest::addColumn<quint32>("dim");
  QTest::addColumn<int>("rule");
  QTest::addColumn<QString>("touched");
  const auto add = [](std::uint64_t rows, std::uint32_t dim, Rule rule, const char* touched) {
    QTest::addRow("%llu x %u, rule %u, %s", static_cast<unsigned long long>(rows), dim, static_cast<unsigned>(rule),
                  touched)
        << quint64{rows} << quint32{dim} << static_cast<int>(rule) << QString(touched);
  };
  for (const char* touched : {"none", "all", "mixed", "rare", "ends", "middle"}) {
    add(1, 1, Rule::rsgd, touched);
    add(65, 5, Rule::radam, touched);           // 44 bytes a record
    add(2731, 128, Rule::sparseAdam, touched);  // 682 records a block, and 4 more than 4 blocks
    add(682 * 2, 128, Rule::sparseAdam, touched);
    add(9000, 33, Rule::dsa, touched);
    add(3000, 96, Rule::rowAdagrad, touched);
  }
  add(5, 90000, Rule::sparseAdam, "mixed");  // a record is larger than a block
  add(5, 90000, Rule::sparseAdam, "all");
}

void tst_row_scan::givesEveryRow() {
  QFETCH(quint64, rows);
  QFETCH(quint32, dim);
  QFETCH(int, rule);
  QFETCH(QString, touched);
  const Made made(oneTable(rows, dim, static_cast<Rule>(rule)), pattern(touched, rows));
  const std::vector<float> want = recordsOf(*made.store);
  for (const Direct direct : {Direct::real, Direct::refusedAtOpen, Direct::refusedAtRead, Direct::silentlyCached}) {
    g_direct = direct;
    for (const bool cold : {false, true}) {
      for (const ScanRows which : {ScanRows::all, ScanRows::touched}) {
        if (cold) QVERIFY(made.store->evict().has_value());
        QCOMPARE(compareAll(*made.store, which, want), std::string());
      }
    }
  }
}

void tst_row_scan::weightsOfAnyRange() {
  const std::uint64_t rows = 2000;
  const Made made(oneTable(rows, 100, Rule::sparseAdam), pattern("mixed", rows));
  const auto scan = RowScan::open(*made.store, 0, ScanRows::all);
  QVERIFY(scan.has_value());
  QVERIFY(made.store->evict().has_value());
  std::vector<float> got(rows * 100), want(100);
  for (const auto& [begin, count] :
       {std::pair<std::uint64_t, std::uint64_t>{0, rows}, {1, 1}, {873, 2}, {1999, 1}, {500, 1100}, {rows, 0}}) {
    QVERIFY((*scan)->readWeights(begin, count, got.data()).has_value());
    for (std::uint64_t i = 0; i < count; ++i) {
      made.store->readWeights(0, begin + i, want.data());
      QVERIFY2(std::memcmp(got.data() + i * 100, want.data(), 400) == 0, fmt::format("row {}", begin + i).c_str());
    }
  }
}

void tst_row_scan::leavesTheCacheAsItWas_data() {
  QTest::addColumn<int>("direct");
  QTest::addColumn<QString>("before");
  const std::pair<Direct, const char*> ways[] = {{Direct::real, "O_DIRECT"},
                                                 {Direct::refusedAtOpen, "refused at open"},
                                                 {Direct::refusedAtRead, "refused at read"},
                                                 {Direct::silentlyCached, "taken and not kept"}};
  for (const auto& [direct, name] : ways) {
    for (const char* before : {"cold", "half", "all"})
      QTest::addRow("%s, %s", name, before) << static_cast<int>(direct) << QString(before);
  }
}

void tst_row_scan::leavesTheCacheAsItWas() {
  QFETCH(int, direct);
  QFETCH(QString, before);
  const std::uint64_t rows = 8000;  // 5.9 MiB
  const Made made(oneTable(rows, 64, Rule::sparseAdam), pattern("mixed", rows));
  const std::string path = made.store->rowsPath(0);
  if (isTmpfs(path)) QSKIP("SKIP: the temporary folder is in memory, where nothing can be evicted");
  QVERIFY(made.store->evict().has_value());
  if (before != "cold") {
    // Single pages, through the store's mapping, as a step faults them in.
    volatile float sink = 0;
    for (std::uint64_t r = 0; r < rows; ++r) {
      if (before == "all" || (r / 100) % 2 == 0) sink = sink + made.store->record(0, r)[0];
    }
  }
  const std::vector<unsigned char> there = residencyOf(path);
  const std::uint64_t pages = residentPages(there);
  if (before == "cold") QVERIFY2(pages == 0, fmt::format("{} pages stayed", pages).c_str());
  if (before == "half") QVERIFY(pages > there.size() * 3 / 10 && pages < there.size() * 7 / 10);
  g_direct = static_cast<Direct>(direct);
  for (const ScanRows which : {ScanRows::touched, ScanRows::all}) {
    const auto scan = RowScan::open(*made.store, 0, which);
    QVERIFY(scan.has_value());
    std::uint64_t seen = 0;
    for (;;) {
      const auto block = (*scan)->next();
      QVERIFY2(block.has_value(), block ? "" : block.error().message.c_str());
      if (!*block) break;
      seen += (*block)->count;
    }
    QVERIFY(which == ScanRows::all ? seen == rows : seen > rows / 2);
    const std::vector<unsigned char> after = residencyOf(path);
    QVERIFY2(after == there, fmt::format("{} pages before, {} after", pages, residentPages(after)).c_str());
    // That O_DIRECT was tried, and given up where it is none; a table that is all there is not asked.
    if (before != "all") QCOMPARE((*scan)->direct(), g_direct == Direct::real);
  }
  std::vector<float> weights(rows * 64);
  const auto scan = RowScan::open(*made.store, 0, ScanRows::all);
  QVERIFY((*scan)->readWeights(0, rows, weights.data()).has_value());
  QVERIFY(residencyOf(path) == there);
}

void tst_row_scan::seesRowsThatAreNotYetOnTheDisk() {
  const std::uint64_t rows = 4000;
  Made made(oneTable(rows, 64, Rule::sparseAdam), pattern("all", rows));
  for (const Direct direct : {Direct::real, Direct::refusedAtOpen, Direct::silentlyCached}) {
    g_direct = direct;
    // On the disk as they are now and out of memory; then every seventh row changes: dirty pages between absent ones.
    QVERIFY(made.store->evict().has_value());
    std::vector<std::uint64_t> changed;
    for (std::uint64_t r = 0; r < rows; r += 7) changed.push_back(r);
    touch(*made.store, made.pool, changed);
    const auto reader = RowStore::openReadOnly(made.folder);
    QVERIFY(reader.has_value());
    // The scans before the comparison's own look: it faults every page in.
    const auto scan = RowScan::open(*made.store, 0, ScanRows::touched),
               other = RowScan::open(**reader, 0, ScanRows::all);
    std::vector<float> mine, theirs;
    for (auto* const way : {&mine, &theirs}) {
      const RowScan* const from = way == &mine ? scan->get() : other->get();
      way->resize(rows * 64);
      QVERIFY(from->readWeights(0, rows, way->data()).has_value());
    }
    std::vector<float> want(64);
    for (std::uint64_t r = 0; r < rows; ++r) {
      made.store->readWeights(0, r, want.data());
      QVERIFY2(std::memcmp(&mine[r * 64], want.data(), 256) == 0, fmt::format("row {}", r).c_str());
      QVERIFY2(std::memcmp(&theirs[r * 64], want.data(), 256) == 0, fmt::format("row {}, reader", r).c_str());
    }
    QCOMPARE(compareAll(*made.store, ScanRows::all, recordsOf(*made.store)), std::string());
  }
}

void tst_row_scan::tmpfsGivesTheSame() {
  QTemporaryDir memory("/dev/shm/dsa-XXXXXX");
  if (!memory.isValid() || !isTmpfs(memory.path().toStdString())) QSKIP("SKIP: no tmpfs at /dev/shm");
  const std::string folder = memory.path().toStdString() + "/run";
  const std::uint64_t rows = 3000;
  QVERIFY(RowStore::create(folder, oneTable(rows, 64, Rule::sparseAdam)).has_value());
  auto store = RowStore::open(folder, Durability::process, harness::kernels());
  QVERIFY(store.has_value());
  ThreadPool pool(1);
  touch(**store, pool, pattern("mixed", rows));
  const std::vector<unsigned char> there = residencyOf((*store)->rowsPath(0));
  for (const ScanRows which : {ScanRows::all, ScanRows::touched}) {
    const auto scan = RowScan::open(**store, 0, which);
    for (auto block = (*scan)->next(); block && *block; block = (*scan)->next()) continue;
    // Holes stay holes.
    QVERIFY(residencyOf((*store)->rowsPath(0)) == there);
    QCOMPARE(compareAll(**store, which, recordsOf(**store)), std::string());
  }
}

void tst_row_scan::aShortenedFileIsAnError() {
  const std::uint64_t rows = 3000;
  const Made made(oneTable(rows, 64, Rule::sparseAdam), pattern("all", rows));
  QVERIFY(made.store->evict().has_value());
  const std::string path = made.store->rowsPath(0);
  const auto file = File::open(path, File::Mode::readWrite);
  QVERIFY(file->resize(kPage + 2000 * 768 + 100).has_value());
  for (const Direct direct : {Direct::real, Direct::refusedAtOpen}) {
    g_direct = direct;
    const auto scan = RowScan::open(*made.store, 0, ScanRows::touched);
    auto block = (*scan)->next();
    while (block && *block) block = (*scan)->next();
    QVERIFY(!block);
    QVERIFY(block.error().code == ErrorCode::input);
    QVERIFY2(block.error().message.find("cut short") != std::string::npos, block.error().message.c_str());
  }
}

QTEST_APPLESS_MAIN(tst_row_scan)
#include "tst_row_scan.moc"
