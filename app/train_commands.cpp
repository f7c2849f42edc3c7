// SPDX-License-Identifier: Apache-2.0
// `dsa train`, `dsa resume`, `dsa eval`, `dsa plan`.
#include <memory>

#include "app/commands.h"
#include "app/options.h"
#include "app/plan_command.h"
#include "core/base/thread_pool.h"
#include "core/data/catalogue.h"
#include "core/record/reader.h"
#include "core/store/row_scan.h"
#include "core/train/run_result.h"

namespace dsa {

namespace {

int printReport(const Result<RunReport>& report, bool json) {
  if (!report) return reportError(report.error());
  if (json) {
    printJson(report->object);
  } else {
    printRun(report->object);
  }
  if (json && report->exitCode != 0) fmt::print(stderr, "dsa: {}\n", report->object.value("reason", ""));
  return report->exitCode;
}

int printQueued(const Result<RunId>& run, bool json) {
  if (!run) return reportError(run.error());
  if (json) {
    printJson(shortResultJson(*run, RunStatus::queued, ""));
  } else {
    fmt::print("run {} waits; start it with: dsa resume {}\n", *run, *run);
  }
  return 0;
}

/// The metrics of a stored table, without changing it.
Result<nlohmann::ordered_json> evaluateRun(const std::string& run, const std::string& database) {
  DSA_ASSIGN(const Reader reader, Reader::open(database.empty() ? Database::defaultPath() : database));
  DSA_ASSIGN(const RunId id, reader.find(run));
  DSA_ASSIGN(const RunRow row, reader.run(id));
  if (row.cacheFolder.empty()) {
    return fail(
        ErrorCode::input, "run {}: its table {}; nothing of it is stored here. Its recorded result: dsa runs show {}",
        id,
        row.placement == "disk" ? "was deleted, or stayed behind when the run was imported" : "lay in " + row.placement,
        id);
  }
  DSA_ASSIGN(const RunSetup setup, setupOfRun(row));
  DSA_ASSIGN(const std::unique_ptr<RowStore> store, RowStore::openReadOnly(row.cacheFolder));
  DSA_ASSIGN(const KernelLevel level, chooseLevel());
  ThreadPool pool(static_cast<unsigned>(std::min<std::uint64_t>(setup.spec.train.threads, kMaxWorkers)));
  std::vector<std::unique_ptr<RowScan>> scans;
  std::vector<WeightSource> sources;
  for (std::uint32_t t = 0; t < store->shape().tables.size(); ++t) {
    const TableShape& shape = store->shape().tables[t];
    DSA_ASSIGN(auto scan, RowScan::open(*store, t, ScanRows::all));
    // As in training: rows in order leave the page cache as it was, a single one is read in place.
    sources.push_back(
        {shape.rows, shape.dim,
         [&store = *store, &scan = *scan, t](std::uint64_t begin, std::uint64_t count, float* out) -> Result<void> {
           if (count > 1) return scan.readWeights(begin, count, out);
           store.readWeights(t, begin, out);
           return {};
         }});
    scans.push_back(std::move(scan));
  }
  DSA_ASSIGN(const EvalMetrics metrics,
             evaluate(*setup.dataset, setup.model, setup.spec.k, sources[0], sources.size() > 1 ? &sources[1] : nullptr,
                      level, pool, EvalOptions{}));
  DSA_TRY(store->intact());
  nlohmann::ordered_json object;
  object["run"] = id;
  object["step"] = store->step();
  object["metrics"] = metricsJson(metrics);
  return object;
}

}  // namespace

void addTrainCommands(CLI::App& app, Chosen& chosen) {
  auto spec = std::make_shared<SpecArguments>();
  auto output = std::make_shared<OutputArguments>();
  CLI::App* train = app.add_subcommand("train", "Train one run");
  addSpecOptions(*train, *spec);
  addOutputOptions(*train, *output);
  addUuidOption(*train, *output);
  auto queue = std::make_shared<bool>(false);
  train->add_flag("--queue", *queue, "record the run and let it wait; dsa resume starts it")->group("Output");
  train->callback([spec, output, queue, &chosen] {
    chosen = [spec, output, queue] {
      spec->recipeFolder = recipeFolder();
      const auto wanted = gatherSpec(*spec);
      if (!wanted) return reportError(wanted.error());
      RunnerOptions options = terminalOptions(output->database, output->hash);
      options.uuid = output->uuid;
      if (*queue) return printQueued(queueRun(*wanted, options), output->json);
      return printReport(startRun(*wanted, options), output->json);
    };
  });

  auto run = std::make_shared<std::string>();
  auto resumed = std::make_shared<OutputArguments>();
  CLI::App* resume = app.add_subcommand("resume",
                                        "Continue an interrupted or stopped run, from step 0 if nothing of it was "
                                        "kept; a finished one prints its result again");
  resume->add_option("RUN", *run, "Number or unique name of the run")->required();
  addOutputOptions(*resume, *resumed);
  resume->callback([run, resumed, &chosen] {
    chosen = [run, resumed] {
      return printReport(resumeRun(*run, terminalOptions(resumed->database, resumed->hash)), resumed->json);
    };
  });

  auto evaluated = std::make_shared<std::string>();
  auto database = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* eval = app.add_subcommand("eval", "Metrics of a stored table; the table is not changed");
  eval->add_option("RUN", *evaluated, "Number or unique name of the run")->required();
  eval->add_option("--db", *database, "Database of runs");
  eval->add_flag("--json", *json, "One JSON object on stdout");
  eval->callback([evaluated, database, json, &chosen] {
    chosen = [evaluated, database, json] {
      const auto object = evaluateRun(*evaluated, *database);
      if (!object) return reportError(object.error());
      if (*json) {
        printJson(*object);
      } else {
        fmt::print("run {} at step {}\n", (*object)["run"].dump(), (*object)["step"].dump());
        for (const auto& [name, value] : (*object)["metrics"].items())
          fmt::print("  {:<16} {:.6g}\n", name, value.get<double>());
      }
      return 0;
    };
  });
}

void addPlanCommand(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = app.add_subcommand("plan", "Bytes by place, before anything runs");
  addPlanOptions(*command, *arguments);
  command->callback([arguments, &chosen] {
    chosen = [arguments] {
      arguments->spec.recipeFolder = recipeFolder();
      PlanContext context;
      context.datasetFacts = [](const std::string& name) -> Result<DatasetFacts> {
        DSA_ASSIGN(const Dataset dataset, loadDataset(name));
        return factsOf(dataset);
      };
      const auto cache = arguments->spec.values.find("cache");
      context.machine = machineCapacity(cache == arguments->spec.values.end() ? defaultCacheFolder() : cache->second);
      return planCommand(*arguments, context, stdout, stderr);
    };
  });
}

}  // namespace dsa
