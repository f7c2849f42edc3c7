// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

namespace dsa {

namespace {

SyncObserver& syncObserver() {
  static SyncObserver observer;
  return observer;
}

void noteSync(const std::string& path) {
  if (syncObserver()) syncObserver()(path);
}

}  // namespace

void setSyncObserver(SyncObserver observer) { syncObserver() = std::move(observer); }

tl::unexpected<Error> failErrno(const std::string& path, const char* verb, int errnoValue) {
  const std::string reason = std::generic_category().message(errnoValue);
  const ErrorCode code =
      errnoValue == ENOENT || errnoValue == ENOTDIR || errnoValue == EISDIR ? ErrorCode::input : ErrorCode::machine;
  return fail(code, "{}: cannot {}: {}", path, verb, reason);
}

Result<File> File::open(const std::string& path, Mode mode, int extraFlags) {
  int flags = O_CLOEXEC | extraFlags;
  if (mode == Mode::readOnly) flags |= O_RDONLY;
  if (mode == Mode::readWrite) flags |= O_RDWR;
  if (mode == Mode::createNew) flags |= O_RDWR | O_CREAT | O_EXCL;
  File file;
  file.m_fd = ::open(path.c_str(), flags, 0644);
  if (file.m_fd < 0) return failErrno(path, mode == Mode::createNew ? "create" : "open", errno);
  file.m_path = path;
  return file;
}

Result<File> File::openUnnamed(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  File file;
  file.m_fd = ::open(folder.empty() ? "." : folder.c_str(), O_CLOEXEC | O_RDWR | O_TMPFILE, 0644);
  if (file.m_fd < 0) return failErrno(path, "create", errno);
  file.m_path = path;
  return file;
}

Result<void> File::giveName() const {
  // Unlike a rename, a link never replaces. Through /proc, since AT_EMPTY_PATH wants a privilege.
  const std::string unnamed = "/proc/self/fd/" + std::to_string(m_fd);
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, m_path.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return failErrno(m_path, "create", errno);
  return {};
}

File::File(File&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)), m_path(std::move(other.m_path)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    m_fd = std::exchange(other.m_fd, -1);
    m_path = std::move(other.m_path);
  }
  return *this;
}

File::~File() { close(); }

void File::close() {
  if (m_fd >= 0) ::close(std::exchange(m_fd, -1));
}

Result<void> File::readAt(std::span<std::byte> bytes, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(m_fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failErrno(m_path, "read", errno);
    if (got == 0) {
      return fail(ErrorCode::input, "{}: ends at byte {}, expected at least {}; the file is cut short", m_path,
                  offset + done, offset + bytes.size());
    }
    done += static_cast<std::size_t>(got);
  }
  return {};
}

Result<void> File::writeAt(std::span<const std::byte> bytes, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::pwrite(m_fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      return failErrno(m_path, fmt::format("write {} bytes at {} (wrote {})", bytes.size(), offset, done).c_str(),
                       put < 0 ? errno : ENOSPC);
    }
    done += static_cast<std::size_t>(put);
  }
  return {};
}

Result<std::uint64_t> File::size() const {
  struct stat info {};
  if (::fstat(m_fd, &info) != 0) return failErrno(m_path, "inspect", errno);
  return static_cast<std::uint64_t>(info.st_size);
}

Result<std::uint64_t> File::occupied() const {
  struct stat info {};
  if (::fstat(m_fd, &info) != 0) return failErrno(m_path, "inspect", errno);
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

Result<void> File::resize(std::uint64_t bytes) const {
  if (::ftruncate(m_fd, static_cast<off_t>(bytes)) != 0) return failErrno(m_path, "resize", errno);
  return {};
}

Result<void> File::sync() const {
  if (::fdatasync(m_fd) != 0) return failErrno(m_path, "write to the disk", errno);
  noteSync(m_path);
  return {};
}

Result<Mapping> Mapping::map(const File& file, std::uint64_t bytes, Kind kind) {
  const Piece whole{&file, 0, bytes};
  return map(std::span(&whole, 1), kind);
}

Result<Mapping> Mapping::map(std::span<const Piece> pieces, Kind kind) {
  const int protection = kind == Kind::sharedReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  const int sharing = kind == Kind::privateCopy ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED;
  Mapping mapping;
  if (pieces.size() > 1) {
    // A place for all of them, which each takes its part of.
    std::uint64_t bytes = 0;
    for (const Piece& piece : pieces) bytes += piece.bytes;
    void* const place = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return failErrno(pieces.front().file->path(), "map", errno);
    mapping.m_data = static_cast<std::byte*>(place);
    mapping.m_size = bytes;
  }
  std::uint64_t at = 0;
  for (const Piece& piece : pieces) {
    void* const wanted = mapping.m_data == nullptr ? nullptr : mapping.m_data + at;
    void* const address = ::mmap(wanted, piece.bytes, protection, wanted == nullptr ? sharing : sharing | MAP_FIXED,
                                 piece.file->fd(), static_cast<off_t>(piece.offset));
    if (address == MAP_FAILED) return failErrno(piece.file->path(), "map", errno);
    if (wanted == nullptr) {
      mapping.m_data = static_cast<std::byte*>(address);
      mapping.m_size = piece.bytes;
    }
    at += piece.bytes;
  }
  return mapping;
}

Result<Mapping> Mapping::anonymous(std::uint64_t bytes) {
  Mapping mapping;
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return fail(ErrorCode::machine, "cannot reserve {} of memory: {}", formatBytes(bytes),
                std::generic_category().message(errno));
  }
  mapping.m_data = static_cast<std::byte*>(address);
  mapping.m_size = bytes;
  return mapping;
}

Mapping::Mapping(Mapping&& other) noexcept
    : m_data(std::exchange(other.m_data, nullptr)),
      m_size(std::exchange(other.m_size, 0)),
      m_guard(std::move(other.m_guard)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    m_guard = std::move(other.m_guard);
    if (m_data != nullptr) ::munmap(m_data, m_size);
    m_data = std::exchange(other.m_data, nullptr);
    m_size = std::exchange(other.m_size, 0);
  }
  return *this;
}

Mapping::~Mapping() {
  m_guard = {};  // before the range may be somebody else's
  if (m_data != nullptr) ::munmap(m_data, m_size);
}

Result<void> Mapping::sync(const std::string& path) const {
  if (::msync(m_data, m_size, MS_SYNC) != 0) return failErrno(path, "write to the disk", errno);
  noteSync(path);
  return {};
}

Result<void> makeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(ErrorCode::machine, "{}: cannot create the folder: {}", path, error.message());
  if (::access(path.c_str(), W_OK | X_OK) != 0) return failErrno(path, "write to the folder", errno);
  return {};
}

Result<std::uint64_t> occupiedBytes(const std::string& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto file = File::open(entry.path().string(), File::Mode::readOnly);
    if (!file) continue;
    DSA_ASSIGN(const std::uint64_t occupied, file->occupied());
    bytes += occupied;
  }
  if (error) return fail(ErrorCode::machine, "{}: cannot list the folder: {}", folder, error.message());
  return bytes;
}

Result<void> syncFolder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return failErrno(path, "open the folder", errno);
  const int failed = ::fsync(fd) != 0 ? errno : 0;
  ::close(fd);
  // Some file systems do not know fsync of a folder; there the names are as safe as they get.
  if (failed != 0 && failed != EINVAL) return failErrno(path, "write the folder to the disk", failed);
  return {};
}

Result<std::string> readTextFile(const std::string& path, std::uint64_t limit) {
  DSA_ASSIGN(const File file, File::open(path, File::Mode::readOnly));
  DSA_ASSIGN(const std::uint64_t size, file.size());
  if (size > limit) {
    return fail(ErrorCode::input, "{}: {} are too much to read at once, the limit is {}", path, formatBytes(size),
                formatBytes(limit));
  }
  std::string text(size, '\0');
  DSA_TRY(file.readAt(std::as_writable_bytes(std::span(text)), 0));
  return text;
}

Result<void> writeTextFileAtomically(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  {
    DSA_ASSIGN(const File file, File::open(temporary, File::Mode::createNew));
    DSA_TRY(file.writeAt(std::as_bytes(std::span(text)), 0));
    DSA_TRY(file.sync());
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failErrno(path, "replace", errno);
  return {};
}

Sha256::Sha256() : m_context(EVP_MD_CTX_new()) {
  DSA_CHECK(m_context != nullptr);
  DSA_CHECK(EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(m_context), EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(m_context)); }

void Sha256::add(const void* bytes, std::size_t size) {
  DSA_CHECK(EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(m_context), bytes, size) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  DSA_CHECK(EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(m_context), digest.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string formatBytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.995 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

Result<std::uint64_t> parseBytes(const std::string& text) {
  const auto wrong = [&] {
    return fail(ErrorCode::usage, "\"{}\" is not a size; write 4096, \"256 MiB\" or \"12 GiB\"", text);
  };
  const char* const last = text.data() + text.size();
  const char* first = text.data();
  while (first != last && std::isspace(static_cast<unsigned char>(*first)) != 0) ++first;
  // from_chars knows no locale: "1.5 GiB" means the same in a window that writes 1,5.
  double number = 0;
  const auto [end, error] = std::from_chars(first, last, number);
  if (error != std::errc() || !(number >= 0) || number > 1e19) return wrong();
  std::string unit;
  for (const char* c = end; c != last; ++c) {
    if (std::isspace(static_cast<unsigned char>(*c)) == 0) {
      unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
  }
  double scale = 1;
  if (!unit.empty() && unit != "b") {
    const std::string prefixes = "kmgtp";
    const std::size_t power = prefixes.find(unit[0]);
    const std::string rest = unit.substr(1);
    if (power == std::string::npos || (!rest.empty() && rest != "ib" && rest != "b")) return wrong();
    for (std::size_t i = 0; i <= power; ++i) scale *= 1024;
  }
  const double bytes = number * scale;
  if (bytes > 9.2e18) return wrong();
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace dsa
