// SPDX-License-Identifier: Apache-2.0
#include "core/train/runner.h"

#include <cstdlib>
#include <filesystem>

#include "core/data/catalogue.h"
#include "core/metrics/block_device.h"
#include "core/metrics/machine.h"
#include "core/record/editor.h"
#include "core/record/reader.h"
#include "core/train/run_observer.h"

namespace dsa {

namespace {

using nlohmann::ordered_json;

void note(const RunnerOptions& options, const std::string& text) {
  if (options.note) options.note(text);
}

std::string databasePath(const RunnerOptions& options) {
  return options.database.empty() ? Database::defaultPath() : options.database;
}

std::string versionsJson(const Dataset& dataset) {
  ordered_json json;
  json["dsa"] = DSA_VERSION;
  json["compiler"] = __VERSION__;
  json["dataset_sha256"] = dataset.sha256;
  return json.dump();
}

RunRow rowOf(const RunSetup& setup, const std::string& cacheRoot, const std::string& uuid) {
  RunRow row;
  row.uuid = uuid.empty() ? newUuid() : uuid;
  row.name =
      setup.spec.name.empty()
          ? fmt::format("{}-{}", std::filesystem::path(setup.spec.dataset).filename().string(), row.uuid.substr(0, 8))
          : setup.spec.name;
  row.dataset = setup.spec.dataset;
  row.dim = setup.spec.dim;
  row.k = setup.spec.k;
  row.rule = choiceName(setup.spec.optimizer.rule);
  row.placement = choiceName(setup.spec.optimizer.placement);
  row.model = choiceName(setup.spec.model);
  row.seed = setup.spec.train.seed;
  row.plannedSteps = setup.plannedSteps;
  row.spec = specToJson(setup.spec);
  row.machine = machineText(describeMachine());
  row.versions = versionsJson(*setup.dataset);
  if (setup.spec.optimizer.placement == PlacementChoice::disk) row.cacheFolder = cacheRoot + "/run-" + row.uuid;
  return row;
}

/// The folder that holds the runs' folders; made where it is missing. Little space and odd file systems are warned of.
Result<std::string> prepareCacheRoot(const RunSetup& setup, const RunnerOptions& options) {
  const std::string root = setup.spec.cache.empty()
                               ? defaultCacheFolder()
                               : std::filesystem::absolute(setup.spec.cache).lexically_normal().string();
  if (setup.spec.optimizer.placement != PlacementChoice::disk) return root;
  DSA_TRY(makeFolder(root));
  std::uint64_t bytes = 0;
  for (const TableShape& table : setup.shape.tables) bytes += table.rows * table.recordFloats() * sizeof(float);
  if (const auto system = fileSystemOf(root)) {
    if (system->isMemory)
      note(options, fmt::format("{} is {}: files there take memory, not disk. Choose a folder on a disk with --cache",
                                root, system->type));
    if (system->isNetwork)
      note(options, fmt::format("{} is on the network ({}): rows will be slow, and a lost connection ends the run",
                                root, system->type));
    if (system->freeBytes < bytes) {
      note(options,
           fmt::format(
               "the whole table has {}, {} has {} free; the file is sparse and takes only the rows that are touched",
               formatBytes(bytes), root, formatBytes(system->freeBytes)));
    }
  }
  return root;
}

/// Trains under a recorder that knows the run already.
RunReport trainRecorded(const RunSetup& setup, const std::string& folder, Recorder& recorder,
                        const RunnerOptions& options, double earlierSeconds) {
  RunReport report;
  const auto end = [&](RunStatus status, const std::string& reason, int code, ordered_json object) {
    report.status = status;
    report.exitCode = code;
    report.object = std::move(object);
    if (auto kept = recorder.finish(status, reason, report.object.dump()); !kept) {
      note(options, fmt::format("the result could not be recorded: {}", kept.error().message));
      if (report.exitCode == 0) report.exitCode = exitCode(kept.error());
    }
    return report;
  };
  const MachineInfo machine = describeMachine();
  if (auto fits = checkFits(setup, machine.memoryAvailable.value_or(UINT64_MAX)); !fits) {
    return end(RunStatus::refused, fits.error().message, exitCode(fits.error()),
               shortResultJson(recorder.run(), RunStatus::refused, fits.error().message));
  }
  RunObserver observer(setup, recorder, options, earlierSeconds);
  TrainOptions training;
  training.folder = folder;
  training.hash = options.hash;
  training.stop = options.stop;
  const Result<TrainOutcome> outcome = train(setup, training, observer);
  if (!outcome) {
    ordered_json object = shortResultJson(recorder.run(), RunStatus::failed, outcome.error().message);
    object["steps"] = observer.lastStep();
    return end(RunStatus::failed, outcome.error().message, exitCode(outcome.error()), std::move(object));
  }
  const RunStatus status = outcome->stopped ? RunStatus::stopped : RunStatus::finished;
  const std::string reason =
      outcome->stopped
          ? fmt::format("stopped by the user after step {}; resume with: dsa resume {}", outcome->steps, recorder.run())
          : "";
  return end(status, reason, outcome->stopped ? static_cast<int>(ErrorCode::stopped) : 0,
             resultJson(recorder.run(), status, reason, setup, *outcome, observer.resources(), earlierSeconds));
}

}  // namespace

std::string defaultCacheFolder() {
  return std::filesystem::path(Database::defaultPath()).parent_path().string() + "/tables";
}

namespace {

/// A run that is ready to be recorded.
struct NewRun {
  RunSetup setup;
  RunRow row;
};

Result<NewRun> prepareRun(const RunSpec& spec, const RunnerOptions& options) {
  if (!spec.dataset || spec.dataset->empty())
    return fail(ErrorCode::usage, "no dataset: give --dataset NAME, or --recipe NAME; dsa data list shows the names");
  DSA_ASSIGN(Dataset dataset, loadDataset(*spec.dataset));
  for (const std::string& warning : dataset.warnings) note(options, warning);
  DSA_ASSIGN(const RunSetup setup, makeSetup(spec, std::make_shared<const Dataset>(std::move(dataset))));
  DSA_TRY(makeDevice(setup.spec));
  DSA_TRY(chooseLevel());
  DSA_ASSIGN(const std::string root, prepareCacheRoot(setup, options));
  return NewRun{setup, rowOf(setup, root, options.uuid)};
}

}  // namespace

Result<RunReport> startRun(const RunSpec& spec, const RunnerOptions& options) {
  DSA_ASSIGN(const NewRun run, prepareRun(spec, options));
  DSA_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::open(databasePath(options)));
  DSA_TRY(recorder->createRun(run.row));
  return trainRecorded(run.setup, run.row.cacheFolder, *recorder, options, 0);
}

Result<RunId> queueRun(const RunSpec& spec, const RunnerOptions& options) {
  DSA_ASSIGN(const NewRun run, prepareRun(spec, options));
  DSA_ASSIGN(Editor editor, Editor::open(databasePath(options)));
  return editor.addQueued(run.row);
}

Result<RunSetup> setupOfRun(const RunRow& row) {
  DSA_ASSIGN(const RunSpec spec, parseSpec(row.spec));
  DSA_ASSIGN(Dataset dataset, loadDataset(spec.dataset.value_or("")));
  const ordered_json versions = ordered_json::parse(row.versions, nullptr, false);
  const std::string recorded = versions.is_object() ? versions.value("dataset_sha256", "") : "";
  if (!recorded.empty() && recorded != dataset.sha256) {
    return fail(ErrorCode::input,
                "{}: its content has changed since run {} began (sha256 {} instead of {}); the run is as it was. Start "
                "a new run for the new data",
                spec.dataset.value_or(""), row.id, dataset.sha256.substr(0, 16), recorded.substr(0, 16));
  }
  return makeSetup(spec, std::make_shared<const Dataset>(std::move(dataset)));
}

Result<RunReport> resumeRun(const std::string& run, const RunnerOptions& options) {
  const std::string path = databasePath(options);
  RunRow row;
  {
    DSA_ASSIGN(const Reader reader, Reader::open(path));
    DSA_ASSIGN(const RunId id, reader.find(run));
    DSA_ASSIGN(row, reader.run(id));
  }
  if (row.status == RunStatus::finished && !row.result.empty()) {
    RunReport report;
    report.object = ordered_json::parse(row.result, nullptr, false);
    if (!report.object.is_object())
      return fail(ErrorCode::input, "run {}: its recorded result is not JSON; the database is damaged", row.id);
    if (!options.hash || report.object.contains("table_sha256")) return report;
  }
  DSA_ASSIGN(const RunSetup setup, setupOfRun(row));
  if (setup.spec.optimizer.placement == PlacementChoice::disk && row.cacheFolder.empty()) {
    return fail(ErrorCode::input,
                "run {}: its table is not here: it was deleted, or the run was imported without it; nothing was "
                "changed. The spec and seed give the same run again: dsa train",
                row.id);
  }
  DSA_TRY(makeDevice(setup.spec));
  DSA_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::open(path));
  DSA_TRY(recorder->attachRun(row.id));
  return trainRecorded(setup, row.cacheFolder, *recorder, options, row.progress.seconds.value_or(0));
}

}  // namespace dsa
