// SPDX-License-Identifier: Apache-2.0
// Opening the files of a store: superblock, headers, mappings.
#include <fcntl.h>
#include <sys/mman.h>

#include "core/store/store_names.h"

namespace dsa {

namespace {

StoreShape shapeOf(const Superblock& super) {
  StoreShape shape;
  shape.seed = super.seed;
  shape.lossCapacity = super.lossCapacity;
  shape.segmentBytes = super.segmentBytes;
  for (std::uint32_t t = 0; t < super.tableCount; ++t) {
    const TableRecord& record = super.tables[t];
    shape.tables.push_back(TableShape{std::string(record.name, strnlen(record.name, sizeof record.name)), record.rows,
                                      record.dim, static_cast<Rule>(record.rule), record.initScale,
                                      record.stepCapacity});
  }
  return shape;
}

/// Beside the checksum: a superblock that another program made, or this one wrongly.
Result<void> checkTables(const std::string& path, const Superblock& super) {
  const StoreShape shape = shapeOf(super);
  const auto refuse = [&](const TableShape& table, const char* what, std::uint64_t found, const std::string& expected) {
    return fail(ErrorCode::input,
                "{}: table \"{}\": {} is {}, expected {}; the file is damaged and nothing was changed", path,
                table.name, what, found, expected);
  };
  if (shape.segmentBytes % kPage != 0 || shape.segmentBytes > names::kMostBytes) {
    return fail(ErrorCode::input,
                "{}: segments of {} bytes, expected whole pages; the file is damaged and nothing was changed", path,
                shape.segmentBytes);
  }
  for (std::size_t t = 0; t < shape.tables.size(); ++t) {
    const TableShape& table = shape.tables[t];
    if (!names::isTableName(table.name))
      return fail(ErrorCode::input,
                  "{}: table {} has no name of [a-z0-9_]; the file is damaged and nothing was changed", path, t);
    const auto same = [&](const TableShape& other) { return other.name == table.name; };
    if (std::count_if(shape.tables.begin(), shape.tables.end(), same) > 1) return refuse(table, "its count", 2, "1");
    if (table.recordFloats() == 0)
      return refuse(table, table.dim == 0 ? "dim" : "rule", table.dim == 0 ? 0 : super.tables[t].rule, "another");
    if (super.tables[t].stride != names::stride(table))
      return refuse(table, "stride", super.tables[t].stride, std::to_string(names::stride(table)));
    const std::uint64_t most = names::kMostBytes / names::stride(table);
    if (table.rows == 0 || table.rows > most) return refuse(table, "rows", table.rows, fmt::format("1 to {}", most));
    if (table.stepCapacity > most)
      return refuse(table, "step capacity", table.stepCapacity, fmt::format("at most {}", most));
  }
  if (shape.lossCapacity == 0 || shape.lossCapacity > names::kMostBytes / 8) {
    return fail(ErrorCode::input, "{}: room for {} losses, expected 1 to {}; nothing was changed", path,
                shape.lossCapacity, names::kMostBytes / 8);
  }
  return {};
}

Result<Superblock> readSuperblock(const File& file) {
  const std::string& path = file.path();
  DSA_ASSIGN(const std::uint64_t size, file.size());
  if (size < names::kStoreBytes) {
    return fail(ErrorCode::input, "{}: {} bytes long, expected {}; the file is cut short and nothing was changed", path,
                size, names::kStoreBytes);
  }
  Superblock super;
  DSA_TRY(file.readAt(std::as_writable_bytes(std::span(&super, 1)), 0));
  if (std::memcmp(super.magic, names::kStoreMagic, 8) != 0) {
    return fail(ErrorCode::input,
                "{}: does not begin with \"DSASTORE\"; not a store of this program, and nothing was changed", path);
  }
  if (super.version > kStoreVersion) {
    return fail(ErrorCode::input,
                "{}: format {}, this program reads up to {}; use a newer program. Nothing was changed", path,
                super.version, kStoreVersion);
  }
  const std::uint64_t expected = checksumOf(&super, offsetof(Superblock, checksum));
  if (super.checksum != expected) {
    return fail(ErrorCode::input,
                "{}: the header's checksum is {:016x}, expected {:016x}; the file is damaged and nothing was changed",
                path, super.checksum, expected);
  }
  if (super.tableCount == 0 || super.tableCount > kMaxTables) {
    return fail(ErrorCode::input, "{}: {} tables, expected 1 to {}; nothing was changed", path, super.tableCount,
                kMaxTables);
  }
  DSA_TRY(checkTables(path, super));
  return super;
}

}  // namespace

Result<void> RowStore::openFiles(bool writable) {
  const File::Mode mode = writable ? File::Mode::readWrite : File::Mode::readOnly;
  const Mapping::Kind kind = writable ? Mapping::Kind::sharedReadWrite : Mapping::Kind::sharedReadOnly;
  DSA_ASSIGN(m_storeFile, File::open(names::store(m_folder), mode));
  DSA_ASSIGN(m_super, readSuperblock(m_storeFile));
  DSA_ASSIGN(m_storeMap, Mapping::map(m_storeFile, names::kStoreBytes, kind));
  m_storeMap.guard();
  if (std::memcmp(live().magic, "DSALIVE1", 8) != 0) {
    return fail(ErrorCode::input, "{}: page 3 is damaged; nothing was changed", m_storeFile.path());
  }
  m_shape = shapeOf(m_super);
  for (std::uint32_t t = 0; t < m_super.tableCount; ++t) {
    const TableShape& table = m_shape.tables[t];
    DSA_ASSIGN(RowFile rows,
               RowFile::open(names::rowsLayout(m_folder, table, m_shape.segmentBytes), t, m_super.uuid, mode));
    // Random from the start: a random cold fault costs 0.12 ms with it and 6 ms without, and sequential read-ahead
    // makes large folios that a single store dirties whole (1,009 times the data). openContentFile said so, too.
    DSA_ASSIGN(Mapping map, rows.map(kind));
    ::madvise(map.data(), map.size(), MADV_RANDOM);
    map.guard();
    DSA_ASSIGN(File touched, openContentFile(names::touched(m_folder, table), names::kTouchedMagic, t, m_super.uuid,
                                             names::touchedBytes(table), mode));
    DSA_ASSIGN(Mapping bits, Mapping::map(touched, kPage + names::touchedBytes(table), kind));
    bits.guard();
    m_records.push_back(RecordArray{map.data() + kPage, names::stride(table)});
    m_touched.emplace_back(bits.data() + kPage, table.rows);
    m_rowFiles.push_back(std::move(rows));
    m_rowMaps.push_back(std::move(map));
    m_touchedFiles.push_back(std::move(touched));
    m_touchedMaps.push_back(std::move(bits));
  }
  const std::uint64_t lossBytes = m_shape.lossCapacity * 8;
  DSA_ASSIGN(m_lossFile, openContentFile(names::losses(m_folder), names::kLossMagic, 0, m_super.uuid, lossBytes, mode));
  DSA_ASSIGN(m_lossMap, Mapping::map(m_lossFile, kPage + lossBytes, kind));
  m_lossMap.guard();
  m_losses = reinterpret_cast<double*>(m_lossMap.data() + kPage);
  if (writable) {
    DSA_ASSIGN(m_intent, Intent::open(names::intent(m_folder), m_super));
  }
  return {};
}

std::vector<PageKeeper::Piece> RowStore::pieces() const {
  std::vector<PageKeeper::Piece> pieces;
  for (std::size_t t = 0; t < m_rowFiles.size(); ++t) {
    static_cast<void>(m_rowFiles[t].forParts(0, m_rowMaps[t].size(), [&](const RowFile::Part& part) -> Result<void> {
      pieces.push_back({part.file, part.offset, m_rowMaps[t].data() + part.begin, part.bytes});
      return {};
    }));
  }
  return pieces;
}

std::string RowStore::namesPath(std::uint32_t t) const { return names::rowNames(m_folder, m_shape.tables[t]); }

std::uint64_t RowStore::tableBytes() const {
  std::uint64_t bytes = 0;
  for (const TableShape& table : m_shape.tables) bytes += table.rows * names::stride(table);
  return bytes;
}

Result<std::uint64_t> RowStore::diskBytes() const { return occupiedBytes(m_folder); }

}  // namespace dsa
