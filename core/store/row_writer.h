// SPDX-License-Identifier: Apache-2.0
// All records of a table, in order, while its store is being created: how a table comes in from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/store/bulk_file.h"
#include "core/store/row_store.h"

namespace dsa {

/// Its files have their unfinished names until finish(). Thread: the owner.
class RowWriter {
 public:
  /// Takes the space of all records from the disk at once, so that a disk without room says so now. Error machine.
  static Result<RowWriter> create(const std::string& folder, const StoreShape& shape, std::uint32_t t,
                                  const unsigned char* uuid);

  /// The next record: w, then the rule's state (FORMAT.md), [recordFloats]. Error machine: the disk.
  Result<void> add(std::span<const float> record);
  /// The name of the record that is added next; for every record or for none. No line end in it.
  Result<void> addName(std::string_view name);
  /// All records were added: durable, under their names, out of the page cache. Error machine: the disk.
  Result<void> finish();

 private:
  RowWriter() = default;
  Result<void> finishNames();
  void nextSegment();

  std::string m_folder;
  TableShape m_table;
  std::uint32_t m_number = 0;
  const unsigned char* m_uuid = nullptr;
  RowFileLayout m_layout;
  std::vector<File> m_segments;  // those that have their space and no rows yet, the next one last
  BulkFile m_rows;               // the segment in work
  std::optional<BulkFile> m_names;
  std::uint64_t m_count = 0, m_nameCount = 0;
};

/// NAME.touched with the bits of all rows set.
Result<void> createAllTouched(const std::string& folder, const TableShape& table, std::uint32_t t,
                              const unsigned char* uuid);

}  // namespace dsa
