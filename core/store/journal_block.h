// SPDX-License-Identifier: Apache-2.0
// Blocks of undo.journal and moves.log: a header with checksums, a payload, zeros up to a page.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/file.h"
#include "core/store/format.h"

namespace dsa {

/// Writes the payload that stands in `block` behind room for its header, under `header` (magic, generation, sequence,
/// entries, uuidHash; the rest is filled in). Gives the bytes that the block takes. Memory: as much again.
Result<std::uint64_t> writeJournalBlock(const File& file, std::uint64_t offset, JournalBlock header,
                                        std::vector<std::byte>& block);
/// The payload of the block at `offset`, checked, and how many entries it promises; empty when it is not whole or not
/// the expected one (magic, generation, sequence, uuidHash).
Result<std::vector<std::byte>> readJournalBlock(const File& file, std::uint64_t fileSize, std::uint64_t offset,
                                                const JournalBlock& expected, std::uint64_t& entries);
/// What a block with such a payload takes in the file.
[[nodiscard]] constexpr std::uint64_t journalBlockBytes(std::uint64_t payload) {
  return wholePages(sizeof(JournalBlock) + payload);
}

}  // namespace dsa
