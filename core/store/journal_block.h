// SPDX-License-Identifier: Apache-2.0
// Blocks of undo.journal and moves.log: a header with checksums, a payload, zeros up to a page.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/file.h"
#include "core/store/format.h"

namespace dsa {

/// Writes the payload that stands in `block` behind room for its header, under `header` (magic, generation, sequence,
/// entries, uuidHash; the rest is filled in). Gives the bytes that the block takes. Memory: as much again.
Result<std::uint64_t> writeJournalBlock(const File& file, std::uint64_t offset, JournalBlock header,
                                        std::vector<std::byte>& block);
/// Calls visit(payload, entries) for each block from the front, `first` being what the first one is expected to be;
/// ends at the first that is not whole or not the next one, or where visit fails.
Result<void> forEachJournalBlock(const File& file, JournalBlock first,
                                 const std::function<Result<void>(std::span<const std::byte>, std::uint64_t)>& visit);

}  // namespace dsa
