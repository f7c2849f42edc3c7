// SPDX-License-Identifier: Apache-2.0
#include "core/base/byte_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dsa {

namespace {

class FileBytes final : public SeekableBytes {
 public:
  FileBytes(File file, std::uint64_t size) : m_file(std::move(file)), m_size(size) {}
  [[nodiscard]] std::uint64_t size() const override { return m_size; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    return m_file.readAt(bytes, offset);
  }

 private:
  File m_file;
  std::uint64_t m_size;
};

class MemoryBytes final : public SeekableBytes {
 public:
  explicit MemoryBytes(std::span<const std::byte> bytes) : m_bytes(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return m_bytes.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    DSA_CHECK(offset <= m_bytes.size() && bytes.size() <= m_bytes.size() - offset);
    std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
    return {};
  }

 private:
  std::span<const std::byte> m_bytes;
};

}  // namespace

Result<std::unique_ptr<SeekableBytes>> fileBytes(const std::string& path) {
  // O_NONBLOCK: to open a pipe would wait for somebody who writes.
  DSA_ASSIGN(File file, File::open(path, File::Mode::readOnly, O_NONBLOCK));
  struct stat info {};
  if (::fstat(file.fd(), &info) != 0) return failErrno(path, "inspect", errno);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::input, "{}: no regular file; give the path of a file on a disk", path);
  return fileBytes(std::move(file));
}

Result<std::unique_ptr<SeekableBytes>> fileBytes(File file) {
  DSA_ASSIGN(const std::uint64_t size, file.size());
  return std::unique_ptr<SeekableBytes>(std::make_unique<FileBytes>(std::move(file), size));
}

std::unique_ptr<SeekableBytes> memoryBytes(std::span<const std::byte> bytes) {
  return std::make_unique<MemoryBytes>(bytes);
}

void ByteReader::seek(std::uint64_t offset) {
  DSA_CHECK(offset <= size());
  m_begin = m_end = 0;
  m_read = offset;
  m_lines = 0;
}

/// At least n bytes in the buffer, or all that are left.
Result<void> ByteReader::fill(std::size_t n) {
  n = static_cast<std::size_t>(std::min<std::uint64_t>(n, left()));
  if (m_end - m_begin >= n) return {};
  if (m_begin > 0) std::memmove(m_buffer.data(), m_buffer.data() + m_begin, m_end - m_begin);
  m_end -= m_begin;
  m_begin = 0;
  m_buffer.resize(std::max({m_buffer.size(), n, std::min<std::uint64_t>(m_pieceBytes, size())}));
  const auto wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(m_buffer.size() - m_end, m_source->size() - m_read));
  DSA_TRY(m_source->read(m_read, std::span(m_buffer).subspan(m_end, wanted)));
  m_read += wanted;
  m_end += wanted;
  return {};
}

Result<std::span<const std::byte>> ByteReader::take(std::size_t n) {
  DSA_CHECK(n <= kPieceBytes);
  if (n > left()) {
    return fail(ErrorCode::input, "{}: ends at byte {}, expected at least {}; the file is cut short", m_name, size(),
                offset() + n);
  }
  DSA_TRY(fill(n));
  const std::span<const std::byte> bytes(m_buffer.data() + m_begin, n);
  m_begin += n;
  return bytes;
}

Result<std::span<const std::byte>> ByteReader::piece() {
  if (m_begin == m_end) DSA_TRY(fill(1));
  return take(std::min(kPieceBytes, m_end - m_begin));
}

Result<std::optional<std::string_view>> ByteReader::line() {
  for (std::size_t searched = 0;;) {
    const char* const text = reinterpret_cast<const char*>(m_buffer.data()) + m_begin;
    const std::size_t length = m_end - m_begin;
    const void* const end = length > searched ? std::memchr(text + searched, '\n', length - searched) : nullptr;
    const bool last = end == nullptr && m_read == size();
    if (last && length == 0) return std::nullopt;
    const std::size_t size = end != nullptr ? static_cast<std::size_t>(static_cast<const char*>(end) - text) : length;
    if (size > kLongestLine) {
      return fail(ErrorCode::input, "{}: line {}: no line end within {}; is it a text file?", m_name, m_lines + 1,
                  formatBytes(kLongestLine));
    }
    if (end != nullptr || last) {
      m_begin += size + (end != nullptr ? 1 : 0);
      ++m_lines;
      return std::string_view(text, size);
    }
    searched = length;
    DSA_TRY(fill(std::max(m_pieceBytes, 2 * length)));
  }
}

Result<std::uint64_t> countLines(ByteReader& reader) {
  const std::uint64_t begin = reader.offset();
  std::uint64_t lines = 0;
  bool open = false;  // bytes after the last line end
  for (;;) {
    DSA_ASSIGN(const std::span<const std::byte> bytes, reader.piece());
    if (bytes.empty()) break;
    lines += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), std::byte{'\n'}));
    open = bytes.back() != std::byte{'\n'};
  }
  reader.seek(begin);
  return lines + (open ? 1 : 0);
}

}  // namespace dsa
