// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/tools/selftest.h"

#include <QAbstractEventDispatcher>
#include <QApplication>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTextStream>
#include <ctime>

#include "ui/pages/compare_page.h"
#include "ui/pages/live_page.h"
#include "ui/pages/main_window.h"
#include "ui/pages/runs_page.h"
#include "ui/plots/plot.h"
#include "ui/tools/made_records.h"
#include "ui/tools/wait.h"

namespace dsa::ui {

namespace {

constexpr int kSeries = 9;  // of each run of the pair
constexpr int kSamples = 1'000'000 / (2 * kSeries);

/// CPU time of the window's thread between two sleeps: what a user would feel as a stall, other processes apart.
class StallMeter {
 public:
  StallMeter() {
    auto* dispatcher = QAbstractEventDispatcher::instance();
    QObject::connect(dispatcher, &QAbstractEventDispatcher::awake, dispatcher, [this] { m_awake = now(); });
    QObject::connect(dispatcher, &QAbstractEventDispatcher::aboutToBlock, dispatcher, [this] { end(); });
  }
  void end() {
    if (m_awake > 0) m_longest = std::max(m_longest, now() - m_awake);
    m_awake = 0;
  }
  double take() { return std::exchange(m_longest, 0); }

 private:
  static double now() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  }
  double m_awake = 0;
  double m_longest = 0;
};

}  // namespace

int runSelftest() {
  QTextStream out(stdout);
  QTemporaryDir folder;
  const QString path = folder.filePath("made.sqlite");
  MadeRecords wanted;
  wanted.extraRuns = 995;
  wanted.samplesASeries = kSamples;
  if (const auto made = makeRecords(path, wanted); !made) {
    QTextStream(stderr) << "dsa-lab: " << QString::fromStdString(made.error().message) << "\n";
    return exitCode(made.error());
  }
  out << "database: 1,000 runs, " << 2 * kSeries * kSamples << " samples (made, not measured)\n" << Qt::flush;
  bool fine = true;
  StallMeter meter;
  const auto stage = [&](const char* name, bool worked) {
    meter.end();
    out << QString("%1 %2  longest busy stretch of the window's thread: %3 ms CPU\n")
               .arg(name, -28)
               .arg(worked ? "ok    " : "FAILED")
               .arg(meter.take(), 0, 'f', 1)
        << Qt::flush;
    fine = fine && worked;
  };
  MainWindow window(path);
  window.resize(1180, 760);
  window.show();
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
  for (const Plot* plot : window.livePage().plots())
    drawn = drawn && plot->lineCount() > 0 && !plot->drawn(plot->lineCount() - 1).x.isEmpty();
  stage("live: plots drawn", drawn);
  window.compareRuns({1, 2});
  stage("compare", waitUntil([&] { return window.comparePage().results().rowCount() > 0; }, 120000));
  settle(1500);
  stage("compare: plots drawn", !window.comparePage().plots().constFirst()->drawn(1).x.isEmpty());
  out << (fine ? "selftest: all that was done worked\n" : "selftest: something did not work, see above\n");
  return fine ? 0 : 1;
}

}  // namespace dsa::ui
