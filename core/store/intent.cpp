// SPDX-License-Identifier: Apache-2.0
#include "core/store/intent.h"

#include <algorithm>

namespace dsa {

namespace {

constexpr const char* kMagic = "DSAINTNT";
constexpr std::uint64_t kProgressBytes = std::uint64_t{kMaxWorkers} * kMaxTables * sizeof(Progress);

std::uint64_t undoBytesAWorker(const Superblock& super) {
  std::uint64_t most = 0;
  for (std::uint32_t t = 0; t < super.tableCount; ++t) most = std::max<std::uint64_t>(most, super.tables[t].stride);
  return wholePages(most * kUndoRows);
}

std::uint64_t idBytes(const TableRecord& table) { return wholePages(table.stepCapacity * 8); }
std::uint64_t gradBytes(const TableRecord& table) { return wholePages(table.stepCapacity * table.dim * 4); }

std::uint64_t contentBytes(const Superblock& super) {
  std::uint64_t bytes = kPage + kProgressBytes + kMaxWorkers * undoBytesAWorker(super);
  for (std::uint32_t t = 0; t < super.tableCount; ++t) bytes += idBytes(super.tables[t]) + gradBytes(super.tables[t]);
  return bytes;
}

}  // namespace

Result<void> Intent::create(const std::string& path, const Superblock& super) {
  return createContentFile(path, kMagic, 0, super.uuid, contentBytes(super), Space::allocated);
}

Result<IntentPage> Intent::readPage(const std::string& path, const Superblock& super) {
  DSA_ASSIGN(const File file, openContentFile(path, kMagic, 0, super.uuid, contentBytes(super), File::Mode::readOnly));
  IntentPage page;
  DSA_TRY(file.readAt(std::as_writable_bytes(std::span(&page, 1)), kPage));
  return page;
}

Result<Intent> Intent::open(const std::string& path, const Superblock& super) {
  const std::uint64_t bytes = contentBytes(super);
  DSA_ASSIGN(const File file, openContentFile(path, kMagic, 0, super.uuid, bytes, File::Mode::readWrite));
  Intent intent;
  intent.m_path = path;
  intent.m_tables.assign(super.tables, super.tables + super.tableCount);
  DSA_ASSIGN(intent.m_mapping, Mapping::map(file, kPage + bytes, Mapping::Kind::sharedReadWrite));
  intent.m_mapping.guard();
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

void Intent::arm(std::uint64_t step, std::span<const std::uint64_t> rows, std::span<const StepParams> params,
                 const StateBlob& next, unsigned workers) const {
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
  keepOrder();
}

void Intent::disarm() const {
  keepOrder();
  publish(m_page->armed, 0);
  keepOrder();
}

Result<void> Intent::check(std::uint64_t applied) const {
  const IntentPage& page = *m_page;
  if (page.armed > 1) return damaged("armed", page.armed, "0 or 1");
  if (page.armed == 0) return {};
  // Killed between "steps applied" and "armed = 0", or anywhere before.
  if (page.step != applied && page.step != applied + 1)
    return damaged("step", page.step, fmt::format("{} or {}", applied, applied + 1));
  if (page.tableCount != m_tables.size()) return damaged("tables", page.tableCount, std::to_string(m_tables.size()));
  if (page.workers == 0 || page.workers > kMaxWorkers)
    return damaged("workers", page.workers, fmt::format("1 to {}", kMaxWorkers));
  for (std::uint32_t t = 0; t < page.tableCount; ++t) DSA_TRY(checkTable(t));
  return {};
}

Result<void> Intent::checkTable(std::uint32_t t) const {
  const TableRecord& table = m_tables[t];
  const StepParams& params = m_page->params[t];
  const std::uint64_t n = m_page->rows[t];
  if (n > table.stepCapacity) return damaged("rows", n, fmt::format("at most {}", table.stepCapacity));
  if (static_cast<std::uint32_t>(params.rule) != table.rule)
    return damaged("rule", static_cast<std::uint32_t>(params.rule), std::to_string(table.rule));
  if (params.dim != table.dim) return damaged("dim", params.dim, std::to_string(table.dim));
  const auto map = static_cast<std::uint32_t>(params.map);
  if (map != static_cast<std::uint32_t>(BallMap::retraction) && map != static_cast<std::uint32_t>(BallMap::exponential))
    return damaged("map", map, "1 or 2");
  for (std::uint32_t w = 0; w < m_page->workers; ++w) {
    const Progress& p = progress(w, t);
    const std::uint64_t begin = n * w / m_page->workers;
    const std::uint64_t end = n * (w + 1) / m_page->workers;
    if (p.done < begin || p.done > end) return damaged("done", p.done, fmt::format("{} to {}", begin, end));
    const std::uint64_t most = std::min<std::uint64_t>(end, p.done + kUndoRows);
    if (p.saved < p.done || p.saved > most) return damaged("saved", p.saved, fmt::format("{} to {}", p.done, most));
  }
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t row = ids(t)[i];
    if (row >= table.rows) return damaged("row", row, fmt::format("below {}", table.rows));
    if (i > 0 && row <= ids(t)[i - 1]) return damaged("row", row, fmt::format("above {}", ids(t)[i - 1]));
  }
  return {};
}

tl::unexpected<Error> Intent::damaged(const char* what, std::uint64_t found, const std::string& expected) const {
  return fail(
      ErrorCode::input,
      "{}: a killed step is to be finished and its {} is {}, expected {}; the file is damaged and nothing was changed",
      m_path, what, found, expected);
}

void Intent::applyRange(std::uint32_t worker, std::uint32_t t, const RecordArray& records, std::uint64_t end,
                        const RowKernels& kernels, const float* stepped) const {
  Progress& mine = progress(worker, t);
  const StepParams& params = m_page->params[t];
  const std::uint64_t* const rowIds = ids(t);
  std::byte* const saved = undo(worker);
  const std::uint64_t stride = records.stride;
  constexpr std::uint64_t kAhead =
      8;  // rows whose lines are asked for; none: 0.89 of the rows a second, 4 and 12 alike
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
    stepRows(kernels, params, rows, grads(t), stepped, begin, stop - begin);
    keepOrder();
    publish(mine.done, stop);
  }
}

void Intent::apply(std::span<const RecordArray> tables, const RowKernels& kernels,
                   std::span<const float* const> stepped, ThreadPool& pool) const {
  for (std::uint32_t t = 0; t < tables.size(); ++t) {
    const std::uint64_t n = m_page->rows[t];
    const std::uint64_t ranges = m_page->workers;
    // A range at a time, to whichever thread is free: one that the kernel's write-back keeps does not hold up the rest.
    pool.parallelFor(ranges, 1, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t r = begin; r < end; ++r)
        applyRange(static_cast<std::uint32_t>(r), t, tables[t], n * (r + 1) / ranges, kernels,
                   stepped.empty() ? nullptr : stepped[t]);
    });
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
      applyRange(w, t, tables[t], m_page->rows[t] * (w + 1) / m_page->workers, kernels, nullptr);
    }
  }
  return true;
}

}  // namespace dsa
