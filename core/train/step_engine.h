// SPDX-License-Identifier: Apache-2.0
// One training step: gather the batch's rows, scores and gradients by the model, sums over duplicates, one step of the
// tables.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/model/model.h"
#include "core/optim/tables.h"
#include "core/train/look_ahead.h"

namespace dsa {

/// Thread: the run thread; the loops run on the pool. Buffers live on the device, sized by the batch, never by N.
class StepEngine {
 public:
  struct Options {
    ModelKind model = ModelKind::poincare;
    KernelLevel level = KernelLevel::scalar;
    double k = 0;
    std::uint32_t dim = 0;
    std::uint32_t batch = 0;
    std::uint32_t slotsPerSample = 0;
    bool meanReduction = false;
  };

  /// Error machine: the buffers do not fit the device.
  static Result<std::unique_ptr<StepEngine>> make(const Options& options, const std::shared_ptr<Device>& device,
                                                  ThreadPool& pool);

  /// Fills ids and gradients of `tables` for this batch. Afterwards counts() names the rows and lossSum() the losses.
  /// Error machine: the rows cannot be read.
  Result<void> compute(const PreparedBatch& batch, Tables& tables);

  /// Distinct rows of the batch, one number a table.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return m_counts; }
  /// Sum over the samples, in sample order.
  [[nodiscard]] double lossSum() const { return m_lossSum; }
  /// Of the last compute(), waiting for its rows.
  [[nodiscard]] double stageSeconds() const { return m_stageSeconds; }

 private:
  StepEngine(const Options& options, ThreadPool& pool) : m_options(options), m_pool(pool) {}
  Result<void> gather(const PreparedBatch& batch, Tables& tables);
  void samples(const PreparedBatch& batch, Tables& tables, std::uint64_t begin, std::uint64_t end, unsigned worker);
  void sumDuplicates(const PreparedBatch& batch, Tables& tables, std::uint32_t t);
  [[nodiscard]] float* slotGradient(const PreparedBatch& batch, Tables& tables, std::uint32_t t,
                                    std::uint32_t slot) const;

  Options m_options;
  ThreadPool& m_pool;
  ModelKernels m_kernels;
  std::vector<DeviceBuffer> m_weights;        // [rows x dim] a table
  std::vector<DeviceBuffer> m_slotGradients;  // [slots x dim] a table; used for rows with several slots
  std::vector<double> m_losses;
  std::vector<std::vector<double>> m_scratch;
  std::vector<std::vector<const float*>> m_candidates;
  std::vector<std::vector<float*>> m_candidateGradients;
  std::vector<std::uint64_t> m_counts;
  double m_lossSum = 0;
  double m_stageSeconds = 0;
};

}  // namespace dsa
