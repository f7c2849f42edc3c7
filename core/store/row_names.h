// SPDX-License-Identifier: Apache-2.0
// The names of a table's rows, in order, where the table came from outside with names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/byte_reader.h"
#include "core/store/row_store.h"

namespace dsa {

/// Memory: 1 MiB. Thread: the owner.
class RowNames {
 public:
  /// No value where the table has no names. Errors: as of opening a store's file.
  static Result<std::optional<RowNames>> open(const RowStore& store, std::uint32_t table);
  /// Of the next row, from row 0 on; lives until the next call. Error input: the file holds fewer than the rows asked.
  Result<std::string_view> next();

 private:
  explicit RowNames(ByteReader reader) : m_reader(std::move(reader)) {}
  ByteReader m_reader;
};

}  // namespace dsa
