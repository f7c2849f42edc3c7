// SPDX-License-Identifier: Apache-2.0
// Under a path: its file system, the disk that holds it, and what the disk itself has read and written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dsa {

struct FileSystemInfo {
  std::string type;             ///< "ext4", "tmpfs", "nfs4", ... of /proc/self/mountinfo; empty when not found
  bool isMemory = false;        ///< tmpfs or ramfs: files there take memory, not disk
  bool isNetwork = false;       ///< nfs, cifs, sshfs, 9p, ...
  bool isOverlay = false;       ///< a container's layers: the disk below cannot be told
  std::uint64_t freeBytes = 0;  ///< for an ordinary user (statvfs f_bavail)
  std::uint64_t totalBytes = 0;
};

/// Absent when the path is not there.
[[nodiscard]] std::optional<FileSystemInfo> fileSystemOf(const std::string& path);

/// Bytes since boot, of the whole disk, by all processes. Source: /sys/block/NAME/stat, sectors of 512 bytes.
struct DiskCounters {
  std::uint64_t readBytes = 0;
  std::uint64_t writtenBytes = 0;
};

/// The disk behind a path. Thread: a value; counters() may be called from any thread.
class BlockDevice {
 public:
  /// Absent where there is none to be told: tmpfs, network, overlay.
  static std::optional<BlockDevice> of(const std::string& path);

  [[nodiscard]] const std::string& name() const { return m_name; }  ///< the whole disk: "nvme0n1", "sda", "dm-0"
  [[nodiscard]] std::optional<bool> rotational() const;
  [[nodiscard]] std::optional<std::string> model() const;
  [[nodiscard]] std::optional<std::uint64_t> readAheadBytes() const;  ///< queue/read_ahead_kb
  [[nodiscard]] std::optional<std::uint64_t> sizeBytes() const;
  /// What the drive itself says of its wear, where the kernel shows it to everybody: eMMC's device/life_time ("0x01
  /// 0x02", tenths used). NVMe and SATA tell it to root only.
  [[nodiscard]] std::optional<std::string> reportedWear() const;
  [[nodiscard]] std::optional<DiskCounters> counters() const;

 private:
  BlockDevice(std::string name, std::string folder) : m_name(std::move(name)), m_folder(std::move(folder)) {}
  std::string m_name;
  std::string m_folder;
};

}  // namespace dsa
