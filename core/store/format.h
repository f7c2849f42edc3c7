// SPDX-License-Identifier: Apache-2.0
// The bytes of a store's files, as FORMAT.md describes them. Little-endian, packed by hand: no padding the compiler
// chose.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/base/error.h"
#include "core/rows/rule.h"

namespace dsa {

inline constexpr std::uint64_t kPage = 4096;
/// Bytes of the pages that so many bytes take.
[[nodiscard]] constexpr std::uint64_t wholePages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
inline constexpr std::uint32_t kStoreVersion = 1;
inline constexpr std::uint32_t kMaxTables = 8;
inline constexpr std::uint32_t kMaxWorkers = 64;
/// Rows whose old records are kept while they are changed: few, so that they stay in the L2 cache. 4, 8 and
/// 32 were within the noise of 16 (bench rows, 200,000 x 128, one thread, medians of 5 rounds).
inline constexpr std::uint32_t kUndoRows = 16;
inline constexpr std::uint64_t kStateBytes = 256;

/// The run's own state, committed with each step; the store does not look into it.
struct StateBlob {
  unsigned char bytes[kStateBytes] = {};
};

struct TableRecord {
  char name[16] = {};
  std::uint64_t rows = 0;
  std::uint64_t stepCapacity = 0;  ///< rows that one step can change at most
  std::uint32_t dim = 0;
  std::uint32_t rule = 0;
  std::uint32_t stride = 0;  ///< bytes from one record to the next
  float initScale = 0;
  std::uint64_t reserved[2] = {};
};
static_assert(sizeof(TableRecord) == 64);

/// store.dsa, page 0. Written once.
struct Superblock {
  char magic[8] = {'D', 'S', 'A', 'S', 'T', 'O', 'R', 'E'};
  std::uint32_t version = kStoreVersion;
  std::uint32_t tableCount = 0;
  unsigned char uuid[16] = {};
  std::uint64_t seed = 0;
  std::uint64_t lossCapacity = 0;
  std::uint64_t segmentBytes = 0;  ///< content of a segment of NAME.rows at least, whole pages; 0: one file
  std::uint64_t reserved[1] = {};
  TableRecord tables[kMaxTables];
  std::uint64_t checksum = 0;  ///< XXH64 of everything before it
};
static_assert(sizeof(Superblock) == 64 + 64 * kMaxTables + 8);

/// store.dsa, pages 1 and 2: the last two checkpoints; the one with the higher sequence counts. In one 512-byte sector,
/// so never torn.
struct CheckpointSlot {
  char magic[8] = {'D', 'S', 'A', 'C', 'H', 'E', 'C', 'K'};
  std::uint64_t sequence = 0;    ///< from 1; the slot is page 1 + sequence % 2
  std::uint64_t step = 0;        ///< steps applied
  std::uint64_t generation = 0;  ///< of the undo journal that leads back to it
  StateBlob state;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(CheckpointSlot) == 32 + kStateBytes + 8);

/// store.dsa, page 3, mapped: where the run stands now. Right after a SIGKILL (same boot), not after a power loss.
struct LivePage {
  char magic[8];
  unsigned char bootId[16];
  std::uint64_t clean;  ///< 1: closed, and everything is on the disk
  std::uint64_t power;  ///< 1: the undo journal is kept
  std::uint64_t step;   ///< steps applied; the state of step s is states[s % 2]
  StateBlob states[2];
  std::uint64_t direct;  ///< 1: written by the direct engine; what counts is the last checkpoint and moves.log
};
static_assert(sizeof(LivePage) == 56 + 2 * kStateBytes);

/// Page 0 of NAME.rows, NAME.touched, losses.f64 and intent.dsa; content starts at byte 4096.
struct FileHeader {
  char magic[8] = {};
  std::uint32_t version = kStoreVersion;
  std::uint32_t table = 0;
  unsigned char uuid[16] = {};
  std::uint64_t contentBytes = 0;  ///< the file is 4096 + this long
  std::uint64_t checksum = 0;
};
static_assert(sizeof(FileHeader) == 48);

/// How far one worker is in one table; a cache line of its own.
struct alignas(64) Progress {
  std::uint64_t saved;  ///< old records up to here lie in the undo rows
  std::uint64_t done;   ///< rows up to here are new
  std::uint64_t padding[6];
};
static_assert(sizeof(Progress) == 64);

/// intent.dsa from byte 4096, mapped: the step being applied.
struct IntentPage {
  std::uint64_t armed;  ///< 1: apply it to the end
  std::uint64_t step;   ///< the step that it makes
  std::uint32_t workers;
  std::uint32_t tableCount;
  std::uint64_t rows[kMaxTables];
  StepParams params[kMaxTables];
  StateBlob next;
};
static_assert(sizeof(StepParams) == 104);
static_assert(sizeof(IntentPage) <= kPage);
static_assert(std::is_trivially_copyable_v<IntentPage> && std::is_trivially_copyable_v<LivePage>);

/// A block of undo.journal or moves.log; starts at a multiple of 4096.
struct JournalBlock {
  char magic[8] = {'D', 'S', 'A', 'U', 'N', 'D', 'O', '1'};
  std::uint64_t generation = 0;
  std::uint64_t sequence = 0;      ///< from 0 within the generation
  std::uint64_t payloadBytes = 0;  ///< after this header
  std::uint64_t entries = 0;
  std::uint64_t uuidHash = 0;  ///< of the store's uuid
  std::uint64_t payloadChecksum = 0;
  std::uint64_t checksum = 0;  ///< of the header before it
};
static_assert(sizeof(JournalBlock) == 64);

/// One row of a block's payload; followed by its old record when `touched` is 1.
struct JournalEntry {
  std::uint32_t table = 0;
  std::uint32_t touched = 0;
  std::uint64_t row = 0;
};
static_assert(sizeof(JournalEntry) == 16);

/// One entry of moves.log.
struct MoveEntry {
  enum What : std::uint16_t {
    slot = 1,     ///< unit `index` lies in slot `value`
    touched = 2,  ///< of rows from index * 32 on those are touched whose bits `value` has
  };
  std::uint16_t table = 0;
  std::uint16_t what = 0;
  std::uint32_t value = 0;
  std::uint64_t index = 0;
};
static_assert(sizeof(MoveEntry) == 16);

/// XXH64 of `size` bytes.
[[nodiscard]] std::uint64_t checksumOf(const void* bytes, std::size_t size);

/// What blocks of undo.journal and moves.log carry of the store's uuid.
[[nodiscard]] inline std::uint64_t uuidHash(const Superblock& super) {
  return checksumOf(super.uuid, sizeof super.uuid);
}

/// The running kernel's boot id, 16 bytes; zero where it is not known.
struct BootId {
  unsigned char bytes[16] = {};
  [[nodiscard]] bool operator==(const BootId& other) const { return std::memcmp(bytes, other.bytes, 16) == 0; }
};
[[nodiscard]] BootId currentBootId();
/// Tests play a reboot with it; empty restores the real one.
void overrideBootId(const std::string& text);

/// Plain loads and stores of mapped words that other threads, or the process after us, look at in program order.
inline void publish(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(word).store(value, std::memory_order_release);
}
inline std::uint64_t observe(std::uint64_t& word) {
  return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_acquire);
}

/// Program order is enough against SIGKILL: the page cache sees every store that was executed. The compiler must keep
/// it, too.
inline void keepOrder() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace dsa
