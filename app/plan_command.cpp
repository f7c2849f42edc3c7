// SPDX-License-Identifier: Apache-2.0
// `dsa plan`.
#include "app/plan_command.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/file.h"
#include "core/spec/spec_table.h"

namespace dsa {
namespace {

using Json = nlohmann::ordered_json;

/// A flag of the plan itself, checked as the spec's own counts are.
Result<std::uint64_t> countArgument(const std::string& text, const char* flag) {
  SpecKey key;
  key.type = SpecType::count;
  key.countLow = 1;
  key.countHigh = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  DSA_ASSIGN(const SpecValue value, valueFromText(key, text, flag));
  return std::get<std::uint64_t>(value);
}

Result<PlanInput> inputFromRows(const PlanArguments& arguments, const RunSpec& spec) {
  if (arguments.rows.empty())
    return fail(ErrorCode::usage, "plan: nothing to plan; give --rows N, --data FILE or --recipe NAME");
  if (!spec.dim) return fail(ErrorCode::usage, "plan: --rows needs --dim, the coordinates of a row");
  DSA_ASSIGN(const std::uint64_t rows, countArgument(arguments.rows, "--rows"));
  PlanInput input;
  input.k = spec.k.value_or(0);
  const Rule rule = spec.optimizer.rule.value_or(input.k > 0 ? Rule::radam : Rule::sparseAdam);
  input.tables.push_back({"entities", rows, rule, *spec.dim});
  input.batchRows = std::min<std::uint64_t>(rows, 10'000);
  input.placement = spec.optimizer.placement.value_or(PlacementChoice::disk);
  return input;
}

Result<PlanInput> inputFromData(RunSpec spec, const PlanContext& context) {
  DSA_CHECK(context.datasetFacts != nullptr);
  DSA_ASSIGN(const DatasetFacts facts, context.datasetFacts(*spec.dataset));
  // A plan asks about the card; the run that follows need not have one.
  if (spec.optimizer.placement == PlacementChoice::gpu && !spec.device) spec.device = "cuda:0";
  DSA_ASSIGN(const ResolvedSpec resolved, resolve(spec, facts));
  return planInputFor(resolved, facts, {});
}

Result<PlanInput> gatherInput(const PlanArguments& arguments, const PlanContext& context) {
  DSA_ASSIGN(RunSpec spec, gatherSpec(arguments.spec));
  if (!arguments.data.empty()) spec.dataset = arguments.data;
  const bool fromData = spec.dataset.has_value() && arguments.rows.empty();
  if (!arguments.data.empty() && !arguments.rows.empty()) {
    return fail(ErrorCode::usage, "plan: --rows {} and --data {} exclude each other; keep one", arguments.rows,
                arguments.data);
  }
  DSA_ASSIGN(PlanInput input, fromData ? inputFromData(spec, context) : inputFromRows(arguments, spec));
  if (!arguments.batchRows.empty()) {
    DSA_ASSIGN(input.batchRows, countArgument(arguments.batchRows, "--batch-rows"));
  }
  input.capacity = context.machine;
  if (!arguments.fit.empty()) {
    const auto size = parseBytes(arguments.fit);
    if (!size || *size == 0)
      return fail(ErrorCode::usage, "--fit: \"{}\" is not a size; write \"12 GiB\"", arguments.fit);
    input.capacity.card = *size;
  }
  return input;
}

/// With --fit the question is the card; else it is the place that was asked for.
std::optional<Verdict> mainVerdict(const PlanArguments& arguments, const Plan& plan) {
  if (!arguments.fit.empty()) return plan.verdicts.front();
  return plan.placement;
}

Json jsonOf(const Verdict& verdict) {
  return {{"against", verdict.against},
          {"verdict", fitName(verdict.fit)},
          {"needs", verdict.needs},
          {"capacity", verdict.capacity},
          {"message", verdict.message}};
}

Json jsonOf(const Rival& rival) {
  Json json = {{"name", rival.name}, {"bytes", rival.bytes}};
  if (rival.dim) json["dim"] = *rival.dim;
  if (rival.verdict) {
    json["verdict"] = fitName(rival.verdict->fit);
    json["message"] = rival.verdict->message;
  }
  return json;
}

std::string jsonReport(const PlanInput& input, const Plan& plan, const std::optional<Verdict>& verdict) {
  const PlanTable& table = input.tables.front();
  Json json = {{"rows", table.rows},
               {"dim", table.dim},
               {"rule", ruleName(table.rule)},
               {"batch_rows", input.batchRows},
               {"placement", choiceName(input.placement)},
               {"weights", plan.weights},
               {"moments", plan.moments},
               {"total", plan.total},
               {"batch", plan.batch},
               {"device", plan.device},
               {"context", plan.context > 0 ? Json(plan.context) : Json(nullptr)},
               {"pinned", plan.pinned},
               {"memory", plan.memory},
               {"disk", plan.disk}};
  json["verdict"] = verdict ? Json(fitName(verdict->fit)) : Json(nullptr);
  json["message"] = verdict ? Json(verdict->message) : Json(nullptr);
  json["tables"] = Json::array();
  for (const PlanTable& each : input.tables) {
    json["tables"].push_back({{"name", each.name},
                              {"rows", each.rows},
                              {"dim", each.dim},
                              {"rule", ruleName(each.rule)},
                              {"bytes", each.rows * 4 * rowFloats(each.rule, each.dim)}});
  }
  json["verdicts"] = Json::array();
  for (const Verdict& each : plan.verdicts) json["verdicts"].push_back(jsonOf(each));
  json["rivals"] = Json::array();
  for (const Rival& each : plan.rivals) json["rivals"].push_back(jsonOf(each));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string textReport(const PlanInput& input, const Plan& plan) {
  std::string text;
  for (const PlanTable& table : input.tables) {
    text +=
        fmt::format("{}: {} rows x {} coordinates, rule {}\n", table.name, table.rows, table.dim, ruleName(table.rule));
  }
  const auto line = [&text](std::string_view name, std::uint64_t bytes) {
    text += fmt::format("  {:<26}{:>18} bytes  {}\n", name, bytes, formatBytes(bytes));
  };
  line("weights", plan.weights);
  line("moments", plan.moments);
  line("total", plan.total);
  line("batch working set", plan.batch);
  text += fmt::format("with the table on {}:\n", choiceName(input.placement));
  line("device", plan.device);
  // NVML counts it, as memory of the process, while a run is on.
  if (plan.context == 0) text += "  and what a card's driver takes for its context, which is not known before\n";
  if (plan.context > 0) line("of it the driver's context", plan.context);
  if (plan.pinned > 0) line("page-locked for a card", plan.pinned);
  line("private memory", plan.memory);
  line("disk", plan.disk);
  for (const Verdict& verdict : plan.verdicts) text += verdict.message + "\n";
  if (!plan.rivals.empty()) text += "instead:\n";
  for (const Rival& rival : plan.rivals) {
    line(rival.dim ? fmt::format("dim {}", *rival.dim) : rival.name, rival.bytes);
    if (rival.dim) text += fmt::format("    {}\n", *rival.dim == 0 ? "no dim fits the card" : rival.name);
    if (rival.verdict) text += fmt::format("    {}\n", rival.verdict->message);
  }
  return text;
}

}  // namespace

PlanCapacity machineCapacity(const std::string& folder) {
  PlanCapacity capacity;
  std::ifstream memory("/proc/meminfo");
  for (std::string line; std::getline(memory, line);) {
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kib) == 1) capacity.memory = std::uint64_t{kib} * 1024;
  }
  std::error_code error;
  std::filesystem::path place = std::filesystem::absolute(folder.empty() ? "." : folder, error);
  while (!error && !std::filesystem::exists(place, error) && place.has_relative_path()) place = place.parent_path();
  const auto space = std::filesystem::space(place, error);
  if (!error) capacity.disk = space.available;
  return capacity;
}

void addPlanOptions(CLI::App& app, PlanArguments& arguments) {
  app.add_option("--rows", arguments.rows, "rows of the table")->type_name("COUNT")->group("Plan");
  app.add_option("--batch-rows", arguments.batchRows, "unique rows of a step [10000, or the data set's batch]")
      ->type_name("COUNT")
      ->group("Plan");
  app.add_option("--fit", arguments.fit, "size to fit the table into, such as \"12 GiB\"")
      ->type_name("SIZE")
      ->group("Plan");
  app.add_option("--data", arguments.data, "data set that gives the rows")->type_name("FILE")->group("Plan");
  app.add_flag("--json", arguments.json, "print one JSON object")->group("Plan");
  addSpecOptions(app, arguments.spec);
}

Result<std::string> planReport(const PlanArguments& arguments, const PlanContext& context) {
  DSA_ASSIGN(const PlanInput input, gatherInput(arguments, context));
  DSA_ASSIGN(const Plan result, plan(input));
  return arguments.json ? jsonReport(input, result, mainVerdict(arguments, result)) : textReport(input, result);
}

int planCommand(const PlanArguments& arguments, const PlanContext& context, std::FILE* out, std::FILE* err) {
  const auto report = planReport(arguments, context);
  if (!report) {
    fmt::print(err, "dsa: {}\n", report.error().message);
    return exitCode(report.error());
  }
  fmt::print(out, "{}", *report);
  return 0;
}

}  // namespace dsa
