// SPDX-License-Identifier: Apache-2.0
// Placement "gpu" on a card: all records, gradients and row numbers of a step in its memory, stepped by its kernels.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/device/card.h"
#include "core/optim/card_work.h"
#include "core/optim/tables.h"
#include "core/rows/card_bytes.h"

namespace dsa {

namespace {

// Rows of a scan that are brought to the machine at a time.
constexpr std::uint64_t kScanBytes = 4ull << 20;

class CardTables final : public Tables {
 public:
  CardTables(StoreShape shape, std::shared_ptr<Device> device)
      : m_shape(std::move(shape)),
        m_device(std::move(device)),
        m_card(*m_device->card()),
        m_losses(m_shape.lossCapacity, 0.0) {}

  ~CardTables() override { static_cast<void>(m_card.wait(Card::Stream::compute)); }

  Result<void> fill() {
    std::uint64_t scanBytes = kScanBytes;
    for (std::uint32_t t = 0; t < m_shape.tables.size(); ++t) {
      const TableShape& table = m_shape.tables[t];
      const CardTableBytes bytes = cardTableBytes(table.rows, table.dim, table.recordFloats(), table.stepCapacity);
      OneTable one;
      DSA_ASSIGN(one.records,
                 m_device->allocate({{Purpose::weights, bytes.weights}, {Purpose::moments, bytes.moments}}));
      DSA_ASSIGN(one.ids, m_device->allocate(bytes.ids, Purpose::batch));
      DSA_ASSIGN(one.grads, m_device->allocate(bytes.gradients, Purpose::batch));
      FillRows work;
      work.records = one.records.as<float>();
      work.stride = table.recordFloats();
      work.rows = table.rows;
      work.seed = m_shape.seed;
      work.table = t;
      work.dim = table.dim;
      work.scale = table.initScale;
      DSA_TRY(m_card.launch({work}, Card::Stream::compute));
      one.hostIds.resize(table.stepCapacity);
      one.bits.assign(TouchedBits::bytesFor(table.rows) / 8, 0);
      m_tables.push_back(std::move(one));
      scanBytes = std::max(scanBytes, table.recordFloats() * sizeof(float));
    }
    for (std::uint32_t t = 0; t < m_tables.size(); ++t)
      m_touched.emplace_back(m_tables[t].bits.data(), m_shape.tables[t].rows);
    DSA_ASSIGN(m_scanMemory, PinnedBuffer::make(m_device->card(), scanBytes));
    m_scanBytes = scanBytes;
    return m_card.wait(Card::Stream::compute);
  }

  const StoreShape& shape() const override { return m_shape; }
  std::uint64_t step() const override { return m_step; }
  StateBlob state() const override { return m_state; }
  std::uint64_t* ids(std::uint32_t t) override { return m_tables[t].hostIds.data(); }
  float* grads(std::uint32_t t) override { return m_tables[t].grads.as<float>(); }
  double* losses() override { return m_losses.data(); }
  const TouchedBits& touchedBits(std::uint32_t t) const override { return m_touched[t]; }
  std::optional<CardTable> onCard(std::uint32_t t) const override {
    const OneTable& table = m_tables[t];
    return CardTable{table.records.as<float>(), m_shape.tables[t].recordFloats(), table.ids.as<std::uint64_t>(),
                     table.grads.as<float>()};
  }
  const float* record(std::uint32_t t, std::uint64_t row) const override {
    m_record.resize(m_shape.tables[t].recordFloats());
    const std::lock_guard lock(m_mutex);
    auto read = readRecords(t, row, 1);
    if (!read) {
      m_lost = read.error();
      std::fill(m_record.begin(), m_record.end(), 0.0f);
    } else {
      std::copy_n(*read, m_record.size(), m_record.begin());
    }
    return m_record.data();
  }
  void readWeights(std::uint32_t t, std::uint64_t row, float* weights) const override {
    const std::lock_guard lock(m_mutex);
    auto read = readRecords(t, row, 1);
    if (!read) m_lost = read.error();
    const std::uint32_t dim = m_shape.tables[t].dim;
    if (read) {
      std::copy_n(*read, dim, weights);
    } else {
      std::fill_n(weights, dim, 0.0f);
    }
  }
  Result<void> intact() const override {
    const std::lock_guard lock(m_mutex);
    if (m_lost.message.empty()) return {};
    return tl::unexpected(m_lost);
  }
  Result<void> scanWeights(std::uint32_t t, std::uint64_t begin, std::uint64_t count, float* weights) const override {
    const std::uint64_t width = m_shape.tables[t].recordFloats();
    const std::uint32_t dim = m_shape.tables[t].dim;
    const std::lock_guard lock(m_mutex);
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t n = std::min(count - done, m_scanBytes / (width * sizeof(float)));
      DSA_ASSIGN(const float* const records, readRecords(t, begin + done, n));
      for (std::uint64_t i = 0; i < n; ++i) std::copy_n(records + i * width, dim, weights + (done + i) * dim);
      done += n;
    }
    return {};
  }
  Result<void> scanTouched(std::uint32_t t,
                           const std::function<void(std::uint64_t, const float*)>& visit) const override {
    const std::uint64_t width = m_shape.tables[t].recordFloats();
    const std::uint64_t rows = m_shape.tables[t].rows;
    const std::uint64_t block = m_scanBytes / (width * sizeof(float));
    const std::lock_guard lock(m_mutex);
    for (std::uint64_t first = 0; first < rows; first += block) {
      const std::uint64_t end = std::min(rows, first + block);
      if (m_touched[t].next(first, end) == end) continue;
      DSA_ASSIGN(const float* const records, readRecords(t, first, end - first));
      for (std::uint64_t row = m_touched[t].next(first, end); row < end; row = m_touched[t].next(row + 1, end))
        visit(row, records + (row - first) * width);
    }
    return {};
  }
  bool wantsRows() const override { return false; }
  std::uint64_t announce(const StepRows&) override { return 0; }
  Result<void> stage(std::span<const std::uint64_t>, std::uint64_t) override { return {}; }
  void stagedWeights(std::uint32_t t, std::uint64_t place, float* weights) const override {
    readWeights(t, m_tables[t].hostIds[place], weights);
  }
  void prefetch(std::uint32_t, std::span<const std::uint64_t>) const override {}

  /// The gradients stand on the card, in grads(t), and the row numbers in onCard(t)->ids.
  Result<void> apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params, const StateBlob& next,
                     std::uint64_t, ThreadPool&) override {
    for (std::uint32_t t = 0; t < counts.size(); ++t) {
      const OneTable& table = m_tables[t];
      UpdateRowsWork work;
      work.params = params[t];
      work.records = table.records.as<float>();
      work.stride = m_shape.tables[t].recordFloats();
      work.ids = table.ids.as<std::uint64_t>();
      work.grads = table.grads.as<float>();
      work.count = counts[t];
      DSA_TRY(m_card.launch({work}, Card::Stream::compute));
      for (std::uint64_t i = 0; i < counts[t]; ++i) m_touched[t].set(table.hostIds[i]);
    }
    m_state = next;
    ++m_step;
    return {};
  }
  Result<void> checkpoint() override { return {}; }
  Result<void> evict() override {
    return fail(ErrorCode::usage,
                "the table lies on the card whole, so there is no page cache to evict; choose placement disk");
  }
  Result<void> setRamBudget(std::uint64_t) override {
    return fail(ErrorCode::usage, "the table lies on the card whole, so no budget can be kept; choose placement disk");
  }
  TableTraffic traffic() const override { return {}; }
  Result<void> close() override { return m_card.wait(Card::Stream::compute); }
  std::vector<std::string> files() const override { return {}; }
  Result<std::uint64_t> diskBytes() const override { return 0; }
  Recovery recovery() const override { return Recovery::clean; }

 private:
  struct OneTable {
    DeviceBuffer records, ids, grads;
    std::vector<std::uint64_t> hostIds, bits;
  };

  /// Records of rows [first, first + count), after all steps; they live until the next call. m_mutex is held.
  Result<const float*> readRecords(std::uint32_t t, std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t width = m_shape.tables[t].recordFloats();
    DSA_TRY(m_card.copy(m_scanMemory.data(),
                        reinterpret_cast<const std::byte*>(m_tables[t].records.as<float>() + first * width),
                        count * width * sizeof(float), Card::Copy::toHost, Card::Stream::compute));
    DSA_TRY(m_card.wait(Card::Stream::compute));
    return reinterpret_cast<const float*>(m_scanMemory.data());
  }

  StoreShape m_shape;
  std::shared_ptr<Device> m_device;
  Card& m_card;
  std::vector<double> m_losses;
  std::vector<OneTable> m_tables;
  std::vector<TouchedBits> m_touched;
  mutable std::mutex m_mutex;  // of the card and what is read from it
  PinnedBuffer m_scanMemory;
  std::uint64_t m_scanBytes = 0;
  mutable std::vector<float> m_record;
  mutable Error m_lost{ErrorCode::machine, ""};
  std::uint64_t m_step = 0;
  StateBlob m_state;
};

}  // namespace

Result<std::unique_ptr<Tables>> makeCardTables(const StoreShape& shape, const std::shared_ptr<Device>& device) {
  DSA_CHECK(device->card() != nullptr);
  auto tables = std::make_unique<CardTables>(shape, device);
  DSA_TRY(tables->fill());
  return std::unique_ptr<Tables>(std::move(tables));
}

}  // namespace dsa
