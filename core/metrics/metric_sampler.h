// SPDX-License-Identifier: Apache-2.0
// Collects what the machine says about a run, on a period and off the training thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/residency.h"
#include "core/metrics/block_device.h"
#include "core/metrics/process_sampler.h"

namespace dsa {

/// One look. Absent means "not reported here", never 0. Counters are since their beginning: see ratesBetween.
struct MetricSnapshot {
  std::int64_t steadyNs = 0;                   ///< CLOCK_MONOTONIC
  ProcessSample process;                       ///< bytes, faults, bytes; /proc and getrusage
  std::optional<FaultCounts> stepThread;       ///< demand faults of the thread that steps; /proc/self/task/TID/stat
  std::optional<std::uint64_t> cacheBytes;     ///< page cache of all watched files; cachestat or mincore
  std::optional<std::uint64_t> dirtyBytes;     ///< of it not yet on the disk; cachestat only
  std::optional<ResidencySource> cacheSource;  ///< what answered
  std::int64_t cacheAgeNs = 0;                 ///< how old cacheBytes is: an expensive answer is used again
  std::optional<DiskCounters> disk;            ///< the whole disk under the first file; /sys/block/NAME/stat
  std::optional<Pressure> memoryPressure;      ///< /proc/pressure/memory
  std::optional<Pressure> ioPressure;          ///< /proc/pressure/io
};

/// Largest values that any snapshot held.
struct MetricPeaks {
  std::optional<std::uint64_t> privateBytes;
  std::optional<std::uint64_t> cacheBytes;
};

/// Per second between two snapshots; absent where either lacks the counter or no time has passed.
struct MetricRates {
  std::optional<double> minorFaults;
  std::optional<double> majorFaults;
  std::optional<double> demandFaults;  ///< minor and major of the step's thread
  std::optional<double> processReadBytes;
  std::optional<double> processWrittenBytes;
  std::optional<double> diskReadBytes;
  std::optional<double> diskWrittenBytes;
};
[[nodiscard]] MetricRates ratesBetween(const MetricSnapshot& before, const MetricSnapshot& after);

struct MetricSamplerOptions {
  pid_t pid = 0;  ///< 0 = the own process
  ProcessScope scope = ProcessScope::processOnly;
  std::chrono::milliseconds period{250};
  std::vector<std::string> files;  ///< whose page cache is counted; one that is not there is left out
};

/// Thread: all public functions from any thread. The callback runs on the sampler's thread, and on the caller's in
/// sampleNow(); one call at a time. It must not call back into the sampler.
class MetricSampler {
 public:
  using Callback = std::function<void(const MetricSnapshot&)>;

  /// Begins at once; an empty callback only keeps peaks.
  MetricSampler(MetricSamplerOptions options, Callback callback);
  ~MetricSampler();
  MetricSampler(const MetricSampler&) = delete;
  MetricSampler& operator=(const MetricSampler&) = delete;

  /// A snapshot now, on the calling thread, residency read afresh: at the edge of a phase, after an eviction.
  MetricSnapshot sampleNow();
  [[nodiscard]] MetricPeaks peaks() const;
  /// Counts faults of this thread of the own process apart (gettid()); 0 = none.
  void setStepThread(pid_t tid) { m_stepThread.store(tid); }
  /// Watches other files from now on (the table may be made after the sampler).
  void setFiles(const std::vector<std::string>& files);

 private:
  void loop();
  MetricSnapshot collect(bool freshResidency);
  void readResidency();

  const MetricSamplerOptions m_options;
  const Callback m_callback;
  std::atomic<pid_t> m_stepThread{0};

  std::mutex m_collect;  // guards what follows; held while a snapshot is taken and delivered
  ProcessSampler m_process;
  std::vector<ResidencyProbe> m_probes;
  std::optional<BlockDevice> m_disk;
  std::optional<Residency> m_residency;
  std::int64_t m_residencyAtNs = 0;
  std::int64_t m_residencyNotBeforeNs = 0;
  std::int64_t m_residencyCostNs = 0;  ///< of the last look by the own thread; CPU time, of that thread alone

  mutable std::mutex m_state;  // guards what follows; never held for long
  std::condition_variable m_wake;
  MetricPeaks m_peaks;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace dsa
