// SPDX-License-Identifier: Apache-2.0
// A file written once, in order, that leaves nothing in the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/file.h"

namespace dsa {

/// Large pieces, each of which goes to the disk and out of the page cache before the next 16 MiB: what is written, of
/// whatever size, neither drives out the pages of a table in work nor stays behind in large folios, in which a later
/// store of one row would dirty all of it (row_scan.h). Memory: 1 MiB. Thread: the owner.
class BulkFile {
 public:
  BulkFile() = default;
  /// Writes from byte `offset` on.
  explicit BulkFile(File file, std::uint64_t offset = 0);

  /// Error machine: no space, or the disk. Where that came out late, it comes from finish().
  Result<void> add(std::span<const std::byte> bytes);
  /// Everything durable, and none of the file's pages in memory.
  Result<void> finish();
  [[nodiscard]] const File& file() const { return m_file; }
  /// End of what was added.
  [[nodiscard]] std::uint64_t end() const { return m_offset + m_pending.size(); }

 private:
  Result<void> flush();

  File m_file;
  std::vector<std::byte> m_pending;
  std::uint64_t m_offset = 0;   // written up to here
  std::uint64_t m_dropped = 0;  // and up to here out of the page cache
};

}  // namespace dsa
