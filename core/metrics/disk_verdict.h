// SPDX-License-Identifier: Apache-2.0
// What a cache folder's disk is good for: its kind, and an estimate of how much of its endurance an hour of training
// takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/metrics/block_device.h"

namespace dsa {

enum class DiskKind { nvme, solidState, rotational, virtualDisk, memory, network, unknown };

/// By the file system, then the disk's name and what it says of itself. A virtual disk says "rotational" of anything.
[[nodiscard]] DiskKind diskKindOf(bool isMemory, bool isNetwork, const std::string& diskName,
                                  std::optional<bool> rotational);
[[nodiscard]] const char* diskKindName(DiskKind kind);  ///< "nvme", "ssd", ...

/// What the estimate takes for granted. The rate is that of cold rows: rows in memory are stepped faster, but pages
/// that stay there are written once an interval of the kernel's write-back, not once a step.
struct WriteAssumptions {
  double rowsPerSecond = 50000;      ///< `dsa bench disk` tells what this machine reaches
  std::uint64_t recordBytes = 1536;  ///< sparse_adam, 128 coordinates
  std::uint64_t pageBytes = 4096;    ///< the kernel writes whole pages
  double rewrittenShare = 0.5;       ///< rows that were changed again before their page was written
};

/// An estimate from the assumptions and a typical rating; nothing of it is measured.
struct WriteEstimate {
  double pagesPerRow = 0;            ///< 1 + (record - 1) / page: a record begins anywhere in a page
  double bytesPerHour = 0;           ///< rows/s x 3600 x pages a row x page x (1 - share rewritten)
  std::optional<double> ratedBytes;  ///< 0.3 x size x 365 x 5; absent without a size
  std::optional<double> hours;       ///< of training until then
};

inline constexpr double kDriveWritesPerDay = 0.3;  // of consumer drives' data sheets; servers' have 1 and more
inline constexpr double kRatedYears = 5;

[[nodiscard]] WriteEstimate estimateWrites(const WriteAssumptions& assumptions, std::optional<std::uint64_t> diskBytes);

/// One sentence for people: whether tables should lie there.
[[nodiscard]] std::string diskVerdict(DiskKind kind, const std::optional<double>& hours);

}  // namespace dsa
