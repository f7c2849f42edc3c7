// SPDX-License-Identifier: Apache-2.0
#include "core/train/trainer.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>

#include "core/eval/card_ranking.h"
#include "core/metrics/process_sampler.h"
#include "core/optim/cold_steps.h"
#include "core/train/table_hash.h"

namespace dsa {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// How often orders are looked for; design.md allows 250 ms.
constexpr double kOrderInterval = 0.02;
constexpr std::uint64_t kManyNodes = 20000;
constexpr std::uint64_t kSampledNodes = 1000;

/// What a step commits besides rows. Fits StateBlob; version first.
struct RunState {
  std::uint64_t version = 1;
  double intervalLoss = 0;  ///< sum over the samples of the present loss interval
  std::uint64_t intervalSamples = 0;
};

StateBlob toBlob(const RunState& state) {
  StateBlob blob;
  std::memcpy(blob.bytes, &state, sizeof state);
  return blob;
}

RunState fromBlob(const StateBlob& blob) {
  RunState state;
  std::memcpy(&state, blob.bytes, sizeof state);
  return state;
}

/// The look-ahead's depth: enough for the journal's disk to keep up, at most a few MB of ids.
std::size_t depthFor(const RunSetup& setup) {
  const std::uint64_t slots = setup.spec.train.batch * (2 + setup.spec.train.negatives);
  return std::clamp<std::size_t>(65536 / slots, 8, 64);
}

/// What a user asked for and cannot have is an answer; what the machine refuses ends the run.
Result<void> answering(Result<void> done, std::string& answer) {
  if (done || done.error().code != ErrorCode::usage) return done;
  answer = done.error().message;
  return {};
}

class Training {
 public:
  Training(const RunSetup& setup, const TrainOptions& options, TrainObserver& observer)
      : m_setup(setup),
        m_options(options),
        m_observer(observer),
        m_begin(Clock::now()),
        m_pool(static_cast<unsigned>(std::min<std::uint64_t>(setup.spec.train.threads, kMaxWorkers))) {}

  Result<TrainOutcome> run() {
    DSA_ASSIGN(m_level, chooseLevel());
    DSA_ASSIGN(m_device, makeDevice(m_setup.spec));
    DSA_TRY(openTables());
    DSA_TRY(makeEngine());
    DSA_TRY(makeRankMemory());
    m_observer.tablesReady(*m_tables);
    m_out.startStep = m_tables->step();
    m_state = fromBlob(m_tables->state());
    if (m_tables->step() == 0) m_state = RunState{};
    m_observer.phase("training");
    DSA_TRY(loop());
    return finish();
  }

 private:
  Result<void> openTables();
  Result<void> makeEngine();
  Result<void> makeRankMemory();
  Result<void> loop();
  Result<void> oneStep(std::deque<std::unique_ptr<PreparedBatch>>& queue, LookAhead& ahead);
  Result<void> afterStep(std::deque<std::unique_ptr<PreparedBatch>>& queue);
  Result<void> checkpoint(std::deque<std::unique_ptr<PreparedBatch>>& queue);
  Result<void> obey(std::deque<std::unique_ptr<PreparedBatch>>& queue);
  Result<void> evaluateNow(std::uint64_t epoch);
  Result<TrainOutcome> finish();
  void announce(PreparedBatch& batch);
  /// After what makes tickets void.
  void announceAgain(const std::deque<std::unique_ptr<PreparedBatch>>& queue) {
    for (const auto& batch : queue) announce(*batch);
  }
  void letLook();
  [[nodiscard]] bool stopAsked() const {
    return m_stop || (m_options.stop != nullptr && m_options.stop->load(std::memory_order_relaxed));
  }
  [[nodiscard]] Error badGradient(const BadGradient& bad) const;

  const RunSetup& m_setup;
  const TrainOptions& m_options;
  TrainObserver& m_observer;
  const Clock::time_point m_begin;
  ThreadPool m_pool;
  KernelLevel m_level = KernelLevel::scalar;
  std::shared_ptr<Device> m_device;
  std::unique_ptr<Tables> m_tables;
  std::unique_ptr<StepEngine> m_engine;
  std::unique_ptr<CardRankMemory> m_rankMemory;
  RunState m_state;
  ColdSteps m_coldSteps;
  bool m_stop = false;
  bool m_paused = false;
  std::uint64_t m_stepsWhilePaused = 0;
  double m_lastOrders = 0;
  double m_lastCheckpoint = 0;
  double m_notTraining = 0;  // seconds of evaluation and pauses
  Clock::time_point m_loopBegin;
  std::optional<std::uint64_t> m_evaluatedAt;
  TrainOutcome m_out;
};

Result<void> Training::openTables() {
  const RowKernels kernels = rowKernels(m_level);
  if (m_setup.spec.optimizer.placement != PlacementChoice::disk) {
    m_observer.phase("filling the table");
    const bool onDevice = m_setup.spec.optimizer.placement == PlacementChoice::gpu;
    DSA_ASSIGN(m_tables, makeMemoryTables(m_setup.shape, onDevice ? m_device : Device::cpu(), kernels, m_pool));
    return {};
  }
  if (!std::filesystem::exists(m_options.folder + "/store.dsa"))
    DSA_TRY(RowStore::create(m_options.folder, m_setup.shape));
  DSA_ASSIGN(m_tables, openDiskTables(m_options.folder, diskOptionsOf(m_setup.spec), kernels));
  const StoreShape& found = m_tables->shape();
  bool same = found.seed == m_setup.shape.seed && found.tables.size() == m_setup.shape.tables.size() &&
              found.lossCapacity == m_setup.shape.lossCapacity;
  for (std::size_t t = 0; same && t < found.tables.size(); ++t) {
    const TableShape& a = found.tables[t];
    const TableShape& b = m_setup.shape.tables[t];
    same = a.rows == b.rows && a.dim == b.dim && a.rule == b.rule && a.initScale == b.initScale &&
           a.stepCapacity == b.stepCapacity;
  }
  if (!same) {
    return fail(ErrorCode::input,
                "{}: holds a table of another shape ({} rows x {}, expected {} x {}); nothing was changed. Choose "
                "another cache folder",
                m_options.folder, found.tables[0].rows, found.tables[0].dim, m_setup.shape.tables[0].rows,
                m_setup.shape.tables[0].dim);
  }
  return {};
}

Result<void> Training::makeEngine() {
  StepEngine::Options options;
  options.model = m_setup.model;
  options.level = m_level;
  options.k = m_setup.spec.k;
  options.dim = static_cast<std::uint32_t>(m_setup.spec.dim);
  options.batch = static_cast<std::uint32_t>(m_setup.spec.train.batch);
  options.slotsPerSample = static_cast<std::uint32_t>(2 + m_setup.spec.train.negatives);
  options.meanReduction = m_setup.spec.optimizer.reduction == ReductionChoice::mean;
  options.tablesOnDevice = m_setup.spec.optimizer.placement == PlacementChoice::gpu;
  options.updatesOnDevice = !options.tablesOnDevice && m_setup.spec.optimizer.update == UpdateChoice::device;
  for (std::size_t t = 0; t < m_setup.shape.tables.size(); ++t)
    options.recordFloats[t] = m_setup.shape.tables[t].recordFloats();
  DSA_ASSIGN(m_engine, StepEngine::make(options, m_device, m_pool));
  return {};
}

/// Where a device has memory of its own, evaluations there take some.
Result<void> Training::makeRankMemory() {
  if (!m_device->hasOwnMemory() || m_setup.facts.kind == DatasetFacts::Kind::pairs) return {};
  const bool onCard = m_setup.spec.optimizer.placement == PlacementChoice::gpu;
  DSA_ASSIGN(m_rankMemory, CardRankMemory::make({m_setup.facts.entities, m_setup.spec.dim, onCard}, m_device));
  m_rankMemory->entities = m_tables->onCard(0);
  if (m_tables->shape().tables.size() > 1) m_rankMemory->relations = m_tables->onCard(1);
  return {};
}

void Training::announce(PreparedBatch& batch) {
  if (!m_tables->wantsRows()) return;
  StepRows rows;
  for (const BatchIndex& index : batch.tables) rows.push_back(index.ids());
  batch.ticket = m_tables->announce(rows);
}

Result<void> Training::loop() {
  const std::uint64_t first = m_tables->step();
  m_loopBegin = Clock::now();
  if (first >= m_setup.plannedSteps) return {};
  SamplerOptions sampling;
  sampling.seed = m_setup.spec.train.seed;
  sampling.batch = static_cast<std::uint32_t>(m_setup.spec.train.batch);
  sampling.negatives = static_cast<std::uint32_t>(m_setup.spec.train.negatives);
  auto sampler = std::make_shared<const Sampler>(m_setup.dataset, sampling);
  LookAhead ahead(std::move(sampler), static_cast<std::uint32_t>(m_setup.shape.tables.size()), first,
                  m_setup.plannedSteps, depthFor(m_setup), [this](const PreparedBatch& batch) {
                    if (!m_coldSteps.cold()) return;
                    for (std::uint32_t t = 0; t < batch.tables.size(); ++t)
                      m_tables->prefetch(t, batch.tables[t].ids());
                  });
  std::deque<std::unique_ptr<PreparedBatch>> queue;
  while (m_tables->step() < m_setup.plannedSteps) {
    DSA_TRY(obey(queue));
    if (stopAsked()) {
      m_out.stopped = true;
      break;
    }
    DSA_TRY(oneStep(queue, ahead));
    letLook();
    DSA_TRY(afterStep(queue));
  }
  m_out.seconds = secondsSince(m_loopBegin) - m_notTraining;
  return {};
}

void Training::letLook() {
  const Clock::time_point begin = Clock::now();
  m_observer.between(*m_tables);
  m_notTraining += secondsSince(begin);
}

Error Training::badGradient(const BadGradient& bad) const {
  const std::uint64_t row = m_tables->ids(bad.table)[bad.place];
  const Vocabulary& names = bad.table == 0 ? m_setup.dataset->entities : m_setup.dataset->relations;
  return Error{ErrorCode::input,
               fmt::format("step {}: the gradient of {} row {} (\"{}\") is not finite. No row of this batch was "
                           "written: the table stands as after step {}. Try a lower "
                           "learning rate (lr is {})",
                           m_tables->step() + 1, m_setup.shape.tables[bad.table].name, row,
                           row < names.size() ? names.name(row) : "?", m_tables->step(), m_setup.spec.optimizer.lr)};
}

Result<void> Training::oneStep(std::deque<std::unique_ptr<PreparedBatch>>& queue, LookAhead& ahead) {
  StepReport report;
  // What is ready is announced at once: the store has its rows brought in, or saved, while others are computed.
  const Clock::time_point waiting = Clock::now();
  auto ready = queue.empty() ? ahead.take() : ahead.takeReady();
  if (queue.empty()) report.waitSeconds = secondsSince(waiting);
  for (auto& batch : ready) {
    announce(*batch);
    queue.push_back(std::move(batch));
  }
  std::unique_ptr<PreparedBatch> batch = std::move(queue.front());
  queue.pop_front();
  const std::uint64_t step = m_tables->step();
  DSA_TRY(m_tables->intact());
  DSA_CHECK(batch->batch.step == step);
  const FaultCounts before = callingThreadFaults();
  const Clock::time_point computing = Clock::now();
  DSA_TRY(m_engine->compute(*batch, queue.empty() ? nullptr : queue.front().get(), *m_tables));
  report.waitSeconds += m_engine->stageSeconds();
  report.computeSeconds = secondsSince(computing) - m_engine->stageSeconds();
  DSA_TRY(m_tables->intact());  // before a gradient of zeros is blamed
  const BadGradient bad = m_engine->badGradient(*m_tables);
  if (bad.found) return tl::unexpected(badGradient(bad));

  RunState next = m_state;
  if (step % m_setup.lossInterval == 0) next = RunState{};
  next.intervalLoss += m_engine->lossSum();
  next.intervalSamples += batch->batch.samples;
  m_tables->losses()[step / m_setup.lossInterval] = next.intervalLoss / static_cast<double>(next.intervalSamples);
  std::vector<StepParams> params;
  const double lr = m_setup.schedule.at(step);
  for (const StepParams& base : m_setup.params) params.push_back(makeStep(base, step + 1, lr));
  const Clock::time_point applying = Clock::now();
  DSA_ASSIGN(const std::span<const float* const> stepped, m_engine->stepRows(params));
  DSA_TRY(m_tables->apply(m_engine->counts(), params, toBlob(next), batch->ticket, stepped, m_pool));
  report.applySeconds = secondsSince(applying);
  m_state = next;
  const bool cold = callingThreadFaults().major > before.major;
  m_coldSteps.met(cold);
  report.stallSeconds = report.waitSeconds + (cold ? report.applySeconds : 0);

  if (m_out.secondsToFirstStep == 0) m_out.secondsToFirstStep = secondsSince(m_begin);
  report.step = step + 1;
  report.samples = batch->batch.samples;
  report.loss = m_engine->lossSum() / batch->batch.samples;
  report.lr = lr;
  for (std::size_t t = 0; t < m_engine->counts().size(); ++t) {
    report.rows += m_engine->counts()[t];
    report.rowBytes += m_engine->counts()[t] * m_setup.shape.tables[t].recordFloats() * sizeof(float);
  }
  if (m_device->hasOwnMemory()) report.deviceBytes = m_device->used();
  report.seconds = secondsSince(m_begin);
  m_out.rows += report.rows;
  m_out.samples += report.samples;
  m_out.stallSeconds += report.stallSeconds;
  m_observer.stepped(report);
  ahead.give(std::move(batch));
  return {};
}

Result<void> Training::checkpoint(std::deque<std::unique_ptr<PreparedBatch>>& queue) {
  DSA_TRY(m_tables->checkpoint());
  announceAgain(queue);
  m_lastCheckpoint = secondsSince(m_begin);
  return {};
}

Result<void> Training::afterStep(std::deque<std::unique_ptr<PreparedBatch>>& queue) {
  const std::uint64_t step = m_tables->step();
  const auto& when = m_setup.spec.checkpoint;
  const bool bySteps = when.everySteps > 0 && step % when.everySteps == 0;
  const bool byTime = when.everyS > 0 && secondsSince(m_begin) - m_lastCheckpoint >= when.everyS;
  if (bySteps || byTime) DSA_TRY(checkpoint(queue));
  if (step % m_setup.stepsPerEpoch == 0 && m_setup.spec.evaluate.every > 0) {
    const std::uint64_t epoch = step / m_setup.stepsPerEpoch;
    if (epoch % m_setup.spec.evaluate.every == 0) DSA_TRY(evaluateNow(epoch));
  }
  return {};
}

Result<void> Training::obey(std::deque<std::unique_ptr<PreparedBatch>>& queue) {
  if (m_paused && m_stepsWhilePaused > 0) {
    --m_stepsWhilePaused;
    if (m_stepsWhilePaused > 0) return {};
  }
  const double now = secondsSince(m_begin);
  if (!m_paused && now - m_lastOrders < kOrderInterval) return {};
  m_lastOrders = now;
  const Clock::time_point paused = Clock::now();
  do {
    for (Order& order : m_observer.orders()) {
      std::string answer = "done";
      switch (order.kind) {
        case Order::Kind::stop:
          m_stop = true;
          answer = "stopping after this batch; the run can be resumed";
          break;
        case Order::Kind::pause:
          m_paused = true;
          break;
        case Order::Kind::resume:
          m_paused = false;
          break;
        case Order::Kind::checkpoint:
          DSA_TRY(checkpoint(queue));
          break;
        case Order::Kind::evict:
          DSA_TRY(answering(m_tables->evict(), answer));
          announceAgain(queue);
          break;
        case Order::Kind::setRamBudget:
          answer = order.value == 0
                       ? std::string("done; as the run's spec has it")
                       : fmt::format("done; at most {} of rows in memory from now on", formatBytes(order.value));
          DSA_TRY(answering(m_tables->setRamBudget(order.value), answer));
          announceAgain(queue);
          break;
        case Order::Kind::stepOne:
          m_paused = true;
          m_stepsWhilePaused = 1;
          break;
        case Order::Kind::unknown:
          answer = "not in this version";
          break;
      }
      order.answer(answer);
    }
    if (m_paused) m_observer.between(*m_tables);
    if (m_paused && m_stepsWhilePaused == 0 && !stopAsked()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (m_paused && m_stepsWhilePaused == 0 && !stopAsked());
  m_notTraining += secondsSince(paused);
  return {};
}

Result<void> Training::evaluateNow(std::uint64_t epoch) {
  const Clock::time_point begin = Clock::now();
  m_observer.phase("evaluating");
  const WeightSource entities = weightSource(*m_tables, 0);
  std::optional<WeightSource> relations;
  if (m_tables->shape().tables.size() > 1) relations = weightSource(*m_tables, 1);
  EvalOptions options;
  // Every pair of nouns would take minutes; the record says how many nodes the figures are of. `dsa eval` measures all.
  if (m_setup.facts.kind == DatasetFacts::Kind::hierarchy && m_setup.facts.entities > kManyNodes)
    options.maxQueries = kSampledNodes;
  options.shouldStop = [this] { return m_options.stop != nullptr && m_options.stop->load(std::memory_order_relaxed); };
  options.card = m_rankMemory.get();
  auto measured = evaluate(*m_setup.dataset, m_setup.model, m_setup.spec.k, entities, relations ? &*relations : nullptr,
                           m_level, m_pool, options);
  if (!measured && measured.error().code != ErrorCode::stopped) return tl::unexpected(std::move(measured).error());
  if (!measured) {
    // Stopped while measuring: not finished, even after the last step, so that a resume measures.
    m_out.stopped = true;
    m_notTraining += secondsSince(begin);
    return {};
  }
  DSA_TRY(m_tables->intact());
  m_out.metrics = *measured;
  m_evaluatedAt = m_tables->step();
  m_observer.evaluated(epoch, m_out.metrics);
  m_observer.phase("training");
  m_notTraining += secondsSince(begin);
  return {};
}

Result<TrainOutcome> Training::finish() {
  m_out.steps = m_tables->step();
  const std::uint64_t intervals = (m_out.steps + m_setup.lossInterval - 1) / m_setup.lossInterval;
  m_out.losses.assign(m_tables->losses(), m_tables->losses() + intervals);
  if (!m_out.stopped && m_evaluatedAt != m_out.steps) DSA_TRY(evaluateNow(m_out.steps / m_setup.stepsPerEpoch));
  if (m_options.hash) {
    m_observer.phase("hashing");
    DSA_ASSIGN(m_out.tableSha256, tableSha256(*m_tables, canonicalForHash(m_setup.spec)));
  }
  m_observer.phase("closing");
  m_observer.ending(*m_tables);
  m_out.tableBytes = m_tables->tableBytes();
  DSA_ASSIGN(m_out.diskBytes, m_tables->diskBytes());
  m_out.devicePeak = m_device->hasOwnMemory() ? m_device->peak() : 0;
  DSA_TRY(m_tables->close());
  return m_out;
}

}  // namespace

WeightSource weightSource(const Tables& tables, std::uint32_t t) {
  const TableShape& shape = tables.shape().tables[t];
  WeightSource source;
  source.rows = shape.rows;
  source.dim = shape.dim;
  source.read = [&tables, t](std::uint64_t begin, std::uint64_t count, float* out) -> Result<void> {
    // Rows in order must not come into the page cache by it. A single one is a page, read in place.
    if (count > 1) return tables.scanWeights(t, begin, count, out);
    tables.readWeights(t, begin, out);
    return {};
  };
  return source;
}

Result<TrainOutcome> train(const RunSetup& setup, const TrainOptions& options, TrainObserver& observer) {
  Training training(setup, options, observer);
  return training.run();
}

}  // namespace dsa
