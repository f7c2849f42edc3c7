// SPDX-License-Identifier: Apache-2.0
// What a folder's disk gives past the page cache: random reads and mixes at a depth, long runs, and syncs.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace dsa {

struct DiskBenchOptions {
  std::string folder;                 ///< made where it is missing
  std::uint64_t fileBytes = 1 << 30;  ///< at least 4 MiB; larger than the disk's own memory to mean much
  double seconds = 1;                 ///< of each measurement, > 0
  std::vector<std::uint32_t> requestBytes = {4096, 16384, 1536};
  std::vector<unsigned> depths = {1, 32, 128};
  const std::atomic<bool>* stop = nullptr;  ///< set by a signal: end between two requests
};

/// One size at one depth. Requests lie at multiples of their size, at random.
struct RandomFigures {
  std::uint32_t requestBytes = 0;
  unsigned depth = 0;
  bool mixed = false;  ///< half of the requests are writes; else all are reads
  double readsPerSecond = 0, writesPerSecond = 0;
  double medianUs = 0, p99Us = 0;
};

struct DiskBenchReport {
  bool direct = false;   ///< the file system took O_DIRECT
  bool ioUring = false;  ///< without it there is no depth but 1
  std::vector<RandomFigures> random;
  double sequentialReadBytesPerSecond = 0, sequentialWriteBytesPerSecond = 0;
  std::uint64_t syncs = 0;
  double syncMedianMs = 0, syncP99Ms = 0;  ///< fdatasync after a write of 4 KiB at a random place
  std::vector<std::string> notes;          ///< for people: what the figures are not
};

/// Measures on a file of its own, which has no name from the moment it is made: it is gone however this ends.
/// Time: about (2 x sizes x depths + 3) x seconds, and the file's first write. Errors machine: too little free space
/// (nothing was written), no permission, the disk refused; stopped.
Result<DiskBenchReport> benchDisk(const DiskBenchOptions& options);

/// The smallest multiple of `unit` that holds `bytes`.
[[nodiscard]] constexpr std::uint32_t roundedUp(std::uint32_t bytes, std::uint32_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace dsa
