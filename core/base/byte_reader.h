// SPDX-License-Identifier: Apache-2.0
// Bytes of a file or of memory, in order, in pieces and in lines; a length that the bytes claim is never trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.h"

namespace dsa {

/// Where the bytes come from; a stream that cannot be gone over twice is core/data's ByteSource. Thread: one.
class SeekableBytes {
 public:
  virtual ~SeekableBytes() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Exactly so many bytes at `offset`; offset + bytes.size() <= size(). Errors: as File::readAt.
  virtual Result<void> read(std::uint64_t offset, std::span<std::byte> bytes) const = 0;
};

/// Error input: no such file, or no regular one (a pipe could not be gone over twice).
Result<std::unique_ptr<SeekableBytes>> fileBytes(const std::string& path);
/// Of an open file.
Result<std::unique_ptr<SeekableBytes>> fileBytes(File file);
/// The bytes must outlive it.
[[nodiscard]] std::unique_ptr<SeekableBytes> memoryBytes(std::span<const std::byte> bytes);

/// Memory: kPieceBytes, and the longest line. What is returned lives until the next call. Thread: the owner.
class ByteReader {
 public:
  static constexpr std::size_t kPieceBytes = 1u << 20;
  static constexpr std::size_t kLongestLine = 16u << 20;

  /// name: what messages call it. pieceBytes: read at once; fewer in tests, so that lines and rows go over the ends of
  /// pieces.
  ByteReader(std::unique_ptr<SeekableBytes> source, std::string name, std::size_t pieceBytes = kPieceBytes)
      : m_source(std::move(source)), m_name(std::move(name)), m_pieceBytes(pieceBytes) {}

  [[nodiscard]] const std::string& name() const { return m_name; }
  [[nodiscard]] std::uint64_t size() const { return m_source->size(); }
  /// Of the next byte.
  [[nodiscard]] std::uint64_t offset() const { return m_read - (m_end - m_begin); }
  [[nodiscard]] std::uint64_t left() const { return size() - offset(); }
  /// offset <= size(). Lines are counted from there on.
  void seek(std::uint64_t offset);

  /// The next n bytes, n <= kPieceBytes. Error input: there are fewer (says where the file ends).
  Result<std::span<const std::byte>> take(std::size_t n);
  /// The next bytes, up to kPieceBytes; empty at the end.
  Result<std::span<const std::byte>> piece();
  /// The next line without its end; no value after the last. The last one needs no end. Error input: it is longer than
  /// kLongestLine.
  Result<std::optional<std::string_view>> line();
  /// Of the line that was returned last, from 1.
  [[nodiscard]] std::uint64_t lineNumber() const { return m_lines; }

 private:
  Result<void> fill(std::size_t n);

  std::unique_ptr<SeekableBytes> m_source;
  std::string m_name;
  std::size_t m_pieceBytes;
  std::vector<std::byte> m_buffer;
  std::size_t m_begin = 0, m_end = 0;  // what of the buffer is still to be given
  std::uint64_t m_read = 0;            // bytes taken from the source
  std::uint64_t m_lines = 0;
};

/// Lines from here to the end; the reader is then where it was.
Result<std::uint64_t> countLines(ByteReader& reader);

}  // namespace dsa
