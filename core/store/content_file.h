// SPDX-License-Identifier: Apache-2.0
// The files with a header page: making them so that a kill leaves nothing nameless, and refusing every other one.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/file.h"
#include "core/store/format.h"

namespace dsa {

/// Whether a content file's blocks are taken from the disk at once (a store into a hole of a full disk would be SIGBUS)
/// or on first touch.
enum class Space { allocated, sparse };

/// What a file is called until it is whole and durable: a name that nobody else uses, so that remains of a killed
/// creation can be told.
inline constexpr const char* kUnfinished = ".creating";
/// Error machine: `to` exists; it is not replaced, and `from` stays.
Result<void> renameNew(const std::string& from, const std::string& to);
/// PATH.creating becomes PATH. Error machine: PATH exists; it is not replaced.
Result<void> nameFinished(const std::string& path);
/// Whose file it is, before it is replaced or removed; false for what is no regular file or cannot be read. A whole
/// file of ours has its magic: it was durable before it got its name. One that was being created has it too, or after a
/// power loss zeros or nothing.
[[nodiscard]] bool isFinishedFile(const std::string& path, const char* magic);
[[nodiscard]] bool isUnfinishedFile(const std::string& path, const char* magic);
/// An empty undo.journal holds nothing, and open() would make the same.
[[nodiscard]] bool isEmptyFile(const std::string& path);

/// Page 0 of such a file, not synced.
Result<void> writeFileHeader(const File& file, const char* magic, std::uint32_t table, const unsigned char* uuid,
                             std::uint64_t contentBytes);
/// Page 0 and the length, under the unfinished name; not synced. For who has the content to write before it is named.
Result<File> createUnfinished(const std::string& path, const char* magic, std::uint32_t table,
                              const unsigned char* uuid, std::uint64_t contentBytes, Space space);
/// Makes a content file: page 0, its length, durable under an unfinished name, then its own. Used for every file but
/// store.dsa.
Result<void> createContentFile(const std::string& path, const char* magic, std::uint32_t table,
                               const unsigned char* uuid, std::uint64_t contentBytes, Space space);
/// Opens such a file and refuses a foreign, newer, damaged, truncated or other run's one with path, expected and found.
Result<File> openContentFile(const std::string& path, const char* magic, std::uint32_t table, const unsigned char* uuid,
                             std::uint64_t contentBytes, File::Mode mode);

}  // namespace dsa
