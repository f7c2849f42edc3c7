// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/disk_bench.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <memory>

#include "core/base/file.h"
#include "core/base/random.h"
#include "core/base/residency.h"
#include "core/metrics/block_device.h"
#include "core/metrics/request_queue.h"

namespace dsa {

namespace {

using BenchClock = std::chrono::steady_clock;

constexpr std::uint64_t kSmallestFile = 4 << 20;
constexpr std::uint64_t kSpareBytes = 64 << 20;  // what stays free for everybody else
constexpr std::uint32_t kLongRequest = 1 << 20;  // of runs from begin to end
constexpr unsigned kLongDepth = 8;               // 8 MiB in flight keeps any disk busy
constexpr std::uint64_t kSyncs = 2000;           // at most, for the 99th percentile
constexpr std::uint32_t kSyncedBytes = 4096;

double percentile(const std::vector<float>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::lround(share * last))];
}

class DiskBench {
 public:
  explicit DiskBench(const DiskBenchOptions& options) : m_options(options) {}

  Result<DiskBenchReport> run() {
    DSA_TRY(open());
    DSA_TRY(fill());
    DSA_TRY(findUnit());
    for (const std::uint32_t bytes : m_options.requestBytes) {
      for (const unsigned depth : m_options.depths) {
        if (depth > 1 && !m_report.ioUring) continue;
        for (const bool mixed : {false, true}) DSA_TRY(measureRandom(bytes, depth, mixed));
      }
    }
    DSA_ASSIGN(m_report.sequentialReadBytesPerSecond, measureLong(false));
    DSA_ASSIGN(m_report.sequentialWriteBytesPerSecond, measureLong(true));
    DSA_TRY(measureSyncs());
    noteCaching();
    return m_report;
  }

 private:
  Result<void> open();
  Result<void> fill();
  Result<void> findUnit();
  Result<void> measureRandom(std::uint32_t wanted, unsigned depth, bool mixed);
  Result<double> measureLong(bool write);
  Result<void> measureSyncs();
  void noteCaching();
  Result<void> checkSpace() const;
  [[nodiscard]] bool stopped() const {
    return m_options.stop != nullptr && m_options.stop->load(std::memory_order_relaxed);
  }
  /// Ends a measurement: its time is over, or the user asked.
  [[nodiscard]] bool over(BenchClock::time_point end) const { return stopped() || BenchClock::now() >= end; }
  [[nodiscard]] BenchClock::time_point endOfMeasurement() const {
    return BenchClock::now() +
           std::chrono::duration_cast<BenchClock::duration>(std::chrono::duration<double>(m_options.seconds));
  }
  Result<RequestFigures> measure(RequestQueue& queue, const RequestQueue::Next& next) {
    DSA_ASSIGN(RequestFigures figures, queue.run(m_file, next));
    if (stopped()) return fail(ErrorCode::stopped, "stopped by the user; the file that was measured on is deleted");
    return figures;
  }

  const DiskBenchOptions& m_options;
  File m_file;
  std::uint64_t m_fileBytes = 0;  // whole long requests
  std::uint32_t m_unit = 512;     // what offsets and sizes must be multiples of
  unsigned m_longDepth = kLongDepth;
  std::uint64_t m_random = 0;  // numbers drawn so far
  DiskBenchReport m_report;
};

Result<void> DiskBench::checkSpace() const {
  const auto system = fileSystemOf(m_options.folder);
  if (!system || system->freeBytes >= m_fileBytes + kSpareBytes) return {};
  return fail(ErrorCode::machine,
              "{}: the measurement needs {} and leaves {} to others, {} are free; nothing was written. Give a smaller "
              "--size, or another folder with --cache",
              m_options.folder, formatBytes(m_fileBytes), formatBytes(kSpareBytes), formatBytes(system->freeBytes));
}

Result<void> DiskBench::open() {
  if (m_options.fileBytes < kSmallestFile)
    return fail(ErrorCode::usage, "--size: {} is too little to measure on; at least {}",
                formatBytes(m_options.fileBytes), formatBytes(kSmallestFile));
  m_fileBytes = m_options.fileBytes / kLongRequest * kLongRequest;
  DSA_TRY(makeFolder(m_options.folder));
  DSA_TRY(checkSpace());
  const std::string path = fmt::format("{}/disk-bench-{}", m_options.folder, ::getpid());
  DSA_ASSIGN(m_file, File::open(path, File::Mode::createNew));
  if (::unlink(path.c_str()) != 0) return failErrno(path, "delete", errno);
  m_report.direct = ::fcntl(m_file.fd(), F_SETFL, ::fcntl(m_file.fd(), F_GETFL) | O_DIRECT) == 0;
  if (!m_report.direct) {
    m_report.notes.emplace_back(
        "this file system does not take O_DIRECT: the figures are of the page cache, not of a disk");
  }
  if (const auto system = fileSystemOf(m_options.folder)) {
    if (system->isMemory) m_report.notes.push_back(system->type + " is memory: the figures are not of a disk");
    if (system->isNetwork) m_report.notes.push_back(system->type + " lies on the network: the figures are of both");
  }
  const auto ring = RequestQueue::make(2, 512);
  m_report.ioUring = ring.has_value();
  if (!ring) {
    m_longDepth = 1;
    m_report.notes.push_back(
        fmt::format("{}: one request at a time, by pread and pwrite; deeper ones were left out", ring.error().message));
  }
  return {};
}

Result<void> DiskBench::fill() {
  DSA_ASSIGN(const auto queue, RequestQueue::make(m_longDepth, kLongRequest));
  std::uint64_t offset = 0;
  DSA_TRY(measure(*queue, [&]() -> std::optional<DiskRequest> {
    if (offset == m_fileBytes || stopped()) return std::nullopt;
    offset += kLongRequest;
    return DiskRequest{offset - kLongRequest, true};
  }));
  return m_file.sync();
}

/// Disks with sectors of 4 KiB take nothing smaller.
Result<void> DiskBench::findUnit() {
  DSA_ASSIGN(const auto queue, RequestQueue::make(1, m_unit));
  bool asked = false;
  const auto tried = queue->run(m_file, [&]() -> std::optional<DiskRequest> {
    if (asked) return std::nullopt;
    asked = true;
    return DiskRequest{m_unit, false};
  });
  if (tried) return {};
  m_unit = 4096;
  m_report.notes.emplace_back("O_DIRECT takes multiples of 4 KiB only here: smaller requests were made that large");
  return {};
}

Result<void> DiskBench::measureRandom(std::uint32_t wanted, unsigned depth, bool mixed) {
  const std::uint32_t bytes = roundedUp(wanted, m_unit);
  const std::uint64_t places = m_fileBytes / bytes;
  DSA_ASSIGN(const auto queue, RequestQueue::make(depth, bytes));
  const BenchClock::time_point end = endOfMeasurement();
  DSA_ASSIGN(
      const RequestFigures figures, measure(*queue, [&]() -> std::optional<DiskRequest> {
        if (over(end)) return std::nullopt;
        const Random4 drawn = philox(1, Stream::tests, m_random++, 0);
        return DiskRequest{belowFrom(drawn.word[0], drawn.word[1], places) * bytes, mixed && drawn.word[2] % 2 == 1};
      }));
  RandomFigures one;
  one.requestBytes = bytes;
  one.depth = depth;
  one.mixed = mixed;
  one.readsPerSecond = static_cast<double>(figures.reads) / figures.seconds;
  one.writesPerSecond = static_cast<double>(figures.writes) / figures.seconds;
  one.medianUs = percentile(figures.latenciesUs, 0.5);
  one.p99Us = percentile(figures.latenciesUs, 0.99);
  m_report.random.push_back(one);
  return {};
}

/// From the file's begin to its end, and again until the time is over.
Result<double> DiskBench::measureLong(bool write) {
  DSA_ASSIGN(const auto queue, RequestQueue::make(m_longDepth, kLongRequest));
  const BenchClock::time_point end = endOfMeasurement();
  std::uint64_t next = 0;
  DSA_ASSIGN(const RequestFigures figures, measure(*queue, [&]() -> std::optional<DiskRequest> {
               if (over(end)) return std::nullopt;
               return DiskRequest{next++ * kLongRequest % m_fileBytes, write};
             }));
  return static_cast<double>(figures.reads + figures.writes) * kLongRequest / figures.seconds;
}

Result<void> DiskBench::measureSyncs() {
  DSA_ASSIGN(const auto queue, RequestQueue::make(1, kSyncedBytes));
  const BenchClock::time_point end = endOfMeasurement();
  std::vector<float> milliseconds;
  while (milliseconds.size() < kSyncs && (milliseconds.empty() || !over(end))) {
    bool asked = false;
    DSA_TRY(measure(*queue, [&]() -> std::optional<DiskRequest> {
      if (asked) return std::nullopt;
      asked = true;
      const Random4 drawn = philox(2, Stream::tests, m_random++, 0);
      return DiskRequest{belowFrom(drawn.word[0], drawn.word[1], m_fileBytes / kSyncedBytes) * kSyncedBytes, true};
    }));
    const BenchClock::time_point begin = BenchClock::now();
    DSA_TRY(m_file.sync());
    milliseconds.push_back(std::chrono::duration<float, std::milli>(BenchClock::now() - begin).count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  m_report.syncs = milliseconds.size();
  m_report.syncMedianMs = percentile(milliseconds, 0.5);
  m_report.syncP99Ms = percentile(milliseconds, 0.99);
  return {};
}

/// Some file systems take O_DIRECT and read through the page cache all the same.
void DiskBench::noteCaching() {
  const auto probe = ResidencyProbe::open(fmt::format("/proc/self/fd/{}", m_file.fd()));
  if (!m_report.direct || !probe) return;
  const auto residency = probe->read();
  if (residency && residency->residentBytes > m_fileBytes / 4) {
    m_report.notes.emplace_back(
        "this file system takes O_DIRECT and caches all the same: the figures are of memory, not of a disk");
  }
}

}  // namespace

Result<DiskBenchReport> benchDisk(const DiskBenchOptions& options) {
  DSA_CHECK(options.seconds > 0);
  DiskBench bench(options);
  return bench.run();
}

}  // namespace dsa
