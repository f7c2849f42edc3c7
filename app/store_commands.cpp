// SPDX-License-Identifier: Apache-2.0
// `dsa store info | verify` (export, import: exchange_commands.cpp): what a table's folder holds, and whether it is
// whole. Both only read.
#include <cmath>
#include <filesystem>
#include <memory>

#include "app/commands.h"
#include "core/record/reader.h"
#include "core/store/row_scan.h"

namespace dsa {

namespace {

using nlohmann::ordered_json;

std::uint64_t touchedRows(const RowStore& store, std::uint32_t t) {
  std::uint64_t count = 0;
  store.touchedBits(t).forEach([&](std::uint64_t) { ++count; });
  return count;
}

Result<ordered_json> info(const RowStore& store, const std::string& folder) {
  ordered_json object;
  object["folder"] = folder;
  object["step"] = store.step();
  object["seed"] = store.shape().seed;
  object["table_bytes"] = store.tableBytes();
  DSA_ASSIGN(const std::uint64_t disk, store.diskBytes());
  object["disk_bytes"] = disk;
  object["tables"] = ordered_json::array();
  for (std::uint32_t t = 0; t < store.shape().tables.size(); ++t) {
    const TableShape& table = store.shape().tables[t];
    object["tables"].push_back({{"name", table.name},
                                {"rows", table.rows},
                                {"dim", table.dim},
                                {"rule", ruleName(table.rule)},
                                {"bytes_per_row", table.recordFloats() * sizeof(float)},
                                {"touched_rows", touchedRows(store, t)}});
  }
  return object;
}

/// What is wrong with a touched row: a value is not finite, or an accumulator negative. Empty: nothing.
std::string rowFault(const TableShape& table, std::uint64_t row, std::span<const float> record) {
  const std::uint64_t accumulator = table.rule == Rule::rsgd         ? record.size()
                                    : table.rule == Rule::rowAdagrad ? table.dim
                                                                     : 2ull * table.dim;
  for (std::uint64_t i = 0; i < record.size(); ++i) {
    if (!std::isfinite(record[i])) return fmt::format("{} row {}: value {} is {}", table.name, row, i, record[i]);
    if (i >= accumulator && record[i] < 0) {
      return fmt::format("{} row {}: second moment {} is {}, never negative", table.name, row, i - accumulator,
                         record[i]);
    }
  }
  return {};
}

/// Every touched row; the page cache is left as it was.
Result<std::uint64_t> verifyRows(const RowStore& store) {
  std::uint64_t checked = 0;
  for (std::uint32_t t = 0; t < store.shape().tables.size(); ++t) {
    const TableShape& table = store.shape().tables[t];
    std::string fault;
    DSA_ASSIGN(const auto scan, RowScan::open(store, t, ScanRows::touched));
    while (fault.empty()) {
      DSA_ASSIGN(const std::optional<RowBlock> block, scan->next());
      if (!block) break;
      for (std::uint64_t i = 0; i < block->count && fault.empty(); ++i) {
        if (!store.touched(t, block->first + i)) continue;
        fault = rowFault(table, block->first + i, block->record(i));
        ++checked;
      }
    }
    if (!fault.empty())
      return fail(ErrorCode::input,
                  "{}; the table is damaged and nothing was changed. Resume the run from a copy, or train it again",
                  fault);
  }
  return checked;
}

}  // namespace

Result<FoundTable> findTable(const std::string& pathOrRun, const std::string& database) {
  if (std::filesystem::exists(pathOrRun)) return FoundTable{pathOrRun, std::nullopt};
  const std::string path = database.empty() ? Database::defaultPath() : database;
  if (std::filesystem::exists(path)) {
    DSA_ASSIGN(const Reader reader, Reader::open(path));
    if (const auto id = reader.find(pathOrRun)) {
      DSA_ASSIGN(RunRow row, reader.run(*id));
      const std::string folder = row.cacheFolder;
      if (!folder.empty()) return FoundTable{folder, std::move(row)};
    }
  }
  return fail(ErrorCode::input, "{}: no such folder, and no run with a table of that name", pathOrRun);
}

void addStoreCommands(CLI::App& app, Chosen& chosen) {
  struct Arguments {
    std::string path, database;
    bool json = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* stores = app.add_subcommand("store", "The files of a disk-backed table");
  stores->require_subcommand(1);
  const auto add = [&](const char* name, const char* help,
                       const std::function<Result<ordered_json>(const RowStore&, const std::string&)>& work) {
    CLI::App* command = stores->add_subcommand(name, help);
    command->add_option("PATH", a->path, "Folder of the table, or the run")->required();
    command->add_option("--db", a->database, "Database of runs");
    command->add_flag("--json", a->json, "One JSON object on stdout");
    command->callback([a, work, &chosen] {
      chosen = [a, work]() -> int {
        const auto object = [&]() -> Result<ordered_json> {
          DSA_ASSIGN(const FoundTable found, findTable(a->path, a->database));
          const std::string& folder = found.folder;
          DSA_ASSIGN(const std::unique_ptr<RowStore> store, RowStore::openReadOnly(folder));
          DSA_ASSIGN(ordered_json figures, work(*store, folder));
          DSA_TRY(store->intact());
          return figures;
        }();
        if (!object) return reportError(object.error());
        if (a->json) {
          printJson(*object);
        } else {
          for (const auto& [key, value] : object->items()) {
            if (!value.is_array())
              fmt::print("{:<14} {}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump(),
                         key.ends_with("bytes") ? "  (" + formatBytes(value.get<std::uint64_t>()) + ")" : "");
          }
          for (const auto& table : (*object)["tables"]) {
            fmt::print("table {}: {} rows x {}, {} ({} bytes a row), {} touched\n", table["name"].get<std::string>(),
                       table["rows"].dump(), table["dim"].dump(), table["rule"].get<std::string>(),
                       table["bytes_per_row"].dump(), table["touched_rows"].dump());
          }
        }
        return 0;
      };
    });
  };
  add("info", "Shape, step, sizes",
      [](const RowStore& store, const std::string& folder) { return info(store, folder); });
  add("verify", "Headers, checksums, lengths; every touched row is finite",
      [](const RowStore& store, const std::string& folder) -> Result<ordered_json> {
        DSA_ASSIGN(ordered_json object, info(store, folder));
        DSA_ASSIGN(const std::uint64_t rows, verifyRows(store));
        object["verified_rows"] = rows;
        object["verdict"] = "whole";
        return object;
      });
  addExchangeCommands(*stores, chosen);
}

}  // namespace dsa
