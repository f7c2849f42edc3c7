// SPDX-License-Identifier: Apache-2.0
#include "core/base/bus_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

namespace dsa {

namespace {

/// A guarded range; free where bytes is 0. Only what a signal handler may read: lock-free words.
struct Range {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint32_t> faults{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Range g_ranges[BusGuard::kMost];
std::mutex g_ranges_change;
struct sigaction g_before;

/// Zero pages from the one that faulted on. The first fault replaces one page, each further one twice as many: a file
/// that was cut short faults at every row behind its end, and each replaced page would be a mapping of its own (the
/// kernel allows 65,530).
bool replacePages(Range& range, std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = range.begin.load();
  const std::uint64_t length = (range.bytes.load() + page - 1) / page * page;
  const std::uintptr_t at = address / page * page;
  // First the flag: a thread that reads the zeros knows.
  const std::uint32_t earlier = range.faults.fetch_add(1);
  const std::uint64_t pages = std::uint64_t{1} << std::min<std::uint32_t>(earlier, 40);
  const std::uint64_t bytes = std::min<std::uint64_t>(pages, (begin + length - at) / page) * page;
  // The plain system call: under a sanitizer mmap is a function that must not run in a signal handler.
  return ::syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
                   -1, 0) == static_cast<long>(at);
}

void onBus(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Range& range : g_ranges) {
    const std::uintptr_t begin = range.begin.load();
    const bool inside = info->si_code > 0 && address >= begin && address - begin < range.bytes.load();
    if (!inside) continue;
    if (!replacePages(range, address)) break;
    errno = kept;
    return;
  }
  // Not ours: as if there were no handler.
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else {
    ::sigaction(SIGBUS, &g_before, nullptr);
    ::raise(SIGBUS);  // comes when this handler returns
  }
  errno = kept;
}

void installOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = onBus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &g_before);
  });
}

}  // namespace

BusGuard::BusGuard(void* begin, std::uint64_t bytes) {
  installOnce();
  const std::lock_guard lock(g_ranges_change);
  for (int i = 0; i < kMost && m_slot < 0; ++i) {
    Range& range = g_ranges[i];
    if (range.bytes.load() != 0) continue;
    range.faults = 0;
    range.begin = reinterpret_cast<std::uintptr_t>(begin);
    range.bytes = bytes;
    m_slot = i;
  }
}

BusGuard::BusGuard(BusGuard&& other) noexcept : m_slot(std::exchange(other.m_slot, -1)) {}

BusGuard& BusGuard::operator=(BusGuard&& other) noexcept {
  if (this != &other) {
    release();
    m_slot = std::exchange(other.m_slot, -1);
  }
  return *this;
}

BusGuard::~BusGuard() { release(); }

void BusGuard::release() {
  if (m_slot < 0) return;
  const std::lock_guard lock(g_ranges_change);
  g_ranges[std::exchange(m_slot, -1)].bytes = 0;
}

bool BusGuard::damaged() const { return m_slot >= 0 && g_ranges[m_slot].faults.load() != 0; }

}  // namespace dsa
