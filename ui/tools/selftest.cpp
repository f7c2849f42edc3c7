// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/tools/selftest.h"

#include <QApplication>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTextStream>

#include "ui/pages/compare_page.h"
#include "ui/pages/embedding_page.h"
#include "ui/pages/live_page.h"
#include "ui/pages/main_window.h"
#include "ui/pages/runs_page.h"
#include "ui/plots/plot.h"
#include "ui/plots/scatter.h"
#include "ui/tools/made_records.h"
#include "ui/tools/metered_application.h"
#include "ui/tools/wait.h"

namespace dsa::ui {

namespace {

constexpr int kSeries = 9;  // of each run of the pair
constexpr int kSamples = 1'000'000 / (2 * kSeries);

}  // namespace

int runSelftest() {
  QTextStream out(stdout);
  QTemporaryDir folder;
  const QString path = folder.filePath("made.sqlite");
  MadeRecords wanted;
  wanted.extraRuns = 994;
  wanted.samplesASeries = kSamples;
  if (const auto made = makeRecords(path, wanted); !made) {
    QTextStream(stderr) << "dsa-lab: " << QString::fromStdString(made.error().message) << "\n";
    return exitCode(made.error());
  }
  out << "database: 1,000 runs, " << 2 * kSeries * kSamples << " samples (made, not measured)\n" << Qt::flush;
  bool fine = true;
  MeteredApplication::meter(true);
  const auto stage = [&](const char* name, bool worked) {
    out << QString("%1 %2  longest event of the window's thread: %3 ms CPU\n")
               .arg(name, -28)
               .arg(worked ? "ok    " : "FAILED")
               .arg(MeteredApplication::takeLongest(), 0, 'f', 1)
        << Qt::flush;
    fine = fine && worked;
  };
  const double before = MeteredApplication::cpuMs();
  MainWindow window(path);
  window.resize(1180, 760);
  window.show();
  settle(100);
  out << QString("window made and shown in %1 ms CPU\n").arg(MeteredApplication::cpuMs() - before, 0, 'f', 1);
  stage("window shown", true);
  stage("list of runs", waitUntil([&] { return window.model().rowCount() == 1000; }));
  window.showTab(MainWindow::RunsTab);
  window.runsPage().shown().setFilterText("dim>=64 place:disk");
  settle(300);
  stage("filter", window.runsPage().shown().rowCount() > 0 && window.runsPage().shown().rowCount() < 1000);
  window.runsPage().shown().setFilterText({});
  window.runsPage().select(2);
  settle(300);
  stage("selection", window.runsPage().selected().size() == 1);
  window.openRun(2);
  stage("live: all samples", waitUntil(
                                 [&] {
                                   return window.livePage().series().of("loss").value.size() >= 400 &&
                                          window.livePage().series().of("memory.private").value.size() == kSamples;
                                 },
                                 120000));
  settle(500);
  bool drawn = true;
  for (const Plot* plot : window.livePage().plots()) drawn = drawn && !plot->drawn(0).x.isEmpty();
  stage("live: plots drawn", drawn);
  window.compareRuns({1, 2});
  stage("compare", waitUntil([&] { return window.comparePage().results().rowCount() > 0; }, 120000));
  settle(1500);
  stage("compare: plots drawn", !window.comparePage().plots().constFirst()->drawn(1).x.isEmpty());
  window.openEmbedding(6);
  const bool arrived = waitUntil([&] { return window.embeddingPage().scatter().frame().of != nullptr; });
  window.embeddingPage().search("raptor");
  settle(500);
  stage("embedding drawn", arrived && !window.embeddingPage().scatter().labels().isEmpty());
  out << (fine ? "selftest: all that was done worked\n" : "selftest: something did not work, see above\n");
  return fine ? 0 : 1;
}

}  // namespace dsa::ui
