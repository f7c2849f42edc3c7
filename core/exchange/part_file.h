// SPDX-License-Identifier: Apache-2.0
// A file for somebody else, written in order: FILE.part until it is whole and on the disk, then FILE; never over
// another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.h"

namespace dsa {

/// Memory: 1 MiB. What is written leaves the page cache every 16 MiB, so that an export of any size does not drive the
/// table's pages out. Without publish(), FILE.part goes with it. Thread: the owner.
class PartFile {
 public:
  /// Error input: FILE exists (it is not touched). machine: it cannot be made. A FILE.part left by a killed export is
  /// replaced.
  static Result<PartFile> create(const std::string& path);
  PartFile(PartFile&& other) noexcept;
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();

  /// Error machine: no space, or the disk; says what is safe.
  Result<void> add(std::span<const std::byte> bytes);
  Result<void> add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  /// Everything to the disk, still under the unfinished name. Errors as add().
  Result<void> finish();
  /// FILE.part becomes FILE. Error machine: FILE came into being meanwhile; it is not touched.
  Result<void> publish();
  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] std::uint64_t bytes() const { return m_offset + m_pending.size(); }

 private:
  PartFile() = default;
  Result<void> flush();
  [[nodiscard]] std::string partPath() const { return m_path + ".part"; }

  std::string m_path;
  File m_file;
  std::vector<std::byte> m_pending;
  std::uint64_t m_offset = 0;   // written
  std::uint64_t m_dropped = 0;  // of it out of the page cache
  bool m_unfinished = false;    // FILE.part is ours to remove
};

/// All of them, or none: those that already have their name lose it again where a later one cannot get its own.
Result<void> publishAll(std::vector<PartFile>& files);

}  // namespace dsa
