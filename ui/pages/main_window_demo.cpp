// SPDX-License-Identifier: GPL-3.0-or-later
// The one-minute demo and its second act in the main window.
#include "ui/pages/main_window.h"

#include <QAction>

#include "ui/look/units.h"
#include "ui/pages/banner.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/embedding_page.h"
#include "ui/run/run_text.h"

namespace dsa::ui {

void MainWindow::startDemo() { runDemo(planDemo(Hardware::memoryAvailable())); }

void MainWindow::runDemo(const DemoPlan& plan) {
  const auto request = plan.request();
  if (!request) {
    m_banner->say(Banner::Kind::error, QString::fromStdString(request.error().message));
    return;
  }
  const QStringList uuids = m_launcher.start(*request);
  if (uuids.isEmpty()) return;
  m_banner->hide();
  m_demo.begin(uuids);
  m_compare->expect(uuids);
  showTab(CompareTab);
}

// The comparison stays on the screen: it is what the user came for. What follows is offered.
void MainWindow::onDemoEnded(RunId ram, RunId disk) {
  const auto a = m_model.run(ram);
  const auto b = m_model.run(disk);
  // What failed or was stopped may be resumed: its table stays.
  if (!a || !b || a->status != RunStatus::finished || b->status != RunStatus::finished) return;
  deleteDemoTable(*b);
  const QString done = m_keepDemoAction->isChecked()
                           ? tr("The demo is done. Its table stays on the disk, as you asked.")
                           : tr("The demo is done. Its table is deleted from the disk; both records stay.");
  m_banner->say(Banner::Kind::info, done + " " + tr("Second act: mammals unfold in the Poincaré disk."),
                tr("Watch the second act"), [this] { startSecondAct(); });
}

void MainWindow::onDemoTooSlow(std::uint64_t steps, const QVector<RunId>& stopped) {
  for (const RunId id : stopped) {
    if (const auto run = m_model.run(id); run && canDeleteTable(*run)) m_launcher.deleteTable(*run);
    m_records.edit(tr("Archive"), [id](Editor& editor) { return editor.setArchived(id, true); });
  }
  DemoPlan plan = planDemo(Hardware::memoryAvailable());
  plan.steps = steps;
  runDemo(plan);
  m_banner->say(
      Banner::Kind::warning,
      tr("One arm of the demo would take longer than two minutes here. It was started again with %1 steps, the "
         "same in both arms; what had begun is in the archive.")
          .arg(Units::count(steps)));
}

void MainWindow::startSecondAct(const std::optional<LaunchRequest>& request) {
  const auto wanted = request ? Result<LaunchRequest>(*request) : secondActRequest();
  if (!wanted) {
    m_banner->say(Banner::Kind::error, QString::fromStdString(wanted.error().message));
    return;
  }
  const QStringList uuids = m_launcher.start(*wanted);
  if (uuids.isEmpty()) return;
  m_banner->hide();
  m_secondAct = uuids.constFirst();
  m_expected = m_secondAct;
  m_expectedOn = EmbeddingTab;
  m_embedding->expect();
  showTab(EmbeddingTab);
}

/// Its points are in the record: like the first act's, its table need not stay.
void MainWindow::noticeSecondAct() {
  const auto run = m_secondAct.isEmpty() ? std::nullopt : m_model.byUuid(m_secondAct);
  if (!run || runStatusIsActive(run->status)) return;
  m_secondAct.clear();
  if (run->status == RunStatus::finished) deleteDemoTable(*run);
}

void MainWindow::deleteDemoTable(const RunSummary& run) {
  if (!m_keepDemoAction->isChecked() && canDeleteTable(run)) m_launcher.deleteTable(run);
}

}  // namespace dsa::ui
