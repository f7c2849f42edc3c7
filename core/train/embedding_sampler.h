// SPDX-License-Identifier: Apache-2.0
// Some rows of the first table, read between steps for whoever watches: which rows, and how often.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/optim/tables.h"
#include "core/record/embedding.h"
#include "core/train/run_setup.h"

namespace dsa {

/// Which rows are shown: all of a small table; of a larger one those of the first batches' positive pairs, since
/// training meets them anyway: reading them brings no page of the table into memory that is not there for training. At
/// most 2,000 rows and 256 KiB of weights. A function of the setup only: a resumed run shows the same rows.
[[nodiscard]] std::shared_ptr<const EmbeddingRows> chooseEmbeddingRows(const RunSetup& setup);

/// Thread: the run thread, between steps.
class EmbeddingSampler {
 public:
  /// Seconds, rising; tests put their own here.
  using Clock = std::function<double()>;

  /// Chooses nothing yet: a run that nobody watches pays nothing. `setup` outlives it.
  explicit EmbeddingSampler(const RunSetup& setup, Clock clock = steadySeconds);

  /// The rows as they stand, where a further state may be shown: at most 8 a second, at most 512 KiB a second
  /// (the record is rewritten for each), and not before 100 times what the last reading cost, so that watching takes
  /// 1 % of the run. Nothing while the step is that of the last reading.
  std::optional<EmbeddingSample> whenDue(const Tables& tables);
  /// The rows as they stand, due or not.
  EmbeddingSample now(const Tables& tables);

  static double steadySeconds();

 private:
  const RunSetup& m_setup;
  const Clock m_clock;
  std::shared_ptr<const EmbeddingRows> m_rows;
  std::optional<std::uint64_t> m_lastStep;
  double m_next = 0;  ///< nothing is due before
  bool m_begun = false;
};

}  // namespace dsa
