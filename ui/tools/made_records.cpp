// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/tools/made_records.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/record/editor.h"
#include "core/record/recorder.h"

namespace dsa::ui {

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kMiB = 1024.0 * 1024;
constexpr double kSeconds = 60;

RunRow made(const std::string& name, const std::string& placement) {
  RunRow row;
  row.name = name;
  row.dataset = "zipf:1000000";
  row.dim = 128;
  row.k = 0;
  row.rule = "sparse_adam";
  row.placement = placement;
  row.model = "euclidean";
  row.seed = 1;
  row.plannedSteps = 400;
  if (placement == "disk") row.cacheFolder = "/home/you/.local/share/dsa-lab/tables/run-made";
  row.spec =
      R"({"dataset":"zipf:1000000","model":"euclidean","dim":128,"k":0,"optimizer":{"rule":"sparse_adam","placement":")" +
      placement + R"(","lr":0.01},"train":{"steps":400,"batch":1000,"negatives":8,"seed":1,"threads":2}})";
  row.machine = "made: these figures were drawn by formulas, not measured";
  row.versions = R"({"dsa":"made","dataset_sha256":"made"})";
  return row;
}

/// A deterministic wobble in [-1, 1].
double wobble(int i) { return std::sin(i * 12.9898) * std::cos(i * 4.1414); }

Result<void> writeRun(const QString& path, const RunRow& row, bool onDisk, int samples, RunStatus end, bool diverges) {
  RecorderOptions options;
  std::int64_t now = wallClockMs();
  options.clockMs = [&now] { return now; };
  DSA_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::open(path.toStdString(), options));
  DSA_TRY(recorder->createRun(row));
  DSA_TRY(recorder->beginAttempt(0));
  const auto metric = [&](const char* name, const char* unit, const char* source, MetricAxis axis) {
    return recorder->metric(MetricInfo{0, name, unit, source, axis});
  };
  const auto loss = metric("loss", "", "mean over the steps since the last sample", MetricAxis::step);
  const auto rate = metric("samples_per_s", "1/s", "training samples over wall time", MetricAxis::step);
  const auto memory = metric("memory.private", "B", "RssAnon + VmPTE + VmSwap", MetricAxis::time);
  const auto cache = metric("memory.page_cache", "B", "cachestat or mincore over the table's files", MetricAxis::time);
  const auto minor = metric("faults.minor", "1/s", "getrusage", MetricAxis::time);
  const auto major = metric("faults.major", "1/s", "getrusage", MetricAxis::time);
  const auto demand = metric("faults.demand", "1/s", "/proc/self/task, the step's own thread", MetricAxis::time);
  const auto read = metric("io.read", "B/s", "/proc/self/io", MetricAxis::time);
  const auto written = metric("io.written", "B/s", "/proc/self/io (counts dirtying)", MetricAxis::time);
  const std::int64_t begin = now;
  double privatePeak = 0;
  double cachePeak = 0;
  double last = 0;
  const int stopAt = end == RunStatus::finished ? samples : samples * 6 / 10;
  for (int i = 0; i < stopAt; ++i) {
    const double share = static_cast<double>(i) / samples;
    now = begin + static_cast<std::int64_t>(1000 * kSeconds * (onDisk ? 1 : 0.4) * share);
    const auto step = static_cast<std::uint64_t>(400 * share);
    const bool evicted = onDisk && share > 0.875;
    const double ram = onDisk ? 18 * kMiB + wobble(i) * 0.2 * kMiB : std::min(1.45, share * 14 + 0.02) * kGiB;
    const double pages = !onDisk ? 0 : evicted ? (share - 0.875) * 2.4 * kGiB : 1.3 * kGiB * (1 - std::exp(-3 * share));
    last = diverges && share > 0.4 ? std::nan("") : 0.75 + 1.45 * std::exp(-4.2 * share) * (1 + 0.02 * wobble(i));
    recorder->sample(step, loss, last);
    recorder->sample(step, rate,
                     (onDisk ? 33000 : 88000) * (1 + 0.06 * wobble(i + 7)) * (evicted && share < 0.9 ? 0.4 : 1));
    recorder->sample(step, memory, ram);
    if (onDisk) recorder->sample(step, cache, pages);
    recorder->sample(step, minor, std::max(0.0, (onDisk ? 9000 : 300) * (1 - 0.7 * share) * (1 + 0.2 * wobble(i + 3))));
    recorder->sample(step, demand, onDisk ? std::max(0.0, 2100 * (1 - 0.7 * share) * (1 + 0.2 * wobble(i + 5))) : 4);
    recorder->sample(step, major, evicted ? 5200 * std::exp(-(share - 0.875) * 30) : 0);
    recorder->sample(step, read, evicted ? 160 * kMiB * std::exp(-(share - 0.875) * 25) : 0);
    recorder->sample(step, written, onDisk ? 90 * kMiB * (1 - 0.6 * share) * (1 + 0.15 * wobble(i)) : 0);
    privatePeak = std::max(privatePeak, ram);
    cachePeak = std::max(cachePeak, pages);
  }
  recorder->event("phase", "training", 0);
  RunProgress progress;
  progress.step = static_cast<std::uint64_t>(400.0 * stopAt / samples);
  progress.epoch = static_cast<double>(*progress.step) / 1000;
  progress.lossLast = last;
  progress.privatePeak = static_cast<std::uint64_t>(privatePeak);
  if (onDisk) progress.cachePeak = static_cast<std::uint64_t>(cachePeak);
  progress.seconds = onDisk ? kSeconds : kSeconds * 0.4;
  recorder->updateProgress(progress);
  DSA_TRY(recorder->flush());
  if (end == RunStatus::running) {
    // Left without an end: the recorder goes, and with it the process behind the run.
    return {};
  }
  const std::string result = fmt::format(
      R"({{"status":"{}","seconds":{},"loss_last":0.778,"losses":[1.44,0.98,0.87,0.80],"samples_per_s":{},"memory":{{"private_peak":{},"table_resident_peak":{},"table_bytes":1536000000,"disk_bytes":{}}},"faults":{{"minor":{},"major":{}}},"io":{{"read":{},"written":{}}},"table_sha256":"made"}})",
      runStatusName(end), *progress.seconds, onDisk ? 33000 : 88000, static_cast<std::uint64_t>(privatePeak),
      static_cast<std::uint64_t>(cachePeak), onDisk ? 1290000000 : 0, onDisk ? 412000 : 381000, onDisk ? 9100 : 0,
      onDisk ? 151000000 : 0, onDisk ? 2100000000 : 0);
  return recorder->finish(end, end == RunStatus::failed ? "made: the disk is full; what was recorded is safe" : "",
                          end == RunStatus::finished ? result : "");
}

struct Branch {
  const char* name;
  const char* parts[4];
};

/// A tree in the disk: what is general near the centre, leaves at the rim.
EmbeddingSample madeDisk() {
  static constexpr Branch kBranches[] = {{"mammal", {"carnivore", "rodent", "ungulate", "primate"}},
                                         {"bird", {"songbird", "waterfowl", "raptor", "wader"}},
                                         {"fish", {"shark", "eel", "perch", "carp"}},
                                         {"insect", {"beetle", "moth", "wasp", "cricket"}},
                                         {"reptile", {"snake", "lizard", "turtle", "crocodile"}}};
  constexpr int kLeaves = 24;
  constexpr double kTurn = 2 * 3.14159265358979;
  auto of = std::make_shared<EmbeddingRows>();
  EmbeddingSample sample;
  const auto put = [&](const std::string& name, double radius, double angle) {
    of->rows.push_back(of->rows.size());
    of->labels.push_back(name);
    sample.weights.push_back(static_cast<float>(radius * std::cos(angle)));
    sample.weights.push_back(static_cast<float>(radius * std::sin(angle)));
  };
  put("animal", 0.03, 2);
  int seed = 0;
  for (int b = 0; b < 5; ++b) {
    const double first = kTurn * b / 5;
    put(kBranches[b].name, 0.34 + 0.05 * wobble(b), first + kTurn / 10);
    for (int p = 0; p < 4; ++p) {
      const double middle = first + kTurn / 5 * (p + 0.5) / 4;
      put(kBranches[b].parts[p], 0.7 + 0.05 * wobble(++seed), middle);
      for (int leaf = 1; leaf <= kLeaves; ++leaf) {
        ++seed;
        put(fmt::format("{} {}", kBranches[b].parts[p], leaf), 0.93 + 0.05 * wobble(seed),
            middle + kTurn / 5 / 4 * 0.8 * ((leaf - 0.5) / kLeaves - 0.5) + 0.01 * wobble(3 * seed));
      }
    }
  }
  of->table = "entities";
  of->totalRows = of->rows.size();
  of->dim = 2;
  of->k = 1;
  sample.step = 400;
  sample.of = of;
  return sample;
}

Result<void> writeDisk(const QString& path) {
  RunRow row = made("Made: a tree in the disk", "disk");
  row.dataset = "tree:made";
  row.dim = 2;
  row.k = 1;
  row.rule = "rsgd";
  row.model = "poincare";
  DSA_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::open(path.toStdString()));
  DSA_TRY(recorder->createRun(row));
  DSA_TRY(recorder->beginAttempt(0));
  RunProgress progress;
  progress.step = 400;
  progress.lossLast = 0.41;
  recorder->updateProgress(progress);
  recorder->embedding(madeDisk());
  return recorder->finish(RunStatus::finished, "", "");
}

}  // namespace

Result<void> makeRecords(const QString& path, const MadeRecords& wanted) {
  DSA_TRY(writeRun(path, made("Made pair, in RAM", "ram"), false, wanted.samplesASeries, RunStatus::finished, false));
  DSA_TRY(writeRun(path, made("Made pair, on disk", "disk"), true, wanted.samplesASeries, RunStatus::finished, false));
  DSA_TRY(writeRun(path, made("Made: a run that was stopped", "disk"), true, 300, RunStatus::stopped, false));
  DSA_TRY(writeRun(path, made("Made: a run that failed", "disk"), true, 300, RunStatus::failed, false));
  DSA_TRY(writeRun(path, made("Made: a run that diverged", "ram"), false, 300, RunStatus::stopped, true));
  DSA_TRY(writeDisk(path));
  DSA_ASSIGN(Editor editor, Editor::open(path.toStdString()));
  for (int i = 0; i < wanted.extraRuns; ++i) {
    RunRow row = made(fmt::format("Made: list entry {}", i + 1), i % 2 == 0 ? "ram" : "disk");
    row.status = RunStatus::finished;
    row.dim = 16u << (i % 5);
    DSA_TRY(editor.addQueued(row));
  }
  return {};
}

}  // namespace dsa::ui
