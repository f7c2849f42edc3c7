// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/run_text.h"

#include <QCoreApplication>

#include "core/spec/spec_table.h"
#include "ui/look/theme.h"

namespace dsa::ui {

namespace {

struct RunText {
  Q_DECLARE_TR_FUNCTIONS(RunText)
};

}  // namespace

QString statusText(RunStatus status) {
  switch (status) {
    case RunStatus::queued:
      return RunText::tr("queued");
    case RunStatus::running:
      return RunText::tr("running");
    case RunStatus::paused:
      return RunText::tr("paused");
    case RunStatus::finished:
      return RunText::tr("finished");
    case RunStatus::stopped:
      return RunText::tr("stopped");
    case RunStatus::interrupted:
      return RunText::tr("interrupted");
    case RunStatus::failed:
      return RunText::tr("failed");
    case RunStatus::refused:
      break;
  }
  return RunText::tr("refused");
}

QColor statusColour(RunStatus status) {
  const Theme& theme = Theme::current();
  switch (status) {
    case RunStatus::running:
      return theme.ram;
    case RunStatus::finished:
      return theme.good;
    case RunStatus::failed:
    case RunStatus::refused:
      return theme.error;
    case RunStatus::interrupted:
    case RunStatus::paused:
      return theme.warning;
    case RunStatus::queued:
    case RunStatus::stopped:
      break;
  }
  return theme.muted;
}

QString placeText(const std::string& placement) {
  if (placement == "disk") return RunText::tr("Disk");
  if (placement == "ram") return RunText::tr("RAM");
  if (placement == "gpu") return RunText::tr("GPU");
  return QString::fromStdString(placement);
}

QString ruleText(const std::string& rule) {
  if (rule == "sparse_adam") return RunText::tr("Adam");
  if (rule == "radam") return RunText::tr("Riemannian Adam");
  if (rule == "rsgd") return RunText::tr("Riemannian SGD");
  if (rule == "row_adagrad") return RunText::tr("row Adagrad");
  if (rule == "dsa") return RunText::tr("DSA original");
  return QString::fromStdString(rule);
}

QString modelText(const std::string& model) {
  if (model == "poincare") return RunText::tr("Poincare distance");
  if (model == "euclidean") return RunText::tr("Euclidean distance");
  if (model == "transe") return RunText::tr("TransE");
  if (model == "distmult") return RunText::tr("DistMult");
  return QString::fromStdString(model);
}

QString geometryText(double k) {
  if (k == 0) return RunText::tr("Euclidean");
  return RunText::tr("k = %1").arg(QString::fromStdString(shortestNumber(k)));
}

bool canResume(const RunSummary& run) {
  // Its table was deleted, or stayed behind when the run was imported.
  if (run.placement == "disk" && !run.hasTable) return false;
  return run.status == RunStatus::interrupted || run.status == RunStatus::stopped || run.status == RunStatus::queued ||
         run.status == RunStatus::failed;
}

bool canDeleteTable(const RunSummary& run) { return run.hasTable && !runStatusIsActive(run.status); }

}  // namespace dsa::ui
