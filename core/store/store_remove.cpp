// SPDX-License-Identifier: Apache-2.0
// Deleting a store: its own files by name and magic, never a folder with whatever else lies in it.
#include <algorithm>
#include <array>

#include "core/store/store_lock.h"
#include "core/store/store_names.h"

namespace dsa {

namespace {

namespace fs = std::filesystem;

bool endsWith(const std::string& name, const char* end) { return name.ends_with(end); }

/// The magic of the store's file of that name; null where the store has no such file.
const char* magicOf(std::string name) {
  if (endsWith(name, kUnfinished)) name.resize(name.size() - std::strlen(kUnfinished));
  if (name == "store.dsa") return names::kStoreMagic;
  if (name == "intent.dsa") return names::kIntentMagic;
  if (name == "losses.f64") return names::kLossMagic;
  if (name == "undo.journal") return names::kJournalMagic;
  if (endsWith(name, ".rows")) return names::kRowsMagic;
  if (endsWith(name, ".touched")) return names::kTouchedMagic;
  return nullptr;
}

/// By its magic; files that were being created, or a journal without a block, may be shorter or zero.
bool isOurs(const fs::directory_entry& entry) {
  std::error_code error;
  const char* const magic = magicOf(entry.path().filename().string());
  if (magic == nullptr || !entry.is_regular_file(error) || entry.is_symlink(error)) return false;
  const auto file = File::open(entry.path().string(), File::Mode::readOnly);
  if (!file) return false;
  std::array<char, 8> bytes{};
  const auto size = file->size();
  const std::size_t have = std::min<std::uint64_t>(bytes.size(), size ? *size : 0);
  if (!file->readAt(std::as_writable_bytes(std::span(bytes.data(), have)), 0)) return false;
  const std::string_view begin(bytes.data(), have);
  const bool zeros = begin.find_first_not_of('\0') == std::string_view::npos;
  return begin == std::string_view(magic, 8) || zeros;
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
  if (!isOurs(fs::directory_entry(names::store(folder), error))) return false;
  {
    DSA_ASSIGN(const StoreLock lock, StoreLock::take(folder));
    // store.dsa last: what was begun and could not be ended can be begun again.
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (entry.path() != names::store(folder) && isOurs(entry)) DSA_TRY(removeFile(entry.path()));
    if (error) return failErrno(folder, "read", error.value());
    DSA_TRY(removeFile(names::store(folder)));
    DSA_TRY(removeFile(folder + "/lock"));
  }
  // Somebody else's files keep their folder.
  fs::remove(folder, error);
  return true;
}

}  // namespace dsa
