// SPDX-License-Identifier: Apache-2.0
#include "core/base/residency.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace dsa {

namespace {

// By number: the headers of Debian 12 (Linux 6.1) do not know it, the running kernel may. The number is 451 on every
// architecture but alpha.
constexpr long kCachestatCall = 451;
struct CachestatRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
struct CachestatCounts {
  std::uint64_t cached = 0;
  std::uint64_t dirty = 0;
  std::uint64_t writeback = 0;
  std::uint64_t evicted = 0;
  std::uint64_t recentlyEvicted = 0;
};

std::uint64_t pageBytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::optional<Residency> byCachestat(int fd, std::uint64_t offset, std::uint64_t length) {
  CachestatRange range{offset, length};
  CachestatCounts counts;
  if (::syscall(kCachestatCall, fd, &range, &counts, 0u) != 0) return std::nullopt;
  Residency residency;
  residency.residentBytes = counts.cached * pageBytes();
  residency.dirtyBytes = (counts.dirty + counts.writeback) * pageBytes();
  residency.source = ResidencySource::cachestat;
  return residency;
}

std::optional<Residency> byMincore(int fd, std::uint64_t offset, std::uint64_t length) {
  // A window of 1 GiB a time: the answer takes a byte a page, and page tables of the mapping stay small.
  constexpr std::uint64_t kWindow = 1ull << 30;
  std::uint64_t pages = 0;
  std::vector<unsigned char> states(std::min(length, kWindow) / pageBytes() + 1);
  for (std::uint64_t done = 0; done < length; done += kWindow) {
    const std::uint64_t size = std::min(kWindow, length - done);
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset + done));
    if (address == MAP_FAILED) return std::nullopt;
    const bool told = ::mincore(address, size, states.data()) == 0;
    ::munmap(address, size);
    if (!told) return std::nullopt;
    const std::uint64_t count = (size + pageBytes() - 1) / pageBytes();
    for (std::uint64_t i = 0; i < count; ++i) pages += states[i] & 1u;
  }
  return Residency{pages * pageBytes(), std::nullopt, ResidencySource::mincore};
}

}  // namespace

const char* residencySourceName(ResidencySource source) {
  return source == ResidencySource::cachestat ? "cachestat" : "mincore";
}

bool hasCachestat() {
  static const bool has = [] {
    CachestatRange range;
    CachestatCounts counts;
    // A bad descriptor is refused as such by a kernel that knows the call; a filter (seccomp) says ENOSYS or EPERM.
    return ::syscall(kCachestatCall, -1, &range, &counts, 0u) != 0 && errno == EBADF;
  }();
  return has;
}

Result<ResidencyProbe> ResidencyProbe::open(const std::string& path) {
  DSA_ASSIGN(File file, File::open(path, File::Mode::readOnly));
  return ResidencyProbe(std::move(file));
}

bool ResidencyProbe::mayAsk() const {
  struct stat info {};
  if (::fstat(m_file.fd(), &info) != 0) return false;
  if (::geteuid() == info.st_uid || ::geteuid() == 0) return true;
  return ::faccessat(AT_FDCWD, m_file.path().c_str(), W_OK, AT_EACCESS) == 0;
}

std::optional<Residency> ResidencyProbe::read(std::uint64_t offset, std::uint64_t length) const {
  if (hasCachestat()) {
    if (auto residency = readBy(ResidencySource::cachestat, offset, length)) return residency;
  }
  return readBy(ResidencySource::mincore, offset, length);
}

std::optional<Residency> ResidencyProbe::readBy(ResidencySource source, std::uint64_t offset,
                                                std::uint64_t length) const {
  const auto size = m_file.size();
  if (!size || !mayAsk()) return std::nullopt;
  if (source == ResidencySource::cachestat && !hasCachestat()) return std::nullopt;
  const std::uint64_t begin = offset / pageBytes() * pageBytes();
  const std::uint64_t end = length == 0 ? *size : std::min(*size, offset + length);
  // Nothing to ask for; and cachestat takes a length of 0 as "to the end of the file".
  if (offset >= end) return Residency{0, std::nullopt, source};
  return source == ResidencySource::cachestat ? byCachestat(m_file.fd(), begin, end - begin)
                                              : byMincore(m_file.fd(), begin, end - begin);
}

}  // namespace dsa
