// SPDX-License-Identifier: Apache-2.0
// Fuzz target: undo.journal, read back onto tables in plain memory of exactly their size.
//
// Input: a byte of flags, then the file. With fixChecksums what looks like a block gets the sums that make it whole.
#include "fuzz_files.h"

using namespace dsa;

namespace {

enum Flags : std::uint8_t { fixChecksums = 1 };
constexpr std::uint64_t kGeneration = 3, kUuidHash = 99;

void makeWhole(std::string& file) {
  JournalBlock wanted;
  wanted.generation = kGeneration;
  wanted.uuidHash = kUuidHash;
  for (std::size_t at = 0; at + sizeof wanted <= file.size();) {
    JournalBlock header;
    std::memcpy(&header, file.data() + at, sizeof header);
    std::memcpy(header.magic, wanted.magic, sizeof header.magic);
    header.generation = kGeneration;
    header.sequence = wanted.sequence++;
    header.uuidHash = kUuidHash;
    header.payloadBytes = std::min<std::uint64_t>(header.payloadBytes, file.size() - at - sizeof header);
    header.payloadChecksum = checksumOf(file.data() + at + sizeof header, header.payloadBytes);
    header.checksum = checksumOf(&header, offsetof(JournalBlock, checksum));
    std::memcpy(file.data() + at, &header, sizeof header);
    at += wholePages(sizeof header + header.payloadBytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = fuzz::scratchFolder("journal") + "/undo.journal";
  fuzz::Bytes bytes(data, size);
  const auto flags = bytes.take<std::uint8_t>();
  std::string content = bytes.rest();
  if ((flags & fixChecksums) != 0) makeWhole(content);
  std::filesystem::remove(path);
  {
    const auto file = File::open(path, File::Mode::createNew);
    fuzz::require(file && file->writeAt(std::as_bytes(std::span(content)), 0));
  }
  const StoreShape shape = fuzz::shape();
  std::vector<std::vector<std::byte>> records;
  std::vector<std::vector<std::uint64_t>> words;
  std::vector<UndoJournal::Table> tables;
  for (const TableShape& table : shape.tables) {
    records.emplace_back(table.rows * table.recordFloats() * sizeof(float));
    words.emplace_back(table.rows / 64 + 1);
  }
  for (std::size_t t = 0; t < shape.tables.size(); ++t) {
    tables.push_back({RecordArray{records[t].data(), shape.tables[t].recordFloats() * sizeof(float)},
                      TouchedBits(words[t].data(), shape.tables[t].rows), shape.tables[t].rows});
  }
  // What a rollback does (RowStore::rollBack).
  std::uint64_t rows = 0;
  const auto replayed =
      UndoJournal::replay(path, kGeneration, kUuidHash, tables, [&](const JournalEntry& entry, const std::byte* old) {
        ++rows;
        const UndoJournal::Table& table = tables.at(entry.table);
        if (old != nullptr) std::memcpy(table.records.at(entry.row), old, table.records.stride);
        table.touched.set(entry.row);
      });
  fuzz::require(replayed ? *replayed == rows : rows == 0);
  return 0;
}
