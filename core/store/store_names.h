// SPDX-License-Identifier: Apache-2.0
// Names, magics and lengths of a store's files, for those who make them and those who open them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/store/row_store.h"

namespace dsa::names {

inline constexpr const char* kStoreMagic = "DSASTORE";
inline constexpr const char* kRowsMagic = "DSAROWS1";
inline constexpr const char* kTouchedMagic = "DSATOUCH";
inline constexpr const char* kNamesMagic = "DSANAMES";
inline constexpr const char* kLossMagic = "DSALOSS1";
inline constexpr const char* kIntentMagic = "DSAINTNT";
inline constexpr const char* kJournalMagic = "DSAUNDO1";
inline constexpr const char* kSlabMagic = "DSASLAB1";
inline constexpr const char* kSlotsMagic = "DSASLOTS";
inline constexpr const char* kMovesMagic = "DSAMOVE1";
inline constexpr std::uint64_t kStoreBytes = 4 * kPage;
inline constexpr std::uint64_t kMostBytes = 1ull << 46;  // 64 TiB a file: beyond any file system the program meets

inline std::string store(const std::string& folder) { return folder + "/store.dsa"; }
inline std::string intent(const std::string& folder) { return folder + "/intent.dsa"; }
inline std::string losses(const std::string& folder) { return folder + "/losses.f64"; }
inline std::string journal(const std::string& folder) { return folder + "/undo.journal"; }
inline std::string rows(const std::string& folder, const TableShape& table) {
  return folder + "/" + table.name + ".rows";
}
/// As many segments at most, whose descriptors a process must be able to hold several times: of larger tables they are
/// longer.
inline constexpr std::uint64_t kMostSegments = 64;

/// segmentBytes: StoreShape's.
inline RowFileLayout rowsLayout(const std::string& folder, const TableShape& table, std::uint64_t segmentBytes) {
  const std::uint64_t bytes = table.rows * table.recordFloats() * sizeof(float);
  if (segmentBytes == 0 || bytes <= segmentBytes)
    return {rows(folder, table), bytes, std::max(kPage, wholePages(bytes))};
  return {rows(folder, table), bytes, std::max(segmentBytes, wholePages((bytes + kMostSegments - 1) / kMostSegments))};
}
inline std::string touched(const std::string& folder, const TableShape& table) {
  return folder + "/" + table.name + ".touched";
}
inline std::string rowNames(const std::string& folder, const TableShape& table) {
  return folder + "/" + table.name + ".names";
}

inline std::string slab(const std::string& folder, const TableShape& table) {
  return folder + "/" + table.name + ".slab";
}
inline std::string slotMap(const std::string& folder, const TableShape& table) {
  return folder + "/" + table.name + ".slots";
}
inline std::string moves(const std::string& folder) { return folder + "/moves.log"; }

inline std::uint64_t touchedBytes(const TableShape& table) {
  return std::max<std::uint64_t>(8, TouchedBits::bytesFor(table.rows));
}
inline std::uint64_t stride(const TableShape& table) { return table.recordFloats() * sizeof(float); }

/// "x.rows", "x.rows.12".
inline bool isRowsFile(const std::string& name) {
  const std::size_t digits = name.size() - std::min(name.size(), name.find_last_not_of("0123456789") + 1);
  if (digits == 0 || digits == name.size()) return name.ends_with(".rows");
  return name.substr(0, name.size() - digits).ends_with(".rows.");
}

/// At most 15 of [a-z0-9_]: nothing that leaves the folder.
inline bool isTableName(const std::string& name) {
  return !name.empty() && name.size() < 16 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace dsa::names
