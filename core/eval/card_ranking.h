// SPDX-License-Identifier: Apache-2.0
// Evaluations by a card: its memory for them, and rankings there.
#pragma once

#include <memory>
#include <optional>

#include "core/device/device.h"
#include "core/eval/ranker.h"
#include "core/optim/tables.h"
#include "core/rows/card_bytes.h"

namespace dsa {

/// What every evaluation of a run uses on its device, allocated before the first step, so that none fails later for
/// want of memory. On a simulated card it is the same memory, unused: the processor evaluates.
class CardRankMemory {
 public:
  /// Error machine: does not fit.
  static Result<std::unique_ptr<CardRankMemory>> make(const CardRankShape& shape,
                                                      const std::shared_ptr<Device>& device);

  [[nodiscard]] const std::shared_ptr<Card>& card() const { return m_device->card(); }
  [[nodiscard]] const CardRankShape& shape() const { return m_shape; }
  [[nodiscard]] const CardRankLayout& layout() const { return m_layout; }
  /// Half 0 or 1 of each buffer, on the card and in page-locked memory.
  [[nodiscard]] float* cardBlock(std::size_t half) const { return m_blocks.as<float>() + half * blockFloats(); }
  [[nodiscard]] float* hostBlock(std::size_t half) const {
    return reinterpret_cast<float*>(m_hostBlocks.data()) + half * blockFloats();
  }
  [[nodiscard]] std::byte* cardPiece(std::size_t half) const { return m_pieces.data() + half * m_layout.total; }
  [[nodiscard]] std::byte* hostPiece(std::size_t half) const { return m_hostPieces.data() + half * m_layout.total; }

  /// Where the tables lie, of placement gpu.
  std::optional<CardTable> entities, relations;

 private:
  [[nodiscard]] std::uint64_t blockFloats() const { return m_layout.blockRows * m_shape.dim; }

  std::shared_ptr<Device> m_device;
  CardRankShape m_shape;
  CardRankLayout m_layout;
  DeviceBuffer m_blocks, m_pieces;
  PinnedBuffer m_hostBlocks, m_hostPieces;
};

/// rankAll() by job.card, which has a card. The same ranks; errors also machine: the card failed.
Result<void> rankOnCard(const RankJob& job, const QuerySet& set, ThreadPool& pool, const RankSink& sink);

}  // namespace dsa
