// SPDX-License-Identifier: Apache-2.0
#include "core/train/step_engine.h"

#include <algorithm>
#include <chrono>

namespace dsa {

namespace {

// Floats of work below which one thread is quicker: a loop over two threads costs about 2 us to start.
constexpr std::uint64_t kFloatsForThreads = 16384;

}  // namespace

Result<std::unique_ptr<StepEngine>> StepEngine::make(const Options& options, const std::shared_ptr<Device>& device,
                                                     ThreadPool& pool) {
  std::unique_ptr<StepEngine> engine(new StepEngine(options, pool));
  engine->m_kernels = modelKernels(options.model, options.level);
  const std::uint64_t rowBytes = std::uint64_t{options.dim} * sizeof(float);
  const std::uint64_t slots[2] = {std::uint64_t{options.batch} * options.slotsPerSample, options.batch};
  for (std::uint32_t t = 0; t < (hasRelations(options.model) ? 2u : 1u); ++t) {
    DSA_ASSIGN(DeviceBuffer weights, device->allocate(slots[t] * rowBytes, Purpose::batch));
    DSA_ASSIGN(DeviceBuffer gradients, device->allocate(slots[t] * rowBytes, Purpose::model));
    engine->m_weights.push_back(std::move(weights));
    engine->m_slotGradients.push_back(std::move(gradients));
  }
  engine->m_losses.resize(options.batch);
  const std::uint32_t candidates = options.slotsPerSample - 1;
  engine->m_scratch.assign(pool.threads(), std::vector<double>(4ull * candidates));
  engine->m_candidates.assign(pool.threads(), std::vector<const float*>(candidates));
  engine->m_candidateGradients.assign(pool.threads(), std::vector<float*>(candidates));
  return engine;
}

Result<void> StepEngine::gather(const PreparedBatch& batch, Tables& tables) {
  const std::uint32_t dim = m_options.dim;
  for (std::uint32_t t = 0; t < batch.tables.size(); ++t) {
    const std::vector<std::uint64_t>& rows = batch.tables[t].ids();
    std::copy(rows.begin(), rows.end(), tables.ids(t));
    m_counts[t] = rows.size();
  }
  const auto waiting = std::chrono::steady_clock::now();
  DSA_TRY(tables.stage(m_counts, batch.ticket));
  m_stageSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - waiting).count();
  for (std::uint32_t t = 0; t < batch.tables.size(); ++t) {
    float* const weights = reinterpret_cast<float*>(m_weights[t].data());
    const std::uint64_t grain = std::max<std::uint64_t>(1, kFloatsForThreads / 2 / dim);
    m_pool.parallelFor(m_counts[t], grain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) tables.stagedWeights(t, i, weights + i * dim);
    });
  }
  return {};
}

float* StepEngine::slotGradient(const PreparedBatch& batch, Tables& tables, std::uint32_t t, std::uint32_t slot) const {
  // A row with one slot gets its gradient in place; several are written apart and added in sample order.
  const std::uint64_t place = batch.tables[t].single(slot) ? batch.tables[t].rowOfSlot()[slot] : slot;
  float* const base =
      batch.tables[t].single(slot) ? tables.grads(t) : reinterpret_cast<float*>(m_slotGradients[t].data());
  return base + place * m_options.dim;
}

void StepEngine::samples(const PreparedBatch& prepared, Tables& tables, std::uint64_t begin, std::uint64_t end,
                         unsigned worker) {
  const Batch& batch = prepared.batch;
  const std::uint32_t dim = m_options.dim;
  const bool relations = prepared.tables.size() > 1;
  const float* const weights = reinterpret_cast<const float*>(m_weights[0].data());
  SampleRows rows;
  rows.dim = dim;
  rows.k = m_options.k;
  rows.count = batch.slotsPerSample - 1;
  rows.candidates = m_candidates[worker].data();
  SampleGradients out;
  out.candidates = m_candidateGradients[worker].data();
  for (std::uint64_t sample = begin; sample < end; ++sample) {
    const auto first = static_cast<std::uint32_t>(sample * batch.slotsPerSample);
    const std::vector<std::uint32_t>& rowOfSlot = prepared.tables[0].rowOfSlot();
    rows.fixed = weights + std::uint64_t{rowOfSlot[first]} * dim;
    out.fixed = slotGradient(prepared, tables, 0, first);
    for (std::uint32_t c = 0; c < rows.count; ++c) {
      m_candidates[worker][c] = weights + std::uint64_t{rowOfSlot[first + 1 + c]} * dim;
      m_candidateGradients[worker][c] = slotGradient(prepared, tables, 0, first + 1 + c);
    }
    if (relations) {
      const auto slot = static_cast<std::uint32_t>(sample);
      rows.relation = reinterpret_cast<const float*>(m_weights[1].data()) +
                      std::uint64_t{prepared.tables[1].rowOfSlot()[slot]} * dim;
      out.relation = slotGradient(prepared, tables, 1, slot);
    }
    rows.candidatesAreHeads = !batch.headsCorrupted.empty() && batch.headsCorrupted[sample] != 0;
    const double weight = batch.weights.empty() ? 1.0 : static_cast<double>(batch.weights[sample]);
    const double scale = m_options.meanReduction ? weight / batch.samples : weight;
    m_losses[sample] = m_kernels.sample(rows, out, scale, m_scratch[worker].data());
  }
}

void StepEngine::sumDuplicates(const PreparedBatch& batch, Tables& tables, std::uint32_t t) {
  const BatchIndex& index = batch.tables[t];
  const std::uint32_t dim = m_options.dim;
  const float* const slots = reinterpret_cast<const float*>(m_slotGradients[t].data());
  float* const sums = tables.grads(t);
  const std::uint64_t grain = std::max<std::uint64_t>(1, kFloatsForThreads / dim);
  m_pool.parallelFor(index.ids().size(), grain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    for (std::uint64_t row = begin; row < end; ++row) {
      const std::uint32_t from = index.rowStart()[row];
      const std::uint32_t to = index.rowStart()[row + 1];
      if (to - from == 1) continue;
      float* const sum = sums + row * dim;
      std::copy_n(slots + std::uint64_t{index.slotsByRow()[from]} * dim, dim, sum);
      for (std::uint32_t s = from + 1; s < to; ++s) {
        const float* const more = slots + std::uint64_t{index.slotsByRow()[s]} * dim;
        for (std::uint32_t i = 0; i < dim; ++i) sum[i] += more[i];
      }
    }
  });
}

Result<void> StepEngine::compute(const PreparedBatch& batch, Tables& tables) {
  m_counts.assign(batch.tables.size(), 0);
  DSA_TRY(gather(batch, tables));
  const std::uint64_t floats = std::uint64_t{batch.batch.slotsPerSample} * m_options.dim;
  const std::uint64_t grain = std::max<std::uint64_t>(1, kFloatsForThreads / 4 / floats);
  m_pool.parallelFor(batch.batch.samples, grain, [&](std::uint64_t begin, std::uint64_t end, unsigned worker) {
    samples(batch, tables, begin, end, worker);
  });
  for (std::uint32_t t = 0; t < batch.tables.size(); ++t) sumDuplicates(batch, tables, t);
  m_lossSum = 0;
  for (std::uint32_t i = 0; i < batch.batch.samples; ++i) m_lossSum += m_losses[i];
  return {};
}

}  // namespace dsa
