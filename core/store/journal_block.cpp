// SPDX-License-Identifier: Apache-2.0
#include "core/store/journal_block.h"

#include <cstdlib>
#include <memory>

namespace dsa {

namespace {

// Read back: far above what is written, far below what a rotten length could ask for.
constexpr std::uint64_t kLargestPayload = 1ull << 30;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// The payload of the block at `offset`, checked, and how many entries it promises; empty when it is not whole or not
/// the expected one (magic, generation, sequence, uuidHash).
Result<std::vector<std::byte>> readJournalBlock(const File& file, std::uint64_t fileSize, std::uint64_t offset,
                                                const JournalBlock& expected, std::uint64_t& entries) {
  JournalBlock header;
  if (offset + sizeof header > fileSize) return std::vector<std::byte>{};
  DSA_TRY(file.readAt(std::as_writable_bytes(std::span(&header, 1)), offset));
  const bool whole = std::memcmp(header.magic, expected.magic, 8) == 0 &&
                     header.checksum == checksumOf(&header, offsetof(JournalBlock, checksum)) &&
                     header.generation == expected.generation && header.sequence == expected.sequence &&
                     header.uuidHash == expected.uuidHash && header.payloadBytes <= kLargestPayload &&
                     offset + sizeof header + header.payloadBytes <= fileSize;
  if (!whole) return std::vector<std::byte>{};
  std::vector<std::byte> payload(header.payloadBytes);
  DSA_TRY(file.readAt(payload, offset + sizeof header));
  if (checksumOf(payload.data(), payload.size()) != header.payloadChecksum) payload.clear();
  entries = header.entries;
  return payload;
}

}  // namespace

Result<std::uint64_t> writeJournalBlock(const File& file, std::uint64_t offset, JournalBlock header,
                                        std::vector<std::byte>& block) {
  header.payloadBytes = block.size() - sizeof header;
  DSA_CHECK(header.payloadBytes <= kLargestPayload);
  header.payloadChecksum = checksumOf(block.data() + sizeof header, header.payloadBytes);
  header.checksum = checksumOf(&header, offsetof(JournalBlock, checksum));
  std::memcpy(block.data(), &header, sizeof header);
  const std::uint64_t bytes = wholePages(block.size());
  const std::unique_ptr<void, Free> aligned(std::aligned_alloc(kPage, bytes));
  DSA_CHECK(aligned != nullptr);
  auto* const data = static_cast<std::byte*>(aligned.get());
  std::memcpy(data, block.data(), block.size());
  std::memset(data + block.size(), 0, bytes - block.size());
  DSA_TRY(file.writeAt(std::span(static_cast<const std::byte*>(data), bytes), offset));
  return bytes;
}

Result<void> forEachJournalBlock(const File& file, JournalBlock first,
                                 const std::function<Result<void>(std::span<const std::byte>, std::uint64_t)>& visit) {
  DSA_ASSIGN(const std::uint64_t fileSize, file.size());
  for (std::uint64_t offset = 0;; ++first.sequence) {
    std::uint64_t entries = 0;
    DSA_ASSIGN(const std::vector<std::byte> payload, readJournalBlock(file, fileSize, offset, first, entries));
    if (payload.empty()) return {};
    DSA_TRY(visit(payload, entries));
    offset += wholePages(sizeof(JournalBlock) + payload.size());
  }
}

}  // namespace dsa
