// SPDX-License-Identifier: Apache-2.0
// moves.log: which units and touched bits the last checkpoint of the direct engine changed, durable before it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/store/format.h"

namespace dsa {

/// Written anew for each checkpoint. Memory: 1 MiB and as much again. Thread: the owner.
class MovesLog {
 public:
  /// Made where it is missing. Its content stays until begin().
  static Result<MovesLog> open(const std::string& path, std::uint64_t uuidHash);
  /// Starts generation `generation` at the front.
  void begin(std::uint64_t generation);
  Result<void> add(const MoveEntry& entry);
  /// All of it durable. An empty generation is a block without entries.
  Result<void> finish();
  [[nodiscard]] std::uint64_t bytesWritten() const { return m_bytesWritten; }

  /// Calls check for each entry of that generation, then put for each, in order; ends at the first block that is not
  /// whole. Nothing was put where check fails. A file that is not there: input.
  static Result<void> replay(const std::string& path, std::uint64_t generation, std::uint64_t uuidHash,
                             const std::function<Result<void>(const MoveEntry&)>& check,
                             const std::function<void(const MoveEntry&)>& put);

 private:
  Result<void> writeBlock();

  File m_file;
  std::uint64_t m_uuidHash = 0;
  std::uint64_t m_generation = 0;
  std::uint64_t m_sequence = 0;
  std::uint64_t m_offset = 0;
  std::uint64_t m_entries = 0;
  std::uint64_t m_bytesWritten = 0;
  std::vector<std::byte> m_block;
};

}  // namespace dsa
