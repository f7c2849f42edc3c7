// SPDX-License-Identifier: Apache-2.0
// Tests of core/base/thread_pool.h: every index once, blocking, static ranges where promised; run under the thread
// sanitizer too.
#include <QTest>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "core/base/thread_pool.h"

using namespace dsa;
using namespace std::chrono_literals;

namespace {

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
  unsigned worker;
};

/// The ranges that one loop was cut into, in order of their begin.
std::vector<Range> rangesOf(ThreadPool& pool, std::uint64_t n, std::uint64_t grain) {
  std::vector<std::vector<Range>> perWorker(pool.threads());
  pool.parallelFor(n, grain, [&](std::uint64_t begin, std::uint64_t end, unsigned worker) {
    perWorker[worker].push_back({begin, end, worker});
  });
  std::vector<Range> all;
  for (const auto& some : perWorker) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return all;
}

/// Waits at most 30 s: a pool that never gets there fails its test instead of hanging it.
template <class Condition>
bool awaitTrue(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

}  // namespace

class TestThreadPool : public QObject {
  Q_OBJECT

 private slots:
  void everyIndexOnceInPiecesOfGrain_data();
  void everyIndexOnceInPiecesOfGrain();
  void noIndexNoCall();
  void smallLoopsRunInPlace();
  void noThreadsMeansOne();
  void partitionsAreContiguousAndEven_data();
  void partitionsAreContiguousAndEven();
  void callerTakesPartAsWorkerZero();
  void freeWorkersTakeTheRest();
  void returnsOnlyWhenAllIsWritten();
  void wakesAfterALongSleep();
  void poolsComeAndGo();
};

void TestThreadPool::everyIndexOnceInPiecesOfGrain_data() {
  QTest::addColumn<unsigned>("threads");
  QTest::addColumn<quint64>("n");
  QTest::addColumn<quint64>("grain");
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    for (const quint64 n : {quint64{1}, quint64{15}, quint64{16}, quint64{17}, quint64{1000}}) {
      for (const quint64 grain : {quint64{1}, quint64{16}, quint64{64}}) {
        QTest::addRow("%u threads, n = %llu, grain %llu", threads, n, grain) << threads << n << grain;
      }
    }
  }
}

void TestThreadPool::everyIndexOnceInPiecesOfGrain() {
  QFETCH(unsigned, threads);
  QFETCH(quint64, n);
  QFETCH(quint64, grain);
  ThreadPool pool(threads);
  QCOMPARE(pool.threads(), threads);
  std::uint64_t next = 0;
  for (const Range& range : rangesOf(pool, n, grain)) {
    QCOMPARE(range.begin, next);
    QVERIFY(range.end > range.begin);
    if (threads > 1 && n > grain) QVERIFY(range.end - range.begin <= grain);
    QVERIFY(range.worker < threads);
    next = range.end;
  }
  QCOMPARE(next, std::uint64_t{n});
}

void TestThreadPool::noIndexNoCall() {
  ThreadPool pool(3);
  QVERIFY(rangesOf(pool, 0, 16).empty());
  // A partitioned loop still visits every worker, each with an empty range: they may have own state to reset.
  std::atomic<int> visits{0};
  pool.partitioned(0, [&](std::uint64_t begin, std::uint64_t end, unsigned) { visits += begin == end ? 1 : 100; });
  QCOMPARE(visits.load(), 3);
}

void TestThreadPool::smallLoopsRunInPlace() {
  ThreadPool pool(4);
  std::thread::id where;
  int calls = 0;
  pool.parallelFor(64, 64, [&](std::uint64_t begin, std::uint64_t end, unsigned worker) {
    where = std::this_thread::get_id();
    calls += begin == 0 && end == 64 && worker == 0 ? 1 : 100;
  });
  QCOMPARE(calls, 1);
  QVERIFY(where == std::this_thread::get_id());
}

void TestThreadPool::noThreadsMeansOne() {
  ThreadPool pool(0);
  QCOMPARE(pool.threads(), 1u);
  QCOMPARE(rangesOf(pool, 100, 7).size(), std::size_t{1});
}

void TestThreadPool::partitionsAreContiguousAndEven_data() {
  QTest::addColumn<unsigned>("threads");
  QTest::addColumn<quint64>("n");
  for (const unsigned threads : {1u, 2u, 3u, 7u}) {
    for (const quint64 n : {quint64{0}, quint64{1}, quint64{2}, quint64{31}, quint64{10000}, quint64{1} << 40}) {
      QTest::addRow("%u threads, n = %llu", threads, n) << threads << n;
    }
  }
}

void TestThreadPool::partitionsAreContiguousAndEven() {
  QFETCH(unsigned, threads);
  QFETCH(quint64, n);
  ThreadPool pool(threads);
  std::vector<Range> got(threads, Range{1, 0, 99});
  pool.partitioned(n, [&](std::uint64_t begin, std::uint64_t end, unsigned worker) {
    got[worker] = {begin, end, worker};
  });
  std::uint64_t next = 0;
  for (unsigned worker = 0; worker < threads; ++worker) {
    QCOMPARE(got[worker].worker, worker);
    QCOMPARE(got[worker].begin, next);
    QCOMPARE(got[worker].begin, pool.begin(n, worker));
    const std::uint64_t length = got[worker].end - got[worker].begin;
    QVERIFY(length == n / threads || length == n / threads + 1);
    next = got[worker].end;
  }
  QCOMPARE(next, std::uint64_t{n});
}

void TestThreadPool::callerTakesPartAsWorkerZero() {
  ThreadPool pool(3);
  std::vector<std::thread::id> where(3);
  pool.partitioned(3,
                   [&](std::uint64_t, std::uint64_t, unsigned worker) { where[worker] = std::this_thread::get_id(); });
  QVERIFY(where[0] == std::this_thread::get_id());
  QVERIFY(where[1] != where[0] && where[2] != where[0] && where[1] != where[2]);
}

void TestThreadPool::freeWorkersTakeTheRest() {
  ThreadPool pool(2);
  std::atomic<int> done{0};
  bool othersFinished = false;
  // The first piece waits for the nine others: with a fixed share a worker it would wait for its own.
  pool.parallelFor(10, 1, [&](std::uint64_t begin, std::uint64_t, unsigned) {
    if (begin == 0) othersFinished = awaitTrue([&] { return done.load() == 9; });
    ++done;
  });
  QVERIFY(othersFinished);
}

void TestThreadPool::returnsOnlyWhenAllIsWritten() {
  constexpr std::uint64_t kRows = 5000;
  ThreadPool pool(4);
  std::vector<std::uint64_t> values(kRows, 0);
  // Plain memory, no atomics: what one loop wrote the next one reads, whichever worker has the row then.
  for (std::uint64_t round = 0; round < 300; ++round) {
    pool.parallelFor(kRows, 64, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) values[i] += i + round;
    });
    pool.partitioned(kRows, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) values[i] += 1;
    });
  }
  const std::uint64_t expected = 300 * (kRows * (kRows - 1) / 2) + kRows * (299 * 300 / 2) + 300 * kRows;
  QCOMPARE(std::accumulate(values.begin(), values.end(), std::uint64_t{0}), expected);
}

void TestThreadPool::wakesAfterALongSleep() {
  ThreadPool pool(3);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(20ms);  // far past the spinning: the workers sleep in the kernel
    std::atomic<unsigned> arrived{0};
    std::atomic<unsigned> together{0};
    // Nobody leaves before all have come: a worker that slept through its call fails this.
    pool.partitioned(3, [&](std::uint64_t, std::uint64_t, unsigned) {
      ++arrived;
      if (awaitTrue([&] { return arrived.load() == 3; })) ++together;
    });
    QCOMPARE(together.load(), 3u);
  }
}

void TestThreadPool::poolsComeAndGo() {
  std::atomic<std::uint64_t> sum{0};
  for (unsigned i = 0; i < 200; ++i) {
    // Some are destroyed before their workers have started, some right after a loop, some without one.
    ThreadPool pool(1 + i % 5);
    if (i % 3 == 0) continue;
    pool.parallelFor(10, 1, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t k = begin; k < end; ++k) sum += k;
    });
  }
  // 133 loops over 0 + 1 + ... + 9.
  QCOMPARE(sum.load(), std::uint64_t{133 * 45});
}

QTEST_APPLESS_MAIN(TestThreadPool)
#include "tst_thread_pool.moc"
