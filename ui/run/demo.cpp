// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/demo.h"

#include <QTime>
#include <algorithm>
#include <utility>

#include "core/data/resources.h"
#include "core/spec/recipe.h"
#include "ui/look/units.h"

namespace dsa::ui {

namespace {

constexpr std::uint64_t kMemoryForAll = 4ull << 30;
constexpr std::uint64_t kFewRows = 250'000;
constexpr std::uint64_t kDim = 128;
constexpr std::uint64_t kStateFloats = 3;  // w, m, v
constexpr std::uint64_t kStepsToJudge = 20;
constexpr double kLongestArm = 120;
constexpr double kArmSeconds = 60;
constexpr std::uint64_t kFewestSteps = 40;  // a curve, and an eviction with five steps after it

/// The recipe as a run of its own, called by the time of day.
Result<LaunchRequest> recipeRequest(const std::string& name, const QString& called) {
  DSA_ASSIGN(const std::string folder, resourceFolder());
  DSA_ASSIGN(const Recipe recipe, loadRecipe(folder + "/recipes", name));
  LaunchRequest request;
  request.spec = recipe.spec;
  request.spec.name = called.arg(QTime::currentTime().toString("HH:mm")).toStdString();
  return request;
}

}  // namespace

DemoPlan planDemo(std::optional<std::uint64_t> memoryAvailable) {
  DemoPlan plan;
  plan.shrunk = memoryAvailable && *memoryAvailable < kMemoryForAll;
  if (plan.shrunk) plan.rows = kFewRows;
  return plan;
}

QString DemoPlan::description() const {
  const QString table = Units::bytes(static_cast<double>(rows * kDim * kStateFloats * sizeof(float)));
  QString text = DemoDirector::tr("A table of %1 rows (%2), trained twice with the same bits: in RAM, then on disk.")
                     .arg(Units::count(rows), table);
  if (shrunk) text += " " + DemoDirector::tr("Under 4 GiB of memory are available: a quarter of the usual rows.");
  return text;
}

Result<LaunchRequest> DemoPlan::request() const {
  DSA_ASSIGN(LaunchRequest request, recipeRequest("demo", DemoDirector::tr("Demo %1")));
  request.spec.dataset = "zipf:" + std::to_string(rows);
  if (steps) request.spec.train.steps = steps;
  request.arms = {"ram:sparse_adam", "disk:sparse_adam"};
  return request;
}

std::optional<std::uint64_t> stepsForSlowArm(const RunSummary& arm) {
  const RunProgress& done = arm.progress;
  if (!arm.plannedSteps || !done.step || *done.step < kStepsToJudge || !done.seconds) return std::nullopt;
  // Rows that are touched for the first time make the first steps on disk five times as long as the mean: only a whole
  // minute says something.
  if (arm.placement == "disk" && *done.seconds < kArmSeconds) return std::nullopt;
  const double secondsAStep = *done.seconds / static_cast<double>(*done.step);
  if (secondsAStep * static_cast<double>(*arm.plannedSteps) <= kLongestArm) return std::nullopt;
  const auto fit = static_cast<std::uint64_t>(kArmSeconds / secondsAStep / 10) * 10;
  const std::uint64_t steps = std::max(kFewestSteps, fit);
  if (steps >= *arm.plannedSteps) return std::nullopt;
  return steps;
}

Result<LaunchRequest> secondActRequest() { return recipeRequest("demo-disk", DemoDirector::tr("Demo %1, second act")); }

void DemoDirector::begin(const QStringList& uuids) {
  m_uuids = uuids;
  m_evicted = false;
  m_fewer.reset();
}

void DemoDirector::runsChanged(const RunList& runs) {
  if (m_uuids.size() != 2) return;
  const RunSummary* arms[2] = {nullptr, nullptr};
  for (const RunSummary& run : runs)
    for (int i = 0; i < 2; ++i)
      if (run.uuid == m_uuids[i].toStdString()) arms[i] = &run;
  const RunSummary* disk = arms[1];
  const auto active = [](const RunSummary* arm) { return arm != nullptr && runStatusIsActive(arm->status); };
  if (m_fewer) {
    if (active(arms[0]) || active(disk)) return;
    QVector<RunId> stopped;
    for (const RunSummary* arm : arms)
      if (arm != nullptr) stopped << arm->id;
    m_uuids.clear();
    emit tooSlow(*std::exchange(m_fewer, std::nullopt), stopped);
    return;
  }
  for (const RunSummary* arm : arms) {
    if (arm == nullptr || arm->status != RunStatus::running) continue;
    m_fewer = stepsForSlowArm(*arm);
    // A stopped arm ends the comparison: the runner does not begin the next one.
    if (m_fewer) {
      m_records.send(arm->id, CommandKind::stop);
      return;
    }
  }
  if (disk != nullptr && !m_evicted && disk->status == RunStatus::running && disk->plannedSteps &&
      disk->progress.step && *disk->progress.step * 8 >= *disk->plannedSteps * 7) {
    m_evicted = true;
    m_records.send(disk->id, CommandKind::evict);
  }
  if (arms[0] != nullptr && disk != nullptr && !active(arms[0]) && !active(disk)) {
    m_uuids.clear();
    emit ended(arms[0]->id, disk->id);
  }
}

}  // namespace dsa::ui
