// SPDX-License-Identifier: Apache-2.0
#include "core/store/format.h"

#include <xxhash.h>

#include "core/base/file.h"

namespace dsa {

namespace {

std::string& bootIdOverride() {
  static std::string text;
  return text;
}

}  // namespace

std::uint64_t checksumOf(const void* bytes, std::size_t size) { return XXH64(bytes, size, 0x445341); }

void overrideBootId(const std::string& text) { bootIdOverride() = text; }

BootId currentBootId() {
  std::string text = bootIdOverride();
  if (text.empty()) {
    // A proc file reports size 0: read it in one go instead of by its size.
    const auto file = File::open("/proc/sys/kernel/random/boot_id", File::Mode::readOnly);
    char buffer[36];
    if (file && file->readAt(std::as_writable_bytes(std::span(buffer)), 0)) text.assign(buffer, sizeof buffer);
  }
  BootId id;
  int digits = 0;
  for (const char c : text) {
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0 || digits >= 32) continue;
    id.bytes[digits / 2] = static_cast<unsigned char>(id.bytes[digits / 2] | (value << (digits % 2 == 0 ? 4 : 0)));
    ++digits;
  }
  return id;
}

}  // namespace dsa
