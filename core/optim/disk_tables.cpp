// SPDX-License-Identifier: Apache-2.0
// Placement "disk": the row store.
#include "core/optim/tables.h"

namespace dsa {

namespace {

class DiskTables final : public Tables {
 public:
  explicit DiskTables(std::unique_ptr<RowStore> store) : m_store(std::move(store)) {}

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
};

}  // namespace

Result<std::unique_ptr<Tables>> openDiskTables(const std::string& folder, Durability durability,
                                               const RowKernels& kernels) {
  DSA_ASSIGN(auto store, RowStore::open(folder, durability, kernels));
  return std::unique_ptr<Tables>(std::make_unique<DiskTables>(std::move(store)));
}

}  // namespace dsa
