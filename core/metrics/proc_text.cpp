// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/proc_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>

namespace dsa {

std::optional<std::string> readProcFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  std::array<char, 8192> buffer{};
  ssize_t got = 0;
  while ((got = ::read(fd, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(fd);
  if (got < 0) return std::nullopt;
  return text;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

std::optional<std::string> textAfter(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(key)) return trimmed(line.substr(key.size()));
    at = end + 1;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> numberAfter(std::string_view text, std::string_view key) {
  const auto rest = textAfter(text, key);
  if (!rest) return std::nullopt;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(rest->data(), rest->data() + rest->size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace dsa
