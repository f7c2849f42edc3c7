// SPDX-License-Identifier: Apache-2.0
// Many reads and writes of whole sectors at once, past the page cache: io_uring, or threads where that is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/file.h"

namespace dsa {

/// Offset, size and memory of O_DIRECT requests are multiples of it. Disks with larger sectors refuse such requests:
/// openDirect() finds out.
inline constexpr std::uint64_t kSector = 512;
[[nodiscard]] constexpr std::uint64_t wholeSectors(std::uint64_t bytes) {
  return (bytes + kSector - 1) / kSector * kSector;
}

struct DirectRequest {
  enum class Kind { read, write };
  Kind kind = Kind::read;
  const File* file = nullptr;
  std::uint64_t offset = 0;
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
};

/// Thread: one caller at a time.
class DirectIo {
 public:
  enum class Engine { best, threads };

  /// Requests under way at a time; the disk of this class of machine gives no more beyond 128.
  static constexpr unsigned kDepth = 128;

  /// best: io_uring where the kernel lets us (containers often do not), else 16 threads with pread and pwrite.
  static std::unique_ptr<DirectIo> make(Engine engine = Engine::best);
  DirectIo() = default;
  DirectIo(const DirectIo&) = delete;
  DirectIo& operator=(const DirectIo&) = delete;
  virtual ~DirectIo() = default;

  /// Carries all of them out, in any order, and returns when none is under way any more. The requests are used up.
  /// Errors: machine, the disk or no space; input, a file ends before what is read. The first is reported; others may
  /// or may not have been carried out.
  virtual Result<void> run(std::span<DirectRequest> requests) = 0;
  [[nodiscard]] virtual bool usesRing() const = 0;
};

/// Opens for O_DIRECT where the file system and the disk take kSector, else without it. `direct` says which.
Result<File> openDirect(const std::string& path, File::Mode mode, bool& direct);

}  // namespace dsa
