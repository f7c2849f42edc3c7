// SPDX-License-Identifier: Apache-2.0
// Carries what a training run tells into the record and to the terminal, and orders from the record to the run.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "core/metrics/metric_sampler.h"
#include "core/record/recorder.h"
#include "core/train/embedding_sampler.h"
#include "core/train/run_result.h"
#include "core/train/runner.h"

namespace dsa {

/// Thread: as TrainObserver; its metric sampler calls back on a thread of its own.
class RunObserver final : public TrainObserver {
 public:
  RunObserver(const RunSetup& setup, Recorder& recorder, const RunnerOptions& options, double earlierSeconds);
  ~RunObserver() override;

  void phase(const std::string& name) override;
  void tablesReady(const Tables& tables) override;
  void stepped(const StepReport& report) override;
  void between(const Tables& tables) override;
  void ending(const Tables& tables) override;
  void evaluated(std::uint64_t epoch, const EvalMetrics& metrics) override;
  std::vector<Order> orders() override;

  /// Peaks and counts of this attempt so far; reads once more.
  [[nodiscard]] RunResources resources();
  /// The attempt could not be recorded.
  [[nodiscard]] const Result<void>& attempt() const { return m_attempt; }
  [[nodiscard]] std::uint64_t lastStep() const { return m_step.load(std::memory_order_relaxed); }

 private:
  void declareMetrics();
  void onSnapshot(const MetricSnapshot& snapshot);
  void tick(const StepReport& report);
  void sampleTraffic(std::uint64_t step, double seconds);

  const RunSetup& m_setup;
  Recorder& m_recorder;
  const RunnerOptions& m_options;
  const double m_earlierSeconds;
  std::string m_phase;
  Result<void> m_attempt;
  std::atomic<bool> m_recording{false};
  std::atomic<std::uint64_t> m_step{0};
  std::optional<FaultCounts> m_faultsAtStart;
  std::optional<ProcessIo> m_ioAtStart;
  EmbeddingSampler m_embedding;

  // Since the last tick.
  double m_lossSum = 0;
  std::uint64_t m_lossSteps = 0, m_rows = 0, m_samples = 0;
  std::uint64_t m_devicePeak = 0;
  double m_stall = 0;
  double m_lastTick = -1;

  Recorder::Metric m_loss, m_rate, m_rowRate, m_stallShare, m_lr;
  Recorder::Metric m_private, m_device, m_cache, m_minor, m_major, m_demand, m_read, m_written, m_diskRead,
      m_diskWritten, m_diskAmplification;
  std::optional<Recorder::Metric> m_prefetched, m_rowCache, m_budget, m_tableWritten,
      m_amplification;  // where there are any
  const Tables* m_tables = nullptr;
  TableTraffic m_traffic;
  std::atomic<std::uint64_t> m_rowBytes{0};           // of records that steps changed
  std::optional<std::uint64_t> m_diskWrittenAtStart;  // sampler's thread
  std::optional<MetricSnapshot> m_before;             // sampler's thread
  std::unique_ptr<MetricSampler> m_sampler;
};

}  // namespace dsa
