// SPDX-License-Identifier: Apache-2.0
// What a run ends with, as the JSON object of design.md section 7.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/metrics/metric_sampler.h"
#include "core/record/records.h"
#include "core/train/trainer.h"

namespace dsa {

/// Resources of one attempt. Bytes and counts.
struct RunResources {
  std::optional<std::uint64_t> privatePeak;  ///< RssAnon + VmPTE + VmSwap, sampled
  std::optional<std::uint64_t> cachePeak;    ///< page cache of the table's files, sampled
  std::optional<FaultCounts> faults;         ///< getrusage, this attempt
  std::optional<ProcessIo> io;               ///< /proc/self/io, this attempt
};

/// The object that train, resume and the record hold. `earlierSeconds`: training time of earlier attempts.
[[nodiscard]] nlohmann::ordered_json resultJson(RunId run, RunStatus status, const std::string& reason,
                                                const RunSetup& setup, const TrainOutcome& outcome,
                                                const RunResources& resources, double earlierSeconds);
/// The object of a run that never trained or broke off: run, status, reason.
[[nodiscard]] nlohmann::ordered_json shortResultJson(RunId run, RunStatus status, const std::string& reason);
/// map, mean_rank, mrr, hits_1, hits_3, hits_10 and how many queries they are of; only what the dataset has.
[[nodiscard]] nlohmann::ordered_json metricsJson(const EvalMetrics& metrics);

}  // namespace dsa
