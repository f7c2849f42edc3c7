// SPDX-License-Identifier: Apache-2.0
// `dsa bench disk`: what a folder's disk gives at the sizes that the store uses, and what the store reaches beside it.
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "app/bench_parts.h"
#include "app/commands.h"
#include "core/data/sampler.h"
#include "core/metrics/block_device.h"
#include "core/metrics/disk_bench.h"
#include "core/optim/tables.h"

namespace dsa {

namespace {

using nlohmann::ordered_json;

struct DiskBenchArguments {
  std::string cache, size = "1GiB", rule = "sparse_adam";
  double seconds = 1;
  std::uint32_t dim = 128;
  bool json = false;
};

constexpr std::uint32_t kLargestDim = 16384;
constexpr std::uint64_t kColdBatchRows = 2048;
constexpr std::uint64_t kColdBytesOfRow = 16384;  // of --size: a record may lie over two pages, at any stride
constexpr std::uint64_t kColdSpread = 16;         // rows of the table for one that is touched: each in pages of its own
constexpr std::uint64_t kColdAhead = 8;  // batches asked for before their step, as the trainer's look-ahead does

/// A table whose touched rows lie on the disk and nowhere else, stepped as a run steps it.
class ColdStore {
 public:
  ColdStore(const DiskBenchArguments& arguments, Rule rule, std::uint64_t fileBytes)
      : m_seconds(arguments.seconds * 3),
        m_batches(std::max<std::uint64_t>(1, fileBytes / kColdBytesOfRow / kColdBatchRows)),
        m_folder(arguments.cache + "/bench-" + newUuid()) {
    m_params.rule = rule;
    m_params.dim = arguments.dim;
  }
  ~ColdStore() {
    m_tables.reset();
    // What is left behind after a failure here is named by the next error of whoever needs the space.
    if (const auto removed = RowStore::remove(m_folder); !removed) reportError(removed.error());
  }
  ColdStore(const ColdStore&) = delete;
  ColdStore& operator=(const ColdStore&) = delete;

  Result<ordered_json> run() {
    DSA_TRY(open());
    for (std::uint64_t b = 0; b < m_batches; ++b) DSA_TRY(step(b, 1));
    DSA_TRY(m_tables->evict());
    DSA_ASSIGN(const double seconds, timeSteps());
    ordered_json object;
    object["rows"] = rows();
    object["touched"] = m_batches * kColdBatchRows;
    object["record"] = m_tables->shape().tables[0].recordFloats() * sizeof(float);
    object["batch_rows"] = kColdBatchRows;
    object["steps"] = m_timed;
    object["rows_per_s"] = static_cast<double>(m_timed * kColdBatchRows) / seconds;
    return object;
  }

 private:
  [[nodiscard]] std::uint64_t rows() const { return m_batches * kColdBatchRows * kColdSpread; }

  Result<void> open() {
    StoreShape shape;
    shape.tables.push_back(TableShape{"entities", rows(), m_params.dim, m_params.rule, 1e-3f, kColdBatchRows});
    DSA_TRY(RowStore::create(m_folder, shape));
    DSA_ASSIGN(const KernelLevel level, chooseLevel());
    DSA_ASSIGN(m_tables, openDiskTables(m_folder, {}, rowKernels(level)));
    return {};
  }

  /// The rows of batch `b`: in both orders each touched row once, but in other company.
  [[nodiscard]] std::vector<std::uint64_t> idsOf(std::uint64_t b, std::uint64_t order) const {
    std::vector<std::uint64_t> ids(kColdBatchRows);
    for (std::uint64_t i = 0; i < kColdBatchRows; ++i)
      ids[i] = permuted(permuted(b * kColdBatchRows + i, m_batches * kColdBatchRows, order), rows(), 1);
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  Result<void> step(std::uint64_t b, std::uint64_t order) {
    if (stopFlag()) return fail(ErrorCode::stopped, "stopped by the user; the files that were measured on are deleted");
    std::ranges::copy(idsOf(b, order), m_tables->ids(0));
    benchGradients(*m_tables, kColdBatchRows, b);
    return benchStep(*m_tables, m_params, kColdBatchRows, 0, m_pool);
  }

  /// Seconds of the steps while a thread asks for the rows of those that come.
  Result<double> timeSteps() {
    std::atomic<std::uint64_t> begun{0};
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    std::jthread asker([&, this] {
      for (std::uint64_t b = 0; b < m_batches; ++b) {
        for (std::uint64_t now = begun; now + kColdAhead < b; now = begun) begun.wait(now);
        if (begun >= m_batches) return;
        m_tables->prefetch(0, idsOf(b, 2));
      }
    });
    Result<void> done;
    while (done && m_timed < m_batches && (m_timed == 0 || elapsed() < m_seconds)) {
      begun = m_timed;
      begun.notify_one();
      done = step(m_timed, 2);
      if (done) ++m_timed;
    }
    const double seconds = elapsed();
    begun = m_batches;
    begun.notify_one();
    if (!done) return tl::unexpected(done.error());
    return seconds;
  }

  const double m_seconds;
  const std::uint64_t m_batches;
  const std::string m_folder;
  ThreadPool m_pool{1};
  StepParams m_params;
  std::uint64_t m_timed = 0;
  std::unique_ptr<Tables> m_tables;
};

ordered_json randomJson(const std::vector<RandomFigures>& all) {
  ordered_json list = ordered_json::array();
  for (const RandomFigures& one : all) {
    ordered_json json;
    json["request"] = one.requestBytes;
    json["depth"] = one.depth;
    json["kind"] = one.mixed ? "mixed" : "read";
    json["reads_per_s"] = one.readsPerSecond;
    json["writes_per_s"] = one.writesPerSecond;
    json["median_us"] = one.medianUs;
    json["p99_us"] = one.p99Us;
    list.push_back(json);
  }
  return list;
}

ordered_json reportJson(const DiskBenchArguments& a, std::uint64_t bytes, const DiskBenchReport& report) {
  ordered_json object;
  object["cache"] = a.cache;
  const auto system = fileSystemOf(a.cache);
  object["file_system"] = system ? ordered_json(system->type) : ordered_json(nullptr);
  const auto device = BlockDevice::of(a.cache);
  object["disk"] = device ? ordered_json(device->name()) : ordered_json(nullptr);
  object["size"] = bytes;
  object["seconds_each"] = a.seconds;
  object["direct"] = report.direct;
  object["io_uring"] = report.ioUring;
  object["notes"] = report.notes;
  object["random"] = randomJson(report.random);
  constexpr double kMiB = 1 << 20;
  object["sequential"] = {{"read_mib_per_s", report.sequentialReadBytesPerSecond / kMiB},
                          {"write_mib_per_s", report.sequentialWriteBytesPerSecond / kMiB}};
  object["fdatasync"] = {{"count", report.syncs}, {"median_ms", report.syncMedianMs}, {"p99_ms", report.syncP99Ms}};
  return object;
}

/// Of one cold row the disk reads it and writes it later: the store's rate over the reads of the mix of its size.
void addShare(ordered_json& store, const DiskBenchReport& report) {
  const auto record = store["record"].get<std::uint64_t>();
  const RandomFigures* best = nullptr;
  for (const RandomFigures& one : report.random) {
    const bool fits = one.mixed && one.requestBytes >= record && one.requestBytes < record + 4096;
    if (fits && (best == nullptr || one.readsPerSecond > best->readsPerSecond)) best = &one;
  }
  if (best == nullptr || best->readsPerSecond <= 0) return;
  store["share_of_mixed"] = store["rows_per_s"].get<double>() / best->readsPerSecond;
  store["share_at_depth"] = best->depth;
}

void printDiskBench(const ordered_json& object, const DiskBenchReport& report) {
  fmt::print("{}: {} on {}, a file of {}, {} s each, {}, {}\n", object["cache"].get<std::string>(),
             object["file_system"].is_string() ? object["file_system"].get<std::string>() : "file system not reported",
             object["disk"].is_string() ? object["disk"].get<std::string>() : "disk not reported",
             formatBytes(object["size"].get<std::uint64_t>()), object["seconds_each"].get<double>(),
             report.direct ? "O_DIRECT" : "without O_DIRECT", report.ioUring ? "io_uring" : "without io_uring");
  fmt::print("{:<22}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "random", "reads/s", "writes/s", "MiB/s", "median us", "p99 us");
  for (const RandomFigures& one : report.random) {
    fmt::print("{:>5} B, depth {:<4}{:<5}{:>9.0f}{:>12.0f}{:>12.1f}{:>12.0f}{:>12.0f}\n", one.requestBytes, one.depth,
               one.mixed ? "mix" : "read", one.readsPerSecond, one.writesPerSecond,
               (one.readsPerSecond + one.writesPerSecond) * one.requestBytes / (1 << 20), one.medianUs, one.p99Us);
  }
  fmt::print("from begin to end: read {:.0f} MiB/s, write {:.0f} MiB/s\n",
             object["sequential"]["read_mib_per_s"].get<double>(),
             object["sequential"]["write_mib_per_s"].get<double>());
  fmt::print("fdatasync: median {:.3g} ms, 99th percentile {:.3g} ms ({} of them)\n", report.syncMedianMs,
             report.syncP99Ms, report.syncs);
  const ordered_json& store = object["store"];
  fmt::print("store, cold: {:.0f} rows/s of {} B ({} steps of {} rows, none of them in memory)",
             store["rows_per_s"].get<double>(), store["record"].get<std::uint64_t>(),
             store["steps"].get<std::uint64_t>(), store["batch_rows"].get<std::uint64_t>());
  if (store.contains("share_of_mixed")) {
    fmt::print(", {:.0f}% of what half reads, half writes of that size at depth {} allow",
               store["share_of_mixed"].get<double>() * 100, store["share_at_depth"].get<unsigned>());
  }
  fmt::print("\n");
  for (const std::string& note : report.notes) fmt::print("note: {}\n", note);
}

Result<void> benchDiskCommand(DiskBenchArguments a) {
  const auto rule = ruleFromName(a.rule);
  if (!rule) return fail(ErrorCode::usage, "--rule: {} is not known; rules are {}", a.rule, allRuleNames());
  if (a.dim < 1 || a.dim > kLargestDim)
    return fail(ErrorCode::usage, "--dim: {} is not in 1 to {}", a.dim, kLargestDim);
  if (!(a.seconds > 0 && a.seconds <= 3600))
    return fail(ErrorCode::usage, "--seconds: {} is not above 0 and up to 3600", a.seconds);
  if (a.cache.empty()) a.cache = defaultCacheFolder();
  DiskBenchOptions options;
  const auto bytes = parseBytes(a.size);
  if (!bytes) return fail(bytes.error().code, "--size: {}", bytes.error().message);
  options.folder = a.cache;
  options.fileBytes = *bytes;
  options.seconds = a.seconds;
  options.requestBytes = {4096, 16384};
  const auto record = roundedUp(static_cast<std::uint32_t>(rowFloats(*rule, a.dim) * sizeof(float)), 512);
  if (record != 4096 && record != 16384) options.requestBytes.push_back(record);
  options.stop = &stopFlag();
  DSA_ASSIGN(const DiskBenchReport report, benchDisk(options));
  ordered_json object = reportJson(a, *bytes, report);
  DSA_ASSIGN(ordered_json store, ColdStore(a, *rule, *bytes).run());
  store["rule"] = a.rule;
  store["dim"] = a.dim;
  addShare(store, report);
  object["store"] = std::move(store);
  if (a.json) {
    printJson(object);
  } else {
    printDiskBench(object, report);
  }
  return {};
}

}  // namespace

void addDiskBench(CLI::App& bench, Chosen& chosen) {
  auto a = std::make_shared<DiskBenchArguments>();
  CLI::App* disk = bench.add_subcommand(
      "disk", "What the folder's disk gives at the store's sizes, and what the store reaches there, cold");
  disk->add_option("--cache", a->cache, "Folder on the disk; default the user's data folder");
  disk->add_option("--size", a->size, "Bytes of the file measured on; it is deleted afterwards")
      ->capture_default_str()
      ->type_name("SIZE");
  disk->add_option("--seconds", a->seconds, "Seconds of each measurement; there are about 20")->capture_default_str();
  disk->add_option("--dim", a->dim, "Coordinates of a row: its record is the third size")->capture_default_str();
  disk->add_option("--rule", a->rule, "Update rule of the rows")->capture_default_str();
  disk->add_flag("--json", a->json, "One JSON object on stdout");
  disk->callback([a, &chosen] {
    chosen = [a] {
      const auto done = benchDiskCommand(*a);
      return done ? 0 : reportError(done.error());
    };
  });
}

}  // namespace dsa
