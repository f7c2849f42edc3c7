// SPDX-License-Identifier: Apache-2.0
// A table's rows in order, without leaving anything in the page cache: for verify, export, hash and evaluation.
//
// Pages that are in the page cache are read there, by pread; so rows that a writer changed a moment ago are seen, and a
// table that is in memory is not read from the disk. All other pages come by O_DIRECT, which takes no page cache: a
// table read by sequential read-ahead would lie in large folios, and a single store into one dirties it whole (1,009
// times the data, measured). Where the file system has no O_DIRECT, or takes it and reads through the page cache all
// the same, pages are read small, under POSIX_FADV_RANDOM, and those that were not there before are given back.
//
// What it still does: short stretches of cached pages between others go by O_DIRECT, too, and the kernel writes those
// of them that are dirty to the disk before. They would get there anyway; they stay cached, and clean. A page that is
// dropped by the kernel between the question and the read comes back, alone. Somebody else's file, of which the kernel
// does not tell what is cached, is read by O_DIRECT alone; without that, its pages stay in the cache, in small folios.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/file.h"
#include "core/store/row_store.h"

namespace dsa {

enum class ScanRows {
  touched,  ///< records of untouched rows are not filled in, and blocks without a touched row are left out
  all,      ///< untouched rows have the weights that (seed, row) gives and zero state
};

/// Rows [first, first + count) as records, w first and then the rule's state (FORMAT.md). Lives until the next next().
struct RowBlock {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t recordFloats = 0;
  const float* records = nullptr;  ///< [count x recordFloats]
  [[nodiscard]] std::span<const float> record(std::uint64_t i) const {
    return {records + i * recordFloats, recordFloats};
  }
};

/// Read-only. Rows of the direct engine are read as it keeps them: units from its memory where it runs in this process,
/// else by O_DIRECT from the slab, as many at a time as the disk takes. The store must outlive it, and no step be
/// applied meanwhile (beside another process that trains, rows may be in the middle of a step, as for every reader).
/// Thread: next() the owner, readWeights() any, several at once. Memory: about twice kBlockBytes, or a record where
/// that is larger; next() and each running readWeights() apart.
class RowScan {
 public:
  static constexpr std::uint64_t kBlockBytes = 1ull << 20;

  /// Error machine: the file cannot be opened a second time.
  static Result<std::unique_ptr<RowScan>> open(const RowStore& store, std::uint32_t table, ScanRows rows);

  /// The next rows in order, no value after the last. Errors: input, the file was cut short; machine, the disk.
  Result<std::optional<RowBlock>> next();
  /// Weights of rows [begin, begin + count) to out [count x dim]; untouched ones too. Errors as next().
  Result<void> readWeights(std::uint64_t begin, std::uint64_t count, float* out) const;
  /// Whether pages that are not cached are read by O_DIRECT.
  [[nodiscard]] bool direct() const { return m_direct.load(std::memory_order_relaxed); }

 private:
  RowScan(const RowStore& store, std::uint32_t table, ScanRows rows);
  struct Pages;
  [[nodiscard]] std::uint64_t rowsInBlock() const;
  [[nodiscard]] std::uint64_t bufferBytes(std::uint64_t rows) const;
  Result<float*> load(std::uint64_t first, std::uint64_t count, std::uint64_t width, std::byte* buffer) const;
  Result<float*> loadUnits(std::uint64_t first, std::uint64_t count, std::byte* buffer) const;
  [[nodiscard]] bool askResidency(std::uint64_t offset, std::span<unsigned char> states) const;
  Result<void> readCached(const Pages& pages, std::byte* buffer) const;
  Result<void> readUncached(const Pages& pages, std::byte* buffer) const;
  Result<bool> readDirectly(std::uint64_t offset, std::span<std::byte> bytes) const;
  Result<void> readSmall(std::uint64_t offset, std::span<std::byte> bytes, bool giveBack) const;
  Result<void> readWhole(std::uint64_t offset, std::span<std::byte> bytes) const;
  void fillInitial(std::uint64_t row, float* record) const;

  const RowStore& m_store;
  std::uint32_t m_table;
  ScanRows m_rows;
  TableShape m_shape;
  std::uint64_t m_stride;
  const std::byte* m_map;      // the store's own mapping of the files; asked about, never read
  bool m_mayAskCache = false;  // the kernel tells the truth about them
  RowFile m_cachedFile, m_directFile;
  mutable std::atomic<bool> m_direct{false};
  mutable std::atomic<bool> m_directSeen{false};  // a direct read was seen to leave nothing in the cache
  Mapping m_buffer;
  std::uint64_t m_next = 0;
};

}  // namespace dsa
