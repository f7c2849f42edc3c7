// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_result.h"

namespace dsa {

namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json orNull(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

double rate(std::uint64_t count, double seconds) { return seconds > 0 ? static_cast<double>(count) / seconds : 0; }

ordered_json memoryJson(const RunSetup& setup, const TrainOutcome& outcome, const RunResources& resources) {
  const bool disk = setup.spec.optimizer.placement == PlacementChoice::disk;
  ordered_json memory;
  memory["private_peak"] = orNull(resources.privatePeak);
  // On disk: page cache of the table's files. In memory the table is resident whole.
  memory["table_resident_peak"] = disk ? orNull(resources.cachePeak) : ordered_json(outcome.tableBytes);
  memory["device_peak"] = outcome.devicePeak;
  memory["table_bytes"] = outcome.tableBytes;
  memory["disk_bytes"] = outcome.diskBytes;
  return memory;
}

}  // namespace

ordered_json metricsJson(const EvalMetrics& metrics) {
  ordered_json json = ordered_json::object();
  const auto put = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  };
  put("map", metrics.map);
  put("mean_rank", metrics.meanRank);
  put("mrr", metrics.mrr);
  put("hits_1", metrics.hits1);
  put("hits_3", metrics.hits3);
  put("hits_10", metrics.hits10);
  if (metrics.queriesTotal > 0) {
    json["queries"] = metrics.queries;
    json["queries_total"] = metrics.queriesTotal;
  }
  return json;
}

ordered_json shortResultJson(RunId run, RunStatus status, const std::string& reason) {
  ordered_json json;
  json["run"] = run;
  json["status"] = runStatusName(status);
  json["reason"] = reason;
  return json;
}

ordered_json resultJson(RunId run, RunStatus status, const std::string& reason, const RunSetup& setup,
                        const TrainOutcome& outcome, const RunResources& resources, double earlierSeconds) {
  ordered_json json = shortResultJson(run, status, reason);
  json["dataset"] = setup.spec.dataset;
  json["model"] = choiceName(setup.spec.model);
  json["dim"] = setup.spec.dim;
  json["k"] = setup.spec.k;
  json["rule"] = choiceName(setup.spec.optimizer.rule);
  json["placement"] = choiceName(setup.spec.optimizer.placement);
  json["device"] = setup.spec.device;
  json["simulated"] = setup.spec.device.starts_with("sim:");
  json["steps"] = outcome.steps;
  json["epochs"] = static_cast<double>(outcome.steps) / static_cast<double>(setup.stepsPerEpoch);
  json["loss_first"] = outcome.losses.empty() ? ordered_json(nullptr) : ordered_json(outcome.losses.front());
  json["loss_last"] = outcome.losses.empty() ? ordered_json(nullptr) : ordered_json(outcome.losses.back());
  json["losses"] = outcome.losses;
  json["steps_per_loss"] = setup.lossInterval;
  json["metrics"] = metricsJson(outcome.metrics);
  json["seconds"] = earlierSeconds + outcome.seconds;
  json["seconds_to_first_step"] = outcome.secondsToFirstStep;
  json["stall_seconds"] = outcome.stallSeconds;
  json["rows_per_s"] = rate(outcome.rows, outcome.seconds);
  json["samples_per_s"] = rate(outcome.samples, outcome.seconds);
  json["memory"] = memoryJson(setup, outcome, resources);
  json["faults"] = {{"minor", resources.faults ? ordered_json(resources.faults->minor) : ordered_json(nullptr)},
                    {"major", resources.faults ? ordered_json(resources.faults->major) : ordered_json(nullptr)}};
  json["io"] = {{"read", resources.io ? ordered_json(resources.io->readBytes) : ordered_json(nullptr)},
                {"written", resources.io ? ordered_json(resources.io->writeBytes) : ordered_json(nullptr)}};
  if (!outcome.tableSha256.empty()) json["table_sha256"] = outcome.tableSha256;
  return json;
}

}  // namespace dsa
