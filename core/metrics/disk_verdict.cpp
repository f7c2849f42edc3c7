// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/disk_verdict.h"

#include <fmt/format.h>

namespace dsa {

namespace {

// Eight hours of training a day for the rated years; below a month's worth of hours a disk is used up within a project.
constexpr double kPlentyHours = 8 * 365 * kRatedYears;
constexpr double kFewHours = 720;

}  // namespace

DiskKind diskKindOf(bool isMemory, bool isNetwork, const std::string& diskName, std::optional<bool> rotational) {
  if (isMemory) return DiskKind::memory;
  if (isNetwork) return DiskKind::network;
  if (diskName.starts_with("nvme")) return DiskKind::nvme;
  if (diskName.starts_with("vd") || diskName.starts_with("xvd")) return DiskKind::virtualDisk;
  if (diskName.empty() || !rotational) return DiskKind::unknown;
  return *rotational ? DiskKind::rotational : DiskKind::solidState;
}

const char* diskKindName(DiskKind kind) {
  switch (kind) {
    case DiskKind::nvme:
      return "nvme";
    case DiskKind::solidState:
      return "ssd";
    case DiskKind::rotational:
      return "rotational";
    case DiskKind::virtualDisk:
      return "virtual";
    case DiskKind::memory:
      return "memory";
    case DiskKind::network:
      return "network";
    case DiskKind::unknown:
      break;
  }
  return "unknown";
}

WriteEstimate estimateWrites(const WriteAssumptions& a, std::optional<std::uint64_t> diskBytes) {
  WriteEstimate estimate;
  const auto page = static_cast<double>(a.pageBytes);
  estimate.pagesPerRow = 1 + static_cast<double>(a.recordBytes - 1) / page;
  estimate.bytesPerHour = a.rowsPerSecond * 3600 * estimate.pagesPerRow * page * (1 - a.rewrittenShare);
  if (!diskBytes) return estimate;
  estimate.ratedBytes = kDriveWritesPerDay * static_cast<double>(*diskBytes) * 365 * kRatedYears;
  if (estimate.bytesPerHour > 0) estimate.hours = *estimate.ratedBytes / estimate.bytesPerHour;
  return estimate;
}

std::string diskVerdict(DiskKind kind, const std::optional<double>& hours) {
  if (kind == DiskKind::memory) return "this is memory, not a disk: choose a folder on a disk with --cache";
  if (kind == DiskKind::network) return "this is on the network: rows will be slow; choose a local disk with --cache";
  if (kind == DiskKind::rotational)
    return "a spinning disk: random rows are slow there (about 100 a second); choose an SSD with --cache";
  std::string text = kind == DiskKind::nvme         ? "good: an NVMe disk"
                     : kind == DiskKind::solidState ? "good: an SSD; an NVMe disk gives more rows a second"
                     : kind == DiskKind::virtualDisk
                         ? "a virtual disk: what lies below is not reported; dsa bench disk shows what it gives"
                         : "the kind of disk is not reported; dsa bench disk shows what it gives";
  if (!hours) return text + ". Its endurance cannot be estimated: no size is reported";
  if (*hours >= kPlentyHours) return text + ". By the estimate its endurance is no concern";
  return text + fmt::format(". By the estimate {:.0f} hours of cold training use up a typical drive of this size{}",
                            *hours,
                            *hours < kFewHours ? ": for long runs choose a larger drive, one rated for more writes, or "
                                                 "a table that fits in memory"
                                               : "");
}

}  // namespace dsa
