// SPDX-License-Identifier: Apache-2.0
// Unpacks a stream with libarchive: one compressed file, or the members of a tar or zip in turn.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "core/data/byte_source.h"

struct archive;

namespace dsa {

class ArchiveSource : public ByteSource {
 public:
  /// Reads the first header. label names the stream in messages.
  /// Errors input: damaged, or nothing in it (empty file, archive without entries).
  static Result<std::unique_ptr<ArchiveSource>> open(std::unique_ptr<ByteSource> packed, std::string label,
                                                     const UnpackLimits& limits);
  ~ArchiveSource() override;
  ArchiveSource(const ArchiveSource&) = delete;
  ArchiveSource& operator=(const ArchiveSource&) = delete;

  /// Whether the stream is an archive of members rather than one plain or compressed file.
  [[nodiscard]] bool isArchive() const { return m_isArchive; }
  /// Moves to the next regular file, from before the first; false at the end. A plain stream has one.
  Result<bool> nextFile();
  [[nodiscard]] const std::string& memberName() const { return m_memberName; }
  [[nodiscard]] std::uint64_t memberSize() const { return m_memberSize; }
  /// Bytes of the current file.
  Result<std::size_t> read(std::span<char> bytes) override;

 private:
  struct Input;  // what libarchive's callback needs: the packed stream, its buffer, its first error
  ArchiveSource() = default;
  Result<bool> nextHeader();
  Result<void> skipRest();
  [[nodiscard]] tl::unexpected<Error> archiveError(const char* what) const;

  std::string m_label;
  UnpackLimits m_limits;
  std::unique_ptr<Input> m_input;
  struct archive* m_archive = nullptr;
  bool m_isArchive = false;
  bool m_atHeader = false;  ///< the next header has been read and not yet given
  bool m_isRegular = false;
  bool m_ended = false;
  std::uint64_t m_unpacked = 0;
  std::uint64_t m_headers = 0;
  std::string m_memberName;
  std::uint64_t m_memberSize = 0;
};

}  // namespace dsa
