// SPDX-License-Identifier: Apache-2.0
// Deleting a store: its own files by name and magic, never a folder with whatever else lies in it.
#include <cstring>

#include "core/store/store_lock.h"
#include "core/store/store_names.h"

namespace dsa {

namespace {

namespace fs = std::filesystem;

/// The magic of the store's file of that name; null where the store has no such file.
const char* magicOf(const std::string& name) {
  if (name == "store.dsa") return names::kStoreMagic;
  if (name == "intent.dsa") return names::kIntentMagic;
  if (name == "losses.f64") return names::kLossMagic;
  if (name == "undo.journal") return names::kJournalMagic;
  if (name == "moves.log") return names::kMovesMagic;
  if (names::isRowsFile(name)) return names::kRowsMagic;
  if (name.ends_with(".touched")) return names::kTouchedMagic;
  if (name.ends_with(".slab")) return names::kSlabMagic;
  if (name.ends_with(".slots")) return names::kSlotsMagic;
  if (name.ends_with(".names")) return names::kNamesMagic;
  return nullptr;
}

bool isOurs(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  const bool unfinished = name.ends_with(kUnfinished);
  if (unfinished) name.resize(name.size() - std::strlen(kUnfinished));
  const char* const magic = magicOf(name);
  if (magic == nullptr) return false;
  if (unfinished) return isUnfinishedFile(path, magic);
  return isFinishedFile(path, magic) ||
         ((magic == names::kJournalMagic || magic == names::kMovesMagic) && isEmptyFile(path));
}

Result<void> removeFile(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) return failErrno(path.string(), "delete", error.value());
  return {};
}

}  // namespace

Result<bool> RowStore::remove(const std::string& folder) {
  std::error_code error;
  if (!isOurs(names::store(folder))) return false;
  {
    DSA_ASSIGN(const StoreLock lock, StoreLock::take(folder));
    // store.dsa last: what was begun and could not be ended can be begun again.
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (entry.path() != names::store(folder) && isOurs(entry.path().string())) DSA_TRY(removeFile(entry.path()));
    if (error) return failErrno(folder, "read", error.value());
    DSA_TRY(removeFile(names::store(folder)));
    DSA_TRY(removeFile(folder + "/lock"));
  }
  // Somebody else's files keep their folder.
  fs::remove(folder, error);
  return true;
}

}  // namespace dsa
