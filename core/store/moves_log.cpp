// SPDX-License-Identifier: Apache-2.0
#include "core/store/moves_log.h"

#include <fcntl.h>

#include "core/store/journal_block.h"

namespace dsa {

namespace {

constexpr std::uint64_t kMovesBlockBytes = 1ull << 20;

JournalBlock movesHeader(std::uint64_t generation, std::uint64_t sequence, std::uint64_t uuidHash) {
  JournalBlock header;
  std::memcpy(header.magic, "DSAMOVE1", 8);
  header.generation = generation;
  header.sequence = sequence;
  header.uuidHash = uuidHash;
  return header;
}

}  // namespace

Result<MovesLog> MovesLog::open(const std::string& path, std::uint64_t uuidHash) {
  MovesLog log;
  DSA_ASSIGN(log.m_file, File::open(path, File::Mode::readWrite, O_CREAT));
  log.m_uuidHash = uuidHash;
  return log;
}

void MovesLog::begin(std::uint64_t generation) {
  m_generation = generation;
  m_sequence = 0;
  m_offset = 0;
  m_entries = 0;
  m_block.assign(sizeof(JournalBlock), std::byte{0});
}

Result<void> MovesLog::add(const MoveEntry& entry) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&entry);
  m_block.insert(m_block.end(), bytes, bytes + sizeof entry);
  ++m_entries;
  if (m_block.size() < kMovesBlockBytes) return {};
  return writeBlock();
}

Result<void> MovesLog::writeBlock() {
  JournalBlock header = movesHeader(m_generation, m_sequence, m_uuidHash);
  header.entries = m_entries;
  DSA_ASSIGN(const std::uint64_t bytes, writeJournalBlock(m_file, m_offset, header, m_block));
  m_offset += bytes;
  m_bytesWritten += bytes;
  ++m_sequence;
  m_entries = 0;
  m_block.assign(sizeof(JournalBlock), std::byte{0});
  return {};
}

Result<void> MovesLog::finish() {
  if (m_entries > 0 || m_sequence == 0) DSA_TRY(writeBlock());
  return m_file.sync();
}

Result<void> MovesLog::replay(const std::string& path, std::uint64_t generation, std::uint64_t uuidHash,
                              const std::function<Result<void>(const MoveEntry&)>& check,
                              const std::function<void(const MoveEntry&)>& put) {
  DSA_ASSIGN(const File file, File::open(path, File::Mode::readOnly));
  for (const bool checking : {true, false}) {
    const auto visit = [&](std::span<const std::byte> payload, std::uint64_t entries) -> Result<void> {
      if (payload.size() != entries * sizeof(MoveEntry)) {
        return fail(ErrorCode::input,
                    "{}: a block promises {} moves and is {} bytes long; the file is damaged and nothing was changed",
                    path, entries, payload.size());
      }
      for (std::uint64_t e = 0; e < entries; ++e) {
        MoveEntry entry;
        std::memcpy(&entry, payload.data() + e * sizeof entry, sizeof entry);
        if (checking)
          DSA_TRY(check(entry));
        else
          put(entry);
      }
      return {};
    };
    DSA_TRY(forEachJournalBlock(file, movesHeader(generation, 0, uuidHash), visit));
  }
  return {};
}

}  // namespace dsa
