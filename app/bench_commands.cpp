// SPDX-License-Identifier: Apache-2.0
// `dsa bench rows`: the optimizer step alone on a warm table, beside what touching the same records costs. Ratios
// within one run count, not absolutes.
#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <memory>

#include "app/bench_parts.h"
#include "app/commands.h"
#include "core/metrics/block_device.h"
#include "core/metrics/machine.h"
#include "core/metrics/process_sampler.h"
#include "core/optim/cold_steps.h"
#include "core/optim/tables.h"
#include "core/rows/touch_rows.h"

namespace dsa {

namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct BenchArguments {
  std::uint64_t rows = 1000000;
  std::uint64_t batchRows = 10000;
  std::uint64_t steps = 40;
  std::uint32_t dim = 128;
  unsigned threads = 1;
  double seconds = 0;
  std::string rule = "sparse_adam", placement = "ram", cache, durability = "process", engine = "mmap", ramBudget;
  double k = 0;
  bool json = false, cold = false;
};

/// What reading and writing back the step's records and reading its gradients takes.
double touchSeconds(Tables& tables, std::uint64_t count, ThreadPool& pool) {
  const TableShape& shape = tables.shape().tables[0];
  std::vector<float*> records(count);
  for (std::uint64_t i = 0; i < count; ++i) records[i] = const_cast<float*>(tables.record(0, tables.ids(0)[i]));
  const Clock::time_point begin = Clock::now();
  pool.partitioned(count, [&](std::uint64_t from, std::uint64_t to, unsigned) {
    touchRows(records.data() + from, shape.recordFloats(), tables.grads(0) + from * shape.dim, shape.dim, to - from);
  });
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class RowBench {
 public:
  explicit RowBench(const BenchArguments& a) : m_a(a), m_pool(a.threads) {}
  ~RowBench() {
    m_tables.reset();
    std::error_code ignored;
    if (!m_folder.empty()) std::filesystem::remove_all(m_folder, ignored);
  }

  Result<ordered_json> run() {
    DSA_TRY(open());
    DSA_TRY(warmUp());
    if (m_a.cold) {
      DSA_TRY(m_tables->checkpoint());
      DSA_TRY(m_tables->evict());
      m_cold.met(true);
    }
    const std::optional<BlockDevice> disk = m_folder.empty() ? std::nullopt : BlockDevice::of(m_folder);
    const std::optional<DiskCounters> before = disk ? disk->counters() : std::nullopt;
    std::vector<double> steps, touches;
    const Clock::time_point begin = Clock::now();
    const auto wanted = [&](std::uint64_t s) {
      return m_a.seconds > 0 ? std::chrono::duration<double>(Clock::now() - begin).count() < m_a.seconds
                             : s < m_a.steps;
    };
    // What is touched for comparison lies in the map; rows of the direct engine, and rows under a budget, come and go.
    const bool touching =
        m_a.seconds == 0 && !m_a.cold &&
        (m_a.placement == "ram" || (m_options.engine == DiskEngine::mmap && m_options.ramBudget == 0));
    for (std::uint64_t s = 0; wanted(s); ++s) {
      if (touching) {
        std::copy_n(rowsOf(s + 1000000).data(), m_count, m_tables->ids(0));
        benchGradients(*m_tables, m_count, s);
        touches.push_back(touchSeconds(*m_tables, m_count, m_pool));
      }
      DSA_ASSIGN(const double seconds, step(s));
      steps.push_back(seconds);
    }
    const double rowsPerSecond = static_cast<double>(m_count) / median(steps);
    double sum = 0;
    for (const double seconds : steps) sum += seconds;
    ordered_json object;
    object["rows"] = m_a.rows;
    object["dim"] = m_a.dim;
    object["rule"] = m_a.rule;
    object["placement"] = m_a.placement;
    object["threads"] = m_a.threads;
    object["kernels"] = levelName(m_level);
    object["batch_rows"] = m_count;
    object["steps"] = steps.size();
    if (m_a.placement == "disk") {
      object["engine"] = m_a.engine;
      object["ram_budget"] = m_options.ramBudget;
    }
    object["rows_per_s"] = rowsPerSecond;
    object["rows_per_s_mean"] = static_cast<double>(m_count) * static_cast<double>(steps.size()) / sum;
    object["rows_per_s_best"] = static_cast<double>(m_count) / *std::min_element(steps.begin(), steps.end());
    if (const std::optional<DiskCounters> after = disk ? disk->counters() : std::nullopt; before && after) {
      object["device_read"] = after->readBytes - before->readBytes;
      object["device_written"] = after->writtenBytes - before->writtenBytes;
    }
    if (!touches.empty()) {
      const double touchPerSecond = static_cast<double>(m_count) / median(touches);
      object["touch_rows_per_s"] = touchPerSecond;
      object["share"] = rowsPerSecond / touchPerSecond;
    }
    return object;
  }

 private:
  Result<void> open() {
    const auto rule = ruleFromName(m_a.rule);
    if (!rule) return fail(ErrorCode::usage, "--rule: {} is not known; rules are {}", m_a.rule, allRuleNames());
    if (!ruleAllows(*rule, m_a.k))
      return fail(ErrorCode::usage, "--rule: {} is Euclidean and does not fit k = {}", m_a.rule, m_a.k);
    if (m_a.rows < 1 || m_a.dim < 1 || m_a.batchRows < 1 || m_a.steps < 1 || m_a.threads < 1 ||
        m_a.threads > kMaxWorkers) {
      return fail(ErrorCode::usage, "--rows, --dim, --batch-rows, --steps and --threads (up to {}) must be at least 1",
                  kMaxWorkers);
    }
    if (m_a.cold && (m_a.placement != "disk" || m_a.engine != "mmap"))
      return fail(ErrorCode::usage, "--cold: only placement disk with engine mmap lies in the page cache");
    m_params.rule = *rule;
    m_params.dim = m_a.dim;
    m_params.k = m_a.k;
    m_count = std::min(m_a.batchRows, m_a.rows);
    StoreShape shape;
    shape.tables.push_back(TableShape{"entities", m_a.rows, m_a.dim, *rule, 1e-3f, m_count});
    DSA_ASSIGN(m_level, chooseLevel());
    const RowKernels kernels = rowKernels(m_level);
    if (m_a.placement == "ram") {
      const std::uint64_t bytes = m_a.rows * rowFloats(*rule, m_a.dim) * sizeof(float);
      const std::uint64_t available = describeMachine().memoryAvailable.value_or(UINT64_MAX);
      if (bytes > available)
        return fail(ErrorCode::machine, "needs {}, the machine has {} available; nothing was run", formatBytes(bytes),
                    formatBytes(available));
      DSA_ASSIGN(m_tables, makeMemoryTables(shape, Device::cpu(), kernels, m_pool));
      return {};
    }
    if (m_a.placement != "disk") return fail(ErrorCode::usage, "--placement: {} is not ram or disk", m_a.placement);
    const std::string root = m_a.cache.empty() ? defaultCacheFolder() : m_a.cache;
    m_folder = root + "/bench-" + newUuid();
    m_options.durability = m_a.durability == "power" ? Durability::power : Durability::process;
    if (m_a.engine != "mmap" && m_a.engine != "direct")
      return fail(ErrorCode::usage, "--engine: {} is not mmap or direct", m_a.engine);
    if (m_a.engine == "direct") m_options.engine = DiskEngine::direct;
    if (!m_a.ramBudget.empty()) {
      DSA_ASSIGN(m_options.ramBudget, parseBytes(m_a.ramBudget));
    } else if (m_a.engine == "direct") {
      m_options.ramBudget = kDirectRowCache;
    }
    DSA_TRY(RowStore::create(m_folder, shape));
    DSA_ASSIGN(m_tables, openDiskTables(m_folder, m_options, kernels));
    return {};
  }

  /// Touches every row once, so that all are in memory and on the disk's map.
  Result<void> warmUp() {
    for (std::uint64_t first = 0; first < m_a.rows; first += m_count) {
      const std::uint64_t n = std::min(m_count, m_a.rows - first);
      for (std::uint64_t i = 0; i < n; ++i) m_tables->ids(0)[i] = first + i;
      benchGradients(*m_tables, n, first);
      DSA_TRY(benchStep(*m_tables, m_params, n, 0, m_pool));
      m_cold.met(false);
    }
    return {};
  }

  [[nodiscard]] std::vector<std::uint64_t> rowsOf(std::uint64_t s) const { return benchRows(m_a.rows, m_count, s); }

  /// Rows of coming steps are known ahead, as they are in training; making them is not part of the time.
  Result<double> step(std::uint64_t s) {
    std::size_t known = m_ahead.size();
    while (m_ahead.size() <= kBenchAhead) {
      Ahead next{rowsOf(s + m_ahead.size()), 0};
      if (m_tables->wantsRows()) next.ticket = m_tables->announce({next.rows});
      m_ahead.push_back(std::move(next));
    }
    const Ahead now = std::move(m_ahead.front());
    m_ahead.pop_front();
    if (known > 0) --known;
    // On a thread of its own, as the look-ahead's; waited for, so that it is part of the time.
    const Clock::time_point wallBegin = Clock::now();
    std::future<void> asking;
    if (m_cold.cold()) {
      asking = std::async(std::launch::async, [this, known, first = s == 0 ? now.rows : std::vector<std::uint64_t>()] {
        m_tables->prefetch(0, first);
        for (std::size_t i = known; i < m_ahead.size(); ++i) m_tables->prefetch(0, m_ahead[i].rows);
      });
    }
    std::copy(now.rows.begin(), now.rows.end(), m_tables->ids(0));
    benchGradients(*m_tables, m_count, s);
    const std::uint64_t majorBefore = callingThreadFaults().major;
    const Clock::time_point begin = Clock::now();
    DSA_TRY(benchStep(*m_tables, m_params, m_count, now.ticket, m_pool));
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    m_cold.met(callingThreadFaults().major > majorBefore);
    if (!asking.valid()) return seconds;
    asking.get();
    return std::chrono::duration<double>(Clock::now() - wallBegin).count();
  }

  static constexpr std::size_t kBenchAhead = 4;
  struct Ahead {
    std::vector<std::uint64_t> rows;
    std::uint64_t ticket = 0;
  };

  const BenchArguments& m_a;
  ThreadPool m_pool;
  KernelLevel m_level = KernelLevel::scalar;
  StepParams m_params;
  std::uint64_t m_count = 0;
  std::string m_folder;
  DiskOptions m_options;
  std::deque<Ahead> m_ahead;
  ColdSteps m_cold;
  std::unique_ptr<Tables> m_tables;
};

}  // namespace

void addBenchCommands(CLI::App& app, Chosen& chosen) {
  auto a = std::make_shared<BenchArguments>();
  CLI::App* bench = app.add_subcommand("bench", "What this machine gives and what we reach");
  bench->require_subcommand(1);
  CLI::App* rows = bench->add_subcommand("rows", "The optimizer step alone, warm, beside touching the same records");
  rows->add_option("--rows", a->rows, "Rows of the table")->capture_default_str();
  rows->add_option("--dim", a->dim, "Coordinates of a row")->capture_default_str();
  rows->add_option("--rule", a->rule, "Update rule")->capture_default_str();
  rows->add_option("--k", a->k, "Magnitude of the curvature")->capture_default_str();
  rows->add_option("--placement", a->placement, "ram or disk")->capture_default_str();
  rows->add_option("--batch-rows", a->batchRows, "Distinct rows of a step")->capture_default_str();
  rows->add_option("--steps", a->steps, "Steps measured")->capture_default_str();
  rows->add_option("--threads", a->threads, "Threads")->capture_default_str();
  rows->add_option("--seconds", a->seconds, "Instead of --steps: measure for so long; the mean shows write-back too");
  rows->add_flag("--cold", a->cold, "Drop the table from the page cache first; placement disk with mmap");
  rows->add_option("--engine", a->engine, "mmap or direct; of placement disk")->capture_default_str();
  rows->add_option("--ram-budget", a->ramBudget,
                   "Most memory for rows of placement disk; direct: 1 GiB where not given");
  rows->add_option("--durability", a->durability, "process or power")->capture_default_str();
  rows->add_option("--cache", a->cache, "Folder for the table on disk; default the user's data folder");
  rows->add_flag("--json", a->json, "One JSON object on stdout");
  rows->callback([a, &chosen] {
    chosen = [a] {
      const auto object = RowBench(*a).run();
      if (!object) return reportError(object.error());
      if (a->json) {
        printJson(*object);
      } else {
        fmt::print(
            "{} on {}, {} x {}, {} threads, {} kernels: {:.3f} million rows/s (median of {} steps of {} rows), mean "
            "{:.3f}",
            a->rule, a->placement, a->rows, a->dim, a->threads, (*object)["kernels"].get<std::string>(),
            (*object)["rows_per_s"].get<double>() / 1e6, (*object)["steps"].get<std::uint64_t>(),
            (*object)["batch_rows"].get<std::uint64_t>(), (*object)["rows_per_s_mean"].get<double>() / 1e6);
        if (object->contains("device_read")) {
          fmt::print("; the disk read {} and wrote {} meanwhile, for all programs",
                     formatBytes((*object)["device_read"].get<std::uint64_t>()),
                     formatBytes((*object)["device_written"].get<std::uint64_t>()));
        }
        if (object->contains("share")) {
          fmt::print("; touching the same records {:.2f}; share {:.0f}%",
                     (*object)["touch_rows_per_s"].get<double>() / 1e6, (*object)["share"].get<double>() * 100);
        }
        fmt::print("\n");
      }
      return 0;
    };
  });
  addDiskBench(*bench, chosen);
  addTrainBench(*bench, chosen);
}

}  // namespace dsa
