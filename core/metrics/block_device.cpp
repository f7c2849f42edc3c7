// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/block_device.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/metrics/proc_text.h"

namespace dsa {

namespace fs = std::filesystem;

namespace {

struct Mount {
  std::string type;
  std::string source;
};

/// mountinfo writes space, tab, newline and backslash as \ooo.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 4, code, 8).ptr == text.data() + i + 4) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// The mount with the longest mount point above `path`; of several on one point the last, which hides the others.
std::optional<Mount> mountOf(const std::string& path) {
  std::error_code error;
  const std::string real = fs::canonical(path, error).string();
  const auto table = readProcFile("/proc/self/mountinfo");
  if (error || !table) return std::nullopt;
  std::optional<Mount> best;
  std::size_t longest = 0;
  std::istringstream lines(*table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 5; ++i) fields >> field;
    const std::string point = unescaped(field);
    while (fields >> field && field != "-") {
    }
    Mount mount;
    fields >> mount.type >> mount.source;
    mount.source = unescaped(mount.source);
    const bool above = point == "/" || real == point || real.starts_with(point + "/");
    if (above && point.size() >= longest) {
      longest = point.size();
      best = mount;
    }
  }
  return best;
}

bool isNetworkType(std::string_view type) {
  constexpr std::array<std::string_view, 19> kTypes = {"nfs",
                                                       "nfs4",
                                                       "cifs",
                                                       "smb3",
                                                       "smb",
                                                       "smb2",
                                                       "9p",
                                                       "ceph",
                                                       "afs",
                                                       "coda",
                                                       "fuse.sshfs",
                                                       "fuse.s3fs",
                                                       "fuse.rclone",
                                                       "fuse.glusterfs",
                                                       "fuse.gcsfuse",
                                                       "fuse.juicefs",
                                                       "fuse.davfs",
                                                       "fuse.curlftpfs",
                                                       "fuse.gvfsd-fuse"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

/// By f_type of statfs (linux/magic.h): what is known where no mount is seen above a path, as in a chroot. Compared as
/// 32 bits, since smb2 and cifs have the top bit set.
std::string typeByMagic(const std::string& path) {
  constexpr std::array<std::pair<std::uint32_t, const char*>, 16> kMagics = {{{0x0000EF53, "ext4"},
                                                                              {0x58465342, "xfs"},
                                                                              {0x9123683E, "btrfs"},
                                                                              {0xF2F52010, "f2fs"},
                                                                              {0x2FC12FC1, "zfs"},
                                                                              {0x01021994, "tmpfs"},
                                                                              {0x858458F6, "ramfs"},
                                                                              {0x794C7630, "overlay"},
                                                                              {0x00006969, "nfs"},
                                                                              {0x0000517B, "smb"},
                                                                              {0xFE534D42, "smb2"},
                                                                              {0xFF534D42, "cifs"},
                                                                              {0x00C36400, "ceph"},
                                                                              {0x5346414F, "afs"},
                                                                              {0x73757245, "coda"},
                                                                              {0x01021997, "9p"}}};
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return {};
  for (const auto& [number, name] : kMagics)
    if (static_cast<std::uint32_t>(info.f_type) == number) return name;
  return {};
}

/// /sys/dev/block/MAJOR:MINOR, resolved and lifted from a partition to its disk.
std::optional<fs::path> diskFolder(dev_t device) {
  std::error_code error;
  fs::path folder = fs::canonical(fmt::format("/sys/dev/block/{}:{}", major(device), minor(device)), error);
  if (error) return std::nullopt;
  if (fs::exists(folder / "partition", error)) folder = folder.parent_path();
  return folder;
}

std::optional<std::uint64_t> numberIn(const std::string& path) {
  const auto text = readProcFile(path);
  if (!text) return std::nullopt;
  return numberAfter(*text, "");
}

}  // namespace

std::optional<FileSystemInfo> fileSystemOf(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return std::nullopt;
  FileSystemInfo system;
  system.freeBytes = std::uint64_t{info.f_bavail} * info.f_frsize;
  system.totalBytes = std::uint64_t{info.f_blocks} * info.f_frsize;
  const auto mount = mountOf(path);
  system.type = mount ? mount->type : typeByMagic(path);
  system.isMemory = system.type == "tmpfs" || system.type == "ramfs";
  system.isNetwork = isNetworkType(system.type);
  system.isOverlay = system.type == "overlay" || system.type == "aufs" || system.type == "fuse-overlayfs";
  return system;
}

std::optional<BlockDevice> BlockDevice::of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  auto folder = diskFolder(info.st_dev);
  if (!folder) {
    // btrfs gives its files a device number of its own; the mount's source still names the disk.
    const auto mount = mountOf(path);
    struct stat source {};
    if (!mount || ::stat(mount->source.c_str(), &source) != 0 || !S_ISBLK(source.st_mode)) return std::nullopt;
    folder = diskFolder(source.st_rdev);
    if (!folder) return std::nullopt;
  }
  return BlockDevice(folder->filename().string(), folder->string());
}

std::optional<bool> BlockDevice::rotational() const {
  const auto flag = numberIn(m_folder + "/queue/rotational");
  if (!flag) return std::nullopt;
  return *flag != 0;
}

std::optional<std::string> BlockDevice::model() const {
  const auto text = readProcFile(m_folder + "/device/model");
  if (!text) return std::nullopt;
  return trimmed(*text);
}

std::optional<std::uint64_t> BlockDevice::readAheadBytes() const {
  const auto kib = numberIn(m_folder + "/queue/read_ahead_kb");
  if (!kib) return std::nullopt;
  return *kib * 1024;
}

std::optional<std::uint64_t> BlockDevice::sizeBytes() const {
  const auto sectors = numberIn(m_folder + "/size");
  if (!sectors) return std::nullopt;
  return *sectors * 512;
}

std::optional<std::string> BlockDevice::reportedWear() const {
  const auto text = readProcFile(m_folder + "/device/life_time");
  if (!text) return std::nullopt;
  return trimmed(*text);
}

std::optional<DiskCounters> BlockDevice::counters() const {
  const auto text = readProcFile(m_folder + "/stat");
  if (!text) return std::nullopt;
  // reads, merged, SECTORS READ, ms, writes, merged, SECTORS WRITTEN; a sector is 512 bytes whatever the disk's own.
  std::istringstream fields(*text);
  std::array<std::uint64_t, 7> numbers{};
  for (std::uint64_t& number : numbers) fields >> number;
  if (!fields) return std::nullopt;
  return DiskCounters{numbers[2] * 512, numbers[6] * 512};
}

}  // namespace dsa
