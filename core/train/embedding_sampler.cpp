// SPDX-License-Identifier: Apache-2.0
#include "core/train/embedding_sampler.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "core/data/sampler.h"

namespace dsa {

namespace {

constexpr std::uint64_t kMostRows = 2000;
// Copies of it wait in the recorder and in SQLite: 1 MiB took the demo's private peak from 18.1 to 21.2 MiB.
constexpr std::uint64_t kMostBytes = 256 << 10;
// Slots that are drawn at most: with a steep Zipf law the batches bring hardly a new row any more.
constexpr std::uint64_t kMostSlots = 1 << 18;
constexpr std::size_t kLongestName = 120;  // bytes; imported names may be whole lines

constexpr double kShortestPause = 1.0 / 8;
constexpr double kPauseOverCost = 100;
// The record is written twice, to its log and to its file.
constexpr double kBytesPerSecond = 512 << 10;

/// Distinct rows of the positive pairs of the first batches, at most `most`, rising.
std::vector<std::uint64_t> rowsOfFirstBatches(const RunSetup& setup, std::uint64_t most) {
  SamplerOptions options;
  options.seed = setup.spec.train.seed;
  options.batch = static_cast<std::uint32_t>(setup.spec.train.batch);
  options.negatives = static_cast<std::uint32_t>(setup.spec.train.negatives);
  const Sampler sampler(setup.dataset, options);
  std::unordered_set<std::uint64_t> met;
  Batch batch;
  std::uint64_t slots = 0;
  for (std::uint64_t step = 0; step < setup.plannedSteps && met.size() < most && slots < kMostSlots; ++step) {
    sampler.draw(step, batch);
    slots += batch.entities.size();
    for (std::uint32_t sample = 0; sample < batch.samples; ++sample) {
      for (std::uint32_t side = 0; side < 2 && met.size() < most; ++side)
        met.insert(batch.entities[std::uint64_t{sample} * batch.slotsPerSample + side]);
    }
  }
  std::vector<std::uint64_t> rows(met.begin(), met.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// At most kLongestName bytes, cut between characters of UTF-8.
std::string shortened(std::string name) {
  if (name.size() <= kLongestName) return name;
  std::size_t end = kLongestName;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  name.resize(end);
  return name + "\u2026";
}

}  // namespace

std::shared_ptr<const EmbeddingRows> chooseEmbeddingRows(const RunSetup& setup) {
  const TableShape& shape = setup.shape.tables.front();
  auto chosen = std::make_shared<EmbeddingRows>();
  chosen->table = shape.name;
  chosen->totalRows = shape.rows;
  chosen->dim = shape.dim;
  chosen->k = setup.spec.k;
  const std::uint64_t most =
      std::clamp<std::uint64_t>(kMostBytes / (std::uint64_t{shape.dim} * sizeof(float)), 1, kMostRows);
  if (shape.rows <= most) {
    chosen->rows.resize(shape.rows);
    for (std::uint64_t row = 0; row < shape.rows; ++row) chosen->rows[row] = row;
  } else {
    chosen->rows = rowsOfFirstBatches(setup, most);
  }
  const Vocabulary& names = setup.dataset->entities;
  if (names.isNumbered() || names.size() < shape.rows) return chosen;
  for (const std::uint64_t row : chosen->rows) chosen->labels.push_back(shortened(names.name(row)));
  return chosen;
}

double EmbeddingSampler::steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

EmbeddingSampler::EmbeddingSampler(const RunSetup& setup, Clock clock) : m_setup(setup), m_clock(std::move(clock)) {}

std::optional<EmbeddingSample> EmbeddingSampler::whenDue(const Tables& tables) {
  if (m_lastStep == tables.step() || (m_begun && m_clock() < m_next)) return std::nullopt;
  return now(tables);
}

EmbeddingSample EmbeddingSampler::now(const Tables& tables) {
  if (!m_rows) m_rows = chooseEmbeddingRows(m_setup);  // once, so not a cost that repeats
  const double begin = m_clock();
  EmbeddingSample sample;
  sample.step = tables.step();
  sample.of = m_rows;
  sample.weights.resize(m_rows->rows.size() * m_rows->dim);
  for (std::size_t i = 0; i < m_rows->rows.size(); ++i)
    tables.readWeights(0, m_rows->rows[i], sample.weights.data() + i * m_rows->dim);
  const double end = m_clock();
  double bytes =
      static_cast<double>(sample.weights.size() * sizeof(float) + m_rows->rows.size() * sizeof(std::uint64_t));
  for (const std::string& label : m_rows->labels) bytes += static_cast<double>(label.size());
  m_next = end + std::max({kShortestPause, kPauseOverCost * (end - begin), bytes / kBytesPerSecond});
  m_begun = true;
  m_lastStep = sample.step;
  return sample;
}

}  // namespace dsa
