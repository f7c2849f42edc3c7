// SPDX-License-Identifier: Apache-2.0
#include "core/store/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

namespace dsa {

namespace {

/// 0, or errno. Tries for a fifth of a second: a reader that looks at a store which nobody writes holds it for some
/// microseconds (share()).
int lockExclusively(int fd) {
  for (int attempt = 0;; ++attempt) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EINTR && (errno != EWOULDBLOCK || attempt == 20)) return errno;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::string contentOf(int fd) {
  char text[32] = {};
  const ssize_t got = ::pread(fd, text, sizeof text, 0);
  return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : std::string();
}

bool isPid(const std::string& text) {
  return text.size() < 16 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

Result<StoreLock> StoreLock::take(const std::string& folder) {
  const std::string path = folder + "/lock";
  DSA_ASSIGN(File file, File::open(path, File::Mode::readWrite, O_CREAT));
  const int failed = lockExclusively(file.fd());
  if (failed != 0 && failed != EWOULDBLOCK) return failErrno(path, "lock", failed);
  const std::string holder = contentOf(file.fd());
  if (!isPid(holder)) {
    return fail(ErrorCode::input,
                "{}: a file of that name is there, which this program did not make; it was not touched. Choose another "
                "cache folder",
                path);
  }
  if (failed != 0) {
    return fail(ErrorCode::machine, "{}: in use by process {}; nothing was changed. Wait for it, or stop it first",
                folder, holder.empty() ? "unknown" : holder);
  }
  const std::string pid = std::to_string(::getpid());
  DSA_TRY(file.resize(0));
  DSA_TRY(file.writeAt(std::as_bytes(std::span(pid)), 0));
  StoreLock lock;
  lock.m_file = std::move(file);
  return lock;
}

Result<std::optional<StoreLock>> StoreLock::share(const std::string& folder) {
  const std::string path = folder + "/lock";
  StoreLock lock;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return lock;
  DSA_ASSIGN(lock.m_file, File::open(path, File::Mode::readOnly));
  int failed = 0;
  do {
    failed = ::flock(lock.m_file.fd(), LOCK_SH | LOCK_NB) == 0 ? 0 : errno;
  } while (failed == EINTR);
  if (failed == EWOULDBLOCK) return std::nullopt;
  if (failed != 0) return failErrno(path, "lock", failed);
  return lock;
}

}  // namespace dsa
