// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/metric_sampler.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace dsa {

namespace {

// A look is repeated no sooner than after 100 times its own CPU time: below 1% of one core.
constexpr std::int64_t kCostShare = 100;
// The page cache of a large table takes 10 to 100 ms to count; it has a share of its own (5%), so that memory and
// faults are still seen ten times a second while it waits.
constexpr std::int64_t kResidencyShare = 20;

std::int64_t steadyNs() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

/// Of this thread: on busy cores wall time is mostly waiting, which costs nobody anything.
std::int64_t cpuNs() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::optional<double> rate(std::uint64_t before, std::uint64_t after, double seconds) {
  // A counter that fell belongs to another process tree or a replaced disk; a made-up 0 would look like rest.
  if (seconds <= 0 || after < before) return std::nullopt;
  return static_cast<double>(after - before) / seconds;
}

void raise(std::optional<std::uint64_t>& peak, const std::optional<std::uint64_t>& value) {
  if (value) peak = std::max(peak.value_or(0), *value);
}

}  // namespace

MetricRates ratesBetween(const MetricSnapshot& before, const MetricSnapshot& after) {
  const double seconds = static_cast<double>(after.steadyNs - before.steadyNs) * 1e-9;
  MetricRates rates;
  if (before.process.faults && after.process.faults) {
    rates.minorFaults = rate(before.process.faults->minor, after.process.faults->minor, seconds);
    rates.majorFaults = rate(before.process.faults->major, after.process.faults->major, seconds);
  }
  if (before.stepThread && after.stepThread) {
    rates.demandFaults = rate(before.stepThread->minor + before.stepThread->major,
                              after.stepThread->minor + after.stepThread->major, seconds);
  }
  if (before.process.io && after.process.io) {
    rates.processReadBytes = rate(before.process.io->readBytes, after.process.io->readBytes, seconds);
    rates.processWrittenBytes = rate(before.process.io->writeBytes, after.process.io->writeBytes, seconds);
  }
  if (before.disk && after.disk) {
    rates.diskReadBytes = rate(before.disk->readBytes, after.disk->readBytes, seconds);
    rates.diskWrittenBytes = rate(before.disk->writtenBytes, after.disk->writtenBytes, seconds);
  }
  return rates;
}

MetricSampler::MetricSampler(MetricSamplerOptions options, Callback callback)
    : m_options(std::move(options)), m_callback(std::move(callback)), m_process(m_options.pid, m_options.scope) {
  setFiles(m_options.files);
  m_thread = std::thread([this] { loop(); });
}

MetricSampler::~MetricSampler() {
  {
    const std::lock_guard lock(m_state);
    m_stop = true;
  }
  m_wake.notify_all();
  m_thread.join();
}

void MetricSampler::setFiles(const std::vector<std::string>& files) {
  const std::lock_guard lock(m_collect);
  m_probes.clear();
  m_disk.reset();
  m_residency.reset();
  m_residencyNotBeforeNs = 0;
  for (const std::string& path : files) {
    auto probe = ResidencyProbe::open(path);
    if (!probe) continue;
    if (!m_disk) m_disk = BlockDevice::of(path);
    m_probes.push_back(std::move(*probe));
  }
}

void MetricSampler::loop() {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(m_state);
  while (!m_stop) {
    lock.unlock();
    const std::int64_t begin = cpuNs();
    m_residencyCostNs = 0;
    collect(false);
    const auto cost = std::chrono::nanoseconds(cpuNs() - begin - m_residencyCostNs);
    next += std::max<std::chrono::nanoseconds>(m_options.period, cost * kCostShare);
    // After a suspended machine the missed looks are not made up for.
    next = std::max(next, std::chrono::steady_clock::now());
    lock.lock();
    m_wake.wait_until(lock, next, [&] { return m_stop; });
  }
}

MetricSnapshot MetricSampler::sampleNow() { return collect(true); }

void MetricSampler::readResidency() {
  m_residency.reset();
  for (const ResidencyProbe& probe : m_probes) {
    const auto one = probe.read();
    if (!one) {
      m_residency.reset();  // a sum without one of its parts would pass for the whole
      break;
    }
    if (!m_residency) m_residency = Residency{0, 0, one->source};
    m_residency->residentBytes += one->residentBytes;
    if (!one->dirtyBytes) m_residency->dirtyBytes.reset();
    if (m_residency->dirtyBytes) *m_residency->dirtyBytes += *one->dirtyBytes;
    m_residency->source = std::max(m_residency->source, one->source);
  }
}

MetricSnapshot MetricSampler::collect(bool freshResidency) {
  const std::lock_guard lock(m_collect);
  MetricSnapshot snapshot;
  snapshot.steadyNs = steadyNs();
  snapshot.process = m_process.sample();
  if (const pid_t tid = m_stepThread.load(); tid != 0) snapshot.stepThread = threadFaults(tid);
  if (freshResidency || snapshot.steadyNs >= m_residencyNotBeforeNs) {
    const std::int64_t begin = cpuNs();
    readResidency();
    const std::int64_t cost = cpuNs() - begin;
    if (!freshResidency) m_residencyCostNs = cost;
    m_residencyAtNs = snapshot.steadyNs;
    m_residencyNotBeforeNs = snapshot.steadyNs + cost * kResidencyShare;
  }
  if (m_residency) {
    snapshot.cacheBytes = m_residency->residentBytes;
    snapshot.dirtyBytes = m_residency->dirtyBytes;
    snapshot.cacheSource = m_residency->source;
    snapshot.cacheAgeNs = std::max<std::int64_t>(0, snapshot.steadyNs - m_residencyAtNs);
  }
  if (m_disk) snapshot.disk = m_disk->counters();
  snapshot.memoryPressure = memoryPressure();
  snapshot.ioPressure = ioPressure();
  {
    const std::lock_guard state(m_state);
    if (snapshot.process.memory) raise(m_peaks.privateBytes, snapshot.process.memory->privateBytes());
    raise(m_peaks.cacheBytes, snapshot.cacheBytes);
  }
  if (m_callback) m_callback(snapshot);
  return snapshot;
}

MetricPeaks MetricSampler::peaks() const {
  const std::lock_guard lock(m_state);
  return m_peaks;
}

}  // namespace dsa
