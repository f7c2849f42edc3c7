// SPDX-License-Identifier: Apache-2.0
// Coming batches, sampled and indexed by a thread of its own, in order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/data/batch_index.h"
#include "core/data/sampler.h"

namespace dsa {

/// A batch ready to be computed: its distinct rows, one index a table.
struct PreparedBatch {
  Batch batch;
  std::vector<BatchIndex> tables;  ///< entities, and relations where the model has them
  std::uint64_t ticket = 0;        ///< of Tables::announce
};

/// Thread: next(), give() and queued() from the run thread.
class LookAhead {
 public:
  /// Called on the look-ahead thread with each batch once it is indexed (prefetch).
  using OnPrepared = std::function<void(const PreparedBatch&)>;

  /// Prepares steps first .. last-1, at most `depth` ahead.
  LookAhead(std::shared_ptr<const Sampler> sampler, std::uint32_t tables, std::uint64_t first, std::uint64_t last,
            std::size_t depth, OnPrepared onPrepared);
  ~LookAhead();
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  /// Batches that are ready now and were not handed out; waits for one where none is.
  std::deque<std::unique_ptr<PreparedBatch>> take();
  /// Those that are ready now, perhaps none.
  std::deque<std::unique_ptr<PreparedBatch>> takeReady();
  /// Gives a used batch back; its memory is used again.
  void give(std::unique_ptr<PreparedBatch> used);

 private:
  void run();

  std::shared_ptr<const Sampler> m_sampler;
  const std::uint32_t m_tables;
  const std::uint64_t m_last;
  const OnPrepared m_onPrepared;
  std::mutex m_mutex;
  std::condition_variable m_change;
  std::deque<std::unique_ptr<PreparedBatch>> m_ready, m_free;
  std::uint64_t m_next;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace dsa
