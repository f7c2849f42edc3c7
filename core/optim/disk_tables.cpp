// SPDX-License-Identifier: Apache-2.0
// Placement "disk": the row store, by either engine.
#include "core/optim/tables.h"
#include "core/store/direct_store.h"
#include "core/store/page_keeper.h"
#include "core/store/row_scan.h"

namespace dsa {

namespace {

/// What both engines read through the store's files.
class StoreTables : public Tables {
 public:
  const StoreShape& shape() const override { return m_files->shape(); }
  double* losses() override { return m_files->losses(); }
  const TouchedBits& touchedBits(std::uint32_t t) const override { return m_files->touchedBits(t); }
  const float* record(std::uint32_t t, std::uint64_t row) const override { return m_files->record(t, row); }
  void readWeights(std::uint32_t t, std::uint64_t row, float* weights) const override {
    m_files->readWeights(t, row, weights);
  }
  Result<void> scanWeights(std::uint32_t t, std::uint64_t begin, std::uint64_t count, float* weights) const override {
    return m_scans[t]->readWeights(begin, count, weights);
  }
  Result<void> scanTouched(std::uint32_t t,
                           const std::function<void(std::uint64_t, const float*)>& visit) const override {
    DSA_ASSIGN(const auto scan, RowScan::open(*m_files, t, ScanRows::touched));
    for (;;) {
      DSA_ASSIGN(const std::optional<RowBlock> block, scan->next());
      if (!block) return {};
      for (std::uint64_t i = 0; i < block->count; ++i) {
        if (m_files->touched(t, block->first + i)) visit(block->first + i, block->record(i).data());
      }
    }
  }
  std::vector<std::string> files() const override {
    std::vector<std::string> paths;
    for (std::uint32_t t = 0; t < shape().tables.size(); ++t) {
      const RowFileLayout& rows = m_files->rowsLayout(t);
      for (std::uint64_t segment = 0; segment < rows.segments(); ++segment) paths.push_back(rows.pathOf(segment));
    }
    return paths;
  }
  Result<std::uint64_t> diskBytes() const override { return m_files->diskBytes(); }
  Recovery recovery() const override { return m_files->recovery(); }

 protected:
  /// The files outlive the tables.
  Result<void> attach(RowStore& files) {
    m_files = &files;
    for (std::uint32_t t = 0; t < files.shape().tables.size(); ++t) {
      DSA_ASSIGN(auto scan, RowScan::open(files, t, ScanRows::all));
      m_scans.push_back(std::move(scan));
    }
    return {};
  }

 private:
  RowStore* m_files = nullptr;
  std::vector<std::unique_ptr<RowScan>> m_scans;  // one a table, for scanWeights
};

class MappedTables final : public StoreTables {
 public:
  static Result<std::unique_ptr<Tables>> open(const std::string& folder, const DiskOptions& options,
                                              const RowKernels& kernels) {
    auto tables = std::make_unique<MappedTables>();
    DSA_ASSIGN(tables->m_store, RowStore::open(folder, options.durability, kernels));
    DSA_TRY(tables->attach(*tables->m_store));
    tables->m_power = options.durability == Durability::power;
    tables->m_opened = options.ramBudget;
    if (options.ramBudget != 0) DSA_TRY(tables->setRamBudget(options.ramBudget));
    return std::unique_ptr<Tables>(std::move(tables));
  }

  std::uint64_t step() const override { return m_store->step(); }
  StateBlob state() const override { return m_store->state(); }
  std::uint64_t* ids(std::uint32_t t) override { return m_store->ids(t); }
  float* grads(std::uint32_t t) override { return m_store->grads(t); }
  Result<void> intact() const override { return m_store->intact(); }
  bool wantsRows() const override { return m_power; }
  std::uint64_t announce(const StepRows& rows) override { return m_store->announce(rows); }
  Result<void> stage(std::span<const std::uint64_t>, std::uint64_t) override { return {}; }
  void staged(std::uint32_t t, std::uint64_t place, std::span<float> values) const override {
    m_store->readValues(t, m_store->ids(t)[place], values);
  }
  void prefetch(std::uint32_t t, std::span<const std::uint64_t> rows) const override {
    m_prefetched.fetch_add(m_store->prefetch(t, rows), std::memory_order_relaxed);
  }
  Result<void> apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params, const StateBlob& next,
                     std::uint64_t ticket, std::span<const float* const> stepped, ThreadPool& pool) override {
    if (m_keeper && m_keeper->over()) m_keeper->settle();
    return m_store->apply(counts, params, next, ticket, pool, stepped);
  }
  Result<void> checkpoint() override { return m_store->checkpoint(); }
  Result<void> evict() override { return m_store->evict(); }
  Result<void> setRamBudget(std::uint64_t bytes) override {
    if (bytes == 0) bytes = m_opened;
    if (bytes == 0) {
      m_keeper.reset();
      return {};
    }
    if (!m_keeper) {
      DSA_ASSIGN(m_keeper, PageKeeper::start(m_store->pieces(), bytes));
    }
    if (!m_keeper->canCount()) {
      m_keeper.reset();
      return fail(
          ErrorCode::usage,
          "ram_budget: this system does not tell how much of the table is cached, so the engine mmap cannot keep "
          "a budget; take the engine direct");
    }
    m_keeper->setBudget(bytes);
    m_keeper->settle();
    return {};
  }
  TableTraffic traffic() const override {
    TableTraffic traffic;
    traffic.prefetched = m_prefetched.load(std::memory_order_relaxed);
    traffic.budget = m_keeper ? m_keeper->budget() : 0;
    return traffic;
  }
  Result<void> close() override {
    m_keeper.reset();
    return m_store->close();
  }

 private:
  bool m_power = false;
  std::uint64_t m_opened = 0;  // the budget then
  mutable std::atomic<std::uint64_t> m_prefetched{0};
  std::unique_ptr<RowStore> m_store;
  std::unique_ptr<PageKeeper> m_keeper;  // under a budget; goes before the store
};

class DirectTables final : public StoreTables {
 public:
  static Result<std::unique_ptr<Tables>> open(const std::string& folder, const DiskOptions& options,
                                              const RowKernels& kernels) {
    auto tables = std::make_unique<DirectTables>();
    DSA_ASSIGN(tables->m_store, DirectStore::open(folder, kernels, {.budgetBytes = options.ramBudget}));
    tables->m_opened = options.ramBudget;
    DSA_TRY(tables->attach(tables->m_store->files()));
    return std::unique_ptr<Tables>(std::move(tables));
  }

  std::uint64_t step() const override { return m_store->step(); }
  StateBlob state() const override { return m_store->state(); }
  std::uint64_t* ids(std::uint32_t t) override { return m_store->ids(t); }
  float* grads(std::uint32_t t) override { return m_store->grads(t); }
  Result<void> intact() const override { return m_store->files().intact(); }
  bool wantsRows() const override { return true; }
  std::uint64_t announce(const StepRows& rows) override { return m_store->announce(rows); }
  Result<void> stage(std::span<const std::uint64_t> counts, std::uint64_t ticket) override {
    return m_store->stage(counts, ticket);
  }
  void staged(std::uint32_t t, std::uint64_t place, std::span<float> values) const override {
    m_store->staged(t, place, values);
  }
  void prefetch(std::uint32_t, std::span<const std::uint64_t>) const override {}  // announced rows are brought in
  Result<void> apply(std::span<const std::uint64_t> counts, std::span<const StepParams> params, const StateBlob& next,
                     std::uint64_t ticket, std::span<const float* const> stepped, ThreadPool& pool) override {
    return m_store->apply(counts, params, next, ticket, pool, stepped);
  }
  Result<void> checkpoint() override { return m_store->checkpoint(); }
  Result<void> evict() override { return m_store->evict(); }
  Result<void> setRamBudget(std::uint64_t bytes) override { return m_store->setBudget(bytes == 0 ? m_opened : bytes); }
  TableTraffic traffic() const override {
    const DirectCounters counters = m_store->counters();
    return {counters.fetched, counters.cacheBytes, m_store->budget(), counters.bytesWritten};
  }
  Result<void> close() override { return m_store->close(); }

 private:
  std::uint64_t m_opened = 0;  // the budget then
  std::unique_ptr<DirectStore> m_store;
};

}  // namespace

Result<std::unique_ptr<Tables>> openDiskTables(const std::string& folder, const DiskOptions& options,
                                               const RowKernels& kernels) {
  return options.engine == DiskEngine::direct ? DirectTables::open(folder, options, kernels)
                                              : MappedTables::open(folder, options, kernels);
}

}  // namespace dsa
