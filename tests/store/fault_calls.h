// SPDX-License-Identifier: Apache-2.0
// Stands before the C library's calls that make things durable, so that a test can watch, fail or kill there. Include
// it in one file of a test program only.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

namespace faults {

struct Call {
  std::string name;  // fdatasync, fsync, fallocate, ftruncate, renameat2, pwrite
  std::string path;  // the file's, the new one of a rename
};
/// Before the call: 0, or the errno that it fails with instead of being made. After it: nothing but a look.
inline std::function<int(const Call&)> before;
inline std::function<void(const Call&)> after;

inline std::string pathOf(int fd) {
  char path[4096];
  const ssize_t n = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
  return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : std::string();
}

template <class Result = int>
inline Result through(const Call& call, const std::function<long()>& real) {
  if (before) {
    const int failed = before(call);
    if (failed != 0) {
      errno = failed;
      return -1;
    }
  }
  const long result = real();
  if (result >= 0 && after) after(call);
  return static_cast<Result>(result);
}

/// No call is watched any more when it goes.
struct Watch {
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    before = {};
    after = {};
  }
};

}  // namespace faults

extern "C" {
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return faults::through<ssize_t>({"pwrite", faults::pathOf(fd)},
                                  [&] { return ::syscall(SYS_pwrite64, fd, bytes, size, offset); });
}
int fdatasync(int fd) {
  return faults::through({"fdatasync", faults::pathOf(fd)}, [&] { return ::syscall(SYS_fdatasync, fd); });
}
int fsync(int fd) {
  return faults::through({"fsync", faults::pathOf(fd)}, [&] { return ::syscall(SYS_fsync, fd); });
}
int fallocate(int fd, int mode, off_t offset, off_t size) {
  return faults::through({"fallocate", faults::pathOf(fd)},
                         [&] { return ::syscall(SYS_fallocate, fd, mode, offset, size); });
}
int ftruncate(int fd, off_t size) noexcept {
  return faults::through({"ftruncate", faults::pathOf(fd)}, [&] { return ::syscall(SYS_ftruncate, fd, size); });
}
int renameat2(int fromFolder, const char* from, int toFolder, const char* to, unsigned flags) noexcept {
  return faults::through({"renameat2", to},
                         [&] { return ::syscall(SYS_renameat2, fromFolder, from, toFolder, to, flags); });
}
}
