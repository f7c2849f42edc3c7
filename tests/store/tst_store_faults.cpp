// SPDX-License-Identifier: Apache-2.0
// The store against its environment: syncs that fail, kills and power losses inside open and create, files that rotted,
// files of other people.
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <QtTest>
#include <fstream>
#include <set>

#include "fault_calls.h"
#include "store_harness.h"

using namespace dsa;

namespace {

const std::string kBoot1 = "00000000-0000-0000-0000-000000000001";
const std::string kBoot2 = "00000000-0000-0000-0000-000000000002";

struct BootIdIs {
  explicit BootIdIs(const std::string& id) { overrideBootId(id); }
  ~BootIdIs() { overrideBootId(""); }
};

std::string read(const std::string& path) { return *readTextFile(path); }
void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

template <class T>
void poke(const std::string& path, std::uint64_t offset, const T& value) {
  const auto file = File::open(path, File::Mode::readWrite);
  QVERIFY(file->writeAt(std::as_bytes(std::span(&value, 1)), offset).has_value());
}

std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename() != "lock") out[entry.path().filename()] = read(entry.path());
  }
  return out;
}

void copyFolder(const std::string& from, const std::string& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to);
}

/// A store of `steps` steps, a checkpoint after every `each` (0: none).
void makeRun(const std::string& folder, const StoreShape& shape, Durability durability, int steps, int each,
             bool close) {
  if (!RowStore::create(folder, shape)) qFatal("create");
  auto store = harness::opened(folder, durability);
  ThreadPool pool(1);
  for (int i = 1; i <= steps; ++i) {
    if (!harness::advance(*store, pool)) qFatal("advance");
    if (each > 0 && i % each == 0 && !store->checkpoint()) qFatal("checkpoint");
  }
  if (close && !store->close()) qFatal("close");
}

// What happens in the middle of a chunk, once.
std::function<void()> g_inside;
UpdateRows g_real = nullptr;
void interruptedUpdate(const StepParams& p, float* const* rows, const float* grads, std::uint64_t stride,
                       std::uint64_t n) noexcept {
  g_real(p, rows, grads, stride, n / 2);
  if (g_inside) std::exchange(g_inside, {})();
  g_real(p, rows + n / 2, grads + n / 2 * stride, stride, n - n / 2);
}

/// `killed` becomes a store whose process was killed in the middle of step 4, in the boot that runs.
void makeKilledInsideAStep(const std::string& folder, const std::string& killed, const StoreShape& shape) {
  if (!RowStore::create(folder, shape)) qFatal("create");
  RowKernels kernels = harness::kernels();
  g_real = kernels.update;
  kernels.update = interruptedUpdate;
  auto store = RowStore::open(folder, Durability::process, kernels);
  ThreadPool pool(1);
  for (int i = 1; i <= 4; ++i) {
    if (i == 4) g_inside = [&] { copyFolder(folder, killed); };
    if (!harness::advance(**store, pool)) qFatal("advance");
  }
}

/// Forks, dies by SIGKILL in the n-th watched call of `work` (from 1); false: it ended before.
template <class Work>
bool killedInCall(int n, const std::set<std::string>& names, const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    faults::after = [&, n](const faults::Call& call) mutable {
      if (names.contains(call.name) && --n == 0) ::kill(::getpid(), SIGKILL);
    };
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

bool says(const Error& error, const char* text) { return error.message.find(text) != std::string::npos; }

}  // namespace

class tst_store_faults : public QObject {
  Q_OBJECT
 private slots:
  // ---- recovery without a journal

  void killWhileRowsAreForgottenIsHarmless() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run", cut = dir.path().toStdString() + "/cut";
    const StoreShape shape = harness::shape(400);
    {
      const BootIdIs boot(kBoot1);
      makeRun(run, shape, Durability::process, 5, 0, false);
    }
    const BootIdIs boot(kBoot2);
    const std::uint64_t length = std::filesystem::file_size(run + "/entities.rows");
    int kills = 0;
    for (int n = 1;; ++n) {
      copyFolder(run, cut);
      if (!killedInCall(n, {"fallocate", "ftruncate", "fdatasync"},
                        [&] { (void)RowStore::open(cut, Durability::process, harness::kernels()); }))
        break;
      ++kills;
      QCOMPARE(std::filesystem::file_size(cut + "/entities.rows"), length);
      const auto store = RowStore::open(cut, Durability::process, harness::kernels());
      QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
      QCOMPARE(harness::differs(**store, 0), std::string());
    }
    QVERIFY(kills >= 5);
  }

  void rowsAreForgottenWhereTheFileSystemKnowsNoHoles() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    {
      const BootIdIs boot(kBoot1);
      makeRun(run, harness::shape(400), Durability::process, 5, 0, false);
    }
    const BootIdIs boot(kBoot2);
    const faults::Watch watch;
    int asked = 0;
    faults::before = [&](const faults::Call& call) { return call.name == "fallocate" ? ++asked, EOPNOTSUPP : 0; };
    const auto store = harness::opened(run, Durability::process);
    QCOMPARE(asked, 2);
    QCOMPARE(store->recovery(), Recovery::fromStart);
    QCOMPARE(harness::differs(*store, 0), std::string());
    ThreadPool pool(1);
    for (int i = 0; i < 3; ++i) QVERIFY(harness::advance(*store, pool).has_value());
    QCOMPARE(harness::differs(*store, 3), std::string());
  }

  // ---- the flags that open() raises

  void anySubsetOfOpensFlagsTellsTheTruth_data() {
    QTest::addColumn<bool>("powerBefore");
    QTest::addColumn<bool>("closed");
    QTest::addColumn<bool>("rebooted");
    QTest::addColumn<bool>("powerAfter");
    for (int i = 0; i < 16; ++i) {
      QTest::addRow("%s, %s, %s, then %s", i & 1 ? "power" : "process", i & 2 ? "closed" : "killed",
                    i & 4 ? "rebooted" : "same boot", i & 8 ? "power" : "process")
          << bool(i & 1) << bool(i & 2) << bool(i & 4) << bool(i & 8);
    }
  }
  /// Between two syncs of store.dsa any of the words of page 3 that differ may be on the disk. Each such page must lead
  /// to a whole table, and one that was closed, or had a checkpoint, to no less than that as long as no run without a
  /// journal may have changed it.
  void anySubsetOfOpensFlagsTellsTheTruth() {
    QFETCH(bool, powerBefore);
    QFETCH(bool, closed);
    QFETCH(bool, rebooted);
    QFETCH(bool, powerAfter);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run", torn = dir.path().toStdString() + "/torn";
    const StoreShape shape = harness::shape(120);
    overrideBootId(kBoot1);
    makeRun(run, shape, powerBefore ? Durability::power : Durability::process, 5, 4, closed);
    if (rebooted) overrideBootId(kBoot2);
    std::vector<std::string> folders;  // one at each sync, as it is on the disk then
    {
      const faults::Watch watch;
      faults::before = [&](const faults::Call& call) {
        if (call.name != "fdatasync" || !call.path.ends_with("/store.dsa")) return 0;
        folders.push_back(dir.path().toStdString() + "/at" + std::to_string(folders.size()));
        copyFolder(run, folders.back());
        return 0;
      };
      (void)harness::opened(run, powerAfter ? Durability::power : Durability::process);
    }
    QVERIFY(folders.size() >= 3);
    const std::uint64_t step = rebooted && !closed ? (powerBefore ? 4 : 0) : 5;
    for (std::size_t i = 1; i < folders.size(); ++i) {
      const std::string old = read(folders[i - 1] + "/store.dsa"), now = read(folders[i] + "/store.dsa");
      std::vector<std::size_t> words;
      for (std::size_t at = 3 * kPage; at < 3 * kPage + 40; at += 8) {
        if (old.compare(at, 8, now, at, 8) != 0) words.push_back(at);
      }
      for (std::uint32_t subset = 0; subset < 1u << words.size(); ++subset) {
        std::string page = now;
        for (std::size_t w = 0; w < words.size(); ++w) {
          if ((subset >> w & 1) == 0) page.replace(words[w], 8, old, words[w], 8);
        }
        for (const bool powerLoss : {true, false}) {
          copyFolder(folders[i], torn);
          write(torn + "/store.dsa", page);
          const std::uint64_t clean = static_cast<unsigned char>(page[3 * kPage + 24]),
                              power = static_cast<unsigned char>(page[3 * kPage + 32]);
          // What is lost is lost only as the table of recoveries says, and only to a run without a journal.
          std::set<std::uint64_t> allowed = {step};
          if (powerLoss && clean == 0 && power == 0 && (!powerAfter || !powerBefore)) allowed.insert(0);
          if (powerLoss && powerAfter && closed) allowed = {step};
          if (powerLoss && powerBefore && !closed && !rebooted) allowed.insert(4);
          overrideBootId(powerLoss ? "00000000-0000-0000-0000-000000000003" : rebooted ? kBoot2 : kBoot1);
          const auto store =
              RowStore::open(torn, powerAfter ? Durability::power : Durability::process, harness::kernels());
          QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
          const std::string at = fmt::format("sync {} of {}, subset {}, power loss {}: clean {} power {} step {}", i,
                                             folders.size(), subset, powerLoss, clean, power, (*store)->step());
          QVERIFY2(allowed.contains((*store)->step()), at.c_str());
          QCOMPARE(harness::differs(**store, (*store)->step()), std::string());
        }
      }
    }
    overrideBootId("");
  }

  // ---- syncs that fail

  void failedSyncEndsTheStore_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("which");  // sync of that file in checkpoint(), from 1
    QTest::newRow("rows") << "/entities.rows" << 1;
    QTest::newRow("touched") << "/relations.touched" << 1;
    QTest::newRow("losses") << "/losses.f64" << 1;
    QTest::newRow("store, before the slot") << "/store.dsa" << 1;
    QTest::newRow("store, the slot") << "/store.dsa" << 2;
  }
  /// The disk refuses one sync and takes all later ones; what it was to write is partly lost, as the kernel does.
  void failedSyncEndsTheStore() {
    QFETCH(QString, file);
    QFETCH(int, which);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(400);
    if (!RowStore::create(run, shape)) qFatal("create");
    ThreadPool pool(1);
    std::string atCheckpoint;
    {
      auto store = harness::opened(run, Durability::power);
      for (int i = 0; i < 3; ++i) QVERIFY(harness::advance(*store, pool).has_value());
      QVERIFY(store->checkpoint().has_value());
      atCheckpoint = read(run + "/entities.rows");
      for (int i = 0; i < 2; ++i) QVERIFY(harness::advance(*store, pool).has_value());
      const faults::Watch watch;
      faults::before = [&](const faults::Call& call) {
        return call.name == "fdatasync" && call.path.ends_with(file.toStdString()) && --which == 0 ? EIO : 0;
      };
      const auto failed = store->checkpoint();
      QVERIFY(!failed.has_value());
      QCOMPARE(failed.error().code, ErrorCode::machine);
      QVERIFY2(says(failed.error(), "resume the run"), failed.error().message.c_str());
      for (const auto& refused :
           {harness::advance(*store, pool), store->checkpoint(), store->evict(), store->close()}) {
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().code, ErrorCode::machine);
      }
      QCOMPARE(harness::differs(*store, 5), std::string());
    }
    if (file == "/entities.rows") {
      std::string lost = read(run + "/entities.rows");
      for (std::size_t at = kPage; at + 512 <= lost.size(); at += 1024) lost.replace(at, 512, atCheckpoint, at, 512);
      QVERIFY(lost != read(run + "/entities.rows"));
      write(run + "/entities.rows", lost);
    }
    // The very same boot: yet the page cache is not believed.
    auto store = harness::opened(run, Durability::power);
    QCOMPARE(store->recovery(), Recovery::lastCheckpoint);
    const std::uint64_t step = file == "/store.dsa" && store->step() == 5 ? 5 : 3;
    QCOMPARE(harness::differs(*store, step), std::string());
    QVERIFY(harness::advance(*store, pool).has_value());
    QCOMPARE(harness::differs(*store, step + 1), std::string());
  }

  void failedCloseIsNotAClosedStore() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    if (!RowStore::create(run, harness::shape(400))) qFatal("create");
    ThreadPool pool(1);
    {
      auto store = harness::opened(run, Durability::power);
      for (int i = 0; i < 5; ++i) QVERIFY(harness::advance(*store, pool).has_value());
      int syncs = 0;
      const faults::Watch watch;
      faults::before = [&](const faults::Call& call) {
        return call.name == "fdatasync" && call.path.ends_with("/store.dsa") && ++syncs == 3 ? EIO : 0;
      };
      QVERIFY(!store->close().has_value());
      QCOMPARE(syncs, 3);  // the clean mark's
      QVERIFY(!harness::advance(*store, pool).has_value());
      QVERIFY(!store->close().has_value());
    }
    QCOMPARE(harness::differs(*harness::opened(run, Durability::power), 5), std::string());
  }

  void openThatCannotSyncLeavesAClosedStoreClosed() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    makeRun(run, harness::shape(120), Durability::process, 5, 0, true);
    for (int which = 1; which <= 3; ++which) {
      int left = which;
      {
        const faults::Watch watch;
        faults::before = [&](const faults::Call& call) { return call.name == "fdatasync" && --left == 0 ? EIO : 0; };
        const auto refused = RowStore::open(run, Durability::process, harness::kernels());
        QVERIFY(!refused.has_value());
      }
      const BootIdIs boot(kBoot2);
      const auto reader = RowStore::openReadOnly(run);
      QVERIFY2(reader.has_value(), reader ? "" : reader.error().message.c_str());
      QCOMPARE(harness::differs(**reader, 5), std::string());
    }
  }

  void failedJournalChangesNoRowAndSaysSo() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    if (!RowStore::create(run, harness::shape(400))) qFatal("create");
    ThreadPool pool(1);
    {
      auto store = harness::opened(run, Durability::power);
      QVERIFY(harness::advance(*store, pool).has_value());
      const faults::Watch watch;
      int left = 1;
      faults::before = [&](const faults::Call& call) {
        return call.name == "fdatasync" && call.path.ends_with("/undo.journal") && --left == 0 ? EIO : 0;
      };
      const auto failed = harness::advance(*store, pool);
      QVERIFY(!failed.has_value());
      QVERIFY2(says(failed.error(), "until the table is opened again"), failed.error().message.c_str());
      QVERIFY(!harness::advance(*store, pool).has_value());
      QVERIFY(store->checkpoint().has_value());
      QVERIFY(!harness::advance(*store, pool).has_value());
      QCOMPARE(harness::differs(*store, 1), std::string());
    }
    auto store = harness::opened(run, Durability::power);
    QVERIFY(harness::advance(*store, pool).has_value());
    QCOMPARE(harness::differs(*store, 2), std::string());
  }

  void closedStoreTakesNothingMore() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    for (const Durability durability : {Durability::power, Durability::process}) {
      std::filesystem::remove_all(run);
      if (!RowStore::create(run, harness::shape(120))) qFatal("create");
      auto store = harness::opened(run, durability);
      ThreadPool pool(1);
      QVERIFY(harness::advance(*store, pool).has_value());
      QVERIFY(store->close().has_value());
      for (const auto& refused : {harness::advance(*store, pool), store->checkpoint(), store->close()}) {
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().code, ErrorCode::bug);
      }
      QCOMPARE(harness::differs(*store, 1), std::string());
      store.reset();
      QCOMPARE(harness::opened(run, durability)->recovery(), Recovery::clean);
    }
  }

  void ticketFromBeforeACheckpointIsAnnouncedAgain() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const StoreShape shape = harness::shape(400);
    overrideBootId(kBoot1);
    {
      if (!RowStore::create(run, shape)) qFatal("create");
      auto store = harness::opened(run, Durability::power);
      ThreadPool pool(1);
      QVERIFY(harness::advance(*store, pool).has_value());
      const std::uint64_t stale = store->announce(harness::stepRows(shape, 2));
      QVERIFY(store->checkpoint().has_value());
      // As many tickets as before: the count alone would not tell.
      (void)store->announce(harness::stepRows(shape, 3));
      (void)store->announce(harness::stepRows(shape, 3));
      QVERIFY(harness::advance(*store, pool, stale).has_value());
      QVERIFY(harness::advance(*store, pool, ~std::uint64_t{0}).has_value());
    }
    overrideBootId(kBoot2);
    const auto store = harness::opened(run, Durability::power);
    QCOMPARE(store->recovery(), Recovery::lastCheckpoint);
    QCOMPARE(harness::differs(*store, 1), std::string());
    overrideBootId("");
  }

  // ---- files that rotted

  void rottenStoreFileIsRefusedAndLeftAlone_data() {
    QTest::addColumn<int>("offset");
    QTest::addColumn<int>("bytes");  // zeroed; 0: one bit flips
    QTest::addColumn<bool>("closed");
    QTest::addColumn<QString>("expected");
    const int older = kPage, newer = 2 * kPage, live = 3 * kPage;  // checkpoints 4 and 5 of makeRun(7 steps, each 2)
    for (const bool closed : {false, true}) {
      const int shift = closed ? older - newer : 0;  // close() wrote one more
      const char* how = closed ? "closed" : "killed";
      QTest::addRow("newer checkpoint, a bit of its state, %s", how)
          << newer + shift + 100 << 0 << closed << "the checkpoint on page";
      QTest::addRow("newer checkpoint, its magic, %s", how) << newer + shift << 0 << closed << "the checkpoint on page";
      QTest::addRow("newer checkpoint gone, %s", how)
          << newer + shift << int(sizeof(CheckpointSlot)) << closed << "follow each other";
      QTest::addRow("older checkpoint, %s", how) << older - shift + 20 << 0 << closed << "the checkpoint on page";
      QTest::addRow("clean, %s", how) << live + 25 << 0 << closed << "clean";
      QTest::addRow("power, %s", how) << live + 33 << 0 << closed << "power";
    }
    QTest::addRow("the step of a closed store") << live + 40 << 0 << true << "the step";
    QTest::addRow("the state of a closed store") << live + 48 + 256 + 9 << 0 << true << "the state";
    QTest::addRow("a step before the checkpoint") << live + 40 << 8 << false << "the step";
  }
  void rottenStoreFileIsRefusedAndLeftAlone() {
    QFETCH(int, offset);
    QFETCH(int, bytes);
    QFETCH(bool, closed);
    QFETCH(QString, expected);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    makeRun(run, harness::shape(120), Durability::power, 7, 2, closed);
    std::string file = read(run + "/store.dsa");
    if (bytes == 0) file[offset] = static_cast<char>(file[offset] ^ 2);
    file.replace(offset, bytes, bytes, '\0');
    write(run + "/store.dsa", file);
    const auto before = contents(run);
    const auto refused = RowStore::open(run, Durability::power, harness::kernels());
    QVERIFY(!refused.has_value());
    QCOMPARE(refused.error().code, ErrorCode::input);
    QVERIFY2(says(refused.error(), expected.toUtf8().constData()), refused.error().message.c_str());
    QVERIFY(!RowStore::openReadOnly(run).has_value());
    QVERIFY(contents(run) == before);
  }

  void superblockThatContradictsItselfIsRefused_data() {
    QTest::addColumn<int>("offset");  // in the first table's record
    QTest::addColumn<quint32>("value");
    QTest::addColumn<QString>("expected");
    QTest::newRow("rule") << 36 << 9u << "rule";
    QTest::newRow("stride") << 40 << 140u << "stride";
    QTest::newRow("dim") << 32 << 0u << "dim";
    QTest::newRow("rows") << 20 << 0x40000000u << "rows";
    QTest::newRow("no rows") << 16 << 0u << "rows";
    QTest::newRow("capacity") << 28 << 0x40000000u << "step capacity";
    QTest::newRow("name") << 0 << 0x2f2e2e2fu << "name";
    QTest::newRow("losses") << 40 - 64 << 0u << "losses";
  }
  void superblockThatContradictsItselfIsRefused() {
    QFETCH(int, offset);
    QFETCH(quint32, value);
    QFETCH(QString, expected);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    makeRun(run, harness::shape(120), Durability::process, 1, 0, true);
    poke(run + "/store.dsa", 64 + offset, value);
    const std::string page = read(run + "/store.dsa");
    poke(run + "/store.dsa", offsetof(Superblock, checksum), checksumOf(page.data(), offsetof(Superblock, checksum)));
    const auto before = contents(run);
    const auto refused = RowStore::open(run, Durability::process, harness::kernels());
    QVERIFY(!refused.has_value());
    QCOMPARE(refused.error().code, ErrorCode::input);
    QVERIFY2(says(refused.error(), expected.toUtf8().constData()), refused.error().message.c_str());
    QVERIFY(contents(run) == before);
  }

  void rottenIntentIsRefusedAndLeftAlone_data() {
    QTest::addColumn<quint64>("offset");
    QTest::addColumn<int>("bytes");
    QTest::addColumn<quint64>("value");
    QTest::addColumn<QString>("what");
    const quint64 page = kPage, progress = 2 * kPage, ids = 2 * kPage + 64 * 8 * 64 + 64 * kPage;
    QTest::newRow("armed") << page << 8 << quint64(3) << "armed";
    QTest::newRow("step") << page + 8 << 8 << quint64(77) << "step";
    QTest::newRow("no workers") << page + 16 << 4 << quint64(0) << "workers";
    QTest::newRow("workers") << page + 16 << 4 << quint64(65) << "workers";
    QTest::newRow("tables") << page + 20 << 4 << quint64(1000) << "tables";
    QTest::newRow("fewer tables") << page + 20 << 4 << quint64(1) << "tables";
    QTest::newRow("rows") << page + 24 << 8 << (quint64(1) << 40) << "rows";
    QTest::newRow("rows of table 1") << page + 32 << 8 << quint64(41) << "rows";
    QTest::newRow("rule") << page + 88 << 4 << quint64(4) << "rule";
    QTest::newRow("map") << page + 92 << 4 << quint64(0) << "map";
    QTest::newRow("dim") << page + 96 << 4 << quint64(13) << "dim";
    QTest::newRow("dim of table 1") << page + 96 + 104 << 4 << quint64(11) << "dim";
    QTest::newRow("saved") << progress << 8 << quint64(17) << "saved";
    QTest::newRow("saved before done") << progress + 64 << 8 << quint64(40) << "saved";
    QTest::newRow("done") << progress + 8 << 8 << (quint64(1) << 33) << "done";
    QTest::newRow("row beyond the table") << ids + 8 << 8 << quint64(400) << "row";
    QTest::newRow("row out of order") << ids + 8 << 8 << quint64(0) << "row";
  }
  void rottenIntentIsRefusedAndLeftAlone() {
    QFETCH(quint64, offset);
    QFETCH(int, bytes);
    QFETCH(quint64, value);
    QFETCH(QString, what);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run", killed = dir.path().toStdString() + "/killed";
    makeKilledInsideAStep(run, killed, harness::shape(400));
    std::string file = read(killed + "/intent.dsa");
    file.replace(offset, bytes, reinterpret_cast<const char*>(&value), bytes);
    write(killed + "/intent.dsa", file);
    const auto before = contents(killed);
    const auto refused = RowStore::open(killed, Durability::process, harness::kernels());
    QVERIFY(!refused.has_value());
    QCOMPARE(refused.error().code, ErrorCode::input);
    QVERIFY2(says(refused.error(), ("its " + what.toStdString() + " is").c_str()), refused.error().message.c_str());
    QVERIFY2(says(refused.error(), "intent.dsa"), refused.error().message.c_str());
    QVERIFY(contents(killed) == before);
  }

  // ---- reading beside and after a writer

  void tableInTheMiddleOfAStepIsReadOnlyBesideItsWriter() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run", killed = dir.path().toStdString() + "/killed";
    const StoreShape shape = harness::shape(400);
    if (!RowStore::create(run, shape)) qFatal("create");
    RowKernels kernels = harness::kernels();
    g_real = kernels.update;
    kernels.update = interruptedUpdate;
    {
      auto store = RowStore::open(run, Durability::process, kernels);
      QVERIFY(store.has_value());
      ThreadPool pool(1);
      bool beside = false;
      g_inside = [&] {
        beside = RowStore::openReadOnly(run).has_value();
        copyFolder(run, killed);
      };
      QVERIFY(harness::advance(**store, pool).has_value());
      QVERIFY(beside);
    }
    // Killed, but between two steps: whole.
    const auto whole = RowStore::openReadOnly(run);
    QVERIFY2(whole.has_value(), whole ? "" : whole.error().message.c_str());
    QCOMPARE(harness::differs(**whole, 1), std::string());

    const auto before = contents(killed);
    const auto half = RowStore::openReadOnly(killed);
    QVERIFY(!half.has_value());
    QCOMPARE(half.error().code, ErrorCode::input);
    QVERIFY2(says(half.error(), "Resume the run first"), half.error().message.c_str());
    QVERIFY(contents(killed) == before);
    QVERIFY(harness::opened(killed, Durability::process)->close().has_value());
    const auto mended = RowStore::openReadOnly(killed);
    QVERIFY(mended.has_value());
    QCOMPARE(harness::differs(**mended, 1), std::string());
    // A reader keeps nobody out.
    QVERIFY(RowStore::open(killed, Durability::process, harness::kernels()).has_value());
  }

  void tableAfterAPowerLossIsNotReadBeforeItIsRolledBack() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    {
      const BootIdIs boot(kBoot1);
      makeRun(run, harness::shape(120), Durability::power, 5, 2, false);
      QVERIFY(RowStore::openReadOnly(run).has_value());
    }
    const BootIdIs boot(kBoot2);
    const auto refused = RowStore::openReadOnly(run);
    QVERIFY(!refused.has_value());
    QVERIFY2(says(refused.error(), "the machine went down"), refused.error().message.c_str());
    (void)harness::opened(run, Durability::power);
    const auto reader = RowStore::openReadOnly(run);
    QVERIFY(reader.has_value());
    QCOMPARE(harness::differs(**reader, 4), std::string());
  }

  // ---- the journal

  void largeStepIsSplitIntoBlocksThatReadBack() {
    QTemporaryDir dir;
    const std::string path = dir.path().toStdString() + "/undo.journal";
    constexpr std::uint64_t kRows = 1000, kStride = 48, kBlock = 1000;
    std::vector<std::byte> records(kRows * kStride);
    for (std::size_t i = 0; i < records.size(); ++i) records[i] = static_cast<std::byte>(i * 31 % 251);
    std::vector<std::uint64_t> words(kRows / 64 + 1);
    const TouchedBits touched(words.data(), kRows);
    for (std::uint64_t r = 0; r < kRows; r += 3) touched.set(r);
    const std::vector<UndoJournal::Table> tables = {{RecordArray{records.data(), kStride}, touched, kRows}};
    StepRows all(1);
    for (std::uint64_t r = 0; r < kRows; ++r) all[0].push_back(r);
    {
      auto journal = UndoJournal::open(path, 9, 1234, tables, kBlock);
      QVERIFY(journal.has_value());
      QVERIFY((*journal)->wait((*journal)->submit(all)).has_value());
    }
    const std::string file = read(path);
    int blocks = 0;
    for (std::size_t at = 0; at < file.size(); at += kPage, ++blocks) {
      JournalBlock header;
      std::memcpy(&header, file.data() + at, sizeof header);
      QVERIFY(header.payloadBytes > kBlock / 2 || at + kPage == file.size());
      QVERIFY(header.payloadBytes <= kBlock);
    }
    QVERIFY(blocks > 20);
    std::uint64_t next = 0;
    bool same = true;
    const auto replayed =
        UndoJournal::replay(path, 9, 1234, tables, [&](const JournalEntry& entry, const std::byte* old) {
          same &= entry.row == next++ && (old != nullptr) == (entry.row % 3 == 0) &&
                  (old == nullptr || std::memcmp(old, tables[0].records.at(entry.row), kStride) == 0);
        });
    QVERIFY(replayed.has_value());
    QCOMPARE(*replayed, kRows);
    QVERIFY(same);
  }

  /// A whole block with a row that the table does not have: refused before a row of the blocks ahead of it is put back.
  void journalWithARowBeyondTheTableIsRefused() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    const BootIdIs boot1(kBoot1);
    makeRun(run, harness::shape(120), Durability::power, 5, 2, false);
    std::string journal = read(run + "/undo.journal");
    JournalBlock header;
    std::memcpy(&header, journal.data(), sizeof header);
    // The last row of the one block of the newest generation gets wrong; all checksums are right.
    std::size_t last = sizeof header;
    for (std::uint64_t e = 1; e < header.entries; ++e) {
      JournalEntry entry;
      std::memcpy(&entry, journal.data() + last, sizeof entry);
      last += sizeof entry + (entry.touched != 0 ? harness::shape().tables[entry.table].recordFloats() * 4 : 0);
    }
    QVERIFY(header.entries > 9);
    for (const auto& [field, value] : {std::pair<std::size_t, std::uint64_t>{8, 120}, {8, ~std::uint64_t{0}}, {0, 2}}) {
      std::string damaged = journal;
      damaged.replace(last + field, field == 0 ? 4 : 8, reinterpret_cast<const char*>(&value), field == 0 ? 4 : 8);
      JournalBlock mended = header;
      mended.payloadChecksum = checksumOf(damaged.data() + sizeof header, header.payloadBytes);
      mended.checksum = checksumOf(&mended, offsetof(JournalBlock, checksum));
      damaged.replace(0, sizeof mended, reinterpret_cast<const char*>(&mended), sizeof mended);
      write(run + "/undo.journal", damaged);
      const BootIdIs boot2(kBoot2);
      const auto before = contents(run);
      const auto refused = RowStore::open(run, Durability::power, harness::kernels());
      QVERIFY(!refused.has_value());
      QCOMPARE(refused.error().code, ErrorCode::input);
      QVERIFY2(says(refused.error(), "undo.journal: names row"), refused.error().message.c_str());
      QVERIFY(contents(run) == before);
    }
  }

  // ---- creation

  void namesAreDurableBeforeTheOneThatCounts() {
    QTemporaryDir dir;
    const std::string base = std::filesystem::canonical(dir.path().toStdString()), run = base + "/a/b/run";
    std::vector<faults::Call> calls;
    {
      const faults::Watch watch;
      faults::after = [&](const faults::Call& call) { calls.push_back(call); };
      QVERIFY(RowStore::create(run, harness::shape(64)).has_value());
    }
    std::set<std::string> synced, named, durable;
    bool counted = false;
    for (const faults::Call& call : calls) {
      if (call.name == "fdatasync") synced.insert(call.path);
      if (call.name == "fsync") durable.insert(call.path);
      if (call.name != "renameat2") continue;
      QVERIFY2(synced.contains(call.path + kUnfinished), call.path.c_str());
      if (call.path == run + "/store.dsa") {
        counted = true;
        QVERIFY(durable.contains(run));  // since the last name of another file
      }
      durable.clear();
      named.insert(call.path);
    }
    QVERIFY(counted);
    QCOMPARE(named.size(), std::size_t{7});
    // After store.dsa's name: its folder, and every folder that got the name of a new one.
    for (const std::string& folder : {run, base + "/a/b", base + "/a", base})
      QVERIFY2(durable.contains(folder), folder.c_str());
  }

  void creationKilledAnywhereCanBeRepeated() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    int kills = 0;
    for (int n = 1;; ++n, ++kills) {
      std::filesystem::remove_all(run);
      if (!killedInCall(n, {"fdatasync", "fsync", "ftruncate", "renameat2"},
                        [&] { (void)RowStore::create(run, harness::shape(64)); }))
        break;
      if (!std::filesystem::exists(run + "/store.dsa")) {
        const auto made = RowStore::create(run, harness::shape(64));
        QVERIFY2(made.has_value(), made ? "" : made.error().message.c_str());
      }
      QCOMPARE(harness::differs(*harness::opened(run, Durability::process), 0), std::string());
      for (const auto& [name, bytes] : contents(run))
        QVERIFY2(!QString::fromStdString(name).endsWith(kUnfinished), name.c_str());
    }
    QVERIFY(kills > 15);
  }

  void remainsWithoutAHeaderAreReplaced() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    std::filesystem::create_directories(run);
    write(run + "/losses.f64.creating", std::string(5000, '\0'));
    write(run + "/entities.rows.creating", "");
    QVERIFY(RowStore::create(run, harness::shape(64)).has_value());
    QVERIFY(!contents(run).contains("losses.f64.creating"));
    QCOMPARE(harness::differs(*harness::opened(run, Durability::process), 0), std::string());
  }

  void filesOfOthersAreNeitherReplacedNorRemoved_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("bytes");
    for (const char* name : {"entities.rows", "relations.touched", "losses.f64", "intent.dsa", "undo.journal", "lock",
                             "store.dsa.creating", "losses.f64.creating"}) {
      QTest::addRow("%s", name) << name << QByteArray("somebody's own measurements");
    }
    QTest::newRow("zeros") << "losses.f64" << QByteArray(8000, '\0');
    QTest::newRow("empty") << "entities.rows" << QByteArray();
  }
  void filesOfOthersAreNeitherReplacedNorRemoved() {
    QFETCH(QString, name);
    QFETCH(QByteArray, bytes);
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run", path = run + "/" + name.toStdString();
    std::filesystem::create_directories(run);
    write(path, bytes.toStdString());
    const auto refused = RowStore::create(run, harness::shape(64));
    QVERIFY(!refused.has_value());
    QCOMPARE(refused.error().code, ErrorCode::input);
    QVERIFY2(says(refused.error(), path.c_str()), refused.error().message.c_str());
    QCOMPARE(read(path), bytes.toStdString());
    QCOMPARE(std::distance(std::filesystem::directory_iterator(run), {}), 1);
  }

  void rowsOfARunThatLostItsStoreFileAreKept() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    makeRun(run, harness::shape(120), Durability::power, 3, 0, true);
    std::filesystem::rename(run + "/store.dsa", dir.path().toStdString() + "/elsewhere");
    const auto before = contents(run);
    const auto refused = RowStore::create(run, harness::shape(120));
    QVERIFY(!refused.has_value());
    QVERIFY2(says(refused.error(), "store.dsa is missing"), refused.error().message.c_str());
    QVERIFY(contents(run) == before);
  }

  void failedCreationTakesBackItsOwnFilesOnly() {
    QTemporaryDir dir;
    const std::string run = dir.path().toStdString() + "/run";
    std::filesystem::create_directories(run);
    write(run + "/notes.txt", "mine");
    for (int which = 1; which < 8; ++which) {
      int left = which;
      const faults::Watch watch;
      faults::before = [&](const faults::Call& call) {
        return (call.name == "fdatasync" || call.name == "renameat2") && --left == 0 ? EIO : 0;
      };
      QVERIFY(!RowStore::create(run, harness::shape(64)).has_value());
      QVERIFY((contents(run) == std::map<std::string, std::string>{{"notes.txt", "mine"}}));
    }
  }

  void renameWithoutNoReplaceStillReplacesNothing() {
    QTemporaryDir dir;
    const std::string path = dir.path().toStdString() + "/file";
    const faults::Watch watch;
    faults::before = [](const faults::Call& call) { return call.name == "renameat2" ? EINVAL : 0; };
    write(path + kUnfinished, "new");
    write(path, "old");
    QVERIFY(!nameFinished(path).has_value());
    QCOMPARE(read(path), std::string("old"));
    std::filesystem::remove(path);
    QVERIFY(nameFinished(path).has_value());
    QCOMPARE(read(path), std::string("new"));
  }
};

QTEST_APPLESS_MAIN(tst_store_faults)
#include "tst_store_faults.moc"
