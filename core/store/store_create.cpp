// SPDX-License-Identifier: Apache-2.0
// Making a store: durable names in a safe order, and nothing of anybody else's replaced or removed.
#include <sys/random.h>

#include <optional>

#include "core/store/row_writer.h"
#include "core/store/store_names.h"

namespace dsa {

namespace {

namespace fs = std::filesystem;

Result<void> checkShape(const std::string& folder, const StoreShape& shape) {
  DSA_CHECK(!shape.tables.empty() && shape.tables.size() <= kMaxTables && shape.lossCapacity > 0);
  DSA_CHECK(shape.segmentBytes % kPage == 0);
  for (const TableShape& table : shape.tables) {
    DSA_CHECK(names::isTableName(table.name) && table.dim > 0 && table.rows > 0);
    if (table.rows > names::kMostBytes / names::stride(table)) {
      return fail(ErrorCode::usage, "{}: {} rows of {} bytes are more than a table can hold ({})", folder, table.rows,
                  names::stride(table), formatBytes(names::kMostBytes));
    }
  }
  return {};
}

Superblock makeSuperblock(const StoreShape& shape) {
  Superblock super;
  super.tableCount = static_cast<std::uint32_t>(shape.tables.size());
  super.seed = shape.seed;
  super.lossCapacity = shape.lossCapacity;
  super.segmentBytes = shape.segmentBytes;
  DSA_CHECK(::getrandom(super.uuid, sizeof super.uuid, 0) == static_cast<ssize_t>(sizeof super.uuid));
  for (std::size_t t = 0; t < shape.tables.size(); ++t) {
    const TableShape& table = shape.tables[t];
    TableRecord& record = super.tables[t];
    std::copy(table.name.begin(), table.name.end(), record.name);
    record.rows = table.rows;
    record.stepCapacity = table.stepCapacity;
    record.dim = table.dim;
    record.rule = static_cast<std::uint32_t>(table.rule);
    record.stride = static_cast<std::uint32_t>(names::stride(table));
    record.initScale = table.initScale;
  }
  super.checksum = checksumOf(&super, offsetof(Superblock, checksum));
  return super;
}

struct Named {
  std::string path;
  const char* magic;
};

/// All files but `lock`. store.dsa last: as long as store.dsa.creating stands, touched rows are a creation's remains.
std::vector<Named> filesOf(const std::string& folder, const StoreShape& shape) {
  std::vector<Named> files = {{names::intent(folder), names::kIntentMagic},
                              {names::losses(folder), names::kLossMagic},
                              {names::journal(folder), names::kJournalMagic}};
  for (const TableShape& table : shape.tables) {
    const RowFileLayout rows = names::rowsLayout(folder, table, shape.segmentBytes);
    for (std::uint64_t s = 0; s < rows.segments(); ++s) files.push_back({rows.pathOf(s), names::kRowsMagic});
    files.push_back({names::touched(folder, table), names::kTouchedMagic});
    files.push_back({names::rowNames(folder, table), names::kNamesMagic});
  }
  files.push_back({names::store(folder), names::kStoreMagic});
  return files;
}

bool isFinished(const Named& file) { return isFinishedFile(file.path, file.magic); }
bool isUnfinished(const Named& file) { return isUnfinishedFile(file.path + kUnfinished, file.magic); }

bool isThere(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

bool isEmptyJournal(const Named& file) { return file.magic == names::kJournalMagic && isEmptyFile(file.path); }

Result<bool> hasTouchedRows(const std::string& path) {
  DSA_ASSIGN(const std::string bytes, readTextFile(path, names::kMostBytes));
  return bytes.find_first_not_of('\0', std::min<std::size_t>(kPage, bytes.size())) != std::string::npos;
}

/// Refuses a folder where this creation would have to replace a foreign file, or rows that a run has changed.
Result<void> checkRemains(const std::string& folder, const StoreShape& shape) {
  if (isThere(names::store(folder))) {
    return fail(ErrorCode::input,
                "{}: holds a table already; it was not touched. Choose another cache folder, or resume that run",
                folder);
  }
  for (const Named& file : filesOf(folder, shape)) {
    for (const bool finished : {true, false}) {
      const std::string path = finished ? file.path : file.path + kUnfinished;
      if (!isThere(path) || (finished ? isFinished(file) || isEmptyJournal(file) : isUnfinished(file))) continue;
      return fail(ErrorCode::input,
                  "{}: a file of that name is there, which this program did not make; it was not touched. Choose "
                  "another cache folder",
                  path);
    }
    if (file.magic != names::kTouchedMagic || !isThere(file.path)) continue;
    if (isUnfinished({names::store(folder), names::kStoreMagic})) continue;
    DSA_ASSIGN(const bool trained, hasTouchedRows(file.path));
    if (trained) {
      return fail(ErrorCode::input,
                  "{}: rows of a run lie here whose store.dsa is missing; they were not touched. Choose another cache "
                  "folder, or remove them",
                  folder);
    }
  }
  return {};
}

/// Remains of a creation that was killed or failed: without store.dsa they belong to nobody. Nothing else.
void removeRemains(const std::string& folder, const StoreShape& shape) {
  std::error_code ignored;
  std::vector<Named> files = filesOf(folder, shape);
  // Of a larger table that was to be made here: its further segments, which are made one after another.
  for (const TableShape& table : shape.tables) {
    const RowFileLayout rows = names::rowsLayout(folder, table, shape.segmentBytes);
    for (std::uint64_t s = rows.segments(); isThere(rows.pathOf(s)) || isThere(rows.pathOf(s) + kUnfinished); ++s)
      files.push_back({rows.pathOf(s), names::kRowsMagic});
  }
  for (const Named& file : files) {
    if (isUnfinished(file)) fs::remove(file.path + kUnfinished, ignored);
    if (isFinished(file)) fs::remove(file.path, ignored);
  }
}

Result<void> writeStoreFile(const std::string& path, const Superblock& super) {
  DSA_ASSIGN(const File file, File::open(path + kUnfinished, File::Mode::createNew));
  std::vector<std::byte> bytes(names::kStoreBytes);
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
  return file.sync();
}

Result<void> fillRows(const std::string& folder, const StoreShape& shape, const Superblock& super, std::uint32_t t,
                      const RowFill& fill) {
  DSA_ASSIGN(RowWriter rows, RowWriter::create(folder, shape, t, super.uuid));
  DSA_TRY(fill(t, rows));
  return rows.finish();
}

/// fill may be empty: no row is touched then.
Result<void> createFiles(const std::string& folder, const StoreShape& shape, const Superblock& super,
                         const RowFill& fill) {
  for (std::uint32_t t = 0; t < shape.tables.size(); ++t) {
    const TableShape& table = shape.tables[t];
    if (fill) {
      DSA_TRY(fillRows(folder, shape, super, t, fill));
      continue;
    }
    DSA_TRY(RowFile::create(names::rowsLayout(folder, table, shape.segmentBytes), t, super.uuid));
    DSA_TRY(createContentFile(names::touched(folder, table), names::kTouchedMagic, t, super.uuid,
                              names::touchedBytes(table), Space::allocated));
  }
  DSA_TRY(createContentFile(names::losses(folder), names::kLossMagic, 0, super.uuid, shape.lossCapacity * 8,
                            Space::allocated));
  DSA_TRY(Intent::create(names::intent(folder), super));
  DSA_TRY(writeStoreFile(names::store(folder), super));
  if (fill) {
    // Touched rows get their name when store.dsa.creating has its own for good: what a kill leaves is told by that.
    DSA_TRY(syncFolder(folder));
    for (std::uint32_t t = 0; t < shape.tables.size(); ++t)
      DSA_TRY(createAllTouched(folder, shape.tables[t], t, super.uuid));
  }
  // Where store.dsa's name survives a power loss, all others do.
  DSA_TRY(syncFolder(folder));
  DSA_TRY(nameFinished(names::store(folder)));
  return syncFolder(folder);
}

/// Folders from the parent of `folder` outwards, and whether a new name comes into each when `folder` is made.
struct Parent {
  std::string path;
  bool changes;
};
std::vector<Parent> parentsOf(const std::string& folder) {
  std::vector<Parent> parents;
  std::error_code ignored;
  fs::path path = fs::absolute(folder, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  for (; path.has_relative_path(); path = path.parent_path())
    parents.push_back({path.parent_path().string(), !fs::exists(path, ignored)});
  return parents;
}

/// Those that were there may have been made by a creation that was killed: synced, too, as far as we may.
Result<void> syncParents(const std::vector<Parent>& parents) {
  for (const Parent& parent : parents) {
    Result<void> synced = syncFolder(parent.path);
    if (parent.changes) DSA_TRY(std::move(synced));
  }
  return {};
}

/// The lock, which is ours, and the folders that a creation made, where nothing else lies in them.
void takeBackFolders(const std::string& folder, const std::vector<Parent>& parents, bool wasLocked) {
  std::error_code ignored;
  if (!wasLocked) fs::remove(folder + "/lock", ignored);
  std::string made = folder;
  for (const Parent& parent : parents) {
    if (!parent.changes) return;
    fs::remove(made, ignored);
    made = parent.path;
  }
}

}  // namespace

Result<void> RowStore::create(const std::string& folder, const StoreShape& shape) {
  return create(folder, shape, RowFill());
}

Result<void> RowStore::create(const std::string& folder, const StoreShape& shape, const RowFill& fill) {
  DSA_TRY(checkShape(folder, shape));
  DSA_TRY(checkRemains(folder, shape));  // before anything is made in somebody's folder
  const std::vector<Parent> parents = parentsOf(folder);
  const bool wasLocked = isThere(folder + "/lock");
  DSA_TRY(makeFolder(folder));
  DSA_ASSIGN(const StoreLock lock, StoreLock::take(folder));
  DSA_TRY(checkRemains(folder, shape));
  removeRemains(folder, shape);
  Result<void> made = createFiles(folder, shape, makeSuperblock(shape), fill);
  if (made) made = syncParents(parents);
  if (!made) removeRemains(folder, shape);
  if (!made && fill) takeBackFolders(folder, parents, wasLocked);
  return made;
}

}  // namespace dsa
