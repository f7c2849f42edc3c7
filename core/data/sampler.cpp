// SPDX-License-Identifier: Apache-2.0
#include "core/data/sampler.h"

#include <algorithm>
#include <bit>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/rows/elementary.h"

namespace dsa {

namespace {

// A negative that is a true ancestor is drawn again, this often at most: beyond it a hub has nearly every node below
// it.
constexpr std::uint32_t kTries = 16;

std::uint64_t mix(std::uint64_t x) {  // splitmix64's finalizer
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t permuted(std::uint64_t index, std::uint64_t n, std::uint64_t key) {
  DSA_CHECK(index < n);
  const int bits = std::max(2, static_cast<int>(std::bit_width(n - 1)));
  const int half = (bits + 1) / 2;
  const std::uint64_t mask = (1ull << half) - 1;
  std::uint64_t x = index;
  do {
    std::uint64_t left = x >> half;
    std::uint64_t right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (mix(right + key * 0x9E3779B97F4A7C15ull + (round << 56)) & mask);
      left = right;
      right = next;
    }
    x = (left << half) | right;
  } while (x >= n);
  return x;
}

ZipfLaw::ZipfLaw(std::uint64_t n, double exponent) : m_n(static_cast<double>(n)), m_exponent(exponent) {
  m_low = integral(1.5) - 1.0;
  m_high = integral(m_n + 0.5);
  m_cut = 2.0 - inverse(integral(2.5) - density(2.0));
}

double ZipfLaw::integral(double x) const {
  const double logX = math::log(x);
  const double a = (1.0 - m_exponent) * logX;
  // (e^a - 1)/a -> 1 near exponent 1.
  return (math::absolute(a) < 1e-8 ? 1.0 + a / 2.0 : math::expm1(a) / a) * logX;
}

double ZipfLaw::inverse(double u) const {
  const double a = math::greater(u * (1.0 - m_exponent), -1.0);
  return math::exp((math::absolute(a) < 1e-8 ? 1.0 - a / 2.0 : math::log1p(a) / a) * u);
}

double ZipfLaw::density(double x) const { return math::exp(-m_exponent * math::log(x)); }

std::uint64_t ZipfLaw::draw(std::uint64_t seed, std::uint64_t step, std::uint32_t slot) const {
  for (std::uint32_t attempt = 0;; ++attempt) {
    const Random4 r = philox(seed, Stream::pairs, step, slot + (attempt << 24));
    const double u = m_high + unitFrom(r.word[0], r.word[1]) * (m_low - m_high);
    const double x = inverse(u);
    const double k = math::greater(1.0, math::lesser(math::nearest(x), m_n));
    if (k - x <= m_cut || u >= integral(k + 0.5) - density(k) || attempt == 200) {
      return static_cast<std::uint64_t>(k) - 1;
    }
  }
}

Sampler::Sampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options)
    : m_dataset(std::move(dataset)), m_options(options) {
  const bool pairs = m_dataset->kind == DatasetKind::pairs;
  m_samples = pairs ? m_dataset->zipf.rows : m_dataset->train.size();
  DSA_CHECK(m_samples > 0 && m_dataset->entityCount >= 2 && options.batch > 0);
  DSA_CHECK(std::uint64_t{options.batch} * (2ull + options.negatives) < (1ull << 24));
  m_stepsPerEpoch = (m_samples + options.batch - 1) / options.batch;
  if (pairs) m_law = ZipfLaw(m_dataset->zipf.rows, m_dataset->zipf.exponent);
  if (m_dataset->kind != DatasetKind::hierarchy) return;
  m_tailStart.assign(m_dataset->entityCount + 1, 0);
  for (const Edge& edge : m_dataset->train) ++m_tailStart[edge.head + 1];
  for (std::size_t i = 1; i < m_tailStart.size(); ++i) m_tailStart[i] += m_tailStart[i - 1];
  m_tails.resize(m_dataset->train.size());
  std::vector<std::uint32_t> next(m_tailStart.begin(), m_tailStart.end() - 1);
  for (const Edge& edge : m_dataset->train) m_tails[next[edge.head]++] = edge.tail;
  for (std::size_t i = 0; i + 1 < m_tailStart.size(); ++i) {
    std::sort(m_tails.begin() + m_tailStart[i], m_tails.begin() + m_tailStart[i + 1]);
  }
}

bool Sampler::isAncestor(std::uint64_t head, std::uint64_t tail) const {
  return std::binary_search(m_tails.begin() + m_tailStart[head], m_tails.begin() + m_tailStart[head + 1],
                            static_cast<std::uint32_t>(tail));
}

std::uint64_t Sampler::negative(std::uint64_t step, std::uint32_t slot, std::uint64_t fixed,
                                std::uint64_t truth) const {
  const std::uint64_t n = m_dataset->entityCount;
  std::uint64_t id = 0;
  for (std::uint32_t attempt = 0; attempt < kTries; attempt += 2) {
    const Random4 r = philox(m_options.seed, Stream::negatives, step, slot + (attempt << 24));
    for (const int half : {0, 2}) {
      id = belowFrom(r.word[half], r.word[half + 1], n);
      if (id == truth || id == fixed) continue;
      if (m_dataset->kind == DatasetKind::hierarchy && isAncestor(fixed, id)) continue;
      return id;
    }
  }
  return id;
}

void Sampler::drawPair(std::uint64_t step, std::uint32_t sample, std::uint64_t* slots) const {
  const ZipfSpec& zipf = m_dataset->zipf;
  const std::uint64_t u = m_law.draw(m_options.seed, step, 2 * sample);
  const std::uint64_t other = m_law.draw(m_options.seed, step, 2 * sample + 1);
  // The partner: the drawn rank moved to u's cluster, so that it is about as frequent as drawn.
  std::uint64_t v = other - other % zipf.clusters + u % zipf.clusters;
  if (v >= zipf.rows) v -= zipf.clusters;
  if (v == u)
    v = u + zipf.clusters < zipf.rows ? u + zipf.clusters
                                      : (u >= zipf.clusters ? u - zipf.clusters : (u + 1) % zipf.rows);
  // Ranks are scattered over the table: frequent rows do not lie side by side.
  slots[0] = permuted(u, zipf.rows, 0x5A697066);
  slots[1] = permuted(v, zipf.rows, 0x5A697066);
}

void Sampler::drawEdge(std::uint64_t step, std::uint32_t sample, std::uint64_t index, Batch& out) const {
  const std::uint64_t epoch = step / m_stepsPerEpoch;
  const Random4 key = philox(m_options.seed, Stream::shuffle, epoch, 0);
  const std::uint64_t which = permuted(index, m_samples, (std::uint64_t{key.word[1]} << 32) | key.word[0]);
  const Edge& edge = m_dataset->train[which];
  std::uint64_t* const slots = out.entities.data() + std::uint64_t{sample} * out.slotsPerSample;
  slots[0] = edge.head;
  slots[1] = edge.tail;
  if (m_dataset->kind == DatasetKind::graph) {
    out.relations[sample] = edge.relation;
    const bool heads = (philox(m_options.seed, Stream::side, step, sample).word[0] & 1) != 0;
    out.headsCorrupted[sample] = heads ? 1 : 0;
    if (heads) std::swap(slots[0], slots[1]);
  }
  if (!out.weights.empty()) out.weights[sample] = static_cast<float>(m_dataset->trainWeights[which]);
}

void Sampler::draw(std::uint64_t step, Batch& out) const {
  const std::uint64_t first = step % m_stepsPerEpoch * m_options.batch;
  const bool pairs = m_dataset->kind == DatasetKind::pairs;
  const bool graph = m_dataset->kind == DatasetKind::graph;
  out.step = step;
  out.samples = static_cast<std::uint32_t>(std::min<std::uint64_t>(m_options.batch, m_samples - first));
  out.slotsPerSample = 2 + m_options.negatives;
  out.entities.resize(std::uint64_t{out.samples} * out.slotsPerSample);
  out.relations.resize(graph ? out.samples : 0);
  out.headsCorrupted.resize(graph ? out.samples : 0);
  out.weights.resize(m_dataset->trainWeights.empty() ? 0 : out.samples);
  for (std::uint32_t sample = 0; sample < out.samples; ++sample) {
    std::uint64_t* const slots = out.entities.data() + std::uint64_t{sample} * out.slotsPerSample;
    if (pairs) {
      drawPair(step, sample, slots);
    } else {
      drawEdge(step, sample, first + sample, out);
    }
    for (std::uint32_t j = 0; j < m_options.negatives; ++j) {
      slots[2 + j] = negative(step, sample * m_options.negatives + j, slots[0], slots[1]);
    }
  }
}

}  // namespace dsa
