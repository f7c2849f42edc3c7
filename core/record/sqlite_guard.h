// SPDX-License-Identifier: Apache-2.0
// Inside core/record only: SQLite's exceptions become Errors, and columns become values.
#pragma once

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace dsa {

/// "PATH: cannot WHAT: the disk is full; ...". Lock, permission, space and I/O are ErrorCode::machine; a file that is
/// no database or is damaged is ErrorCode::input; a constraint or a wrong statement is ErrorCode::bug.
[[nodiscard]] tl::unexpected<Error> failSqlite(const std::string& path, const std::string& what,
                                               const SQLite::Exception& exception);

/// Runs `work`, which returns a Result, and turns what SQLite throws into the failed Result.
template <class Work>
auto guarded(const std::string& path, const std::string& what, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const SQLite::Exception& exception) {
    return failSqlite(path, what, exception);
  }
}

inline std::optional<std::int64_t> optionalInt(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return column.getInt64();
}

inline std::optional<std::uint64_t> optionalCount(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return static_cast<std::uint64_t>(column.getInt64());
}

/// A number that may be absent: NULL is absent, text ("nan") is NaN, since SQLite stores a NaN as NULL.
inline std::optional<double> optionalNumber(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  if (column.isText()) return std::numeric_limits<double>::quiet_NaN();
  return column.getDouble();
}

inline void bindOptional(SQLite::Statement& statement, int index, const std::optional<std::int64_t>& value) {
  value ? statement.bind(index, *value) : statement.bind(index);
}

inline void bindOptional(SQLite::Statement& statement, int index, const std::optional<std::uint64_t>& value) {
  value ? statement.bind(index, static_cast<std::int64_t>(*value)) : statement.bind(index);
}

inline void bindOptional(SQLite::Statement& statement, int index, const std::optional<double>& value) {
  if (!value) {
    statement.bind(index);
  } else if (std::isnan(*value)) {
    statement.bind(index, "nan");
  } else {
    statement.bind(index, *value);
  }
}

}  // namespace dsa
