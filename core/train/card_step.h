// SPDX-License-Identifier: Apache-2.0
// The step by a card's kernels. Of tables elsewhere the batch's rows go there in pieces, gathered while the piece
// before is on its way, and the gradients come back; of tables on the card nothing moves but row numbers.
#pragma once

#include "core/device/card.h"
#include "core/optim/card_work.h"
#include "core/train/step_engine.h"

namespace dsa {

class CardStep final : public StepEngine {
 public:
  /// As StepEngine::make; the device has a card.
  static Result<std::unique_ptr<StepEngine>> make(const Options& options, const std::shared_ptr<Device>& device,
                                                  ThreadPool& pool);
  ~CardStep() override;
  Result<void> compute(const PreparedBatch& batch, const PreparedBatch* next, Tables& tables) override;
  Result<std::span<const float* const>> stepRows(std::span<const StepParams> params) override;
  [[nodiscard]] BadGradient badGradient(Tables& tables) const override;

 private:
  CardStep(const Options& options, const std::shared_ptr<Device>& device, ThreadPool& pool)
      : StepEngine(options, pool), m_device(device), m_card(*device->card()) {}
  Result<void> allocate();
  /// Floats from one row of table t to the next in m_weights: the whole record, where the card steps it.
  [[nodiscard]] std::uint64_t rowFloatsOf(std::uint32_t t) const {
    return m_options.updatesOnDevice ? m_options.recordFloats[t] : m_options.dim;
  }
  Result<void> uploadIndex(const PreparedBatch& batch, std::size_t half);
  Result<void> bringWeights(Tables& tables);
  Result<void> bringGradients(Tables& tables);
  [[nodiscard]] BatchTable batchTable(std::uint32_t t, Tables& tables) const;
  [[nodiscard]] Result<void> runKernels(const PreparedBatch& batch, Tables& tables);

  std::shared_ptr<Device> m_device;
  Card& m_card;
  CardIndexLayout m_layout;  // of one half of the index
  DeviceBuffer m_weights[2], m_rowGradients[2], m_slotGradients[2];
  DeviceBuffer m_index, m_losses, m_scratch, m_notFinite;
  PinnedBuffer m_hostIndex, m_hostRows[2], m_hostIds[2], m_hostResults;
  std::vector<const float*> m_stepped;        // in m_hostRows
  std::size_t m_half = 0;                     // where the index of the batch lies
  const PreparedBatch* m_uploaded = nullptr;  // whose index is in the other half
  std::uint64_t m_uploadedStep = 0;
};

}  // namespace dsa
