// SPDX-License-Identifier: Apache-2.0
// Bytes of a file, of a compressed file, or of a member of an archive, under limits that a hostile file cannot pass.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace dsa {

/// What unpacking may cost. Text that people compress shrinks 3 to 30 times; a bomb shrinks 1,000 times and more.
struct UnpackLimits {
  std::uint64_t bytes = 64ull << 30;  ///< unpacked bytes of one file or archive
  std::uint64_t ratio = 500;          ///< unpacked to packed, checked past ratioFreeBytes
  std::uint64_t ratioFreeBytes = 64ull << 20;
  std::uint64_t members = 10'000;  ///< files in a folder or an archive
};

/// A stream of bytes. Thread: its owner.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills up to bytes.size(); 0 at the end only. Errors input (damaged, over a limit) or machine (I/O).
  virtual Result<std::size_t> read(std::span<char> bytes) = 0;
};

/// What a path holds: one file, the members of an archive, or the files of a folder. Type by content, never by suffix:
/// gzip, bzip2, xz, lzma, zstd, lz4 and compress round a plain file, a tar or a zip.
class Container {
 public:
  enum class Kind { file, archive, folder };
  struct Member {
    std::string name;        ///< of a folder or an archive as listed there; of a file its last part
    std::uint64_t size = 0;  ///< packed for files on disk, unpacked for members of an archive; 0 if not told
  };

  /// Errors input: missing, not a regular file or folder, empty, damaged, over a limit; an archive without files.
  static Result<Container> open(const std::string& path, const UnpackLimits& limits);

  [[nodiscard]] Kind kind() const { return m_kind; }
  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] const std::vector<Member>& members() const { return m_members; }
  /// "PATH" for a file, "PATH/NAME" in a folder, "PATH:NAME" in an archive; for messages.
  [[nodiscard]] std::string label(std::size_t member) const;
  /// The member's bytes, unpacked (a compressed file inside an archive or a folder too; an archive inside is refused).
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> openMember(std::size_t member) const;

 private:
  Kind m_kind = Kind::file;
  std::string m_path;
  UnpackLimits m_limits;
  std::vector<Member> m_members;
};

/// "train.tsv.xz" -> "train": the last part of a path up to its first dot (a leading dot stays).
std::string fileStem(const std::string& path);

}  // namespace dsa
