// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread_pool.h"

namespace dsa {

namespace {

// About 10 us of spinning before sleeping: loops of one step follow each other more closely than that.
constexpr int kSpins = 2000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <class T>
void awaitChange(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(unsigned threads) : m_threads(std::max(1u, threads)) {
  for (unsigned worker = 1; worker < m_threads; ++worker) {
    m_workers.emplace_back([this, worker] { work(worker); });
  }
}

ThreadPool::~ThreadPool() {
  m_stop.store(true, std::memory_order_release);
  m_round.fetch_add(1, std::memory_order_release);
  m_round.notify_all();
  for (std::thread& worker : m_workers) worker.join();
}

void ThreadPool::start(void (*call)(void*, unsigned), void* context) {
  m_call = call;
  m_context = context;
  m_running.store(m_threads - 1, std::memory_order_relaxed);
  m_round.fetch_add(1, std::memory_order_release);
  m_round.notify_all();
}

void ThreadPool::finish() {
  for (;;) {
    const std::uint32_t left = m_running.load(std::memory_order_acquire);
    if (left == 0) return;
    awaitChange(m_running, left);
  }
}

void ThreadPool::work(unsigned worker) {
  std::uint32_t seen = 0;
  for (;;) {
    awaitChange(m_round, seen);
    seen = m_round.load(std::memory_order_acquire);
    if (m_stop.load(std::memory_order_acquire)) return;
    m_call(m_context, worker);
    // The last one out wakes the caller; the decrement publishes this worker's writes.
    if (m_running.fetch_sub(1, std::memory_order_acq_rel) == 1) m_running.notify_all();
  }
}

}  // namespace dsa
