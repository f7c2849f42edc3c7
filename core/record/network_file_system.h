// SPDX-License-Identifier: Apache-2.0
// Tells whether a folder lies on a network file system, where SQLite's WAL is not safe.
#pragma once

#include <optional>
#include <string>

namespace dsa {

/// "nfs", "smb", "fuse.sshfs", ... when `folder` lies on one; nothing when it is local or cannot be told.
[[nodiscard]] std::optional<std::string> networkFileSystem(const std::string& folder);

}  // namespace dsa
