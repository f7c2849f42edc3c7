// SPDX-License-Identifier: Apache-2.0
// What all fuzz targets share: bytes taken from the input, a folder in memory, claims.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace fuzz {

/// The front of the input, then the rest; zeros where it ends.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : m_data(data), m_size(size) {}
  template <class T>
  T take() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  void take(void* to, std::size_t size) {
    const std::size_t n = std::min(size, m_size);
    if (n > 0) std::memcpy(to, m_data, n);
    m_data += n;
    m_size -= n;
  }
  std::string rest() {
    std::string text(m_size, '\0');
    take(text.data(), text.size());
    return text;
  }
  [[nodiscard]] std::size_t left() const { return m_size; }

 private:
  const std::uint8_t* m_data;
  std::size_t m_size;
};

/// A folder in memory where there is such a file system: thousands of inputs a second, each with a dozen syncs.
inline std::string scratchFolder(const char* name) {
  const bool memory = ::access("/dev/shm", W_OK) == 0;
  const std::string folder = fmt::format("{}/dsa-fuzz-{}-{}", memory ? "/dev/shm" : "/tmp", name, ::getpid());
  static std::string made;
  made = folder;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::atexit([] { std::filesystem::remove_all(made); });
  return folder;
}

inline void require(bool claim) {
  if (!claim) std::abort();
}

}  // namespace fuzz
