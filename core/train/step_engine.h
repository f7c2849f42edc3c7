// SPDX-License-Identifier: Apache-2.0
// One training step: gather the batch's rows, scores and gradients by the model, sums over duplicates. By the processor
// (host_step.cpp) or by a card (card_step.cpp), with the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/model/model.h"
#include "core/optim/tables.h"
#include "core/rows/card_bytes.h"
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
    bool tablesOnDevice = false;         ///< placement gpu
    bool updatesOnDevice = false;        ///< the device steps the rows of tables elsewhere
    std::uint64_t recordFloats[2] = {};  ///< of the tables
  };

  /// On the processor, or on the device's card where it has one. Error machine: the buffers do not fit the device.
  static Result<std::unique_ptr<StepEngine>> make(const Options& options, const std::shared_ptr<Device>& device,
                                                  ThreadPool& pool);
  virtual ~StepEngine() = default;

  /// Fills ids and gradients of `tables` for this batch. Afterwards counts() names the rows and lossSum() the losses.
  /// next: the batch after it where it is known, for what can be brought to a card meanwhile; it stays until the next
  /// call, which is for it. Error machine: the rows cannot be read; the card failed.
  virtual Result<void> compute(const PreparedBatch& batch, const PreparedBatch* next, Tables& tables) = 0;
  /// Steps the rows of the last compute() on the device, where it is the one to do that: their records as
  /// Tables::apply() takes them, until the next compute(). Else none: the tables step their rows. Error machine: the
  /// card failed.
  virtual Result<std::span<const float* const>> stepRows(std::span<const StepParams>) {
    return std::span<const float* const>();
  }
  /// The first gradient of the last compute() that is not finite.
  [[nodiscard]] virtual BadGradient badGradient(Tables& tables) const = 0;

  /// Distinct rows of the batch, one number a table.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return m_counts; }
  /// Sum over the samples, in sample order.
  [[nodiscard]] double lossSum() const { return m_lossSum; }
  /// Of the last compute(), waiting for its rows.
  [[nodiscard]] double stageSeconds() const { return m_stageSeconds; }

 protected:
  StepEngine(const Options& options, ThreadPool& pool) : m_options(options), m_pool(pool) {}
  /// Names the batch's rows to the tables and waits for them.
  Result<void> stage(const PreparedBatch& batch, Tables& tables);
  /// The first `width` values of rows [begin, end) of the staged step, to values + row * width.
  void gather(const Tables& tables, std::uint32_t t, std::uint64_t begin, std::uint64_t end, std::uint64_t width,
              float* values) const;
  void sumLosses(const double* losses, std::uint32_t samples);
  [[nodiscard]] CardStepShape cardShape() const;

  Options m_options;
  ThreadPool& m_pool;

 private:
  std::vector<std::uint64_t> m_counts;
  double m_lossSum = 0;
  double m_stageSeconds = 0;
};

}  // namespace dsa
