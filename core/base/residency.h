// SPDX-License-Identifier: Apache-2.0
// How much of a file is in the page cache: cachestat where the kernel has it, else mincore, else "not reported".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/file.h"

namespace dsa {

enum class ResidencySource { cachestat, mincore };

[[nodiscard]] const char* residencySourceName(ResidencySource source);

struct Residency {
  std::uint64_t residentBytes = 0;          ///< whole pages in the page cache
  std::optional<std::uint64_t> dirtyBytes;  ///< of them not yet written, or being written; cachestat only
  ResidencySource source = ResidencySource::cachestat;
};

/// Whether cachestat(2) (Linux 6.5) works here; asked once.
[[nodiscard]] bool hasCachestat();

/// One file, asked time and again. It holds a read-only descriptor and keeps no mapping, so that it keeps no page in
/// memory. Thread: any; no state.
class ResidencyProbe {
 public:
  static Result<ResidencyProbe> open(const std::string& path);

  /// Of the bytes [offset, offset + length), length 0 = to the end of the file. Rounded to whole pages.
  /// Absent when the kernel does not tell the truth: for a file that the caller neither owns nor may write mincore says
  /// "all resident". Cost: cachestat about 0.3 ms for 8 GiB, mincore about 100 ms.
  [[nodiscard]] std::optional<Residency> read(std::uint64_t offset = 0, std::uint64_t length = 0) const;
  /// The same by one given method; absent where it is not to be had.
  [[nodiscard]] std::optional<Residency> readBy(ResidencySource source, std::uint64_t offset = 0,
                                                std::uint64_t length = 0) const;
  [[nodiscard]] const std::string& path() const { return m_file.path(); }

 private:
  explicit ResidencyProbe(File file) : m_file(std::move(file)) {}
  [[nodiscard]] bool mayAsk() const;

  File m_file;
};

}  // namespace dsa
