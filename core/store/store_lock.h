// SPDX-License-Identifier: Apache-2.0
// One writer a store: a lock file that the kernel lets go when its holder dies.
#pragma once

#include <optional>
#include <string>

#include "core/base/file.h"

namespace dsa {

/// Holds FOLDER/lock for as long as it lives. The kernel releases it with the process, however that ends.
class StoreLock {
 public:
  /// Error machine: somebody else holds it; names the holder's pid.
  /// Error input: `lock` is somebody else's file; it is not written to.
  static Result<StoreLock> take(const std::string& folder);
  /// Keeps writers out for a moment, together with other readers; no value where a writer holds it. A folder without a
  /// lock file has no writer.
  static Result<std::optional<StoreLock>> share(const std::string& folder);
  StoreLock() = default;

 private:
  File m_file;
};

}  // namespace dsa
