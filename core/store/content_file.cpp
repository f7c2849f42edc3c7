// SPDX-License-Identifier: Apache-2.0
#include "core/store/content_file.h"

#include <fcntl.h>
#include <stdio.h>

#include <cerrno>

namespace dsa {

namespace {

/// The file's first eight bytes, fewer where it is shorter; no value where it is no file that can be read.
std::optional<std::string> beginningOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) return std::nullopt;
  const auto file = File::open(path, File::Mode::readOnly);
  if (!file) return std::nullopt;
  const auto size = file->size();
  if (!size) return std::nullopt;
  std::string bytes(std::min<std::uint64_t>(8, *size), '\0');
  if (!file->readAt(std::as_writable_bytes(std::span(bytes)), 0)) return std::nullopt;
  return bytes;
}

}  // namespace

bool isFinishedFile(const std::string& path, const char* magic) { return beginningOf(path) == std::string(magic, 8); }

bool isUnfinishedFile(const std::string& path, const char* magic) {
  const auto bytes = beginningOf(path);
  return bytes && (*bytes == std::string(magic, 8) || *bytes == std::string(bytes->size(), '\0'));
}

bool isEmptyFile(const std::string& path) { return beginningOf(path) == std::string(); }

Result<void> renameNew(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) return failErrno(to, "create", errno);
  // A file system without RENAME_NOREPLACE.
  if (std::filesystem::exists(std::filesystem::symlink_status(to))) return failErrno(to, "create", EEXIST);
  if (::rename(from.c_str(), to.c_str()) != 0) return failErrno(to, "create", errno);
  return {};
}

Result<void> nameFinished(const std::string& path) { return renameNew(path + kUnfinished, path); }

Result<void> writeFileHeader(const File& file, const char* magic, std::uint32_t table, const unsigned char* uuid,
                             std::uint64_t contentBytes) {
  FileHeader header;
  std::memcpy(header.magic, magic, 8);
  header.table = table;
  std::memcpy(header.uuid, uuid, 16);
  header.contentBytes = contentBytes;
  header.checksum = checksumOf(&header, offsetof(FileHeader, checksum));
  return file.writeAt(std::as_bytes(std::span(&header, 1)), 0);
}

Result<File> createUnfinished(const std::string& path, const char* magic, std::uint32_t table,
                              const unsigned char* uuid, std::uint64_t contentBytes, Space space) {
  DSA_ASSIGN(File file, File::open(path + kUnfinished, File::Mode::createNew));
  DSA_TRY(writeFileHeader(file, magic, table, uuid, contentBytes));
  if (space == Space::allocated) {
    const int failed = ::posix_fallocate(file.fd(), 0, static_cast<off_t>(kPage + contentBytes));
    if (failed != 0) return failErrno(path, fmt::format("reserve {} for", formatBytes(contentBytes)).c_str(), failed);
  }
  DSA_TRY(file.resize(kPage + contentBytes));
  return file;
}

Result<void> createContentFile(const std::string& path, const char* magic, std::uint32_t table,
                               const unsigned char* uuid, std::uint64_t contentBytes, Space space) {
  DSA_ASSIGN(const File file, createUnfinished(path, magic, table, uuid, contentBytes, space));
  DSA_TRY(file.sync());
  return nameFinished(path);
}

Result<File> openContentFile(const std::string& path, const char* magic, std::uint32_t table, const unsigned char* uuid,
                             std::uint64_t contentBytes, File::Mode mode) {
  DSA_ASSIGN(File file, File::open(path, mode));
  // Before the first read, or the header brings pages of a table in by read-ahead. Mappings go by their own advice.
  ::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_RANDOM);
  DSA_ASSIGN(const std::uint64_t size, file.size());
  if (size < sizeof(FileHeader)) {
    return fail(ErrorCode::input, "{}: {} bytes long, expected {}; the file is cut short and nothing was changed", path,
                size, kPage + contentBytes);
  }
  FileHeader header;
  DSA_TRY(file.readAt(std::as_writable_bytes(std::span(&header, 1)), 0));
  if (std::memcmp(header.magic, magic, 8) != 0) {
    return fail(ErrorCode::input,
                "{}: begins with \"{}\", expected \"{}\"; not a file of this program, and nothing was changed", path,
                fmt::format("{:.8s}", std::string(header.magic, strnlen(header.magic, 8))), magic);
  }
  if (header.version > kStoreVersion) {
    return fail(ErrorCode::input,
                "{}: format {}, this program reads up to {}; use a newer program. Nothing was changed", path,
                header.version, kStoreVersion);
  }
  if (header.checksum != checksumOf(&header, offsetof(FileHeader, checksum))) {
    return fail(ErrorCode::input,
                "{}: the header's checksum is {:016x}, expected {:016x}; the file is damaged and nothing was changed",
                path, header.checksum, checksumOf(&header, offsetof(FileHeader, checksum)));
  }
  if (std::memcmp(header.uuid, uuid, 16) != 0 || header.table != table || header.contentBytes != contentBytes) {
    return fail(ErrorCode::input,
                "{}: belongs to another run or another shape ({} content bytes, expected {}); nothing was changed",
                path, header.contentBytes, contentBytes);
  }
  if (size < kPage + contentBytes) {
    return fail(ErrorCode::input, "{}: {} bytes long, expected {}; the file is cut short and nothing was changed", path,
                size, kPage + contentBytes);
  }
  return file;
}

}  // namespace dsa
