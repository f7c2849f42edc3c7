// SPDX-License-Identifier: Apache-2.0
// The tables of the record and the steps that lift an older file to them (SCHEMA.md says what they mean).
#pragma once

#include <cstdint>
#include <span>

namespace dsa {

/// "DSLB": marks an SQLite file as ours, so that another program's database is never touched.
inline constexpr std::int32_t kApplicationId = 0x44534C42;

/// One step: lifts a file of `version - 1` to `version`, in one transaction.
struct Migration {
  int version = 0;
  const char* sql = nullptr;
};

/// Every step from an empty file to today, in order; the last one's version is what this program writes.
[[nodiscard]] std::span<const Migration> builtInMigrations();

}  // namespace dsa
