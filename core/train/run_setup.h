// SPDX-License-Identifier: Apache-2.0
// From a resolved spec and its dataset to what the layers below take: shapes, step parameters, schedule, device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/data/dataset.h"
#include "core/device/device.h"
#include "core/model/model.h"
#include "core/optim/tables.h"
#include "core/spec/dataset_facts.h"
#include "core/spec/resolve.h"
#include "core/train/schedule.h"

namespace dsa {

[[nodiscard]] ModelKind modelKindOf(const ResolvedSpec& spec);
/// How the tables of a run with placement disk are reached: the engine auto is direct under a budget, else mmap.
[[nodiscard]] DiskOptions diskOptionsOf(const ResolvedSpec& spec);

/// Everything about a run that follows from its spec and dataset.
struct RunSetup {
  ResolvedSpec spec;
  std::shared_ptr<const Dataset> dataset;
  DatasetFacts facts;
  ModelKind model = ModelKind::poincare;
  StoreShape shape;
  std::vector<StepParams> params;  ///< one a table, without t and bias corrections
  Schedule schedule;
  std::uint64_t stepsPerEpoch = 1;
  std::uint64_t plannedSteps = 1;
  std::uint64_t lossInterval =
      1;  ///< steps that one entry of `losses` is the mean of: an epoch, or 100 for synthetic pairs
};

/// Errors usage: a value that does not fit (resolve); input: nothing to train on.
Result<RunSetup> makeSetup(const RunSpec& spec, std::shared_ptr<const Dataset> dataset);

/// The device of the spec. Error machine: "cuda:0" where this program or machine has no CUDA.
Result<std::shared_ptr<Device>> makeDevice(const ResolvedSpec& spec);

/// Refuses, before anything is touched, a table in RAM or on a card that does not fit. Error machine: "needs 14.31 GiB,
/// card has 12.00 GiB; nothing was run".
Result<void> checkFits(const RunSetup& setup, std::uint64_t memoryAvailable);

}  // namespace dsa
