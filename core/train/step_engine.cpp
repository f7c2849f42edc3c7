// SPDX-License-Identifier: Apache-2.0
#include "core/train/step_engine.h"

#include <algorithm>
#include <chrono>

#include "core/train/card_step.h"
#include "core/train/host_step.h"

namespace dsa {

namespace {

// Floats of a task, gathered: less would be mostly the start of the loop (about 2 us over two threads).
constexpr std::uint64_t kFloatsGathered = 8192;

}  // namespace

Result<std::unique_ptr<StepEngine>> StepEngine::make(const Options& options, const std::shared_ptr<Device>& device,
                                                     ThreadPool& pool) {
  if (device->card() != nullptr) return CardStep::make(options, device, pool);
  return HostStep::make(options, device, pool);
}

Result<void> StepEngine::stage(const PreparedBatch& batch, Tables& tables) {
  m_counts.assign(batch.tables.size(), 0);
  for (std::uint32_t t = 0; t < batch.tables.size(); ++t) {
    const std::vector<std::uint64_t>& rows = batch.tables[t].ids();
    std::copy(rows.begin(), rows.end(), tables.ids(t));
    m_counts[t] = rows.size();
  }
  const auto waiting = std::chrono::steady_clock::now();
  DSA_TRY(tables.stage(m_counts, batch.ticket));
  m_stageSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - waiting).count();
  return {};
}

void StepEngine::gather(const Tables& tables, std::uint32_t t, std::uint64_t begin, std::uint64_t end,
                        std::uint64_t width, float* values) const {
  m_pool.parallelFor(end - begin, std::max<std::uint64_t>(1, kFloatsGathered / width),
                     [&](std::uint64_t from, std::uint64_t to, unsigned) {
                       for (std::uint64_t i = begin + from; i < begin + to; ++i)
                         tables.staged(t, i, {values + i * width, width});
                     });
}

void StepEngine::sumLosses(const double* losses, std::uint32_t samples) {
  m_lossSum = 0;
  for (std::uint32_t i = 0; i < samples; ++i) m_lossSum += losses[i];
}

CardStepShape StepEngine::cardShape() const {
  CardStepShape shape;
  shape.batch = m_options.batch;
  shape.slotsPerSample = m_options.slotsPerSample;
  shape.dim = m_options.dim;
  shape.tables = hasRelations(m_options.model) ? 2 : 1;
  shape.tablesOnCard = m_options.tablesOnDevice;
  shape.updatesOnCard = m_options.updatesOnDevice;
  for (std::uint32_t t = 0; t < shape.tables; ++t) shape.recordFloats[t] = m_options.recordFloats[t];
  return shape;
}

}  // namespace dsa
