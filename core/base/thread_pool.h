// SPDX-License-Identifier: Apache-2.0
// A fork-join pool: one loop at a time over disjoint ranges, the caller taking part.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace dsa {

/// Runs loops on `threads` threads, the calling one included. Results must not depend on which worker runs which range.
/// Thread: one caller at a time (the run thread). Own code rather than oneTBB: a step at batch 10 takes 50 us, and a
/// loop here starts in about 1 us; TBB is also opaque to the thread sanitizer.
class ThreadPool {
 public:
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] unsigned threads() const { return m_threads; }

  /// Calls f(begin, end, worker) over [0, n) in pieces of `grain`, taken as workers come free. Blocking; n <= grain
  /// runs in place.
  template <class F>
  void parallelFor(std::uint64_t n, std::uint64_t grain, F&& f) {
    if (n == 0) return;
    if (m_threads == 1 || n <= grain) {
      f(std::uint64_t{0}, n, 0u);
      return;
    }
    std::atomic<std::uint64_t> next{0};
    auto body = [&](unsigned worker) {
      for (;;) {
        const std::uint64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= n) return;
        f(begin, std::min(n, begin + grain), worker);
      }
    };
    run(body);
  }

  /// Calls f(begin, end, worker) once for each worker, on the contiguous range partition(n, worker). Blocking.
  template <class F>
  void partitioned(std::uint64_t n, F&& f) {
    auto body = [&](unsigned worker) { f(begin(n, worker), begin(n, worker + 1), worker); };
    run(body);
  }

  /// First index of a worker's contiguous range in partitioned().
  [[nodiscard]] std::uint64_t begin(std::uint64_t n, unsigned worker) const { return n * worker / m_threads; }

 private:
  template <class Body>
  void run(Body& body) {
    start([](void* context, unsigned worker) { (*static_cast<Body*>(context))(worker); }, &body);
    body(0);
    finish();
  }
  void start(void (*call)(void*, unsigned), void* context);
  void finish();
  void work(unsigned worker);

  unsigned m_threads;
  void (*m_call)(void*, unsigned) = nullptr;
  void* m_context = nullptr;
  std::atomic<std::uint32_t> m_round{0};    // bumped to start a loop
  std::atomic<std::uint32_t> m_running{0};  // workers still in it
  std::atomic<bool> m_stop{false};
  std::vector<std::thread> m_workers;
};

}  // namespace dsa
