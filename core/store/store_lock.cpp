// SPDX-License-Identifier: Apache-2.0
#include "core/store/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace dsa {

Result<StoreLock> StoreLock::take(const std::string& folder) {
  const std::string path = folder + "/lock";
  DSA_ASSIGN(File file, File::open(path, File::Mode::readWrite, O_CREAT));
  if (::flock(file.fd(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failErrno(path, "lock", errno);
    char pid[32] = {};
    const ssize_t got = ::pread(file.fd(), pid, sizeof pid - 1, 0);
    const std::string holder = got > 0 ? std::string(pid, static_cast<std::size_t>(got)) : "unknown";
    return fail(ErrorCode::machine, "{}: in use by process {}; nothing was changed. Wait for it, or stop it first", folder, holder);
  }
  const std::string pid = std::to_string(::getpid());
  DSA_TRY(file.resize(0));
  DSA_TRY(file.writeAt(std::as_bytes(std::span(pid)), 0));
  StoreLock lock;
  lock.m_file = std::move(file);
  return lock;
}

}  // namespace dsa
