// SPDX-License-Identifier: Apache-2.0
// A small two-table run for store tests: deterministic steps, and the same steps on plain memory to compare with.
#pragma once

#include <QTemporaryDir>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/rows/row_init.h"
#include "core/store/direct_store.h"
#include "core/store/row_scan.h"

namespace harness {

inline dsa::StoreShape shape(std::uint64_t rows = 3000, std::uint32_t dim = 12) {
  dsa::StoreShape s;
  s.seed = 42;
  s.lossCapacity = 1000;
  s.segmentBytes = 256 << 10;  // 3,000 rows of 12 lie in two segments, and a record across their border
  s.tables.push_back({"entities", rows, dim, dsa::Rule::sparseAdam, 0.5f, 400});
  s.tables.push_back({"relations", 40, dim, dsa::Rule::rowAdagrad, 0.25f, 40});
  return s;
}

/// Sorted, distinct rows of a table in a step (from 1).
inline std::vector<std::uint64_t> rowsOf(std::uint64_t step, std::uint32_t table, std::uint64_t rows) {
  const std::uint32_t wanted = table == 0 ? 350 : 9;
  std::map<std::uint64_t, bool> chosen;
  for (std::uint32_t i = 0; i < wanted; ++i) {
    const auto r = dsa::philox(5, dsa::Stream::tests, step, table * 10000 + i);
    // Half of them from a small front, so that rows come again.
    const std::uint64_t n = (r.word[2] & 1) != 0 ? std::min<std::uint64_t>(rows, 100) : rows;
    chosen[dsa::belowFrom(r.word[0], r.word[1], n)] = true;
  }
  std::vector<std::uint64_t> out;
  for (const auto& [row, yes] : chosen) out.push_back(row);
  return out;
}

inline float gradient(std::uint64_t step, std::uint32_t table, std::uint64_t row, std::uint32_t i) {
  return dsa::symmetricFrom(dsa::philox(6, dsa::Stream::tests, step * 1000003 + row, table * 1000 + i).word[0], 1.0f);
}

inline dsa::StepParams params(const dsa::TableShape& table, std::uint64_t step) {
  dsa::StepParams p;
  p.rule = table.rule;
  p.dim = table.dim;
  return dsa::makeStep(p, step, 0.05);
}

inline dsa::StateBlob stateAfter(std::uint64_t step) {
  dsa::StateBlob blob;
  for (std::size_t i = 0; i < dsa::kStateBytes; i += 8) {
    const std::uint64_t value = step * 7919 + i;
    std::memcpy(blob.bytes + i, &value, 8);
  }
  return blob;
}

inline dsa::RowKernels kernels() { return dsa::rowKernels(*dsa::chooseLevel()); }

/// The same tables in plain memory.
class Memory {
 public:
  explicit Memory(const dsa::StoreShape& s) : m_shape(s) {
    for (std::uint32_t t = 0; t < s.tables.size(); ++t) {
      const auto& table = s.tables[t];
      m_rows.emplace_back(table.rows * table.recordFloats(), 0.0f);
      m_touched.emplace_back(table.rows, false);
      for (std::uint64_t r = 0; r < table.rows; ++r) {
        dsa::initialWeights(s.seed, t, r, table.dim, table.initScale, m_rows[t].data() + r * table.recordFloats());
      }
    }
  }
  void advanceTo(std::uint64_t step) {
    for (; m_step < step; ++m_step) {
      for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) apply(m_step + 1, t);
    }
  }
  [[nodiscard]] std::uint64_t step() const { return m_step; }
  /// Empty when equal, else what differs.
  std::string compare(const dsa::RowStore& store) const {
    for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) {
      const auto& table = m_shape.tables[t];
      std::vector<float> weights(table.dim);
      for (std::uint64_t r = 0; r < table.rows; ++r) {
        const float* want = m_rows[t].data() + r * table.recordFloats();
        if (store.touched(t, r) != m_touched[t][r])
          return fmt::format("table {} row {}: touched {}", t, r, store.touched(t, r));
        store.readWeights(t, r, weights.data());
        if (std::memcmp(weights.data(), want, table.dim * 4) != 0) return fmt::format("table {} row {}: weights", t, r);
        if (m_touched[t][r] && std::memcmp(store.record(t, r), want, table.recordFloats() * 4) != 0)
          return fmt::format("table {} row {}: moments", t, r);
      }
    }
    return compareStep(store.step(), store.state());
  }
  /// The same by scans, for rows in whatever place an engine keeps them.
  std::string compareScanned(const dsa::RowStore& files, std::uint64_t step, const dsa::StateBlob& state) const {
    for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) {
      const auto& table = m_shape.tables[t];
      auto scan = dsa::RowScan::open(files, t, dsa::ScanRows::all);
      if (!scan) return scan.error().message;
      std::uint64_t seen = 0;
      for (;;) {
        auto block = (*scan)->next();
        if (!block) return block.error().message;
        if (!*block) break;
        for (std::uint64_t i = 0; i < (*block)->count; ++i, ++seen) {
          const float* want = m_rows[t].data() + seen * table.recordFloats();
          if (files.touched(t, seen) != m_touched[t][seen])
            return fmt::format("table {} row {}: touched {}", t, seen, files.touched(t, seen));
          if (std::memcmp((*block)->record(i).data(), want, table.recordFloats() * 4) != 0)
            return fmt::format("table {} row {}: record", t, seen);
        }
      }
      if (seen != table.rows) return fmt::format("table {}: {} rows scanned", t, seen);
    }
    return compareStep(step, state);
  }

 private:
  [[nodiscard]] std::string compareStep(std::uint64_t step, const dsa::StateBlob& state) const {
    const dsa::StateBlob want = m_step == 0 ? dsa::StateBlob{} : stateAfter(m_step);
    if (step != m_step) return fmt::format("step {} instead of {}", step, m_step);
    if (std::memcmp(state.bytes, want.bytes, dsa::kStateBytes) != 0) return "state";
    return "";
  }
  void apply(std::uint64_t step, std::uint32_t t) {
    const auto& table = m_shape.tables[t];
    for (const std::uint64_t row : rowsOf(step, t, table.rows)) {
      std::vector<float> grad(table.dim);
      for (std::uint32_t i = 0; i < table.dim; ++i) grad[i] = gradient(step, t, row, i);
      float* rows[1] = {m_rows[t].data() + row * table.recordFloats()};
      dsa::rowKernels(dsa::KernelLevel::scalar).update(params(table, step), rows, grad.data(), table.dim, 1);
      m_touched[t][row] = true;
    }
  }
  dsa::StoreShape m_shape;
  std::uint64_t m_step = 0;
  std::vector<std::vector<float>> m_rows;
  std::vector<std::vector<bool>> m_touched;
};

inline dsa::Durability durabilityOf(bool power) { return power ? dsa::Durability::power : dsa::Durability::process; }

/// Ends the test where it cannot be opened.
inline std::unique_ptr<dsa::RowStore> opened(const std::string& folder, dsa::Durability durability) {
  auto store = dsa::RowStore::open(folder, durability, kernels());
  if (!store) qFatal("%s", store.error().message.c_str());
  return std::move(*store);
}

/// Empty, or in what the store is not the run's after `step` steps.
inline std::string differs(const dsa::RowStore& store, std::uint64_t step) {
  Memory memory(store.shape());
  memory.advanceTo(step);
  return memory.compare(store);
}

inline dsa::StepRows stepRows(const dsa::StoreShape& s, std::uint64_t step) {
  dsa::StepRows rows;
  for (std::uint32_t t = 0; t < s.tables.size(); ++t) rows.push_back(rowsOf(step, t, s.tables[t].rows));
  return rows;
}

inline dsa::RowStore& filesOf(dsa::RowStore& store) { return store; }
inline dsa::RowStore& filesOf(dsa::DirectStore& store) { return store.files(); }

/// A step whose ids and gradients stand in a store.
struct Prepared {
  std::uint64_t step = 0;
  std::vector<std::uint64_t> counts;
  std::vector<dsa::StepParams> params;
};

/// The next step of the run, by either engine.
template <class Store>
Prepared prepare(Store& store) {
  const std::uint64_t step = store.step() + 1;
  const dsa::StoreShape& shape = filesOf(store).shape();
  Prepared made;
  made.step = step;
  for (std::uint32_t t = 0; t < shape.tables.size(); ++t) {
    const auto& table = shape.tables[t];
    const std::vector<std::uint64_t> rows = rowsOf(step, t, table.rows);
    std::copy(rows.begin(), rows.end(), store.ids(t));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::uint32_t i = 0; i < table.dim; ++i) store.grads(t)[r * table.dim + i] = gradient(step, t, rows[r], i);
    }
    made.counts.push_back(rows.size());
    made.params.push_back(params(table, step));
  }
  filesOf(store).losses()[step % 1000] = static_cast<double>(step);
  return made;
}

/// The records of a prepared step's rows as it makes them, table by table.
template <class Store>
dsa::Result<std::vector<std::vector<float>>> steppedRecords(Store& store, const Prepared& made, std::uint64_t ticket) {
  if constexpr (requires { store.stage(made.counts, ticket); }) DSA_TRY(store.stage(made.counts, ticket));
  std::vector<std::vector<float>> records;
  for (std::uint32_t t = 0; t < made.counts.size(); ++t) {
    const dsa::TableShape& table = filesOf(store).shape().tables[t];
    const std::uint64_t width = table.recordFloats();
    records.emplace_back(made.counts[t] * width);
    std::vector<float*> rows;
    for (std::uint64_t i = 0; i < made.counts[t]; ++i) {
      rows.push_back(records[t].data() + i * width);
      const std::span<float> values(rows[i], width);
      if constexpr (requires { store.staged(t, i, values); }) {
        store.staged(t, i, values);
      } else {
        store.readValues(t, store.ids(t)[i], values);
      }
    }
    kernels().update(made.params[t], rows.data(), store.grads(t), table.dim, made.counts[t]);
  }
  return records;
}

/// Every third step is made elsewhere and put into the store.
template <class Store>
dsa::Result<void> apply(Store& store, const Prepared& made, dsa::ThreadPool& pool, std::uint64_t ticket = 0) {
  if (made.step % 3 != 0) return store.apply(made.counts, made.params, stateAfter(made.step), ticket, pool);
  DSA_ASSIGN(const auto records, steppedRecords(store, made, ticket));
  std::vector<const float*> stepped;
  for (const std::vector<float>& table : records) stepped.push_back(table.data());
  return store.apply(made.counts, made.params, stateAfter(made.step), ticket, pool, stepped);
}

template <class Store>
dsa::Result<void> advance(Store& store, dsa::ThreadPool& pool, std::uint64_t ticket = 0) {
  return apply(store, prepare(store), pool, ticket);
}

}  // namespace harness
