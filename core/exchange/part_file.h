// SPDX-License-Identifier: Apache-2.0
// A file for somebody else, written in order, that has no name until it is whole and on the disk; never over another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/bulk_file.h"

namespace dsa {

/// Without publish(), or where the process is killed, nothing is left. Only on a file system without unnamed files
/// (O_TMPFILE) it is FILE.NUMBER.part meanwhile, a name that nobody has; a kill leaves that. Thread: the owner.
class PartFile {
 public:
  /// Error input: FILE exists (it is not touched), or its folder does not. machine: it cannot be made.
  static Result<PartFile> create(const std::string& path);
  PartFile(PartFile&& other) noexcept;
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();

  /// Error machine: no space, or the disk; says what is safe.
  Result<void> add(std::span<const std::byte> bytes);
  Result<void> add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  /// Everything to the disk, still without its name. Errors as add().
  Result<void> finish();
  /// It becomes FILE. Error machine: FILE came into being meanwhile; it is not touched.
  Result<void> publish();
  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] std::uint64_t bytes() const { return m_bulk.end(); }

 private:
  PartFile() = default;

  std::string m_path;
  std::string m_partPath;  // empty: unnamed, or published
  BulkFile m_bulk;
};

/// All of them, or none: those that already have their name lose it again where a later one cannot get its own.
Result<void> publishAll(std::vector<PartFile>& files);

}  // namespace dsa
