// SPDX-License-Identifier: Apache-2.0
#include "core/store/intent.h"

#include <fcntl.h>

#include <algorithm>

namespace dsa {

namespace {

constexpr const char* kMagic = "DSAINTNT";
constexpr std::uint64_t kProgressBytes = std::uint64_t{kMaxWorkers} * kMaxTables * sizeof(Progress);

std::uint64_t roundUp(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

std::uint64_t undoBytesAWorker(const Superblock& super) {
  std::uint64_t most = 0;
  for (std::uint32_t t = 0; t < super.tableCount; ++t) most = std::max<std::uint64_t>(most, super.tables[t].stride);
  return roundUp(most * kUndoRows, kPage);
}

std::uint64_t idBytes(const TableRecord& table) { return roundUp(table.stepCapacity * 8, kPage); }
std::uint64_t gradBytes(const TableRecord& table) { return roundUp(table.stepCapacity * table.dim * 4, kPage); }

std::uint64_t contentBytes(const Superblock& super) {
  std::uint64_t bytes = kPage + kProgressBytes + kMaxWorkers * undoBytesAWorker(super);
  for (std::uint32_t t = 0; t < super.tableCount; ++t) bytes += idBytes(super.tables[t]) + gradBytes(super.tables[t]);
  return bytes;
}

/// Program order is enough against SIGKILL: the page cache sees every store that was executed. The compiler must keep it, too.
inline void keepOrder() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace

Result<void> createContentFile(const std::string& path, const char* magic, std::uint32_t table, const unsigned char* uuid,
                               std::uint64_t contentBytes, Space space) {
  DSA_ASSIGN(const File file, File::open(path, File::Mode::createNew));
  if (space == Space::allocated) {
    const int failed = ::posix_fallocate(file.fd(), 0, static_cast<off_t>(kPage + contentBytes));
    if (failed != 0) return failErrno(path, fmt::format("reserve {} for", formatBytes(contentBytes)).c_str(), failed);
  }
  FileHeader header;
  std::memcpy(header.magic, magic, 8);
  header.table = table;
  std::memcpy(header.uuid, uuid, 16);
  header.contentBytes = contentBytes;
  header.checksum = checksumOf(&header, offsetof(FileHeader, checksum));
  DSA_TRY(file.writeAt(std::as_bytes(std::span(&header, 1)), 0));
  DSA_TRY(file.resize(kPage + contentBytes));
  return file.sync();
}

Result<File> openContentFile(const std::string& path, const char* magic, std::uint32_t table, const unsigned char* uuid,
                             std::uint64_t contentBytes, File::Mode mode) {
  DSA_ASSIGN(File file, File::open(path, mode));
  DSA_ASSIGN(const std::uint64_t size, file.size());
  if (size < sizeof(FileHeader)) {
    return fail(ErrorCode::input, "{}: {} bytes long, expected {}; the file is cut short and nothing was changed", path, size,
                kPage + contentBytes);
  }
  FileHeader header;
  DSA_TRY(file.readAt(std::as_writable_bytes(std::span(&header, 1)), 0));
  if (std::memcmp(header.magic, magic, 8) != 0) {
    return fail(ErrorCode::input, "{}: begins with \"{}\", expected \"{}\"; not a file of this program, and nothing was changed",
                path, fmt::format("{:.8s}", std::string(header.magic, strnlen(header.magic, 8))), magic);
  }
  if (header.version > kStoreVersion) {
    return fail(ErrorCode::input, "{}: format {}, this program reads up to {}; use a newer program. Nothing was changed", path,
                header.version, kStoreVersion);
  }
  if (header.checksum != checksumOf(&header, offsetof(FileHeader, checksum))) {
    return fail(ErrorCode::input, "{}: the header's checksum is {:016x}, expected {:016x}; the file is damaged and nothing was changed",
                path, header.checksum, checksumOf(&header, offsetof(FileHeader, checksum)));
  }
  if (std::memcmp(header.uuid, uuid, 16) != 0 || header.table != table || header.contentBytes != contentBytes) {
    return fail(ErrorCode::input, "{}: belongs to another run or another shape ({} content bytes, expected {}); nothing was changed",
                path, header.contentBytes, contentBytes);
  }
  if (size < kPage + contentBytes) {
    return fail(ErrorCode::input, "{}: {} bytes long, expected {}; the file is cut short and nothing was changed", path, size,
                kPage + contentBytes);
  }
  return file;
}

Result<void> Intent::create(const std::string& path, const Superblock& super) {
  return createContentFile(path, kMagic, 0, super.uuid, contentBytes(super), Space::allocated);
}

Result<Intent> Intent::open(const std::string& path, const Superblock& super) {
  const std::uint64_t bytes = contentBytes(super);
  DSA_ASSIGN(const File file, openContentFile(path, kMagic, 0, super.uuid, bytes, File::Mode::readWrite));
  Intent intent;
  DSA_ASSIGN(intent.m_mapping, Mapping::map(file, kPage + bytes, Mapping::Kind::sharedReadWrite));
  intent.layOut(intent.m_mapping.data() + kPage, super);
  return intent;
}

void Intent::layOut(std::byte* content, const Superblock& super) {
  m_page = reinterpret_cast<IntentPage*>(content);
  m_progress = reinterpret_cast<Progress*>(content + kPage);
  m_undo = content + kPage + kProgressBytes;
  m_undoBytes = undoBytesAWorker(super);
  std::byte* next = m_undo + kMaxWorkers * m_undoBytes;
  for (std::uint32_t t = 0; t < super.tableCount; ++t) {
    m_ids.push_back(reinterpret_cast<std::uint64_t*>(next));
    next += idBytes(super.tables[t]);
    m_grads.push_back(reinterpret_cast<float*>(next));
    next += gradBytes(super.tables[t]);
  }
}

void Intent::arm(std::uint64_t step, std::span<const std::uint64_t> rows, std::span<const StepParams> params, const StateBlob& next,
                 unsigned workers) const {
  m_page->step = step;
  m_page->workers = workers;
  m_page->tableCount = static_cast<std::uint32_t>(rows.size());
  m_page->next = next;
  for (std::uint32_t t = 0; t < rows.size(); ++t) {
    m_page->rows[t] = rows[t];
    m_page->params[t] = params[t];
    for (std::uint32_t w = 0; w < workers; ++w) {
      const std::uint64_t begin = rows[t] * w / workers;
      progress(w, t).saved = begin;
      progress(w, t).done = begin;
    }
  }
  publish(m_page->armed, 1);
}

void Intent::applyRange(std::uint32_t worker, std::uint32_t t, const RecordArray& records, std::uint64_t end,
                        const RowKernels& kernels) const {
  Progress& mine = progress(worker, t);
  const StepParams& params = m_page->params[t];
  const std::uint64_t* const rowIds = ids(t);
  std::byte* const saved = undo(worker);
  const std::uint64_t stride = records.stride;
  constexpr std::uint64_t kAhead = 8;  // rows whose lines are asked for; 4 to 12 were equal (bench rows)
  float* rows[kUndoRows];
  for (std::uint64_t begin = mine.done; begin < end; begin += kUndoRows) {
    const std::uint64_t stop = std::min<std::uint64_t>(end, begin + kUndoRows);
    for (std::uint64_t i = begin; i < stop; ++i) {
      if (i + kAhead < end) {
        const std::byte* const ahead = records.at(rowIds[i + kAhead]);
        for (std::uint64_t line = 0; line < stride; line += 64) __builtin_prefetch(ahead + line, 1, 3);
      }
      std::byte* const record = records.at(rowIds[i]);
      std::memcpy(saved + (i - begin) * stride, record, stride);
      rows[i - begin] = reinterpret_cast<float*>(record);
    }
    keepOrder();
    publish(mine.saved, stop);
    keepOrder();
    kernels.update(params, rows, grads(t) + begin * params.dim, params.dim, stop - begin);
    keepOrder();
    publish(mine.done, stop);
  }
}

void Intent::apply(std::span<const RecordArray> tables, const RowKernels& kernels, ThreadPool& pool) const {
  for (std::uint32_t t = 0; t < tables.size(); ++t) {
    const std::uint64_t n = m_page->rows[t];
    // One range a worker of arm(), whether the pool has as many threads or not.
    if (m_page->workers == 1) {
      applyRange(0, t, tables[t], n, kernels);
    } else {
      pool.partitioned(n, [&](std::uint64_t, std::uint64_t end, unsigned worker) { applyRange(worker, t, tables[t], end, kernels); });
    }
  }
}

bool Intent::finish(std::span<const RecordArray> tables, const RowKernels& kernels) const {
  if (!armed()) return false;
  for (std::uint32_t t = 0; t < tables.size(); ++t) {
    for (std::uint32_t w = 0; w < m_page->workers; ++w) {
      Progress& mine = progress(w, t);
      const std::uint64_t stride = tables[t].stride;
      for (std::uint64_t i = mine.done; i < mine.saved; ++i) {
        std::memcpy(tables[t].at(ids(t)[i]), undo(w) + (i - mine.done) * stride, stride);
      }
      keepOrder();
      publish(mine.saved, mine.done);
      applyRange(w, t, tables[t], m_page->rows[t] * (w + 1) / m_page->workers, kernels);
    }
  }
  return true;
}

}  // namespace dsa
