// SPDX-License-Identifier: Apache-2.0
#include "core/train/card_step.h"

#include <algorithm>
#include <cstring>

namespace dsa {

namespace {

// Rows of a piece that is gathered while the one before it is copied.
constexpr std::uint64_t kPieceBytes = 1ull << 20;

template <class T>
void put(std::byte* memory, const CardPart& part, const std::vector<T>& values) {
  DSA_CHECK(values.size() * sizeof(T) <= part.bytes);
  if (values.empty()) return;  // weights and sides that the dataset has not
  std::memcpy(memory + part.offset, values.data(), values.size() * sizeof(T));
}

}  // namespace

Result<std::unique_ptr<StepEngine>> CardStep::make(const Options& options, const std::shared_ptr<Device>& device,
                                                   ThreadPool& pool) {
  std::unique_ptr<CardStep> engine(new CardStep(options, device, pool));
  DSA_TRY(engine->allocate());
  return std::unique_ptr<StepEngine>(std::move(engine));
}

CardStep::~CardStep() {
  // Copies from and to what goes now.
  static_cast<void>(m_card.wait(Card::Stream::copy));
  static_cast<void>(m_card.wait(Card::Stream::compute));
}

Result<void> CardStep::allocate() {
  const CardStepShape shape = cardShape();
  const CardStepBytes bytes = cardStepBytes(shape);
  m_layout = cardIndexLayout(shape);
  for (std::uint32_t t = 0; t < shape.tables; ++t) {
    DSA_ASSIGN(m_weights[t],
               m_device->allocate({{Purpose::batch, bytes.weights[t]}, {Purpose::moments, bytes.moments[t]}}));
    DSA_ASSIGN(m_slotGradients[t], m_device->allocate(bytes.slotGradients[t], Purpose::model));
    if (bytes.rowGradients[t] > 0) {
      DSA_ASSIGN(m_rowGradients[t], m_device->allocate(bytes.rowGradients[t], Purpose::batch));
      DSA_ASSIGN(m_hostRows[t], PinnedBuffer::make(m_device->card(), bytes.weights[t] + bytes.moments[t]));
    } else {
      DSA_ASSIGN(m_hostIds[t], PinnedBuffer::make(m_device->card(), shape.slotsOf(t) * sizeof(std::uint64_t)));
    }
  }
  DSA_ASSIGN(m_index, m_device->allocate(bytes.index, Purpose::batch));
  DSA_ASSIGN(m_losses, m_device->allocate(bytes.losses, Purpose::model));
  DSA_ASSIGN(m_scratch, m_device->allocate(bytes.scratch, Purpose::model));
  DSA_ASSIGN(m_notFinite, m_device->allocate(bytes.notFinite, Purpose::workspace));
  DSA_ASSIGN(m_hostIndex, PinnedBuffer::make(m_device->card(), bytes.index));
  DSA_ASSIGN(m_hostResults, PinnedBuffer::make(m_device->card(), bytes.losses + bytes.notFinite));
  return {};
}

/// Into the copy stream; the half must be free on both sides.
Result<void> CardStep::uploadIndex(const PreparedBatch& batch, std::size_t half) {
  std::byte* const memory = m_hostIndex.data() + half * m_layout.total;
  for (std::uint32_t t = 0; t < batch.tables.size(); ++t) {
    put(memory, m_layout.rowOfSlot[t], batch.tables[t].rowOfSlot());
    put(memory, m_layout.rowStart[t], batch.tables[t].rowStart());
    put(memory, m_layout.slotsByRow[t], batch.tables[t].slotsByRow());
  }
  put(memory, m_layout.sampleWeights, batch.batch.weights);
  put(memory, m_layout.headsCorrupted, batch.batch.headsCorrupted);
  return m_card.copy(m_index.data() + half * m_layout.total, memory, m_layout.total, Card::Copy::toCard,
                     Card::Stream::copy);
}

Result<void> CardStep::bringWeights(Tables& tables) {
  for (std::uint32_t t = 0; t < counts().size(); ++t) {
    if (const auto table = tables.onCard(t)) {
      std::memcpy(m_hostIds[t].data(), tables.ids(t), counts()[t] * sizeof(std::uint64_t));
      DSA_TRY(m_card.copy(reinterpret_cast<std::byte*>(table->ids), m_hostIds[t].data(),
                          counts()[t] * sizeof(std::uint64_t), Card::Copy::toCard, Card::Stream::compute));
      GatherRows work;
      work.records = table->records;
      work.stride = table->stride;
      work.ids = table->ids;
      work.count = counts()[t];
      work.out = m_weights[t].as<float>();
      work.dim = m_options.dim;
      DSA_TRY(m_card.launch({work}, Card::Stream::compute));
      continue;
    }
    const std::uint64_t rowBytes = rowFloatsOf(t) * sizeof(float);
    const std::uint64_t piece = std::max<std::uint64_t>(1, kPieceBytes / rowBytes);
    auto* const rows = reinterpret_cast<float*>(m_hostRows[t].data());
    for (std::uint64_t begin = 0; begin < counts()[t]; begin += piece) {
      const std::uint64_t end = std::min(counts()[t], begin + piece);
      gather(tables, t, begin, end, rowFloatsOf(t), rows);
      DSA_TRY(m_card.copy(m_weights[t].data() + begin * rowBytes, m_hostRows[t].data() + begin * rowBytes,
                          (end - begin) * rowBytes, Card::Copy::toCard, Card::Stream::copy));
    }
  }
  return {};
}

BatchTable CardStep::batchTable(std::uint32_t t, Tables& tables) const {
  const std::byte* const index = m_index.data() + m_half * m_layout.total;
  const auto at = [&](const CardPart& part) { return reinterpret_cast<const std::uint32_t*>(index + part.offset); };
  BatchTable table;
  table.weights = {m_weights[t].as<float>(), rowFloatsOf(t)};
  table.rowOfSlot = at(m_layout.rowOfSlot[t]);
  table.rowStart = at(m_layout.rowStart[t]);
  table.slotsByRow = at(m_layout.slotsByRow[t]);
  const auto place = tables.onCard(t);
  table.rowGradients = place ? place->grads : m_rowGradients[t].as<float>();
  table.slotGradients = m_slotGradients[t].as<float>();
  return table;
}

Result<void> CardStep::runKernels(const PreparedBatch& batch, Tables& tables) {
  const std::byte* const index = m_index.data() + m_half * m_layout.total;
  RunSamples run;
  run.model = m_options.model;
  run.entities = batchTable(0, tables);
  if (counts().size() > 1) run.relations = batchTable(1, tables);
  if (!batch.batch.weights.empty())
    run.sampleWeights = reinterpret_cast<const float*>(index + m_layout.sampleWeights.offset);
  if (!batch.batch.headsCorrupted.empty())
    run.headsCorrupted = reinterpret_cast<const std::uint8_t*>(index + m_layout.headsCorrupted.offset);
  run.losses = m_losses.as<double>();
  run.scratch = m_scratch.as<double>();
  run.k = m_options.k;
  run.samples = batch.batch.samples;
  run.slotsPerSample = batch.batch.slotsPerSample;
  run.dim = m_options.dim;
  run.meanReduction = m_options.meanReduction;
  DSA_TRY(m_card.launch({run}, Card::Stream::compute));
  // The numbers that FindBadRow lowers begin at none.
  auto* const found = reinterpret_cast<std::uint64_t*>(m_hostResults.data() + m_losses.size());
  std::fill_n(found, counts().size(), kNoBadRow);
  DSA_TRY(m_card.copy(m_notFinite.data(), reinterpret_cast<const std::byte*>(found), counts().size() * sizeof(*found),
                      Card::Copy::toCard, Card::Stream::compute));
  for (std::uint32_t t = 0; t < counts().size(); ++t) {
    const BatchTable table = batchTable(t, tables);
    DSA_TRY(m_card.launch({SumSlots{table, counts()[t], m_options.dim}}, Card::Stream::compute));
    FindBadRow find;
    find.rows = table.rowGradients;
    find.stride = m_options.dim;
    find.count = counts()[t];
    find.first = m_notFinite.as<std::uint64_t>() + t;
    find.dim = m_options.dim;
    DSA_TRY(m_card.launch({find}, Card::Stream::compute));
  }
  DSA_TRY(m_card.copy(reinterpret_cast<std::byte*>(found), m_notFinite.data(), counts().size() * sizeof(*found),
                      Card::Copy::toHost, Card::Stream::compute));
  return m_card.copy(m_hostResults.data(), m_losses.data(), batch.batch.samples * sizeof(double), Card::Copy::toHost,
                     Card::Stream::compute);
}

/// Waits for the kernels, and brings the gradients of tables that are elsewhere.
Result<void> CardStep::bringGradients(Tables& tables) {
  const std::uint64_t rowBytes = std::uint64_t{m_options.dim} * sizeof(float);
  for (std::uint32_t t = 0; t < counts().size(); ++t) {
    if (tables.onCard(t)) continue;
    DSA_TRY(m_card.copy(m_hostRows[t].data(), m_rowGradients[t].data(), counts()[t] * rowBytes, Card::Copy::toHost,
                        Card::Stream::compute));
  }
  DSA_TRY(m_card.wait(Card::Stream::compute));
  for (std::uint32_t t = 0; t < counts().size(); ++t) {
    if (tables.onCard(t)) continue;
    const auto* const from = reinterpret_cast<const float*>(m_hostRows[t].data());
    float* const to = tables.grads(t);
    m_pool.partitioned(counts()[t] * m_options.dim, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      std::copy(from + begin, from + end, to + begin);
    });
  }
  return {};
}

Result<void> CardStep::compute(const PreparedBatch& batch, const PreparedBatch* next, Tables& tables) {
  DSA_TRY(stage(batch, tables));
  if (m_uploaded == &batch && m_uploadedStep == batch.batch.step) {
    m_half = 1 - m_half;
  } else {
    DSA_TRY(m_card.wait(Card::Stream::copy));  // of a batch that was expected and did not come
    DSA_TRY(uploadIndex(batch, m_half));
  }
  m_uploaded = nullptr;
  DSA_TRY(bringWeights(tables));
  DSA_TRY(m_card.order(Card::Stream::copy, Card::Stream::compute));
  DSA_TRY(runKernels(batch, tables));
  if (next != nullptr) {
    // The step before this one, the last to read that half, was waited for.
    DSA_TRY(uploadIndex(*next, 1 - m_half));
    m_uploaded = next;
    m_uploadedStep = next->batch.step;
  }
  DSA_TRY(bringGradients(tables));
  sumLosses(reinterpret_cast<const double*>(m_hostResults.data()), batch.batch.samples);
  return {};
}

/// After compute() has brought the gradients, for whoever finishes a killed step.
Result<std::span<const float* const>> CardStep::stepRows(std::span<const StepParams> params) {
  m_stepped.clear();
  if (!m_options.updatesOnDevice) return std::span<const float* const>();
  for (std::uint32_t t = 0; t < counts().size(); ++t) {
    UpdateRowsWork work;
    work.params = params[t];
    work.records = m_weights[t].as<float>();
    work.stride = rowFloatsOf(t);
    work.grads = m_rowGradients[t].as<float>();
    work.count = counts()[t];
    DSA_TRY(m_card.launch({work}, Card::Stream::compute));
    DSA_TRY(m_card.copy(m_hostRows[t].data(), m_weights[t].data(), counts()[t] * rowFloatsOf(t) * sizeof(float),
                        Card::Copy::toHost, Card::Stream::compute));
    m_stepped.push_back(reinterpret_cast<const float*>(m_hostRows[t].data()));
  }
  DSA_TRY(m_card.wait(Card::Stream::compute));
  return std::span<const float* const>(m_stepped);
}

BadGradient CardStep::badGradient(Tables&) const {
  const auto* const found = reinterpret_cast<const std::uint64_t*>(m_hostResults.data() + m_losses.size());
  for (std::uint32_t t = 0; t < counts().size(); ++t) {
    if (found[t] != kNoBadRow) return {t, found[t], true};
  }
  return {};
}

}  // namespace dsa
