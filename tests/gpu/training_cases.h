// SPDX-License-Identifier: Apache-2.0
// Trainings that are run on a card and on the processor.
#pragma once

#include <fmt/format.h>

#include <string>

namespace dsa::test {

/// optimizer and train: JSON members, for example R"("rule": "radam")".
struct TrainingCase {
  const char* name;
  const char* dataset;
  const char* model;
  double k;
  const char* optimizer;
  int dim;
  const char* train;
};

/// more: further members of the optimizer.
inline std::string specOf(const TrainingCase& c, const std::string& placement, const std::string& device,
                          const std::string& more = "") {
  return fmt::format(R"({{"dataset": "{}", "model": "{}", "dim": {}, "k": {}, "device": "{}",
                         "optimizer": {{{}, "placement": "{}"{}}}, "train": {{{}, "seed": 7, "threads": 2}},
                         "checkpoint": {{"every_steps": 0}}}})",
                     c.dataset, c.model, c.dim, c.k, device, c.optimizer, placement, more.empty() ? "" : ", " + more,
                     c.train);
}

}  // namespace dsa::test
