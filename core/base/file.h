// SPDX-License-Identifier: Apache-2.0
// Files by descriptor: whole reads and writes, named errors, mappings, and the one seam through which tests see syncs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "core/base/bus_guard.h"
#include "core/base/error.h"

namespace dsa {

/// The sentence for errno: "PATH: cannot VERB: no space left on the device". Out of space, quota, permission and I/O
/// errors are ErrorCode::machine, a missing file is ErrorCode::input.
[[nodiscard]] tl::unexpected<Error> failErrno(const std::string& path, const char* verb, int errnoValue);

/// Called after each fdatasync/msync that succeeded, with the file's path. For crash tests only; not thread-safe to
/// set.
using SyncObserver = std::function<void(const std::string& path)>;
void setSyncObserver(SyncObserver observer);

/// One open descriptor. Moves, never copies. Thread: pread/pwrite from any thread, the rest from the owner.
class File {
 public:
  enum class Mode { readOnly, readWrite, createNew };  // createNew fails if the file exists

  static Result<File> open(const std::string& path, Mode mode, int extraFlags = 0);
  /// A file in PATH's folder without a name, for reading and writing; it goes with its descriptor, however that ends.
  /// Messages call it PATH. Error: also where the file system has no such files.
  static Result<File> openUnnamed(const std::string& path);
  /// The unnamed file becomes PATH. Error machine: PATH is there; it is not replaced.
  Result<void> giveName() const;
  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  /// Reads exactly bytes.size() at offset; a short file is an error that names expected and found.
  Result<void> readAt(std::span<std::byte> bytes, std::uint64_t offset) const;
  /// Writes all bytes at offset, through short writes; the error says how much was written.
  Result<void> writeAt(std::span<const std::byte> bytes, std::uint64_t offset) const;
  Result<std::uint64_t> size() const;
  /// Bytes that the file occupies (st_blocks x 512).
  Result<std::uint64_t> occupied() const;
  Result<void> resize(std::uint64_t bytes) const;
  /// fdatasync.
  Result<void> sync() const;

  [[nodiscard]] int fd() const { return m_fd; }
  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] bool isOpen() const { return m_fd >= 0; }
  void close();

 private:
  int m_fd = -1;
  std::string m_path;
};

/// A shared or private mapping; unmapped when it goes.
class Mapping {
 public:
  /// privateCopy: what is stored stays in this process.
  enum class Kind { sharedReadWrite, sharedReadOnly, privateCopy };

  /// bytes of the file from `offset` on, whole pages.
  struct Piece {
    const File* file = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  static Result<Mapping> map(const File& file, std::uint64_t bytes, Kind kind);
  /// Pieces one behind the other, each but the last of whole pages.
  static Result<Mapping> map(std::span<const Piece> pieces, Kind kind);
  /// Private zero pages, not yet committed.
  static Result<Mapping> anonymous(std::uint64_t bytes);
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::byte* data() const { return m_data; }
  [[nodiscard]] std::uint64_t size() const { return m_size; }
  /// From here on a page of it that the kernel cannot give is zeros and damaged() instead of SIGBUS (bus_guard.h).
  void guard() { m_guard = BusGuard(m_data, m_size); }
  [[nodiscard]] bool damaged() const { return m_guard.damaged(); }
  /// msync(MS_SYNC) of the whole mapping and then fdatasync of the file it came from is the caller's: see File::sync.
  Result<void> sync(const std::string& path) const;

 private:
  std::byte* m_data = nullptr;
  std::uint64_t m_size = 0;
  BusGuard m_guard;
};

/// Makes the folder and its parents; an error says which step failed.
Result<void> makeFolder(const std::string& path);
/// Bytes that what lies in a folder occupies, but for what may not be read; what folders in it hold is not counted.
/// Error machine: it cannot be listed.
Result<std::uint64_t> occupiedBytes(const std::string& folder);
/// fsync of the folder, so that new names survive a power loss.
Result<void> syncFolder(const std::string& path);
/// Whole small file as text; `limit` bytes at most.
Result<std::string> readTextFile(const std::string& path, std::uint64_t limit = 1ull << 30);
/// Writes PATH.tmp, fsyncs, renames over PATH: readers see the old or the new text, never a part.
Result<void> writeTextFileAtomically(const std::string& path, const std::string& text);

/// Lower-case hex SHA-256, fed in pieces (OpenSSL).
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(const void* bytes, std::size_t size);
  [[nodiscard]] std::string hex();

 private:
  void* m_context;
};

/// "1.43 GiB": IEC units, two decimals from KiB on, whole bytes below.
std::string formatBytes(std::uint64_t bytes);
/// "256 MiB", "12 GiB", "1.5GiB", "4096", also k/M/G/T with or without iB -> bytes (binary multiples). Error usage:
/// names the text.
Result<std::uint64_t> parseBytes(const std::string& text);

}  // namespace dsa
