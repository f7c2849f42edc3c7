// SPDX-License-Identifier: Apache-2.0
// The sampler's thread: it looks on its own, keeps peaks, and tells cache from private memory.
#include <sys/syscall.h>

#include <QObject>
#include <atomic>
#include <memory>

#include "core/metrics/metric_sampler.h"
#include "tests/metrics/metrics_fixture.h"

using namespace dsa;
using test::kMiB;

namespace {

MetricSamplerOptions every(int milliseconds, const std::string& file = {}) {
  MetricSamplerOptions options;
  options.period = std::chrono::milliseconds(milliseconds);
  if (!file.empty()) options.files.push_back(file);
  return options;
}

}  // namespace

class TestMetricSampler : public QObject {
  Q_OBJECT
 private slots:
  void itLooksOnItsOwnOffTheCallersThread() {
    std::atomic<int> looks{0};
    std::atomic<bool> onCaller{false};
    const auto caller = std::this_thread::get_id();
    MetricSampler sampler(every(5), [&](const MetricSnapshot& snapshot) {
      if (snapshot.process.memory) ++looks;
      if (std::this_thread::get_id() == caller) onCaller = true;
    });
    QTRY_VERIFY(looks >= 3);
    QVERIFY(!onCaller);
  }

  void itEndsAtOnceWhateverThePeriod() {
    QElapsedTimer timer;
    timer.start();
    {
      std::atomic<int> looks{0};
      MetricSampler sampler(every(3600000), [&](const MetricSnapshot&) { ++looks; });
      QTRY_VERIFY(looks >= 1);
    }
    QVERIFY(timer.elapsed() < 60000);
  }

  void theCacheOfTheTableIsApartFromPrivateMemory() {
    const test::Folder folder;
    const std::string path = folder.file("table");
    test::makeFile(path, 32 * kMiB);
    MetricSampler sampler(every(3600000, path), nullptr);
    const MetricSnapshot full = sampler.sampleNow();
    QCOMPARE(full.cacheBytes, std::optional<std::uint64_t>(32 * kMiB));
    test::evict(path);
    const MetricSnapshot empty = sampler.sampleNow();
    QCOMPARE(empty.cacheBytes, std::optional<std::uint64_t>(0));
    const auto difference = static_cast<double>(full.process.memory->privateBytes()) -
                            static_cast<double>(empty.process.memory->privateBytes());
    QVERIFY(std::abs(difference) < static_cast<double>(4 * kMiB));
    QCOMPARE(sampler.peaks().cacheBytes, std::optional<std::uint64_t>(32 * kMiB));
  }

  void peaksOutliveWhatMadeThem() {
    MetricSampler sampler(every(3600000), nullptr);
    const std::uint64_t before = sampler.sampleNow().process.memory->privateBytes();
    auto pages = std::make_unique<test::PrivatePages>(64 * kMiB);
    sampler.sampleNow();
    pages.reset();
    const std::uint64_t after = sampler.sampleNow().process.memory->privateBytes();
    QVERIFY(after < before + 32 * kMiB);
    QVERIFY(*sampler.peaks().privateBytes >= before + 60 * kMiB);
  }

  void filesCanBeNamedLaterAndMissingOnesAreNotReported() {
    const test::Folder folder;
    MetricSampler sampler(every(3600000, folder.file("none")), nullptr);
    QVERIFY(!sampler.sampleNow().cacheBytes.has_value());
    QVERIFY(!sampler.peaks().cacheBytes.has_value());
    test::makeFile(folder.file("a"), kMiB);
    test::makeFile(folder.file("b"), 2 * kMiB);
    sampler.setFiles({folder.file("a"), folder.file("b")});
    QCOMPARE(sampler.sampleNow().cacheBytes, std::optional<std::uint64_t>(3 * kMiB));
    QVERIFY(!sampler.sampleNow().stepThread.has_value());
  }

  void theFaultsOfTheStepsThreadAreApart() {
    MetricSampler sampler(every(3600000), nullptr);
    sampler.setStepThread(static_cast<pid_t>(::syscall(SYS_gettid)));
    const MetricSnapshot before = sampler.sampleNow();
    std::thread([] { const test::PrivatePages pages(32 * kMiB); }).join();
    const MetricSnapshot after = sampler.sampleNow();
    const std::uint64_t own = after.stepThread->minor - before.stepThread->minor;
    const std::uint64_t all = after.process.faults->minor - before.process.faults->minor;
    QVERIFY2(own + 10 <= all && own < 500, std::to_string(own).c_str());
  }

  void ratesAreDifferencesPerSecond() {
    MetricSnapshot before;
    before.process.faults = FaultCounts{100, 10};
    before.process.io = ProcessIo{1000, 5000};
    before.stepThread = FaultCounts{1, 1};
    MetricSnapshot after = before;
    after.steadyNs = 2000000000;
    after.process.faults = FaultCounts{300, 14};
    after.process.io = ProcessIo{3000, 4000};  // fell: another process
    after.stepThread = FaultCounts{5, 3};
    const MetricRates rates = ratesBetween(before, after);
    QCOMPARE(rates.minorFaults, std::optional<double>(100));
    QCOMPARE(rates.majorFaults, std::optional<double>(2));
    QCOMPARE(rates.demandFaults, std::optional<double>(3));
    QCOMPARE(rates.processReadBytes, std::optional<double>(1000));
    QVERIFY(!rates.processWrittenBytes.has_value());
    QVERIFY(!rates.diskReadBytes.has_value());
    QVERIFY(!ratesBetween(before, before).minorFaults.has_value());
  }
};

QTEST_GUILESS_MAIN(TestMetricSampler)
#include "tst_metric_sampler.moc"
