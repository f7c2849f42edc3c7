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

/// Records of a whole table that are brought to the machine at a time; at least one.
inline constexpr std::uint64_t kCardScanBytes = 4 << 20;

/// The shape of a step. slots of table t: batch x slotsPerSample for entities, batch for relations.
struct CardStepShape {
  std::uint64_t batch = 0;           ///< samples
  std::uint64_t slotsPerSample = 0;  ///< 2 + negatives
  std::uint64_t dim = 0;
  std::uint32_t tables = 1;  ///< 2 with relations
  bool tablesOnCard = false;
  bool updatesOnCard = false;          ///< of tables elsewhere
  std::uint64_t recordFloats[2] = {};  ///< of the tables, where that is so
  [[nodiscard]] constexpr std::uint64_t slotsOf(std::uint32_t t) const {
    return t == 0 ? batch * slotsPerSample : batch;
  }
};

/// A part of one upload, at a 16-byte border.
struct CardPart {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  /// Takes the next place of an upload of `total` bytes so far.
  constexpr void take(std::uint64_t& total, std::uint64_t wanted) {
    *this = {total, wanted};
    total += (wanted + 15) / 16 * 16;
  }
};

/// One upload of a batch's index: parts at 16-byte borders. In the order of the members.
struct CardIndexLayout {
  CardPart rowOfSlot[2], rowStart[2], slotsByRow[2];
  CardPart sampleWeights, headsCorrupted;
  std::uint64_t total = 0;
};

[[nodiscard]] constexpr CardIndexLayout cardIndexLayout(const CardStepShape& shape) {
  CardIndexLayout layout;
  for (std::uint32_t t = 0; t < shape.tables; ++t) {
    layout.rowOfSlot[t].take(layout.total, shape.slotsOf(t) * 4);
    layout.rowStart[t].take(layout.total, (shape.slotsOf(t) + 1) * 4);
    layout.slotsByRow[t].take(layout.total, shape.slotsOf(t) * 4);
  }
  layout.sampleWeights.take(layout.total, shape.batch * 4);
  layout.headsCorrupted.take(layout.total, shape.batch);
  return layout;
}

/// Buffers of a step on the device that computes it.
struct CardStepBytes {
  std::uint64_t weights[2] = {};        ///< [slots x dim]; purpose batch
  std::uint64_t moments[2] = {};        ///< their state, beside each row's weights, where it is stepped there
  std::uint64_t rowGradients[2] = {};   ///< the same, where the tables are elsewhere; purpose batch
  std::uint64_t slotGradients[2] = {};  ///< [slots x dim]; purpose model
  std::uint64_t index = 0;              ///< of this batch and the one that follows it; purpose batch
  std::uint64_t losses = 0;             ///< [batch] doubles; purpose model
  std::uint64_t scratch = 0;            ///< [batch x 4 x candidates] doubles; purpose model
  std::uint64_t notFinite = 0;          ///< one number a table; purpose workspace
  [[nodiscard]] constexpr std::uint64_t total() const {
    return weights[0] + weights[1] + moments[0] + moments[1] + rowGradients[0] + rowGradients[1] + slotGradients[0] +
           slotGradients[1] + index + losses + scratch + notFinite;
  }
};

[[nodiscard]] constexpr CardStepBytes cardStepBytes(const CardStepShape& shape) {
  CardStepBytes bytes;
  for (std::uint32_t t = 0; t < shape.tables; ++t) {
    bytes.weights[t] = shape.slotsOf(t) * shape.dim * 4;
    bytes.slotGradients[t] = bytes.weights[t];
    if (!shape.tablesOnCard) bytes.rowGradients[t] = bytes.weights[t];
    if (shape.updatesOnCard) bytes.moments[t] = shape.slotsOf(t) * (shape.recordFloats[t] - shape.dim) * 4;
  }
  bytes.index = 2 * cardIndexLayout(shape).total;
  bytes.losses = shape.batch * 8;
  bytes.scratch = shape.batch * 4 * (shape.slotsPerSample - 1) * 8;
  bytes.notFinite = std::uint64_t{shape.tables} * 8;
  return bytes;
}

/// Page-locked memory of the machine that a step's copies go through: rows or row numbers, the index, what comes back.
[[nodiscard]] constexpr std::uint64_t cardStepPinnedBytes(const CardStepShape& shape) {
  const CardStepBytes bytes = cardStepBytes(shape);
  std::uint64_t pinned = bytes.index + bytes.losses + bytes.notFinite;
  for (std::uint32_t t = 0; t < shape.tables; ++t)
    pinned += shape.tablesOnCard ? shape.slotsOf(t) * 8 : bytes.weights[t] + bytes.moments[t];
  return pinned;
}

/// The shape of evaluations on a card. They take a block of rows and a piece of the queries at a time, so neither the
/// table's rows nor the dataset's queries make them larger.
struct CardRankShape {
  std::uint64_t rows = 0;  ///< entities
  std::uint64_t dim = 0;
  bool tablesOnCard = false;
  std::uint64_t queries = 256;         ///< of a piece, at most
  std::uint64_t answers = 4096;        ///< of a piece, at most
  std::uint64_t blockRows = 65536;     ///< at most: for more the masks would be the larger part of a piece
  std::uint64_t blockBytes = 8 << 20;  ///< of a block that comes from elsewhere, at most, but for its first 64 rows
};

/// One piece of the queries; what comes back, answers and queries go to the card in one copy that ends with the masks
/// of the queries there are. Parts at 16-byte borders, in the order of the members.
struct CardRankLayout {
  std::uint64_t blockRows = 0;    ///< a multiple of 64
  CardPart above, equal;          ///< [answers] counts
  CardPart notFinite;             ///< [2] row numbers
  std::uint64_t resultBytes = 0;  ///< of these three, which come back
  CardPart levels;                ///< [answers] doubles
  CardPart answers;               ///< [answers] query and row, of tables on the card
  CardPart queries;               ///< [queries] of 32 bytes
  CardPart queryRows;             ///< [queries x 2 x dim] fixed and relation, of tables elsewhere
  CardPart hidden;                ///< [queries x blockRows] bits
  std::uint64_t total = 0;
};

[[nodiscard]] constexpr CardRankLayout cardRankLayout(const CardRankShape& shape) {
  const std::uint64_t room =
      shape.tablesOnCard ? shape.blockRows : std::min(shape.blockRows, shape.blockBytes / (shape.dim * 4));
  CardRankLayout layout;
  layout.blockRows = std::min((shape.rows + 63) / 64 * 64, std::max<std::uint64_t>(64, room / 64 * 64));
  layout.above.take(layout.total, shape.answers * 8);
  layout.equal.take(layout.total, shape.answers * 8);
  layout.notFinite.take(layout.total, 16);
  layout.resultBytes = layout.total;
  layout.levels.take(layout.total, shape.answers * 8);
  layout.answers.take(layout.total, shape.tablesOnCard ? shape.answers * 8 : 0);
  layout.queries.take(layout.total, shape.queries * 32);
  layout.queryRows.take(layout.total, shape.tablesOnCard ? 0 : shape.queries * 2 * shape.dim * 4);
  layout.hidden.take(layout.total, shape.queries * layout.blockRows / 8);
  return layout;
}

/// Purpose workspace, allocated before the first step; as many bytes of page-locked memory beside them.
struct CardRankBytes {
  std::uint64_t blocks = 0;  ///< two, where the tables are elsewhere
  std::uint64_t pieces = 0;  ///< two
  [[nodiscard]] constexpr std::uint64_t total() const { return blocks + pieces; }
};

[[nodiscard]] constexpr CardRankBytes cardRankBytes(const CardRankShape& shape) {
  const CardRankLayout layout = cardRankLayout(shape);
  // Not the layout's rows but what they may fill: with a larger dim never less.
  const std::uint64_t block =
      std::min((shape.rows + 63) / 64 * 64 * shape.dim * 4, std::max(shape.blockBytes, 64 * shape.dim * 4));
  return {shape.tablesOnCard ? 0 : 2 * block, 2 * layout.total};
}

}  // namespace dsa
