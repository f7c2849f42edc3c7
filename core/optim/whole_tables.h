// SPDX-License-Identifier: Apache-2.0
// What tables that are committed whole before the first step have in common, in private memory or on a card: nothing is
// brought in, written back or recovered.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/optim/tables.h"

namespace dsa {

class WholeTables : public Tables {
 public:
  const StoreShape& shape() const override { return m_shape; }
  std::uint64_t step() const override { return m_step; }
  StateBlob state() const override { return m_state; }
  std::uint64_t* ids(std::uint32_t t) override { return m_ids[t].data(); }
  double* losses() override { return m_losses.data(); }
  const TouchedBits& touchedBits(std::uint32_t t) const override { return m_touched[t]; }
  bool wantsRows() const override { return false; }
  std::uint64_t announce(const StepRows&) override { return 0; }
  Result<void> stage(std::span<const std::uint64_t>, std::uint64_t) override { return {}; }
  void prefetch(std::uint32_t, std::span<const std::uint64_t>) const override {}
  Result<void> apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params, const StateBlob& next,
                     std::uint64_t, std::span<const float* const> stepped, ThreadPool& pool) override {
    for (std::uint32_t t = 0; t < counts.size(); ++t) {
      DSA_TRY(applyTable(t, counts[t], params[t], stepped.empty() ? nullptr : stepped[t], pool));
      for (std::uint64_t i = 0; i < counts[t]; ++i) m_touched[t].set(m_ids[t][i]);
    }
    m_state = next;
    ++m_step;
    return {};
  }
  Result<void> checkpoint() override { return {}; }
  Result<void> evict() override {
    return fail(ErrorCode::usage, "the table lies {} whole, so there is no page cache to evict; choose placement disk",
                m_where);
  }
  Result<void> setRamBudget(std::uint64_t) override {
    return fail(ErrorCode::usage, "the table lies {} whole, so no budget can be kept; choose placement disk", m_where);
  }
  TableTraffic traffic() const override { return {}; }
  Result<void> close() override { return {}; }
  std::vector<std::string> files() const override { return {}; }
  Result<std::uint64_t> diskBytes() const override { return 0; }
  Recovery recovery() const override { return Recovery::clean; }

 protected:
  /// where: "in memory", "on the card".
  WholeTables(StoreShape shape, const char* where)
      : m_where(where), m_shape(std::move(shape)), m_losses(m_shape.lossCapacity, 0.0) {
    for (const TableShape& table : m_shape.tables) {
      m_ids.emplace_back(table.stepCapacity);
      m_bits.emplace_back(TouchedBits::bytesFor(table.rows) / 8, 0);
      m_touched.emplace_back(m_bits.back().data(), table.rows);
    }
  }
  [[nodiscard]] const std::uint64_t* stepIds(std::uint32_t t) const { return m_ids[t].data(); }
  /// One step of rows ids(t)[0 .. count); stepped: their records after it, or null.
  virtual Result<void> applyTable(std::uint32_t t, std::uint64_t count, const StepParams& params, const float* stepped,
                                  ThreadPool& pool) = 0;

 private:
  const char* m_where;
  StoreShape m_shape;
  std::vector<double> m_losses;
  std::vector<std::vector<std::uint64_t>> m_ids, m_bits;
  std::vector<TouchedBits> m_touched;
  std::uint64_t m_step = 0;
  StateBlob m_state;
};

/// makeMemoryTables() of a device with a card: filled and stepped by its kernels.
Result<std::unique_ptr<Tables>> makeCardTables(const StoreShape& shape, const std::shared_ptr<Device>& device);

}  // namespace dsa
