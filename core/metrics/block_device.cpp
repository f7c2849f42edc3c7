// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/block_device.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

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
  constexpr std::array<std::string_view, 16> kTypes = {
      "nfs",        "nfs4",      "cifs",           "smb3",        "smbfs",        "9p",           "ceph",       "afs",
      "fuse.sshfs", "fuse.s3fs", "fuse.glusterfs", "fuse.rclone", "fuse.gcsfuse", "fuse.juicefs", "fuse.davfs", "coda"};
  for (const std::string_view known : kTypes) {
    if (type == known) return true;
  }
  return false;
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
  if (const auto mount = mountOf(path)) {
    system.type = mount->type;
    system.isMemory = mount->type == "tmpfs" || mount->type == "ramfs";
    system.isNetwork = isNetworkType(mount->type);
    system.isOverlay = mount->type == "overlay" || mount->type == "aufs" || mount->type == "fuse-overlayfs";
  }
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
