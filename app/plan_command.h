// SPDX-License-Identifier: Apache-2.0
// `dsa plan`: bytes of a table by place, before anything runs.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>

#include "app/options.h"
#include "core/base/error.h"
#include "core/spec/planner.h"

namespace dsa {

/// Must outlive the CLI::App that fills it.
struct PlanArguments {
  SpecArguments spec;     ///< --dim, --k, --rule, --placement, --cache and the other keys that matter to a plan
  std::string rows;       ///< --rows, or the data set's
  std::string batchRows;  ///< --batch-rows, or batch x (negatives + 2)
  std::string fit;        ///< --fit
  std::string data;       ///< --data
  bool json = false;
};

/// What the plan asks of the rest of the program.
struct PlanContext {
  /// Facts of a data set, by name or path.
  std::function<Result<DatasetFacts>(const std::string& dataset)> datasetFacts;
  /// Memory, disk and card of this machine; --fit stands in for the card.
  PlanCapacity machine;
};

/// Available memory, and free space on the disk of `folder` or its nearest existing parent. No card.
PlanCapacity machineCapacity(const std::string& folder);

void addPlanOptions(CLI::App& app, PlanArguments& arguments);

/// The plan as text or, with --json, as one object. Errors: usage and those of datasetFacts.
Result<std::string> planReport(const PlanArguments& arguments, const PlanContext& context);

/// Prints the report to `out`, an error to `err`; the exit code. A plan that does not fit is an answer: 0.
int planCommand(const PlanArguments& arguments, const PlanContext& context, std::FILE* out, std::FILE* err);

}  // namespace dsa
