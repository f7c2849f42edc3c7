// SPDX-License-Identifier: Apache-2.0
// Batches as a pure function of (seed, step): positives in shuffled epochs, uniform negatives, any step at any time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/data/dataset.h"

namespace dsa {

/// One batch. Slots of a sample in `entities`: the fixed side, the true candidate, then the negatives.
struct Batch {
  std::uint64_t step = 0;  ///< from 0
  std::uint32_t samples = 0;
  std::uint32_t slotsPerSample = 0;          ///< 2 + negatives
  std::vector<std::uint64_t> entities;       ///< [samples x slotsPerSample]
  std::vector<std::uint64_t> relations;      ///< [samples], empty where the model has none
  std::vector<std::uint8_t> headsCorrupted;  ///< [samples] 1: candidates are heads; empty for pairs and hierarchies
  std::vector<float> weights;                ///< [samples] of the edges, empty where they have none
};

struct SamplerOptions {
  std::uint64_t seed = 1;
  std::uint32_t batch = 10;
  std::uint32_t negatives = 50;
};

/// A permutation of [0, n) by its key: four Feistel rounds, walking cycles. O(1) memory; the same on every machine.
[[nodiscard]] std::uint64_t permuted(std::uint64_t index, std::uint64_t n, std::uint64_t key);

/// Draws ranks 1 .. n with P(r) ~ r^-exponent by rejection-inversion (Hormann and Derflinger 1996), no table.
class ZipfLaw {
 public:
  ZipfLaw() = default;
  ZipfLaw(std::uint64_t n, double exponent);
  /// A rank from 0 to n-1, a function of (seed, step, slot) only.
  [[nodiscard]] std::uint64_t draw(std::uint64_t seed, std::uint64_t step, std::uint32_t slot) const;

 private:
  [[nodiscard]] double integral(double x) const;
  [[nodiscard]] double inverse(double u) const;
  [[nodiscard]] double density(double x) const;
  double m_n = 1, m_exponent = 1, m_low = 0, m_high = 0, m_cut = 0;
};

/// Thread: const calls from any thread; holds the dataset.
class Sampler {
 public:
  /// DSA_CHECK: the dataset has training samples and at least two entities; batch and negatives fit 32 bits together.
  Sampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options);

  /// Training samples of one epoch: the edges, or one a row for zipf.
  [[nodiscard]] std::uint64_t samplesPerEpoch() const { return m_samples; }
  [[nodiscard]] std::uint64_t stepsPerEpoch() const { return m_stepsPerEpoch; }
  /// Fills `out` (its memory is reused). The last batch of an epoch may be smaller.
  void draw(std::uint64_t step, Batch& out) const;

 private:
  void drawPair(std::uint64_t step, std::uint32_t sample, std::uint64_t* slots) const;
  void drawEdge(std::uint64_t step, std::uint32_t sample, std::uint64_t index, Batch& out) const;
  [[nodiscard]] std::uint64_t negative(std::uint64_t step, std::uint32_t slot, std::uint64_t fixed,
                                       std::uint64_t truth) const;
  [[nodiscard]] bool isAncestor(std::uint64_t head, std::uint64_t tail) const;

  std::shared_ptr<const Dataset> m_dataset;
  SamplerOptions m_options;
  std::uint64_t m_samples = 0;
  std::uint64_t m_stepsPerEpoch = 0;
  ZipfLaw m_law;
  std::vector<std::uint32_t> m_tailStart, m_tails;  ///< hierarchy: the sorted tails of each head
};

}  // namespace dsa
