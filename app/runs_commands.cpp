// SPDX-License-Identifier: Apache-2.0
// `dsa runs`: list, show, export, import, rm.
#include <ctime>
#include <memory>

#include "app/commands.h"
#include "core/record/bundle.h"
#include "core/record/editor.h"
#include "core/record/reader.h"
#include "core/store/row_store.h"

namespace dsa {

namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json orNull(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json summaryJson(const RunSummary& run) {
  ordered_json json;
  json["run"] = run.id;
  json["uuid"] = run.uuid;
  json["name"] = run.name;
  json["status"] = runStatusName(run.status);
  json["reason"] = run.reason;
  json["created_ms"] = run.createdMs;
  json["started_ms"] = orNull(run.startedMs);
  json["ended_ms"] = orNull(run.endedMs);
  json["dataset"] = run.dataset;
  json["model"] = run.model;
  json["dim"] = run.dim;
  json["k"] = run.k;
  json["rule"] = run.rule;
  json["placement"] = run.placement;
  json["seed"] = run.seed;
  json["step"] = orNull(run.progress.step);
  json["epoch"] = orNull(run.progress.epoch);
  json["loss_last"] = orNull(run.progress.lossLast);
  json["private_peak"] = orNull(run.progress.privatePeak);
  json["device_peak"] = orNull(run.progress.devicePeak);
  json["cache_peak"] = orNull(run.progress.cachePeak);
  json["seconds"] = orNull(run.progress.seconds);
  json["attempts"] = run.attempts;
  json["archived"] = run.archived;
  json["tags"] = run.tags;
  return json;
}

ordered_json parsed(const std::string& text) {
  ordered_json json = ordered_json::parse(text, nullptr, false);
  return json.is_discarded() ? ordered_json(nullptr) : json;
}

std::string when(std::int64_t ms) {
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return text;
}

/// Runs whose process is gone are told as interrupted before anything is listed.
Result<Reader> openReconciled(const std::string& path) {
  if (std::filesystem::exists(path)) {
    DSA_ASSIGN(Editor editor, Editor::open(path));
    DSA_TRY(editor.reconcile());
  }
  return Reader::open(path);
}

Result<int> list(const std::string& path, bool all, bool json) {
  if (!std::filesystem::exists(path)) {
    // No run was ever recorded: an empty list, not an error.
    if (json)
      printJson(ordered_json{{"runs", ordered_json::array()}});
    else
      fmt::print("No runs yet in {}. Start one: dsa train --recipe wordnet-mammals\n", path);
    return 0;
  }
  DSA_ASSIGN(const Reader reader, openReconciled(path));
  DSA_ASSIGN(const std::vector<RunSummary> runs, reader.runs(all));
  if (json) {
    ordered_json object;
    object["runs"] = ordered_json::array();
    for (const RunSummary& run : runs) object["runs"].push_back(summaryJson(run));
    printJson(object);
    return 0;
  }
  if (runs.empty())
    fmt::print("No runs yet. Start one: dsa train --recipe wordnet-mammals\n");
  else
    fmt::print("{:>5}  {:<12} {:<28} {:<18} {:>5} {:>5}  {:<12} {:<5} {:>10}  {}\n", "run", "status", "name", "dataset",
               "dim", "k", "rule", "place", "loss", "created");
  for (const RunSummary& run : runs) {
    fmt::print("{:>5}  {:<12} {:<28.28} {:<18.18} {:>5} {:>5.3g}  {:<12} {:<5} {:>10}  {}\n", run.id,
               runStatusName(run.status), run.name, run.dataset, run.dim, run.k, run.rule, run.placement,
               run.progress.lossLast ? fmt::format("{:.5g}", *run.progress.lossLast) : "-", when(run.createdMs));
  }
  return 0;
}

Result<int> show(const std::string& path, const std::string& name, bool json) {
  DSA_ASSIGN(const Reader reader, openReconciled(path));
  DSA_ASSIGN(const RunId id, reader.find(name));
  DSA_ASSIGN(const RunRow row, reader.run(id));
  DSA_ASSIGN(const std::vector<EventRow> events, reader.events(id));
  ordered_json object = summaryJson(row);
  object["spec"] = parsed(row.spec);
  object["machine"] = row.machine;
  object["versions"] = parsed(row.versions);
  object["notes"] = row.notes;
  object["cache_folder"] = row.cacheFolder;
  object["result"] = parsed(row.result);
  object["events"] = ordered_json::array();
  for (const EventRow& event : events)
    object["events"].push_back(
        {{"wall_ms", event.wallMs}, {"step", event.step}, {"kind", event.kind}, {"text", event.text}});
  if (json) {
    printJson(object);
    return 0;
  }
  fmt::print("run {}  {}  {}\n", id, row.name, runStatusName(row.status));
  if (!row.reason.empty()) fmt::print("  {}\n", row.reason);
  if (!row.cacheFolder.empty()) fmt::print("  table: {}\n", row.cacheFolder);
  if (object["result"].is_object()) printRun(object["result"]);
  for (const EventRow& event : events)
    fmt::print("  {}  step {}  {}: {}\n", when(event.wallMs), event.step, event.kind, event.text);
  return 0;
}

enum class Removal { all, record, table };

/// The table first: while the record stands, a removal that failed can be asked for again.
Result<int> remove(const std::string& path, const std::string& name, Removal what) {
  DSA_ASSIGN(const Reader reader, openReconciled(path));
  DSA_ASSIGN(const RunId id, reader.find(name));
  DSA_ASSIGN(const RunRow row, reader.run(id));
  DSA_ASSIGN(Editor editor, Editor::open(path));
  DSA_TRY(editor.checkEnded(id));
  if (what == Removal::table && row.cacheFolder.empty())
    return fail(ErrorCode::input, "run {}: has no table on this disk; nothing was deleted", id);
  if (what != Removal::record && !row.cacheFolder.empty()) {
    fmt::print(stderr, "deleting {} ...\n", row.cacheFolder);
    DSA_ASSIGN(const bool deleted, RowStore::remove(row.cacheFolder));
    DSA_TRY(editor.tableDeleted(id));
    fmt::print("{} {}\n", row.cacheFolder, deleted ? "deleted" : "held no table any more");
  }
  if (what == Removal::table) return 0;
  DSA_TRY(editor.remove(id));
  fmt::print("run {} removed from the record\n", id);
  return 0;
}

int told(const Result<int>& result) { return result ? *result : reportError(result.error()); }

}  // namespace

void addRunsCommands(CLI::App& app, Chosen& chosen) {
  struct Arguments {
    std::string database, run, file;
    bool json = false, all = false, keep = false, only = false, replace = false;
    [[nodiscard]] std::string path() const { return database.empty() ? Database::defaultPath() : database; }
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* runs = app.add_subcommand("runs", "The record of runs");
  runs->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, const std::function<Result<int>(const Arguments&)>& work) {
    CLI::App* command = runs->add_subcommand(name, help);
    command->add_option("--db", a->database, "Database of runs");
    command->callback([a, work, &chosen] { chosen = [a, work] { return told(work(*a)); }; });
    return command;
  };
  CLI::App* listed =
      add("list", "All runs, newest last", [](const Arguments& x) { return list(x.path(), x.all, x.json); });
  listed->add_flag("--json", a->json, "One JSON object on stdout");
  listed->add_flag("--all", a->all, "Archived ones too");
  CLI::App* shown = add("show", "One run: spec, machine, result, events",
                        [](const Arguments& x) { return show(x.path(), x.run, x.json); });
  shown->add_option("RUN", a->run, "Number or unique name")->required();
  shown->add_flag("--json", a->json, "One JSON object on stdout");
  CLI::App* exported = add("export", "One run as a file, without its table", [](const Arguments& x) -> Result<int> {
    DSA_ASSIGN(const Reader reader, Reader::open(x.path()));
    DSA_ASSIGN(const RunId id, reader.find(x.run));
    DSA_TRY(exportRun(x.path(), id, x.file));
    fmt::print("run {} written to {}\n", id, x.file);
    return 0;
  });
  exported->add_option("RUN", a->run, "Number or unique name")->required();
  exported->add_option("--out", a->file, "File to write; an existing one is not overwritten")->required();
  CLI::App* imported =
      add("import", "Runs from a file that `runs export` wrote", [](const Arguments& x) -> Result<int> {
        DSA_ASSIGN(const std::vector<RunId> ids,
                   importRuns(x.path(), x.file, x.replace ? OnSameRun::replace : OnSameRun::refuse));
        for (const RunId id : ids) fmt::print("imported as run {}\n", id);
        return 0;
      });
  imported->add_option("FILE", a->file, "File to read")->required();
  imported->add_flag("--replace", a->replace, "Replace a run that is here already");
  CLI::App* removed = add("rm", "Remove a run from the record, and its table", [](const Arguments& x) -> Result<int> {
    if (x.keep && x.only) return fail(ErrorCode::usage, "runs rm: --keep-table and --table-only exclude each other");
    return remove(x.path(), x.run, x.keep ? Removal::record : x.only ? Removal::table : Removal::all);
  });
  removed->add_option("RUN", a->run, "Number or unique name")->required();
  removed->add_flag("--keep-table", a->keep, "Leave the table's files");
  removed->add_flag("--table-only", a->only, "Delete the table's files, leave the record");
}

}  // namespace dsa
