// SPDX-License-Identifier: Apache-2.0
// Trains one run from where its tables stand to its planned end: steps, schedule, checkpoints, evaluation, orders.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/eval/evaluate.h"
#include "core/train/run_setup.h"
#include "core/train/step_engine.h"

namespace dsa {

/// What a user may ask of a running trainer; read between batches.
struct Order {
  enum class Kind { stop, pause, resume, checkpoint, evict, setRamBudget, stepOne, unknown };
  Kind kind = Kind::unknown;
  std::uint64_t value = 0;  ///< setRamBudget: bytes, 0 = as the spec has it
  std::function<void(const std::string& answer)> answer;
};

/// One step, told to the observer. Times in seconds since the trainer began.
struct StepReport {
  std::uint64_t step = 0;  ///< steps applied so far
  double loss = 0;         ///< mean over this batch's samples
  double lr = 0;
  std::uint64_t rows = 0;      ///< distinct rows of this step
  std::uint64_t rowBytes = 0;  ///< of their records
  std::uint64_t samples = 0;
  std::uint64_t deviceBytes = 0;  ///< allocated on the card now; 0 where the run uses none
  double stallSeconds = 0;        ///< of this step, waiting for batches or for rows from the disk
  double waitSeconds = 0;         ///< of this step, for the sampler's batch and for its rows to be brought in (direct)
  double computeSeconds = 0;      ///< rows gathered, losses, gradients
  double applySeconds = 0;        ///< the tables' step, where cold rows come from the disk
  double seconds = 0;
};

/// Who watches. Thread: all calls on the run thread.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void phase(const std::string&) {}
  /// The tables stand: files to watch, and what recovery found.
  virtual void tablesReady(const Tables&) {}
  virtual void stepped(const StepReport&) {}
  /// Between two steps, and while the run pauses: rows may be read. Its time is not counted as training.
  virtual void between(const Tables&) {}
  /// After the last step of this attempt, finished or stopped, while the tables still stand.
  virtual void ending(const Tables&) {}
  virtual void evaluated(std::uint64_t, const EvalMetrics&) {}
  virtual void said(const std::string& kind, const std::string& text, std::uint64_t step) {
    (void)kind, (void)text, (void)step;
  }
  /// Orders since the last call.
  virtual std::vector<Order> orders() { return {}; }
};

struct TrainOptions {
  std::string folder;  ///< of the run's tables, for placement disk
  bool hash = false;
  const std::atomic<bool>* stop = nullptr;  ///< set by a signal: finish the batch, checkpoint, end
};

struct TrainOutcome {
  bool stopped = false;  ///< by the user, resumable
  std::uint64_t startStep = 0;
  std::uint64_t steps = 0;  ///< applied in all, earlier attempts included
  std::vector<double> losses;
  EvalMetrics metrics;
  double seconds = 0;             ///< of the steps of this attempt; filling and evaluation apart
  double secondsToFirstStep = 0;  ///< from the call until the first step was applied; 0 without one
  double stallSeconds = 0;
  std::uint64_t rows = 0;     ///< stepped in this attempt
  std::uint64_t samples = 0;  ///< likewise
  std::uint64_t tableBytes = 0;
  std::uint64_t diskBytes = 0;
  std::uint64_t devicePeak = 0;
  std::string tableSha256;  ///< empty without options.hash
};

/// Trains. The result is the same for every placement, thread count and kernel level. For placement disk the store in
/// options.folder is made where it is missing and continued where it is there. Errors machine: memory, disk, lock
/// (nothing was changed, or the last step stands); input: a gradient that is not finite (names the row; no row of that
/// batch was written), a damaged table.
Result<TrainOutcome> train(const RunSetup& setup, const TrainOptions& options, TrainObserver& observer);

/// Weights of a table as the evaluator reads them.
[[nodiscard]] WeightSource weightSource(const Tables& tables, std::uint32_t t);

}  // namespace dsa
