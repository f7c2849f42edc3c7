// SPDX-License-Identifier: Apache-2.0
// What a run allocates on a card, to the byte: by this arithmetic alone the planner predicts it, the card and the
// simulated card allocate it, and a test compares them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dsa {

/// A whole table there (placement gpu), and what a step of it needs.
struct CardTableBytes {
  std::uint64_t weights = 0, moments = 0;
  std::uint64_t ids = 0;        ///< row numbers of a step
  std::uint64_t gradients = 0;  ///< of its rows
  [[nodiscard]] constexpr std::uint64_t total() const { return weights + moments + ids + gradients; }
};

/// stepCapacity: rows of a step at most.
[[nodiscard]] constexpr CardTableBytes cardTableBytes(std::uint64_t rows, std::uint64_t dim, std::uint64_t recordFloats,
                                                      std::uint64_t stepCapacity) {
  return {rows * dim * 4, rows * (recordFloats - dim) * 4, std::max<std::uint64_t>(1, stepCapacity) * 8,
          std::max<std::uint64_t>(1, stepCapacity * dim) * 4};
}

/// The shape of a step. slots of table t: batch x slotsPerSample for entities, batch for relations.
struct CardStepShape {
  std::uint64_t batch = 0;           ///< samples
  std::uint64_t slotsPerSample = 0;  ///< 2 + negatives
  std::uint64_t dim = 0;
  std::uint32_t tables = 1;  ///< 2 with relations
  bool tablesOnCard = false;
  [[nodiscard]] constexpr std::uint64_t slotsOf(std::uint32_t t) const {
    return t == 0 ? batch * slotsPerSample : batch;
  }
};

/// One upload of a batch's index: parts at 16-byte borders. In the order of the members.
struct CardIndexLayout {
  struct Part {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  Part rowOfSlot[2], rowStart[2], slotsByRow[2];
  Part sampleWeights, headsCorrupted;
  std::uint64_t total = 0;
};

[[nodiscard]] constexpr CardIndexLayout cardIndexLayout(const CardStepShape& shape) {
  CardIndexLayout layout;
  const auto add = [&](CardIndexLayout::Part& part, std::uint64_t bytes) {
    part = {layout.total, bytes};
    layout.total += (bytes + 15) / 16 * 16;
  };
  for (std::uint32_t t = 0; t < shape.tables; ++t) {
    add(layout.rowOfSlot[t], shape.slotsOf(t) * 4);
    add(layout.rowStart[t], (shape.slotsOf(t) + 1) * 4);
    add(layout.slotsByRow[t], shape.slotsOf(t) * 4);
  }
  add(layout.sampleWeights, shape.batch * 4);
  add(layout.headsCorrupted, shape.batch);
  return layout;
}

/// Buffers of a step on the device that computes it.
struct CardStepBytes {
  std::uint64_t weights[2] = {};        ///< [slots x dim]; purpose batch
  std::uint64_t rowGradients[2] = {};   ///< the same, where the tables are elsewhere; purpose batch
  std::uint64_t slotGradients[2] = {};  ///< [slots x dim]; purpose model
  std::uint64_t index = 0;              ///< of this batch and the one that follows it; purpose batch
  std::uint64_t losses = 0;             ///< [batch] doubles; purpose model
  std::uint64_t scratch = 0;            ///< [batch x 4 x candidates] doubles; purpose model
  std::uint64_t notFinite = 0;          ///< one number a table; purpose workspace
  [[nodiscard]] constexpr std::uint64_t total() const {
    return weights[0] + weights[1] + rowGradients[0] + rowGradients[1] + slotGradients[0] + slotGradients[1] + index +
           losses + scratch + notFinite;
  }
};

[[nodiscard]] constexpr CardStepBytes cardStepBytes(const CardStepShape& shape) {
  CardStepBytes bytes;
  for (std::uint32_t t = 0; t < shape.tables; ++t) {
    bytes.weights[t] = shape.slotsOf(t) * shape.dim * 4;
    bytes.slotGradients[t] = bytes.weights[t];
    if (!shape.tablesOnCard) bytes.rowGradients[t] = bytes.weights[t];
  }
  bytes.index = 2 * cardIndexLayout(shape).total;
  bytes.losses = shape.batch * 8;
  bytes.scratch = shape.batch * 4 * (shape.slotsPerSample - 1) * 8;
  bytes.notFinite = std::uint64_t{shape.tables} * 8;
  return bytes;
}

}  // namespace dsa
