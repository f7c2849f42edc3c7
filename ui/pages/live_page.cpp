// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live_page.h"

#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>

#include "ui/look/icons.h"
#include "ui/look/theme.h"
#include "ui/look/units.h"
#include "ui/pages/banner.h"
#include "ui/pages/budget_slider.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/run_picker.h"
#include "ui/plots/memory_strip.h"
#include "ui/plots/plot.h"
#include "ui/run/hardware.h"
#include "ui/run/run_text.h"

namespace dsa::ui {

namespace {

constexpr int kAnswerMs = 2000;
constexpr int kFrameMs = 100;  // at most ten paints a second

}  // namespace

LivePage::LivePage(RecordsService& records, RunsModel& model, QWidget* parent)
    : QWidget(parent), m_records(records), m_model(model) {
  auto* empty =
      new EmptyState("live", tr("No run is shown. Start one, or open one from the list of runs."), tr("New run"));
  connect(empty, &EmptyState::clicked, this, &LivePage::newRunWanted);
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(16, 12, 16, 12);
  column->setSpacing(8);
  column->addWidget(makeHeader());
  m_banner = new Banner;
  column->addWidget(m_banner);
  column->addWidget(makePlots(), 1);
  m_event = new QLabel;
  m_event->setForegroundRole(QPalette::PlaceholderText);
  m_event->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  column->addWidget(m_event);
  m_stack = stackOf(*this, empty, page);
  styleLines();
  m_clock.start();
  m_tick.setInterval(kFrameMs);
  connect(&m_tick, &QTimer::timeout, this, [this] {
    if (m_dirty && isVisible() && !m_viewPaused) feedPlots();
    updateHeader();
  });
  m_tick.start();
}

QWidget* LivePage::makeHeader() {
  auto* header = new QWidget;
  m_picker = makeRunPicker(tr("Run shown"), 24, [this](RunId run) { emit runChosen(run); });
  m_status = new QLabel;
  m_facts = new QLabel;
  m_facts->setForegroundRole(QPalette::PlaceholderText);
  m_facts->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_progress = new QProgressBar;
  m_progress->setTextVisible(false);
  m_progress->setFixedHeight(6);
  m_progress->setAccessibleName(tr("Progress"));
  m_headline = new QLabel;
  QFont big = m_headline->font();
  big.setPointSize(16);  // 20 is too wide for 1024 pixels in Russian
  m_headline->setFont(big);
  m_cacheLine = new QLabel;
  m_cacheLine->setFont(big);
  m_cacheLine->setForegroundRole(QPalette::PlaceholderText);
  m_view = new QToolButton;
  m_view->setCheckable(true);
  m_view->setText(tr("Pause view"));
  m_view->setToolTip(tr("The plots stand still; training goes on (Space)"));
  connect(m_view, &QToolButton::toggled, this, &LivePage::setViewPaused);
  m_pause = new QPushButton;
  m_stop = new QPushButton(icon("stop"), tr("Stop"));
  m_stop->setToolTip(tr("Finish the batch, save a checkpoint, end; it can be resumed"));
  m_evict = new QPushButton(icon("evict"), tr("Evict page cache"));
  m_evict->setToolTip(
      tr("Writes the table's pages and gives their memory back; the next steps read them from the disk"));
  m_resume = new QPushButton(icon("resume"), tr("Resume"));
  connect(m_pause, &QPushButton::clicked, this, &LivePage::pauseOrResume);
  connect(m_stop, &QPushButton::clicked, this, &LivePage::stop);
  connect(m_evict, &QPushButton::clicked, this, &LivePage::evict);
  connect(m_resume, &QPushButton::clicked, this, [this] { emit resumeWanted(m_run); });
  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  top->addWidget(m_picker, 1);
  top->addWidget(m_status);
  top->addStretch(1);
  for (QWidget* button : {static_cast<QWidget*>(m_view), static_cast<QWidget*>(m_pause), static_cast<QWidget*>(m_evict),
                          static_cast<QWidget*>(m_stop), static_cast<QWidget*>(m_resume)})
    top->addWidget(button);
  m_budget = new BudgetSlider;
  connect(m_budget, &BudgetSlider::chosen, this, [this](quint64 bytes) {
    if (m_run == 0) return;
    m_records.send(m_run, CommandKind::setRamBudget, static_cast<std::int64_t>(bytes));
    // By then it was answered. What the trainer cannot keep is no budget: the handle goes back to the one that is.
    QTimer::singleShot(kAnswerMs, this, [this] {
      if (m_budgetSeen && m_budget->rests()) m_budget->setBudget(static_cast<quint64>(*m_budgetSeen));
    });
  });
  auto* facts = new QHBoxLayout;
  facts->setSpacing(24);
  facts->addWidget(m_facts, 1);
  facts->addWidget(m_budget);
  auto* figures = new QHBoxLayout;
  figures->setSpacing(24);
  figures->addWidget(m_headline);
  figures->addWidget(m_cacheLine);
  figures->addStretch(1);
  auto* column = new QVBoxLayout(header);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  column->addLayout(top);
  column->addLayout(facts);
  column->addWidget(m_progress);
  column->addLayout(figures);
  return header;
}

QWidget* LivePage::makePlots() {
  auto* page = new QWidget;
  auto* grid = new QGridLayout(page);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(8);
  m_memory = new Plot(tr("Memory, from 0"), PlotUnit::bytes);
  m_memory->keepZero(true);
  const auto total = Hardware::memoryTotal();
  if (total)
    m_memory->setCapacity(static_cast<double>(*total),
                          tr("memory of the machine %1").arg(Units::bytes(static_cast<double>(*total))));
  m_faults = new Plot(tr("Page faults per second"), PlotUnit::perSecond);
  m_disk = new Plot(tr("Disk, per second"), PlotUnit::bytesPerSecond);
  m_loss = new Plot(tr("Loss, mean of the steps between two points"), PlotUnit::plain);
  m_rate = new Plot(tr("Training samples per second"), PlotUnit::perSecond);
  grid->addWidget(m_memory, 0, 0);
  grid->addWidget(m_loss, 0, 1);
  grid->addWidget(m_faults, 1, 0);
  grid->addWidget(m_rate, 1, 1, 2, 1);
  grid->addWidget(m_disk, 2, 0);
  for (int row = 0; row < 3; ++row) grid->setRowStretch(row, row == 0 ? 3 : 2);
  for (Plot* plot : plots()) {
    plot->setHorizontal(QString(), PlotUnit::seconds);
    plot->setEmptyText(tr("no samples yet"));
  }
  m_disk->setHorizontal(tr("active time"), PlotUnit::seconds);
  m_rate->setHorizontal(tr("active time"), PlotUnit::seconds);
  linkPlots(plots());
  return page;
}

QVector<Plot*> LivePage::plots() const { return {m_memory, m_faults, m_disk, m_loss, m_rate}; }

void LivePage::styleLines() {
  const Theme& theme = Theme::current();
  for (Plot* plot : plots()) plot->clearLines();
  addMemoryLines(*m_memory);
  m_faults->addLine({tr("minor"), theme.muted, Qt::DotLine, 1, std::nullopt, false});
  m_faults->addLine({tr("demand"), theme.ram, Qt::SolidLine, 1, std::nullopt, false});
  m_faults->addLine({tr("major"), theme.reference, Qt::DashLine, 1, std::nullopt, false});
  m_disk->addLine({tr("read"), theme.ram, Qt::SolidLine, 1, std::nullopt, false});
  m_disk->addLine({tr("written"), theme.reference, Qt::DashLine, 1, std::nullopt, false});
  m_loss->addLine({QString(), theme.dsa, Qt::SolidLine, 1, std::nullopt, false});
  m_rate->addLine({QString(), theme.text, Qt::SolidLine, 1, std::nullopt, false});
}

void LivePage::showRun(RunId run) {
  if (run != m_run) {
    m_run = run;
    m_series.clear();
    m_eta.reset();
    m_stopping = false;
    m_event->clear();
    m_budgetSeen.reset();
    m_budget->setBudget(std::nullopt);
    m_banner->hide();
    styleLines();
    m_dirty = true;
  }
  m_stack->setCurrentIndex(run != 0 ? 1 : 0);
  runsChanged();
}

void LivePage::takeChunks(const ChunkList& chunks) {
  for (const SeriesChunk& chunk : chunks)
    if (chunk.run == m_run) m_dirty |= m_series.add(chunk);
}

void LivePage::takeEvents(RunId run, const EventList& events) {
  if (run != m_run || events.isEmpty()) return;
  const EventRow& last = events.back();
  m_event->setText(tr("Step %1: %2").arg(Units::count(last.step), QString::fromStdString(last.text)));
  m_event->setToolTip(m_event->text());
}

void LivePage::feedPlots() {
  m_dirty = false;
  const auto feed = [this](Plot* plot, int line, const QString& metric) {
    const Series& series = m_series.of(metric);
    plot->setLine(line, series.seconds, series.value);
  };
  const bool simulated = feedMemory(*m_memory, m_series);
  m_memory->setTitle(simulated ? tr("Memory, from 0; the card is simulated") : tr("Memory, from 0"));
  feed(m_faults, 0, "faults.minor");
  feed(m_faults, 1, "faults.demand");
  feed(m_faults, 2, "faults.major");
  feed(m_disk, 0, "io.read");
  feed(m_disk, 1, "io.written");
  feed(m_loss, 0, "loss");
  feed(m_rate, 0, "samples_per_s");
  // Where the trainer says it is; a handle that was moved since waits for its answer.
  const auto budget = m_series.of("memory.budget").last();
  if (budget && budget != m_budgetSeen) m_budget->setBudget(static_cast<quint64>(*budget));
  m_budgetSeen = budget;
  const QCPRange range(0, std::max(1.0, m_series.seconds()));
  for (Plot* plot : plots()) plot->setRange(range);
  m_memory->setToolTip(memorySources(m_series));
}

void LivePage::runsChanged() {
  fillRunPicker(*m_picker, m_model.runs(), m_run);
  const auto run = m_model.run(m_run);
  if (!run) return;
  if (run->progress.step && run->plannedSteps && run->status == RunStatus::running)
    m_eta.feed(static_cast<double>(m_clock.elapsed()) / 1000, *run->progress.step, *run->plannedSteps);
  if (!runStatusIsActive(run->status)) m_stopping = false;
  updateButtons(run);
  updateHeader();
  const QString reason = QString::fromStdString(run->reason);
  if (run->status == RunStatus::interrupted) {
    m_banner->say(Banner::Kind::warning,
                  tr("The trainer's process is gone. What it had recorded is safe; resume goes on from what was kept."),
                  tr("Resume"), [this] { emit resumeWanted(m_run); });
  } else if (run->status == RunStatus::failed || run->status == RunStatus::refused) {
    m_banner->say(Banner::Kind::error, reason);
  } else if (run->progress.lossLast && !std::isfinite(*run->progress.lossLast)) {
    m_banner->say(Banner::Kind::error,
                  tr("Diverged at step %1: the loss is no number any more. A lower learning rate may help.")
                      .arg(Units::count(run->progress.step.value_or(0))));
  } else {
    m_banner->hide();
  }
}

QString LivePage::statusLine() const {
  const auto run = m_model.run(m_run);
  if (!run) return {};
  return m_stopping ? tr("Stopping …") : statusText(run->status);
}

void LivePage::updateHeader() {
  const auto run = m_model.run(m_run);
  if (!run) return;
  showStatus(*m_status, run->status, statusLine());
  const QString dot = QString("  ") + QChar(0x00B7) + "  ";
  QStringList facts;
  const std::uint64_t step = run->progress.step.value_or(0);
  facts << (run->plannedSteps ? tr("step %1 of %2").arg(Units::count(step), Units::count(*run->plannedSteps))
                              : tr("step %1").arg(Units::count(step)));
  if (run->progress.epoch) facts << tr("epoch %1").arg(QLocale().toString(*run->progress.epoch, 'f', 1));
  if (run->progress.seconds) facts << tr("%1 trained").arg(Units::duration(*run->progress.seconds));
  if (run->progress.lossLast) facts << tr("loss %1").arg(Units::number(*run->progress.lossLast));
  if (run->status == RunStatus::running && !m_stopping) {
    if (const auto left = m_eta.secondsLeft(static_cast<double>(m_clock.elapsed()) / 1000))
      facts << tr("about %1 left").arg(Units::duration(*left));
  }
  facts << QString("%1, %2, %3, %4")
               .arg(QString::fromStdString(run->dataset).section('/', -1), tr("dim %1").arg(Units::count(run->dim)),
                    geometryText(run->k), ruleText(run->rule));
  facts << tr("table in: %1").arg(placeText(run->placement));
  m_facts->setText(facts.join(dot));
  m_facts->setToolTip(m_facts->text());  // cut off where the window is narrow
  m_facts->setToolTip(m_facts->text());
  m_progress->setVisible(run->plannedSteps.has_value());
  if (run->plannedSteps && *run->plannedSteps > 0) {
    m_progress->setMaximum(1000);
    m_progress->setValue(static_cast<int>(1000 * step / *run->plannedSteps));
  }
  if (run->progress.privatePeak)
    m_headline->setText(tr("Private peak %1").arg(Units::bytes(static_cast<double>(*run->progress.privatePeak))));
  else
    m_headline->setText(tr("Private memory: no sample yet"));
  const auto cache = m_series.of("memory.page_cache").last();
  if (run->progress.devicePeak && run->placement != "disk")
    m_cacheLine->setText((m_series.of("memory.device.simulated").isEmpty() ? tr("card peak %1 (own allocations)")
                                                                           : tr("simulated card, peak %1"))
                             .arg(Units::bytes(static_cast<double>(*run->progress.devicePeak))));
  else if (const auto rows = m_series.of("memory.row_cache").last())
    m_cacheLine->setText(tr("of it row cache %1").arg(Units::bytes(*rows)));
  else if (cache)
    m_cacheLine->setText(tr("page cache %1 (reclaimable)").arg(Units::bytes(*cache)));
  else
    m_cacheLine->setText(run->placement == "disk" ? tr("page cache: no sample yet") : tr("no table on disk"));
}

void LivePage::updateButtons(const std::optional<RunSummary>& run) {
  const bool going = run && (run->status == RunStatus::running || run->status == RunStatus::paused);
  const bool paused = run && run->status == RunStatus::paused;
  m_pause->setText(paused ? tr("Continue") : tr("Pause"));
  m_pause->setIcon(icon(paused ? "play" : "pause"));
  m_pause->setToolTip(paused ? tr("Training goes on") : tr("Training waits after the batch; memory stays taken"));
  for (QPushButton* button : {m_pause, m_stop, m_evict}) button->setVisible(going);
  m_stop->setEnabled(!m_stopping);
  m_pause->setEnabled(!m_stopping);
  m_evict->setVisible(going && run->placement == "disk");
  m_budget->setVisible(going && run->placement == "disk");
  m_resume->setVisible(run && canResume(*run));
  m_resume->setText(run && run->status == RunStatus::queued ? tr("Start") : tr("Resume"));
}

void LivePage::setViewPaused(bool paused) {
  m_viewPaused = paused;
  QSignalBlocker block(m_view);
  m_view->setChecked(paused);
  m_view->setText(paused ? tr("View paused") : tr("Pause view"));
  if (!paused) m_dirty = true;
}

void LivePage::toggleLog() { m_loss->setLogarithmic(!m_loss->isLogarithmic()); }

void LivePage::stop() {
  const auto run = m_model.run(m_run);
  if (!run || !runStatusIsActive(run->status) || m_stopping) return;
  m_stopping = true;
  m_records.send(m_run, CommandKind::stop);
  updateButtons(run);
  updateHeader();
}

void LivePage::pauseOrResume() {
  const auto run = m_model.run(m_run);
  if (run) m_records.send(m_run, run->status == RunStatus::paused ? CommandKind::resume : CommandKind::pause);
}

void LivePage::evict() {
  if (m_run != 0) m_records.send(m_run, CommandKind::evict);
}

void LivePage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange || m_stop == nullptr) return;
  m_stop->setIcon(icon("stop"));
  m_evict->setIcon(icon("evict"));
  m_resume->setIcon(icon("resume"));
  styleLines();
  m_dirty = true;
  updateButtons(m_model.run(m_run));
}

void LivePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_dirty = true;
}

}  // namespace dsa::ui
