// SPDX-License-Identifier: Apache-2.0
// Placements "ram" and, on a card, "gpu": the whole table committed before the first step.
#include <sys/mman.h>

#include <algorithm>

#include "core/optim/tables.h"
#include "core/rows/card_bytes.h"
#include "core/rows/row_init.h"

namespace dsa {

namespace {

// 64 rows a task: less would be mostly the start of the loop.
constexpr std::uint64_t kRowsATask = 64;
constexpr std::uint64_t kFillTask = 4096;

class MemoryTables final : public Tables {
 public:
  MemoryTables(StoreShape shape, const RowKernels& kernels)
      : m_shape(std::move(shape)), m_kernels(kernels), m_losses(m_shape.lossCapacity, 0.0) {}

  Result<void> fill(const std::shared_ptr<Device>& device, ThreadPool& pool) {
    for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) {
      const TableShape& table = m_shape.tables[t];
      const std::uint64_t width = table.recordFloats();
      const CardTableBytes bytes = cardTableBytes(table.rows, table.dim, width, table.stepCapacity);
      DSA_ASSIGN(DeviceBuffer rows,
                 device->allocate({{Purpose::weights, bytes.weights}, {Purpose::moments, bytes.moments}}));
      // Huge pages: 5.5 against 4.2 million rows/s at d = 128, and page tables 512 times smaller.
      ::madvise(rows.data(), rows.size(), MADV_HUGEPAGE);
      float* const base = reinterpret_cast<float*>(rows.data());
      const std::uint64_t seed = m_shape.seed;
      pool.parallelFor(table.rows, kFillTask, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
        // Moments are written too: the table is committed whole, as an optimizer in memory commits it.
        for (std::uint64_t row = begin; row < end; ++row) {
          float* const record = base + row * width;
          initialWeights(seed, t, row, table.dim, table.initScale, record);
          std::fill(record + table.dim, record + width, 0.0f);
        }
      });
      m_bits.emplace_back(TouchedBits::bytesFor(table.rows) / 8, 0);
      m_rows.push_back(std::move(rows));
      m_ids.emplace_back(table.stepCapacity);
      if (device->hasOwnMemory()) {
        DSA_ASSIGN(DeviceBuffer ids, device->allocate(bytes.ids, Purpose::batch));  // a card has a copy of its own
        m_standIns.push_back(std::move(ids));
      }
      DSA_ASSIGN(DeviceBuffer grads, device->allocate(bytes.gradients, Purpose::batch));
      m_grads.push_back(std::move(grads));
    }
    for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t)
      m_touched.emplace_back(m_bits[t].data(), m_shape.tables[t].rows);
    return {};
  }

  const StoreShape& shape() const override { return m_shape; }
  std::uint64_t step() const override { return m_step; }
  StateBlob state() const override { return m_state; }
  std::uint64_t* ids(std::uint32_t t) override { return m_ids[t].data(); }
  float* grads(std::uint32_t t) override { return reinterpret_cast<float*>(m_grads[t].data()); }
  double* losses() override { return m_losses.data(); }
  const TouchedBits& touchedBits(std::uint32_t t) const override { return m_touched[t]; }
  const float* record(std::uint32_t t, std::uint64_t row) const override {
    return reinterpret_cast<const float*>(m_rows[t].data()) + row * m_shape.tables[t].recordFloats();
  }
  void readWeights(std::uint32_t t, std::uint64_t row, float* weights) const override {
    std::copy_n(record(t, row), m_shape.tables[t].dim, weights);
  }
  Result<void> scanWeights(std::uint32_t t, std::uint64_t begin, std::uint64_t count, float* weights) const override {
    const std::uint32_t dim = m_shape.tables[t].dim;
    for (std::uint64_t i = 0; i < count; ++i) readWeights(t, begin + i, weights + i * dim);
    return {};
  }
  Result<void> scanTouched(std::uint32_t t,
                           const std::function<void(std::uint64_t, const float*)>& visit) const override {
    touchedBits(t).forEach([&](std::uint64_t row) { visit(row, record(t, row)); });
    return {};
  }
  bool wantsRows() const override { return false; }
  std::uint64_t announce(const StepRows&) override { return 0; }
  Result<void> stage(std::span<const std::uint64_t>, std::uint64_t) override { return {}; }
  void stagedWeights(std::uint32_t t, std::uint64_t place, float* weights) const override {
    readWeights(t, m_ids[t][place], weights);
  }
  void prefetch(std::uint32_t, std::span<const std::uint64_t>) const override {}
  Result<void> apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params, const StateBlob& next,
                     std::uint64_t, ThreadPool& pool) override {
    for (std::uint32_t t = 0; t < counts.size(); ++t) applyTable(t, counts[t], params[t], pool);
    m_state = next;
    ++m_step;
    return {};
  }
  Result<void> checkpoint() override { return {}; }
  Result<void> evict() override {
    return fail(ErrorCode::usage,
                "the table lies in memory whole, so there is no page cache to evict; choose placement disk");
  }
  Result<void> setRamBudget(std::uint64_t) override {
    return fail(ErrorCode::usage, "the table lies in memory whole, so no budget can be kept; choose placement disk");
  }
  TableTraffic traffic() const override { return {}; }
  Result<void> close() override { return {}; }
  std::vector<std::string> files() const override { return {}; }
  Result<std::uint64_t> diskBytes() const override { return 0; }
  Recovery recovery() const override { return Recovery::clean; }

 private:
  void applyTable(std::uint32_t t, std::uint64_t count, const StepParams& params, ThreadPool& pool) {
    const std::uint64_t width = m_shape.tables[t].recordFloats();
    float* const base = reinterpret_cast<float*>(m_rows[t].data());
    const std::uint64_t* const rowIds = m_ids[t].data();
    const float* const gradients = grads(t);
    m_pointers.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      m_pointers[i] = base + rowIds[i] * width;
      m_touched[t].set(rowIds[i]);
    }
    pool.parallelFor(count, std::max(kRowsATask, (count + pool.threads() - 1) / pool.threads()),
                     [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                       m_kernels.update(params, m_pointers.data() + begin, gradients + begin * params.dim, params.dim,
                                        end - begin);
                     });
  }

  StoreShape m_shape;
  RowKernels m_kernels;
  std::vector<double> m_losses;
  std::vector<DeviceBuffer> m_rows, m_grads, m_standIns;
  std::vector<std::vector<std::uint64_t>> m_bits, m_ids;
  std::vector<TouchedBits> m_touched;
  std::vector<float*> m_pointers;
  std::uint64_t m_step = 0;
  StateBlob m_state;
};

}  // namespace

Result<std::unique_ptr<Tables>> makeMemoryTables(const StoreShape& shape, const std::shared_ptr<Device>& device,
                                                 const RowKernels& kernels, ThreadPool& pool) {
  auto tables = std::make_unique<MemoryTables>(shape, kernels);
  DSA_TRY(tables->fill(device, pool));
  return std::unique_ptr<Tables>(std::move(tables));
}

}  // namespace dsa
