// SPDX-License-Identifier: Apache-2.0
#include "core/train/host_step.h"

#include <algorithm>

namespace dsa {

namespace {

// Floats of work below which one thread is quicker: a loop over two threads costs about 2 us to start.
constexpr std::uint64_t kFloatsForThreads = 16384;

}  // namespace

Result<std::unique_ptr<StepEngine>> HostStep::make(const Options& options, const std::shared_ptr<Device>& device,
                                                   ThreadPool& pool) {
  std::unique_ptr<HostStep> engine(new HostStep(options, pool));
  DSA_TRY(engine->allocate(device));
  engine->m_kernels = modelKernels(options.model, options.level);
  engine->m_losses.resize(options.batch);
  const std::uint32_t candidates = options.slotsPerSample - 1;
  engine->m_scratch.assign(pool.threads(), std::vector<double>(4ull * candidates));
  engine->m_candidates.assign(pool.threads(), std::vector<const float*>(candidates));
  engine->m_candidateGradients.assign(pool.threads(), std::vector<float*>(candidates));
  return std::unique_ptr<StepEngine>(std::move(engine));
}

Result<void> HostStep::allocate(const std::shared_ptr<Device>& device) {
  const CardStepShape shape = cardShape();
  const CardStepBytes bytes = cardStepBytes(shape);
  const auto standIn = [&](std::uint64_t size, Purpose purpose) -> Result<void> {
    if (size == 0 || !device->hasOwnMemory()) return {};
    DSA_ASSIGN(DeviceBuffer buffer, device->allocate(size, purpose));
    m_standIns.push_back(std::move(buffer));
    return {};
  };
  for (std::uint32_t t = 0; t < shape.tables; ++t) {
    DSA_ASSIGN(DeviceBuffer weights, device->allocate(bytes.weights[t], Purpose::batch));
    DSA_ASSIGN(DeviceBuffer gradients, device->allocate(bytes.slotGradients[t], Purpose::model));
    m_weights.push_back(std::move(weights));
    m_slotGradients.push_back(std::move(gradients));
    DSA_TRY(standIn(bytes.moments[t], Purpose::moments));
    DSA_TRY(standIn(bytes.rowGradients[t], Purpose::batch));
  }
  DSA_TRY(standIn(bytes.index, Purpose::batch));
  DSA_TRY(standIn(bytes.losses, Purpose::model));
  DSA_TRY(standIn(bytes.scratch, Purpose::model));
  return standIn(bytes.notFinite, Purpose::workspace);
}

float* HostStep::slotGradient(const PreparedBatch& batch, Tables& tables, std::uint32_t t, std::uint32_t slot) const {
  // A row with one slot gets its gradient in place; several are written apart and added in sample order.
  const std::uint64_t place = batch.tables[t].single(slot) ? batch.tables[t].rowOfSlot()[slot] : slot;
  float* const base = batch.tables[t].single(slot) ? tables.grads(t) : m_slotGradients[t].as<float>();
  return base + place * m_options.dim;
}

void HostStep::samples(const PreparedBatch& prepared, Tables& tables, std::uint64_t begin, std::uint64_t end,
                       unsigned worker) {
  const Batch& batch = prepared.batch;
  const std::uint32_t dim = m_options.dim;
  const bool relations = prepared.tables.size() > 1;
  const float* const weights = m_weights[0].as<float>();
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
      rows.relation = m_weights[1].as<float>() + std::uint64_t{prepared.tables[1].rowOfSlot()[slot]} * dim;
      out.relation = slotGradient(prepared, tables, 1, slot);
    }
    rows.candidatesAreHeads = !batch.headsCorrupted.empty() && batch.headsCorrupted[sample] != 0;
    const double weight = batch.weights.empty() ? 1.0 : static_cast<double>(batch.weights[sample]);
    const double scale = m_options.meanReduction ? weight / batch.samples : weight;
    m_losses[sample] = m_kernels.sample(rows, out, scale, m_scratch[worker].data());
  }
}

void HostStep::sumDuplicates(const PreparedBatch& batch, Tables& tables, std::uint32_t t) {
  const BatchIndex& index = batch.tables[t];
  const std::uint32_t dim = m_options.dim;
  const float* const slots = m_slotGradients[t].as<float>();
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

Result<void> HostStep::compute(const PreparedBatch& batch, const PreparedBatch*, Tables& tables) {
  DSA_TRY(stage(batch, tables));
  for (std::uint32_t t = 0; t < batch.tables.size(); ++t)
    gather(tables, t, 0, counts()[t], m_options.dim, m_weights[t].as<float>());
  const std::uint64_t floats = std::uint64_t{batch.batch.slotsPerSample} * m_options.dim;
  const std::uint64_t grain = std::max<std::uint64_t>(1, kFloatsForThreads / 4 / floats);
  m_pool.parallelFor(batch.batch.samples, grain, [&](std::uint64_t begin, std::uint64_t end, unsigned worker) {
    samples(batch, tables, begin, end, worker);
  });
  for (std::uint32_t t = 0; t < batch.tables.size(); ++t) sumDuplicates(batch, tables, t);
  sumLosses(m_losses.data(), batch.batch.samples);
  return {};
}

}  // namespace dsa
