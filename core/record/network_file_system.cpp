// SPDX-License-Identifier: Apache-2.0
#include "core/record/network_file_system.h"

#include "core/metrics/block_device.h"

namespace dsa {

std::optional<std::string> networkFileSystem(const std::string& folder) {
  const auto system = fileSystemOf(folder);
  if (!system || !system->isNetwork) return std::nullopt;
  return system->type;
}

}  // namespace dsa
