// SPDX-License-Identifier: Apache-2.0
// Making and opening the files of a store: shapes, superblock, headers, mappings.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/store/row_store.h"

namespace dsa {

namespace {

constexpr const char* kRowsMagic = "DSAROWS1";
constexpr const char* kTouchedMagic = "DSATOUCH";
constexpr const char* kLossMagic = "DSALOSS1";
constexpr std::uint64_t kStoreBytes = 4 * kPage;
constexpr std::uint64_t kMostBytes = 1ull << 46;  // 64 TiB a table: beyond any file system the program meets

std::string touchedPath(const std::string& folder, const TableShape& table) { return folder + "/" + table.name + ".touched"; }
std::string rowsFile(const std::string& folder, const TableShape& table) { return folder + "/" + table.name + ".rows"; }
std::uint64_t touchedBytes(const TableShape& table) { return std::max<std::uint64_t>(8, TouchedBits::bytesFor(table.rows)); }
std::uint64_t stride(const TableShape& table) { return table.recordFloats() * sizeof(float); }

Result<void> checkShape(const std::string& folder, const StoreShape& shape) {
  DSA_CHECK(!shape.tables.empty() && shape.tables.size() <= kMaxTables && shape.lossCapacity > 0);
  for (const TableShape& table : shape.tables) {
    DSA_CHECK(!table.name.empty() && table.name.size() < 16 && table.dim > 0 && table.rows > 0);
    if (table.rows > kMostBytes / stride(table)) {
      return fail(ErrorCode::usage, "{}: {} rows of {} bytes are more than a table can hold ({})", folder, table.rows, stride(table),
                  formatBytes(kMostBytes));
    }
  }
  return {};
}

Superblock makeSuperblock(const StoreShape& shape) {
  Superblock super;
  super.tableCount = static_cast<std::uint32_t>(shape.tables.size());
  super.seed = shape.seed;
  super.lossCapacity = shape.lossCapacity;
  DSA_CHECK(::getrandom(super.uuid, sizeof super.uuid, 0) == static_cast<ssize_t>(sizeof super.uuid));
  for (std::size_t t = 0; t < shape.tables.size(); ++t) {
    const TableShape& table = shape.tables[t];
    TableRecord& record = super.tables[t];
    std::copy(table.name.begin(), table.name.end(), record.name);
    record.rows = table.rows;
    record.stepCapacity = table.stepCapacity;
    record.dim = table.dim;
    record.rule = static_cast<std::uint32_t>(table.rule);
    record.stride = static_cast<std::uint32_t>(stride(table));
    record.initScale = table.initScale;
  }
  super.checksum = checksumOf(&super, offsetof(Superblock, checksum));
  return super;
}

StoreShape shapeOf(const Superblock& super) {
  StoreShape shape;
  shape.seed = super.seed;
  shape.lossCapacity = super.lossCapacity;
  for (std::uint32_t t = 0; t < super.tableCount; ++t) {
    const TableRecord& record = super.tables[t];
    shape.tables.push_back(TableShape{std::string(record.name, strnlen(record.name, sizeof record.name)), record.rows, record.dim,
                                      static_cast<Rule>(record.rule), record.initScale, record.stepCapacity});
  }
  return shape;
}

void removeFiles(const std::string& folder, const StoreShape& shape) {
  std::error_code ignored;
  for (const char* name : {"store.dsa", "store.dsa.tmp", "intent.dsa", "losses.f64", "undo.journal"}) {
    std::filesystem::remove(folder + "/" + name, ignored);
  }
  for (const TableShape& table : shape.tables) {
    std::filesystem::remove(rowsFile(folder, table), ignored);
    std::filesystem::remove(touchedPath(folder, table), ignored);
  }
}

Result<void> createFiles(const std::string& folder, const StoreShape& shape, const Superblock& super) {
  for (std::uint32_t t = 0; t < shape.tables.size(); ++t) {
    const TableShape& table = shape.tables[t];
    DSA_TRY(createContentFile(rowsFile(folder, table), kRowsMagic, t, super.uuid, table.rows * stride(table), Space::sparse));
    DSA_TRY(createContentFile(touchedPath(folder, table), kTouchedMagic, t, super.uuid, touchedBytes(table), Space::allocated));
  }
  DSA_TRY(createContentFile(folder + "/losses.f64", kLossMagic, 0, super.uuid, shape.lossCapacity * 8, Space::allocated));
  DSA_TRY(Intent::create(folder + "/intent.dsa", super));
  // store.dsa comes last and by rename: where it stands, all the others do.
  const std::string temporary = folder + "/store.dsa.tmp";
  {
    DSA_ASSIGN(const File file, File::open(temporary, File::Mode::createNew));
    std::vector<std::byte> bytes(kStoreBytes);
    std::memcpy(bytes.data(), &super, sizeof super);
    CheckpointSlot first;
    first.sequence = 1;
    first.generation = 1;
    first.checksum = checksumOf(&first, offsetof(CheckpointSlot, checksum));
    std::memcpy(bytes.data() + 2 * kPage, &first, sizeof first);
    LivePage live{};
    std::memcpy(live.magic, "DSALIVE1", 8);
    live.clean = 1;
    std::memcpy(bytes.data() + 3 * kPage, &live, sizeof live);
    DSA_TRY(file.writeAt(bytes, 0));
    DSA_TRY(file.sync());
  }
  if (::rename(temporary.c_str(), (folder + "/store.dsa").c_str()) != 0) return failErrno(folder + "/store.dsa", "create", errno);
  return syncFolder(folder);
}

Result<Superblock> readSuperblock(const File& file) {
  const std::string& path = file.path();
  DSA_ASSIGN(const std::uint64_t size, file.size());
  if (size < kStoreBytes) {
    return fail(ErrorCode::input, "{}: {} bytes long, expected {}; the file is cut short and nothing was changed", path, size, kStoreBytes);
  }
  Superblock super;
  DSA_TRY(file.readAt(std::as_writable_bytes(std::span(&super, 1)), 0));
  if (std::memcmp(super.magic, "DSASTORE", 8) != 0) {
    return fail(ErrorCode::input, "{}: does not begin with \"DSASTORE\"; not a store of this program, and nothing was changed", path);
  }
  if (super.version > kStoreVersion) {
    return fail(ErrorCode::input, "{}: format {}, this program reads up to {}; use a newer program. Nothing was changed", path, super.version,
                kStoreVersion);
  }
  const std::uint64_t expected = checksumOf(&super, offsetof(Superblock, checksum));
  if (super.checksum != expected) {
    return fail(ErrorCode::input, "{}: the header's checksum is {:016x}, expected {:016x}; the file is damaged and nothing was changed", path,
                super.checksum, expected);
  }
  if (super.tableCount == 0 || super.tableCount > kMaxTables) {
    return fail(ErrorCode::input, "{}: {} tables, expected 1 to {}; nothing was changed", path, super.tableCount, kMaxTables);
  }
  return super;
}

}  // namespace

Result<void> RowStore::create(const std::string& folder, const StoreShape& shape) {
  DSA_TRY(checkShape(folder, shape));
  DSA_TRY(makeFolder(folder));
  DSA_ASSIGN(const StoreLock lock, StoreLock::take(folder));
  if (std::filesystem::exists(folder + "/store.dsa")) {
    return fail(ErrorCode::input, "{}: holds a table already; it was not touched. Choose another cache folder, or resume that run", folder);
  }
  // Remains of a creation that was killed: without store.dsa they belong to nobody.
  removeFiles(folder, shape);
  Result<void> made = createFiles(folder, shape, makeSuperblock(shape));
  if (!made) removeFiles(folder, shape);
  return made;
}

Result<void> RowStore::openFiles(bool writable) {
  const File::Mode mode = writable ? File::Mode::readWrite : File::Mode::readOnly;
  const Mapping::Kind kind = writable ? Mapping::Kind::sharedReadWrite : Mapping::Kind::sharedReadOnly;
  DSA_ASSIGN(m_storeFile, File::open(m_folder + "/store.dsa", mode));
  DSA_ASSIGN(m_super, readSuperblock(m_storeFile));
  DSA_ASSIGN(m_storeMap, Mapping::map(m_storeFile, kStoreBytes, kind));
  if (std::memcmp(live().magic, "DSALIVE1", 8) != 0) {
    return fail(ErrorCode::input, "{}: page 3 is damaged; nothing was changed", m_storeFile.path());
  }
  m_shape = shapeOf(m_super);
  for (std::uint32_t t = 0; t < m_super.tableCount; ++t) {
    const TableShape& table = m_shape.tables[t];
    const std::uint64_t bytes = table.rows * stride(table);
    DSA_ASSIGN(File rows, openContentFile(rowsFile(m_folder, table), kRowsMagic, t, m_super.uuid, bytes, mode));
    // Random from the start: a random cold fault costs 0.12 ms with it and 6 ms without, and sequential read-ahead makes large folios that a
    // single store dirties whole (1,009 times the data).
    ::posix_fadvise(rows.fd(), 0, 0, POSIX_FADV_RANDOM);
    DSA_ASSIGN(Mapping map, Mapping::map(rows, kPage + bytes, kind));
    ::madvise(map.data(), map.size(), MADV_RANDOM);
    DSA_ASSIGN(File touched, openContentFile(touchedPath(m_folder, table), kTouchedMagic, t, m_super.uuid, touchedBytes(table), mode));
    DSA_ASSIGN(Mapping bits, Mapping::map(touched, kPage + touchedBytes(table), kind));
    m_records.push_back(RecordArray{map.data() + kPage, stride(table)});
    m_touched.emplace_back(bits.data() + kPage, table.rows);
    m_rowFiles.push_back(std::move(rows));
    m_rowMaps.push_back(std::move(map));
    m_touchedFiles.push_back(std::move(touched));
    m_touchedMaps.push_back(std::move(bits));
  }
  const std::uint64_t lossBytes = m_shape.lossCapacity * 8;
  DSA_ASSIGN(m_lossFile, openContentFile(m_folder + "/losses.f64", kLossMagic, 0, m_super.uuid, lossBytes, mode));
  DSA_ASSIGN(m_lossMap, Mapping::map(m_lossFile, kPage + lossBytes, kind));
  m_losses = reinterpret_cast<double*>(m_lossMap.data() + kPage);
  if (writable) {
    DSA_ASSIGN(m_intent, Intent::open(m_folder + "/intent.dsa", m_super));
  }
  return {};
}

std::string RowStore::rowsPath(std::uint32_t t) const { return m_rowFiles[t].path(); }

std::uint64_t RowStore::tableBytes() const {
  std::uint64_t bytes = 0;
  for (const TableShape& table : m_shape.tables) bytes += table.rows * stride(table);
  return bytes;
}

Result<std::uint64_t> RowStore::diskBytes() const {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(m_folder, error)) {
    const auto file = File::open(entry.path().string(), File::Mode::readOnly);
    if (!file) continue;
    DSA_ASSIGN(const std::uint64_t occupied, file->occupied());
    bytes += occupied;
  }
  if (error) return fail(ErrorCode::machine, "{}: cannot list the folder: {}", m_folder, error.message());
  return bytes;
}

}  // namespace dsa
