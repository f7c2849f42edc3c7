// SPDX-License-Identifier: Apache-2.0
#include "core/train/look_ahead.h"

#include <utility>

namespace dsa {

LookAhead::LookAhead(std::shared_ptr<const Sampler> sampler, std::uint32_t tables, std::uint64_t first,
                     std::uint64_t last, std::size_t depth, OnPrepared onPrepared)
    : m_sampler(std::move(sampler)),
      m_tables(tables),
      m_last(last),
      m_onPrepared(std::move(onPrepared)),
      m_next(first) {
  for (std::size_t i = 0; i < depth; ++i) m_free.push_back(std::make_unique<PreparedBatch>());
  m_thread = std::thread([this] { run(); });
}

LookAhead::~LookAhead() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_change.notify_all();
  m_thread.join();
}

std::deque<std::unique_ptr<PreparedBatch>> LookAhead::take() {
  std::unique_lock lock(m_mutex);
  m_change.wait(lock, [&] { return !m_ready.empty(); });
  return std::exchange(m_ready, {});
}

std::deque<std::unique_ptr<PreparedBatch>> LookAhead::takeReady() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_ready, {});
}

void LookAhead::give(std::unique_ptr<PreparedBatch> used) {
  const std::lock_guard lock(m_mutex);
  m_free.push_back(std::move(used));
  m_change.notify_all();
}

void LookAhead::run() {
  std::unique_lock lock(m_mutex);
  while (m_next < m_last) {
    m_change.wait(lock, [&] { return m_stop || !m_free.empty(); });
    if (m_stop) return;
    std::unique_ptr<PreparedBatch> batch = std::move(m_free.front());
    m_free.pop_front();
    const std::uint64_t step = m_next++;
    lock.unlock();
    m_sampler->draw(step, batch->batch);
    batch->tables.resize(m_tables);
    batch->tables[0].build(batch->batch.entities);
    if (m_tables > 1) batch->tables[1].build(batch->batch.relations);
    batch->ticket = 0;
    if (m_onPrepared) m_onPrepared(*batch);
    lock.lock();
    m_ready.push_back(std::move(batch));
    m_change.notify_all();
  }
}

}  // namespace dsa
