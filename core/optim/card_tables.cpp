// SPDX-License-Identifier: Apache-2.0
// Placement "gpu" on a card: all records, gradients and row numbers of a step in its memory, stepped by its kernels.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/device/card.h"
#include "core/optim/card_work.h"
#include "core/optim/whole_tables.h"
#include "core/rows/card_bytes.h"

namespace dsa {

namespace {

class CardTables final : public WholeTables {
 public:
  CardTables(StoreShape shape, std::shared_ptr<Device> device)
      : WholeTables(std::move(shape), "on the card"), m_device(std::move(device)), m_card(*m_device->card()) {}

  ~CardTables() override { static_cast<void>(m_card.wait(Card::Stream::compute)); }

  Result<void> fill() {
    std::uint64_t scanBytes = kCardScanBytes;
    for (std::uint32_t t = 0; t < shape().tables.size(); ++t) {
      const TableShape& table = shape().tables[t];
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
      work.seed = shape().seed;
      work.table = t;
      work.dim = table.dim;
      work.scale = table.initScale;
      DSA_TRY(m_card.launch({work}, Card::Stream::compute));
      m_tables.push_back(std::move(one));
      scanBytes = std::max(scanBytes, table.recordFloats() * sizeof(float));
    }
    DSA_ASSIGN(m_scanMemory, PinnedBuffer::make(m_device->card(), scanBytes));
    m_scanBytes = scanBytes;
    return m_card.wait(Card::Stream::compute);
  }

  float* grads(std::uint32_t t) override { return m_tables[t].grads.as<float>(); }
  std::optional<CardTable> onCard(std::uint32_t t) const override {
    const OneTable& table = m_tables[t];
    return CardTable{table.records.as<float>(), shape().tables[t].recordFloats(), table.ids.as<std::uint64_t>(),
                     table.grads.as<float>()};
  }
  const float* record(std::uint32_t t, std::uint64_t row) const override {
    m_record.resize(shape().tables[t].recordFloats());
    readRow(t, row, m_record);
    return m_record.data();
  }
  void readWeights(std::uint32_t t, std::uint64_t row, float* weights) const override {
    readRow(t, row, {weights, shape().tables[t].dim});
  }
  void staged(std::uint32_t t, std::uint64_t place, std::span<float> values) const override {
    readRow(t, stepIds(t)[place], values);
  }
  Result<void> intact() const override {
    const std::lock_guard lock(m_mutex);
    if (m_lost.message.empty()) return {};
    return tl::unexpected(m_lost);
  }
  Result<void> scanWeights(std::uint32_t t, std::uint64_t begin, std::uint64_t count, float* weights) const override {
    const std::uint64_t width = shape().tables[t].recordFloats();
    const std::uint32_t dim = shape().tables[t].dim;
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
    const std::uint64_t width = shape().tables[t].recordFloats();
    const std::uint64_t rows = shape().tables[t].rows;
    const std::uint64_t block = m_scanBytes / (width * sizeof(float));
    const std::lock_guard lock(m_mutex);
    for (std::uint64_t first = 0; first < rows; first += block) {
      const std::uint64_t end = std::min(rows, first + block);
      if (touchedBits(t).next(first, end) == end) continue;
      DSA_ASSIGN(const float* const records, readRecords(t, first, end - first));
      for (std::uint64_t row = touchedBits(t).next(first, end); row < end; row = touchedBits(t).next(row + 1, end))
        visit(row, records + (row - first) * width);
    }
    return {};
  }
  Result<void> close() override { return m_card.wait(Card::Stream::compute); }

 private:
  struct OneTable {
    DeviceBuffer records, ids, grads;
  };

  /// The gradients stand on the card, in grads(t), and the row numbers in onCard(t)->ids.
  Result<void> applyTable(std::uint32_t t, std::uint64_t count, const StepParams& params, const float* stepped,
                          ThreadPool&) override {
    DSA_CHECK(stepped == nullptr);  // they lie where they are stepped
    const OneTable& table = m_tables[t];
    UpdateRowsWork work;
    work.params = params;
    work.records = table.records.as<float>();
    work.stride = shape().tables[t].recordFloats();
    work.ids = table.ids.as<std::uint64_t>();
    work.grads = table.grads.as<float>();
    work.count = count;
    return m_card.launch({work}, Card::Stream::compute);
  }

  /// The first values of a row's record; zeros where the card does not give them, which intact() tells.
  void readRow(std::uint32_t t, std::uint64_t row, std::span<float> values) const {
    const std::lock_guard lock(m_mutex);
    const auto read = readRecords(t, row, 1);
    if (read) {
      std::copy_n(*read, values.size(), values.begin());
    } else {
      m_lost = read.error();
      std::fill(values.begin(), values.end(), 0.0f);
    }
  }

  /// Records of rows [first, first + count), after all steps; they live until the next call. m_mutex is held.
  Result<const float*> readRecords(std::uint32_t t, std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t width = shape().tables[t].recordFloats();
    DSA_TRY(m_card.copy(m_scanMemory.data(),
                        reinterpret_cast<const std::byte*>(m_tables[t].records.as<float>() + first * width),
                        count * width * sizeof(float), Card::Copy::toHost, Card::Stream::compute));
    DSA_TRY(m_card.wait(Card::Stream::compute));
    return reinterpret_cast<const float*>(m_scanMemory.data());
  }

  std::shared_ptr<Device> m_device;
  Card& m_card;
  std::vector<OneTable> m_tables;
  mutable std::mutex m_mutex;  // of the card and what is read from it
  PinnedBuffer m_scanMemory;
  std::uint64_t m_scanBytes = 0;
  mutable std::vector<float> m_record;
  mutable Error m_lost{ErrorCode::machine, ""};
};

}  // namespace

Result<std::unique_ptr<Tables>> makeCardTables(const StoreShape& shape, const std::shared_ptr<Device>& device) {
  DSA_CHECK(device->card() != nullptr);
  auto tables = std::make_unique<CardTables>(shape, device);
  DSA_TRY(tables->fill());
  return std::unique_ptr<Tables>(std::move(tables));
}

}  // namespace dsa
