// SPDX-License-Identifier: Apache-2.0
#include "core/store/page_keeper.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>

namespace dsa {

namespace {

constexpr std::uint64_t kWindow = 4ull << 20;
constexpr auto kTick = std::chrono::milliseconds(10);
// Windows whose writes are under way at a time while the cache is shrunk.
constexpr std::size_t kTogether = 16;

}  // namespace

Result<std::unique_ptr<PageKeeper>> PageKeeper::start(std::vector<Piece> pieces, std::uint64_t budgetBytes) {
  std::unique_ptr<PageKeeper> keeper(new PageKeeper);
  for (const Piece& piece : pieces) {
    DSA_ASSIGN(ResidencyProbe probe, ResidencyProbe::open(piece.file->path()));
    keeper->m_probes.push_back(std::move(probe));
    keeper->m_windows += (piece.bytes + kWindow - 1) / kWindow;
  }
  keeper->m_pieces = std::move(pieces);
  keeper->m_budget = budgetBytes;
  keeper->m_thread = std::thread([raw = keeper.get()] { raw->run(); });
  return keeper;
}

PageKeeper::~PageKeeper() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_wake.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

void PageKeeper::setBudget(std::uint64_t bytes) {
  m_budget.store(bytes, std::memory_order_relaxed);
  m_wake.notify_all();
}

void PageKeeper::settle() {
  std::unique_lock lock(m_mutex);
  const std::uint64_t before = m_rounds;
  m_wake.notify_all();
  // The second round began after the call. Not for long: where one step alone takes more than the budget, it never is.
  m_wake.wait_for(lock, std::chrono::milliseconds(200), [&] { return m_rounds >= before + 2; });
}

bool PageKeeper::canCount() const {
  return std::all_of(m_probes.begin(), m_probes.end(),
                     [](const ResidencyProbe& probe) { return probe.read().has_value(); });
}

void PageKeeper::run() {
  std::unique_lock lock(m_mutex);
  while (!m_stop) {
    lock.unlock();
    const std::uint64_t most = budget();
    // Well below, since steps go on while pages are dropped.
    if (most != 0 && cached() > most / 16 * 13) shrink();
    const bool within = most == 0 || cached() <= most;
    m_over.store(!within, std::memory_order_relaxed);
    lock.lock();
    if (within) ++m_rounds;
    m_wake.notify_all();
    m_wake.wait_for(lock, kTick, [&] { return m_stop; });
  }
}

std::uint64_t PageKeeper::cached() const {
  std::uint64_t bytes = 0;
  for (const ResidencyProbe& probe : m_probes) {
    const auto residency = probe.read();
    bytes += residency ? residency->residentBytes : 0;
  }
  return bytes;
}

PageKeeper::Window PageKeeper::nextWindow() {
  if (m_hand >= m_windows) m_hand = 0;
  std::uint64_t number = m_hand++;
  for (std::size_t p = 0;; ++p) {
    const std::uint64_t windows = (m_pieces[p].bytes + kWindow - 1) / kWindow;
    if (number < windows) {
      const std::uint64_t offset = number * kWindow;
      return {p, offset, std::min(kWindow, m_pieces[p].bytes - offset)};
    }
    number -= windows;
  }
}

Residency PageKeeper::residencyOf(const Window& window) const {
  // Unknown counts as there and dirty.
  return m_probes[window.piece]
      .read(m_pieces[window.piece].offset + window.offset, window.bytes)
      .value_or(Residency{window.bytes, window.bytes, {}});
}

/// Dirty marks of the page tables go to the pages, all of the window under one shootdown.
void PageKeeper::unmap(const Window& window) const {
  ::madvise(m_pieces[window.piece].mapping + window.offset, window.bytes, MADV_DONTNEED);
}

void PageKeeper::beginWrite(const Window& window) const {
  const Piece& piece = m_pieces[window.piece];
  ::sync_file_range(piece.file->fd(), static_cast<off64_t>(piece.offset + window.offset),
                    static_cast<off64_t>(window.bytes), SYNC_FILE_RANGE_WRITE);
}

void PageKeeper::drop(const Window& window) const {
  const int fd = m_pieces[window.piece].file->fd();
  const auto offset = static_cast<off64_t>(m_pieces[window.piece].offset + window.offset);
  const auto bytes = static_cast<off64_t>(window.bytes);
  ::sync_file_range(fd, offset, bytes,
                    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  // What a step mapped meanwhile stays; the next round takes it.
  ::posix_fadvise(fd, offset, bytes, POSIX_FADV_DONTNEED);
}

/// From the hand on, which has been away longest, until a quarter of the budget is free; once around at most.
void PageKeeper::shrink() {
  const std::uint64_t goal = budget() / 4 * 3;
  std::vector<Window> together;
  for (std::uint64_t looked = 0; looked < m_windows && cached() > goal;) {
    together.clear();
    for (; looked < m_windows && together.size() < kTogether; ++looked) {
      const Window window = nextWindow();
      if (residencyOf(window).residentBytes > 0) together.push_back(window);
    }
    for (const Window& window : together) unmap(window);
    for (const Window& window : together) beginWrite(window);
    for (const Window& window : together) drop(window);
  }
}

}  // namespace dsa
