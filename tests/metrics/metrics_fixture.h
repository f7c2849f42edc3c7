// SPDX-License-Identifier: Apache-2.0
// What the tests of the samplers share: files of known content, touched mappings, child processes that wait.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <cstdint>
#include <functional>
#include <string>

#include "core/base/file.h"

namespace dsa::test {

inline constexpr std::uint64_t kMiB = 1ull << 20;

class Folder {
 public:
  [[nodiscard]] std::string path() const { return m_dir.path().toStdString(); }
  [[nodiscard]] std::string file(const std::string& name) const { return m_dir.filePath(name.c_str()).toStdString(); }

 private:
  QTemporaryDir m_dir;
};

/// Writes `bytes` bytes of ones and syncs them; they stay in the page cache.
inline void makeFile(const std::string& path, std::uint64_t bytes) {
  const std::string piece(static_cast<std::size_t>(kMiB), '\1');
  const File file = File::open(path, File::Mode::createNew).value();
  for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
    const std::uint64_t size = std::min<std::uint64_t>(piece.size(), bytes - done);
    QVERIFY(file.writeAt(std::as_bytes(std::span(piece)).first(static_cast<std::size_t>(size)), done));
  }
  QVERIFY(file.sync());
}

/// Drops the page cache of a synced file that nobody maps.
inline void evict(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

/// Reads one byte of every page.
inline unsigned touch(const std::byte* data, std::uint64_t bytes) {
  unsigned sum = 0;
  for (std::uint64_t at = 0; at < bytes; at += 4096)
    sum += static_cast<unsigned>(*const_cast<const volatile std::byte*>(data + at));
  return sum;
}

/// A private mapping, every page written.
class PrivatePages {
 public:
  explicit PrivatePages(std::uint64_t bytes) : m_size(bytes) {
    void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    m_data = static_cast<volatile unsigned char*>(address);
    for (std::uint64_t at = 0; at < bytes; at += 4096) m_data[at] = 1;
  }
  PrivatePages(const PrivatePages&) = delete;
  PrivatePages& operator=(const PrivatePages&) = delete;
  ~PrivatePages() { ::munmap(const_cast<unsigned char*>(m_data), m_size); }

 private:
  volatile unsigned char* m_data;
  std::uint64_t m_size;
};

/// A child that runs `work`, then says so and waits until it is ended.
class WaitingChild {
 public:
  explicit WaitingChild(const std::function<void()>& work) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    m_pid = ::fork();
    if (m_pid == 0) {
      work();
      const char done = 1;
      if (::write(ends[1], &done, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char done = 0;
    while (::read(ends[0], &done, 1) < 0) {
    }
    ::close(ends[0]);
    ::close(ends[1]);
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;
  ~WaitingChild() { end(); }
  [[nodiscard]] pid_t pid() const { return m_pid; }
  void end() {
    if (m_pid <= 0) return;
    ::kill(m_pid, SIGKILL);
    ::waitpid(m_pid, nullptr, 0);
    m_pid = -1;
  }

 private:
  pid_t m_pid = -1;
};

}  // namespace dsa::test
