// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_observer.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace dsa {

namespace {

// Ten points a second at most: what a live plot can show.
constexpr double kTick = 0.1;

Order::Kind orderOf(CommandKind kind) {
  switch (kind) {
    case CommandKind::stop:
      return Order::Kind::stop;
    case CommandKind::pause:
      return Order::Kind::pause;
    case CommandKind::resume:
      return Order::Kind::resume;
    case CommandKind::checkpoint:
      return Order::Kind::checkpoint;
    case CommandKind::evict:
      return Order::Kind::evict;
    case CommandKind::setRamBudget:
      return Order::Kind::setRamBudget;
    case CommandKind::stepOne:
      return Order::Kind::stepOne;
  }
  return Order::Kind::unknown;
}

}  // namespace

RunObserver::RunObserver(const RunSetup& setup, Recorder& recorder, const RunnerOptions& options, double earlierSeconds)
    : m_setup(setup),
      m_recorder(recorder),
      m_options(options),
      m_earlierSeconds(earlierSeconds),
      m_faultsAtStart(processFaults(::getpid())),
      m_ioAtStart(processIo(::getpid())),
      m_embedding(setup) {
  declareMetrics();
  MetricSamplerOptions sampling;
  sampling.period = std::chrono::milliseconds(100);
  m_sampler =
      std::make_unique<MetricSampler>(sampling, [this](const MetricSnapshot& snapshot) { onSnapshot(snapshot); });
  m_sampler->setStepThread(static_cast<pid_t>(::syscall(SYS_gettid)));
}

RunObserver::~RunObserver() = default;

void RunObserver::declareMetrics() {
  const auto metric = [&](const char* name, const char* unit, const char* source, MetricAxis axis) {
    return m_recorder.metric(MetricInfo{0, name, unit, source, axis});
  };
  m_loss = metric("loss", "", "mean over the steps since the last sample", MetricAxis::step);
  m_rate = metric("samples_per_s", "1/s", "training samples over wall time", MetricAxis::step);
  m_rowRate = metric("rows_per_s", "1/s", "distinct rows stepped over wall time", MetricAxis::step);
  m_stallShare = metric("stall", "%", "share of wall time that steps waited for batches or rows", MetricAxis::step);
  m_lr = metric("lr", "", "schedule", MetricAxis::step);
  m_private = metric("memory.private", "B", "RssAnon + VmPTE + VmSwap", MetricAxis::time);
  // Two names: what is simulated is called so wherever it appears.
  m_device = m_setup.spec.device.starts_with("sim:")
                 ? metric("memory.device.simulated", "B", "own allocations on the simulated card", MetricAxis::time)
                 : metric("memory.device", "B", "own allocations on the card", MetricAxis::time);
  m_cache = metric("memory.page_cache", "B", "cachestat or mincore over the table's files", MetricAxis::time);
  m_minor = metric("faults.minor", "1/s", "getrusage", MetricAxis::time);
  m_major = metric("faults.major", "1/s", "getrusage", MetricAxis::time);
  m_demand = metric("faults.demand", "1/s", "/proc/self/task, the step's own thread", MetricAxis::time);
  m_read = metric("io.read", "B/s", "/proc/self/io", MetricAxis::time);
  m_written = metric("io.written", "B/s", "/proc/self/io (counts dirtying)", MetricAxis::time);
  m_diskRead = metric("disk.read", "B/s", "the block device's own counter, all processes", MetricAxis::time);
  m_diskWritten = metric("disk.written", "B/s", "the block device's own counter, all processes", MetricAxis::time);
  m_diskAmplification = metric("disk.amplification", "",
                               "bytes that the block device wrote, for all processes, over bytes of the records that "
                               "steps changed, since the start",
                               MetricAxis::time);
}

void RunObserver::phase(const std::string& name) {
  m_phase = name;
  m_sampler->sampleNow();
  if (m_options.progress) m_options.progress(RunProgressLine{name, true, m_step, m_setup.plannedSteps, 0, 0, 0, 0});
}

void RunObserver::tablesReady(const Tables& tables) {
  m_step = tables.step();
  auto begun = m_recorder.beginAttempt(tables.step());
  if (!begun) m_attempt = tl::unexpected(begun.error());
  switch (tables.recovery()) {
    case Recovery::clean:
      break;
    case Recovery::lastStep:
      m_recorder.event("recovery", fmt::format("killed earlier; the table stands whole after step {}", tables.step()),
                       tables.step());
      break;
    case Recovery::lastCheckpoint:
      m_recorder.event("recovery",
                       fmt::format("the run was killed or the machine went down; it goes on from the checkpoint of "
                                   "step {}",
                                   tables.step()),
                       tables.step());
      break;
    case Recovery::fromStart: {
      const std::string text =
          "the machine went down and durability was \"process\": training starts again from step 0. Use --durability "
          "power to keep checkpoints";
      m_recorder.event("recovery", text, 0);
      if (m_options.note) m_options.note(text);
      break;
    }
  }
  m_sampler->setFiles(tables.files());
  m_tables = &tables;
  m_recording = true;
}

void RunObserver::onSnapshot(const MetricSnapshot& snapshot) {
  if (!m_recording) return;
  const std::uint64_t step = m_step.load(std::memory_order_relaxed);
  const auto put = [&](Recorder::Metric metric, const auto& value) {
    if (value) m_recorder.sample(step, metric, static_cast<double>(*value));
  };
  if (snapshot.process.memory)
    m_recorder.sample(step, m_private, static_cast<double>(snapshot.process.memory->privateBytes()));
  put(m_cache, snapshot.cacheBytes);
  if (m_before) {
    const MetricRates rates = ratesBetween(*m_before, snapshot);
    put(m_minor, rates.minorFaults);
    put(m_major, rates.majorFaults);
    put(m_demand, rates.demandFaults);
    put(m_read, rates.processReadBytes);
    put(m_written, rates.processWrittenBytes);
    put(m_diskRead, rates.diskReadBytes);
    put(m_diskWritten, rates.diskWrittenBytes);
  }
  if (snapshot.disk) {
    if (!m_diskWrittenAtStart) m_diskWrittenAtStart = snapshot.disk->writtenBytes;
    const auto changed = static_cast<double>(m_rowBytes.load(std::memory_order_relaxed));
    if (changed > 0) {
      m_recorder.sample(step, m_diskAmplification,
                        static_cast<double>(snapshot.disk->writtenBytes - *m_diskWrittenAtStart) / changed);
    }
  }
  m_before = snapshot;
}

void RunObserver::stepped(const StepReport& report) {
  m_step.store(report.step, std::memory_order_relaxed);
  m_lossSum += report.loss;
  ++m_lossSteps;
  m_rows += report.rows;
  m_rowBytes.fetch_add(report.rowBytes, std::memory_order_relaxed);
  m_samples += report.samples;
  m_stall += report.stallSeconds;
  if (m_lastTick < 0 || report.seconds - m_lastTick >= kTick || report.step == m_setup.plannedSteps) tick(report);
}

void RunObserver::between(const Tables& tables) {
  if (!m_recorder.watched()) return;
  if (auto sample = m_embedding.whenDue(tables)) m_recorder.embedding(std::move(*sample));
}

// Also where nobody watched: a finished run's points can be looked at when its table is gone.
void RunObserver::ending(const Tables& tables) { m_recorder.embedding(m_embedding.now(tables)); }

void RunObserver::tick(const StepReport& report) {
  const double seconds = m_lastTick < 0 ? 0 : report.seconds - m_lastTick;
  const double loss = m_lossSum / static_cast<double>(m_lossSteps);
  m_recorder.sample(report.step, m_loss, loss);
  m_recorder.sample(report.step, m_lr, report.lr);
  if (report.deviceBytes > 0) {
    m_recorder.sample(report.step, m_device, static_cast<double>(report.deviceBytes));
    m_devicePeak = std::max(m_devicePeak, report.deviceBytes);
  }
  if (seconds > 0) {
    m_recorder.sample(report.step, m_rate, static_cast<double>(m_samples) / seconds);
    m_recorder.sample(report.step, m_rowRate, static_cast<double>(m_rows) / seconds);
    m_recorder.sample(report.step, m_stallShare, 100 * m_stall / seconds);
    sampleTraffic(report.step, seconds);
  }
  const MetricPeaks peaks = m_sampler->peaks();
  RunProgress progress;
  progress.step = report.step;
  progress.epoch = static_cast<double>(report.step) / static_cast<double>(m_setup.stepsPerEpoch);
  progress.lossLast = loss;
  progress.privatePeak = peaks.privateBytes;
  progress.cachePeak = peaks.cacheBytes;
  if (m_devicePeak > 0) progress.devicePeak = m_devicePeak;
  progress.seconds = m_earlierSeconds + report.seconds;
  m_recorder.updateProgress(progress);
  if (m_options.progress) {
    m_options.progress(RunProgressLine{m_phase, false, report.step, m_setup.plannedSteps, *progress.epoch, loss,
                                       report.seconds, seconds > 0 ? static_cast<double>(m_samples) / seconds : 0});
  }
  m_lossSum = 0;
  m_lossSteps = m_rows = m_samples = 0;
  m_stall = 0;
  m_lastTick = report.seconds;
}

void RunObserver::sampleTraffic(std::uint64_t step, double seconds) {
  const TableTraffic traffic = m_tables->traffic();
  const auto declared = [&](std::optional<Recorder::Metric>& metric, const char* name, const char* unit,
                            const char* source) {
    if (!metric) metric = m_recorder.metric(MetricInfo{0, name, unit, source, MetricAxis::step});
    return *metric;
  };
  const auto rate = [&](const std::optional<std::uint64_t>& now, const std::optional<std::uint64_t>& before) {
    return static_cast<double>(*now - before.value_or(0)) / seconds;
  };
  if (traffic.prefetched) {
    m_recorder.sample(step,
                      declared(m_prefetched, "rows.prefetched", "1/s",
                               "rows of coming steps that the store asked for ahead (mmap) or brought in (direct)"),
                      rate(traffic.prefetched, m_traffic.prefetched));
  }
  if (traffic.budget) {
    m_recorder.sample(step, declared(m_budget, "memory.budget", "B", "the spec or an order; 0 = none"),
                      static_cast<double>(*traffic.budget));
  }
  if (traffic.cacheBytes) {
    m_recorder.sample(step, declared(m_rowCache, "memory.row_cache", "B", "own count; part of the private memory"),
                      static_cast<double>(*traffic.cacheBytes));
  }
  if (traffic.written) {
    m_recorder.sample(step, declared(m_tableWritten, "table.written", "B/s", "own count of O_DIRECT writes"),
                      rate(traffic.written, m_traffic.written));
    // Bytes to the disk for each byte of records that steps changed.
    if (const std::uint64_t changed = m_rowBytes.load(std::memory_order_relaxed); changed > 0) {
      m_recorder.sample(step,
                        declared(m_amplification, "table.amplification", "",
                                 "bytes written over bytes of the records that steps changed, since the start"),
                        static_cast<double>(*traffic.written) / static_cast<double>(changed));
    }
  }
  m_traffic = traffic;
}

void RunObserver::evaluated(std::uint64_t, const EvalMetrics& metrics) {
  const std::uint64_t step = m_step.load(std::memory_order_relaxed);
  const nlohmann::ordered_json figures = metricsJson(metrics);
  for (const auto& [name, value] : figures.items()) {
    if (!name.starts_with("queries"))
      m_recorder.sample(step, m_recorder.metric(MetricInfo{0, "eval." + name, "", "evaluation", MetricAxis::step}),
                        value.get<double>());
  }
}

std::vector<Order> RunObserver::orders() {
  std::vector<Order> orders;
  for (const CommandRow& command : m_recorder.takeCommands()) {
    if (command.kind == CommandKind::pause || command.kind == CommandKind::stepOne)
      m_recorder.setStatus(RunStatus::paused);
    if (command.kind == CommandKind::resume) m_recorder.setStatus(RunStatus::running);
    orders.push_back(
        Order{orderOf(command.kind), static_cast<std::uint64_t>(command.value.value_or(0)),
              [this, command](const std::string& answer) { m_recorder.answerCommand(command, answer, m_step); }});
  }
  return orders;
}

RunResources RunObserver::resources() {
  const MetricSnapshot now = m_sampler->sampleNow();
  RunResources r;
  r.privatePeak = m_sampler->peaks().privateBytes;
  r.cachePeak = m_sampler->peaks().cacheBytes;
  if (now.process.faults && m_faultsAtStart) {
    r.faults = FaultCounts{now.process.faults->minor - m_faultsAtStart->minor,
                           now.process.faults->major - m_faultsAtStart->major};
  }
  if (now.process.io && m_ioAtStart) {
    r.io = ProcessIo{now.process.io->readBytes - m_ioAtStart->readBytes,
                     now.process.io->writeBytes - m_ioAtStart->writeBytes};
  }
  return r;
}

}  // namespace dsa
