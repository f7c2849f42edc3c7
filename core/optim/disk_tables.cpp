// SPDX-License-Identifier: Apache-2.0
// Placement "disk": the row store.
#include "core/optim/tables.h"
#include "core/store/row_scan.h"

namespace dsa {

namespace {

class DiskTables final : public Tables {
 public:
  DiskTables(std::unique_ptr<RowStore> store, std::vector<std::unique_ptr<RowScan>> scans)
      : m_store(std::move(store)), m_scans(std::move(scans)) {}

  const StoreShape& shape() const override { return m_store->shape(); }
  std::uint64_t step() const override { return m_store->step(); }
  StateBlob state() const override { return m_store->state(); }
  std::uint64_t* ids(std::uint32_t t) override { return m_store->ids(t); }
  float* grads(std::uint32_t t) override { return m_store->grads(t); }
  double* losses() override { return m_store->losses(); }
  const TouchedBits& touchedBits(std::uint32_t t) const override { return m_store->touchedBits(t); }
  const float* record(std::uint32_t t, std::uint64_t row) const override { return m_store->record(t, row); }
  void readWeights(std::uint32_t t, std::uint64_t row, float* weights) const override {
    m_store->readWeights(t, row, weights);
  }
  Result<void> scanWeights(std::uint32_t t, std::uint64_t begin, std::uint64_t count, float* weights) const override {
    return m_scans[t]->readWeights(begin, count, weights);
  }
  Result<void> scanTouched(std::uint32_t t,
                           const std::function<void(std::uint64_t, const float*)>& visit) const override {
    DSA_ASSIGN(const auto scan, RowScan::open(*m_store, t, ScanRows::touched));
    for (;;) {
      DSA_ASSIGN(const std::optional<RowBlock> block, scan->next());
      if (!block) return {};
      for (std::uint64_t i = 0; i < block->count; ++i) {
        if (m_store->touched(t, block->first + i)) visit(block->first + i, block->record(i).data());
      }
    }
  }
  Result<void> intact() const override { return m_store->intact(); }
  std::uint64_t announce(const StepRows& rows) override { return m_store->announce(rows); }
  void prefetch(std::uint32_t t, std::span<const std::uint64_t> rows) const override { m_store->prefetch(t, rows); }
  Result<void> apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params, const StateBlob& next,
                     std::uint64_t ticket, ThreadPool& pool) override {
    return m_store->apply(counts, params, next, ticket, pool);
  }
  Result<void> checkpoint() override { return m_store->checkpoint(); }
  Result<void> evict() override { return m_store->evict(); }
  Result<void> close() override { return m_store->close(); }
  std::vector<std::string> files() const override {
    std::vector<std::string> paths;
    for (std::uint32_t t = 0; t < shape().tables.size(); ++t) paths.push_back(m_store->rowsPath(t));
    return paths;
  }
  Result<std::uint64_t> diskBytes() const override { return m_store->diskBytes(); }
  Recovery recovery() const override { return m_store->recovery(); }

 private:
  std::unique_ptr<RowStore> m_store;
  std::vector<std::unique_ptr<RowScan>> m_scans;  // one a table, for scanWeights
};

}  // namespace

Result<std::unique_ptr<Tables>> openDiskTables(const std::string& folder, Durability durability,
                                               const RowKernels& kernels) {
  DSA_ASSIGN(auto store, RowStore::open(folder, durability, kernels));
  std::vector<std::unique_ptr<RowScan>> scans;
  for (std::uint32_t t = 0; t < store->shape().tables.size(); ++t) {
    DSA_ASSIGN(auto scan, RowScan::open(*store, t, ScanRows::all));
    scans.push_back(std::move(scan));
  }
  return std::unique_ptr<Tables>(std::make_unique<DiskTables>(std::move(store), std::move(scans)));
}

}  // namespace dsa
