// SPDX-License-Identifier: Apache-2.0
// Fuzz target: intent.dsa. What check() lets through, finish() must be able to apply within tables of exactly their
// size.
//
// Input: steps applied (one byte), then the page, the progress of the first workers, the ids of both tables.
#include "core/store/intent.h"

#include "fuzz_files.h"

using namespace dsa;

namespace {

constexpr std::size_t kWorkers = 4;

Superblock superblock() {
  Superblock super;
  const StoreShape shape = fuzz::shape();
  super.tableCount = static_cast<std::uint32_t>(shape.tables.size());
  for (std::size_t t = 0; t < shape.tables.size(); ++t) {
    const TableShape& table = shape.tables[t];
    super.tables[t].rows = table.rows;
    super.tables[t].stepCapacity = table.stepCapacity;
    super.tables[t].dim = table.dim;
    super.tables[t].rule = static_cast<std::uint32_t>(table.rule);
    super.tables[t].stride = static_cast<std::uint32_t>(table.recordFloats() * sizeof(float));
  }
  return super;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = fuzz::scratchFolder("intent") + "/intent.dsa";
  static const Superblock super = superblock();
  static const bool made = Intent::create(path, super).has_value();
  fuzz::require(made);
  const auto opened = Intent::open(path, super);
  fuzz::require(opened.has_value());
  const Intent& intent = *opened;
  fuzz::Bytes bytes(data, size);
  const auto applied = bytes.take<std::uint8_t>();
  auto* const page = reinterpret_cast<std::byte*>(&intent.page());
  std::memset(page, 0, kPage);
  bytes.take(page, sizeof(IntentPage));
  const std::size_t progressBytes = kWorkers * kMaxTables * sizeof(Progress);
  std::memset(page + kPage, 0, kMaxWorkers * kMaxTables * sizeof(Progress));
  bytes.take(page + kPage, progressBytes);
  std::vector<std::vector<float>> rows;
  std::vector<RecordArray> records;
  for (std::uint32_t t = 0; t < super.tableCount; ++t) {
    std::memset(intent.ids(t), 0, super.tables[t].stepCapacity * 8);
    bytes.take(intent.ids(t), super.tables[t].stepCapacity * 8);
    rows.emplace_back(super.tables[t].rows * super.tables[t].stride / sizeof(float));
  }
  for (std::uint32_t t = 0; t < super.tableCount; ++t)
    records.push_back(RecordArray{reinterpret_cast<std::byte*>(rows[t].data()), super.tables[t].stride});
  if (!intent.check(applied)) return 0;
  (void)intent.finish(records, fuzz::Template::kernels());
  // Finished once: all is done, and a second time changes nothing.
  const auto once = rows;
  if (intent.armed()) fuzz::require(intent.check(applied).has_value());
  (void)intent.finish(records, fuzz::Template::kernels());
  for (std::size_t t = 0; t < rows.size(); ++t)
    fuzz::require(std::memcmp(once[t].data(), rows[t].data(), rows[t].size() * sizeof(float)) == 0);
  return 0;
}
