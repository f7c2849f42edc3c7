// SPDX-License-Identifier: Apache-2.0
// How records are best laid out: stride and padding, backing, and the order of rows. Figures in ARCHITECTURE.md,
// "Layouts". Arms take turns within a round; medians; ratios count, not absolutes.
//
//     dsa_layouts stride FOLDER [THREADS]    records packed, at whole cache lines, not over a page's edge; three arrays
//     dsa_layouts order FOLDER [SECONDS]     Zipf draws, hubs first or scattered, both engines under a budget
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>

#include "app/bench_parts.h"
#include "core/data/sampler.h"
#include "core/optim/tables.h"
#include "core/rows/touch_rows.h"

namespace {

using namespace dsa;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBatch = 10000;
constexpr std::uint64_t kPageBytes = 4096;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double touchSeconds(const std::vector<float*>& places, std::uint64_t words, ThreadPool& pool) {
  const Clock::time_point begin = Clock::now();
  pool.partitioned(places.size(), [&](std::uint64_t from, std::uint64_t to, unsigned) {
    touchRows(places.data() + from, words, nullptr, 0, to - from);
  });
  return since(begin);
}

enum class Backing { file, pages, hugePages };
constexpr const char* kBackings[] = {"file", "private 4 KiB pages", "private huge pages"};

/// One way to lay a table out: record r at r * stride, or w, m and v in arrays of their own.
struct Arm {
  std::string name;
  std::uint64_t stride = 0;
  bool threeArrays = false;
  Mapping memory;
  std::vector<double> adam, touch;
};

Result<Mapping> make(Backing backing, std::uint64_t bytes, const std::string& folder) {
  Mapping memory;
  if (backing == Backing::file) {
    DSA_ASSIGN(const File file, File::openUnnamed(folder + "/layout"));  // lives as long as the mapping
    DSA_TRY(file.resize(bytes));
    DSA_ASSIGN(memory, Mapping::map(file, bytes, Mapping::Kind::sharedReadWrite));
    ::madvise(memory.data(), bytes, MADV_RANDOM);
  } else {
    DSA_ASSIGN(memory, Mapping::anonymous(bytes));
    ::madvise(memory.data(), bytes, backing == Backing::hugePages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  for (std::uint64_t at = 0; at < bytes; at += kPageBytes) memory.data()[at] = std::byte{0};
  return memory;
}

/// As RowStore lays records out today, rounded up to cache lines, and so that none lies on two pages.
std::vector<Arm> armsOf(std::uint64_t recordBytes) {
  std::vector<Arm> arms;
  const auto add = [&](const char* name, std::uint64_t stride) {
    for (const Arm& arm : arms)
      if (arm.stride == stride) return;
    arms.push_back(Arm{name, stride, false, {}, {}, {}});
  };
  add("packed", recordBytes);
  add("cache lines", (recordBytes + 63) / 64 * 64);
  if (recordBytes <= kPageBytes) add("within a page", kPageBytes / (kPageBytes / recordBytes) / 8 * 8);
  arms.push_back(Arm{"three arrays", recordBytes, true, {}, {}, {}});
  return arms;
}

Result<void> strides(const std::string& folder, std::uint32_t dim, std::uint64_t rows, Backing backing,
                     ThreadPool& pool) {
  DSA_ASSIGN(const KernelLevel level, chooseLevel());
  const RowKernels kernels = rowKernels(level);
  const std::uint64_t record = rowFloats(Rule::sparseAdam, dim) * sizeof(float);
  std::vector<Arm> arms = armsOf(record);
  for (Arm& arm : arms) {
    // Records that stay within a page leave a page's last bytes free.
    const std::uint64_t bytes = (rows * arm.stride + kPageBytes) * (arm.name == "within a page" ? 102 : 100) / 100;
    DSA_ASSIGN(arm.memory, make(backing, bytes, folder));
  }
  StepParams params;
  params.rule = Rule::sparseAdam;
  params.dim = dim;
  const StepParams step = makeStep(params, 10, 0.01);
  std::vector<float> grads(kBatch * dim);
  for (std::uint64_t i = 0; i < grads.size(); ++i)
    grads[i] = static_cast<float>(i * 2654435761ull % 2001) * 1e-3f - 1.0f;
  constexpr int kRounds = 41;
  std::vector<float*> places;
  for (int round = 0; round < kRounds; ++round) {
    for (Arm& arm : arms) {
      float* const base = reinterpret_cast<float*>(arm.memory.data());
      const std::uint64_t perPage = kPageBytes / arm.stride;
      const bool paged = arm.name == "within a page";
      const auto placesOf = [&](std::uint64_t salt) {
        places.clear();
        for (const std::uint64_t id : benchRows(rows, kBatch, salt)) {
          if (arm.threeArrays) {
            for (std::uint64_t part = 0; part < 3; ++part) places.push_back(base + (part * rows + id) * dim);
          } else {
            const std::uint64_t offset =
                paged ? id / perPage * kPageBytes + id % perPage * arm.stride : id * arm.stride;
            places.push_back(base + offset / sizeof(float));
          }
        }
      };
      const std::uint64_t salt = static_cast<std::uint64_t>(round) * 2;
      placesOf(salt);
      arm.touch.push_back(touchSeconds(places, arm.threeArrays ? dim : record / sizeof(float), pool));
      if (arm.threeArrays) continue;  // the kernels take whole records: what reaching three places costs is in touching
      placesOf(salt + 1);
      const Clock::time_point begin = Clock::now();
      pool.partitioned(places.size(), [&](std::uint64_t from, std::uint64_t to, unsigned) {
        kernels.update(step, places.data() + from, grads.data() + from * dim, dim, to - from);
      });
      arm.adam.push_back(since(begin));
    }
  }
  const double n = static_cast<double>(kBatch) / 1e6;
  for (const Arm& arm : arms) {
    fmt::print("{:20} d {:4} {:2} threads  {:14} stride {:5}  touch {:6.2f} ({:.2f} of packed)",
               kBackings[int(backing)], dim, pool.threads(), arm.name, arm.stride, n / median(arm.touch),
               median(arms[0].touch) / median(arm.touch));
    if (!arm.adam.empty())
      fmt::print("  adam {:6.2f} ({:.2f} of packed)", n / median(arm.adam), median(arms[0].adam) / median(arm.adam));
    fmt::print(" million rows/s\n");
  }
  return {};
}

/// Steps of Zipf draws on a table under a budget, after every row was touched.
Result<double> orderedRate(const std::string& folder, std::uint32_t dim, std::uint64_t rows, DiskEngine engine,
                           std::uint64_t budget, bool hubsFirst, double seconds, ThreadPool& pool) {
  DSA_ASSIGN(const KernelLevel level, chooseLevel());
  StoreShape shape;
  shape.tables.push_back(TableShape{"entities", rows, dim, Rule::sparseAdam, 1e-3f, kBatch});
  DSA_TRY(RowStore::create(folder, shape));
  DiskOptions options;
  options.engine = engine;
  options.ramBudget = budget;
  DSA_ASSIGN(const std::unique_ptr<Tables> tables, openDiskTables(folder, options, rowKernels(level)));
  StepParams params;
  params.rule = Rule::sparseAdam;
  params.dim = dim;
  for (std::uint64_t first = 0; first < rows; first += kBatch) {
    const std::uint64_t n = std::min(kBatch, rows - first);
    for (std::uint64_t i = 0; i < n; ++i) tables->ids(0)[i] = first + i;
    benchGradients(*tables, n, first);
    DSA_TRY(benchStep(*tables, params, n, 0, pool));
  }
  const ZipfLaw law(rows, 1.1);
  const auto draw = [&](std::uint64_t s) {
    std::vector<std::uint64_t> ids(kBatch);
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      const std::uint64_t rank = law.draw(1, s, i);
      ids[i] = hubsFirst ? rank : permuted(rank, rows, 99);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  };
  constexpr std::uint64_t kLookAhead = 4;
  std::vector<std::vector<std::uint64_t>> ahead;
  std::vector<std::uint64_t> tickets;
  const Clock::time_point begin = Clock::now();
  std::uint64_t stepped = 0;
  double measured = 0;
  for (std::uint64_t s = 0; since(begin) < seconds; ++s) {
    while (ahead.size() < kLookAhead) {
      ahead.push_back(draw(s + ahead.size()));
      tickets.push_back(tables->wantsRows() ? tables->announce({ahead.back()}) : 0);
      tables->prefetch(0, ahead.back());
    }
    std::copy(ahead.front().begin(), ahead.front().end(), tables->ids(0));
    benchGradients(*tables, ahead.front().size(), s);
    const Clock::time_point stepBegin = Clock::now();
    DSA_TRY(benchStep(*tables, params, ahead.front().size(), tickets.front(), pool));
    if (since(begin) > seconds / 3) {  // the first third fills the cache
      measured += since(stepBegin);
      stepped += ahead.front().size();
    }
    ahead.erase(ahead.begin());
    tickets.erase(tickets.begin());
  }
  DSA_TRY(tables->close());
  return static_cast<double>(stepped) / measured;
}

Result<void> orders(const std::string& folder, double seconds) {
  ThreadPool pool(2);
  struct Size {
    std::uint32_t dim;
    std::uint64_t rows;
  };
  for (const Size size : {Size{128, 1000000}, Size{16, 8000000}}) {
    const std::uint64_t bytes = size.rows * size.dim * 12;
    for (const DiskEngine engine : {DiskEngine::mmap, DiskEngine::direct}) {
      double rates[2] = {};
      for (const bool hubsFirst : {false, true}) {
        const std::string store = folder + "/order";
        const auto rate = orderedRate(store, size.dim, size.rows, engine, bytes / 10, hubsFirst, seconds, pool);
        (void)RowStore::remove(store);
        if (!rate) return tl::unexpected(rate.error());
        rates[hubsFirst ? 1 : 0] = *rate;
      }
      fmt::print("{:6} d {:3} {} rows, budget a tenth: scattered {:.0f}, hubs first {:.0f} thousand rows/s ({:.2f})\n",
                 engine == DiskEngine::mmap ? "mmap" : "direct", size.dim, size.rows, rates[0] / 1e3, rates[1] / 1e3,
                 rates[1] / rates[0]);
      std::fflush(stdout);
    }
  }
  return {};
}

int run(const std::string& what, const std::string& folder, double number) {
  Result<void> done;
  if (what == "order") {
    done = orders(folder, number > 0 ? number : 30);
  } else if (what == "stride") {
    ThreadPool pool(number > 0 ? static_cast<unsigned>(number) : 1);
    for (const Backing backing : {Backing::file, Backing::pages, Backing::hugePages}) {
      // All arms' dirty pages together stay below what makes the kernel write them back meanwhile.
      done = strides(folder, 10, 2500000, backing, pool);
      if (done) done = strides(folder, 100, 250000, backing, pool);
      if (done) done = strides(folder, 128, 250000, backing, pool);
      if (!done) break;
    }
  } else {
    fmt::print(stderr, "error: {}: expected stride or order\n", what);
    return 2;
  }
  if (done) return 0;
  fmt::print(stderr, "error: {}\n", done.error().message);
  return 4;
}

}  // namespace

int main(int argc, char** argv) {
  double number = 0;
  const bool numbered = argc == 4;
  if (numbered) {
    const auto read = std::from_chars(argv[3], argv[3] + std::strlen(argv[3]), number);
    if (read.ec != std::errc{} || number <= 0 || number > 3600) argc = 0;
  }
  if (argc != 3 && argc != 4) {
    fmt::print(stderr, "usage: dsa_layouts stride|order FOLDER [THREADS|SECONDS]\n");
    return 2;
  }
  return run(argv[1], argv[2], number);
}
