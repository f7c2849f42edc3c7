// SPDX-License-Identifier: Apache-2.0
#include "core/record/network_file_system.h"

#include <sys/vfs.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace dsa {

namespace {

// f_type values of linux/magic.h and fs/*/; compared as 32 bits, since smb2 and cifs have the top bit set.
constexpr std::uint32_t kFuse = 0x65735546;
constexpr std::array<std::pair<std::uint32_t, const char*>, 8> kNetworkTypes = {{
    {0x00006969, "nfs"},
    {0x0000517B, "smb"},
    {0xFE534D42, "smb2"},
    {0xFF534D42, "cifs"},
    {0x00C36400, "ceph"},
    {0x5346414F, "afs"},
    {0x73757245, "coda"},
    {0x01021997, "9p"},
}};

/// Type of the mount that holds `folder`, by the longest mount point that is a prefix of it.
std::string mountType(const std::string& folder) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(folder, error).string();
  std::ifstream mounts("/proc/self/mountinfo");
  std::string line;
  std::string type;
  std::size_t longest = 0;
  while (std::getline(mounts, line)) {
    std::istringstream fields(line);
    std::string skipped;
    std::string point;
    fields >> skipped >> skipped >> skipped >> skipped >> point;
    while (fields >> skipped && skipped != "-") {
    }
    std::string candidate;
    fields >> candidate;
    const bool inside = point == "/" || real == point || real.starts_with(point + "/");
    if (inside && point.size() >= longest) {
      longest = point.size();
      type = candidate;
    }
  }
  return type;
}

}  // namespace

std::optional<std::string> networkFileSystem(const std::string& folder) {
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return std::nullopt;
  const auto magic = static_cast<std::uint32_t>(info.f_type);
  for (const auto& [number, name] : kNetworkTypes) {
    if (magic == number) return name;
  }
  if (magic == kFuse) {
    // FUSE is also ntfs-3g and virtiofs; only the known remote ones are refused.
    const std::string type = mountType(folder);
    for (std::string_view remote : {"fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.gcsfuse",
                                    "fuse.davfs", "fuse.curlftpfs", "fuse.juicefs", "fuse.gvfsd-fuse"}) {
      if (type == remote) return type;
    }
  }
  return std::nullopt;
}

}  // namespace dsa
