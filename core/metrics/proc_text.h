// SPDX-License-Identifier: Apache-2.0
// Inside core/metrics only: the small text files of /proc and /sys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dsa {

/// The whole file; nothing when it cannot be read (these files have no size of their own).
[[nodiscard]] std::optional<std::string> readProcFile(const std::string& path);

/// The number after `key` at the beginning of a line ("RssAnon:" in "RssAnon:\t  12 kB"); nothing when there is none.
[[nodiscard]] std::optional<std::uint64_t> numberAfter(std::string_view text, std::string_view key);

/// The rest of the line after `key` at the beginning of a line, without spaces around.
[[nodiscard]] std::optional<std::string> textAfter(std::string_view text, std::string_view key);

/// `text` without spaces and line ends around.
[[nodiscard]] std::string trimmed(std::string_view text);

}  // namespace dsa
