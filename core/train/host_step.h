// SPDX-License-Identifier: Apache-2.0
// The step by the processor's kernels; on the simulated card its buffers are counted as a card's would be.
#pragma once

#include "core/train/step_engine.h"

namespace dsa {

class HostStep final : public StepEngine {
 public:
  /// As StepEngine::make.
  static Result<std::unique_ptr<StepEngine>> make(const Options& options, const std::shared_ptr<Device>& device,
                                                  ThreadPool& pool);
  Result<void> compute(const PreparedBatch& batch, const PreparedBatch* next, Tables& tables) override;
  [[nodiscard]] BadGradient badGradient(Tables& tables) const override { return findBadGradient(tables, counts()); }

 private:
  HostStep(const Options& options, ThreadPool& pool) : StepEngine(options, pool) {}
  Result<void> allocate(const std::shared_ptr<Device>& device);
  void samples(const PreparedBatch& batch, Tables& tables, std::uint64_t begin, std::uint64_t end, unsigned worker);
  void sumDuplicates(const PreparedBatch& batch, Tables& tables, std::uint32_t t);
  [[nodiscard]] float* slotGradient(const PreparedBatch& batch, Tables& tables, std::uint32_t t,
                                    std::uint32_t slot) const;

  ModelKernels m_kernels;
  std::vector<DeviceBuffer> m_weights;        // [rows x dim] a table
  std::vector<DeviceBuffer> m_slotGradients;  // [slots x dim] a table; used for rows with several slots
  std::vector<DeviceBuffer> m_standIns;       // of the simulated card: what a card needs besides
  std::vector<double> m_losses;
  std::vector<std::vector<double>> m_scratch;
  std::vector<std::vector<const float*>> m_candidates;
  std::vector<std::vector<float*>> m_candidateGradients;
};

}  // namespace dsa
