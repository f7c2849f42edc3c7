// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare_page.h"

#include <QAbstractItemView>
#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/look/icons.h"
#include "ui/look/theme.h"
#include "ui/look/units.h"
#include "ui/pages/banner.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/run_picker.h"
#include "ui/plots/memory_strip.h"
#include "ui/plots/plot.h"
#include "ui/run/comparison.h"
#include "ui/run/run_text.h"

namespace dsa::ui {

namespace {

QLabel* sectionLabel(const QString& text) {
  auto* label = new QLabel(text);
  QFont font = label->font();
  font.setWeight(QFont::DemiBold);
  label->setFont(font);
  return label;
}

QTableWidget* valueTable(const QStringList& headers, const QString& name) {
  auto* table = new QTableWidget(0, static_cast<int>(headers.size()));
  table->setHorizontalHeaderLabels(headers);
  table->setAccessibleName(name);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->setTabKeyNavigation(false);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(24);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table->horizontalHeader()->setStretchLastSection(true);
  return table;
}

void setRow(QTableWidget& table, int row, const QStringList& texts, bool numbers) {
  for (int column = 0; column < texts.size(); ++column) {
    auto* item = new QTableWidgetItem(texts[column]);
    item->setToolTip(texts[column]);
    if (numbers && column > 0) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    table.setItem(row, column, item);
  }
}

}  // namespace

ComparePage::ComparePage(RecordsService& records, RunsModel& model, QWidget* parent)
    : QWidget(parent), m_records(records), m_model(model) {
  auto* empty = new EmptyState(
      "compare", tr("Two runs stand side by side here: select them in the list, or let the demo make them."),
      tr("Run the one-minute demo"));
  connect(empty, &EmptyState::clicked, this, &ComparePage::demoWanted);
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(16, 12, 16, 12);
  column->setSpacing(8);
  column->addWidget(makeHeader());
  m_banner = new Banner;
  column->addWidget(m_banner);
  auto* split = new QSplitter(Qt::Horizontal);
  split->addWidget(makePlots());
  split->addWidget(makeTables());
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  split->setSizes({600, 400});
  split->setHandleWidth(9);
  split->setStyleSheet("QSplitter::handle { background: transparent; }");
  column->addWidget(split, 1);
  m_stack = stackOf(*this, empty, page);
  styleLines();
  m_tick.setInterval(200);
  connect(&m_tick, &QTimer::timeout, this, [this] {
    if (m_dirty && isVisible()) feedPlots();
  });
  m_tick.start();
}

QWidget* ComparePage::makeHeader() {
  auto* header = new QWidget;
  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  for (int side = 0; side < 2; ++side) {
    m_sides[static_cast<std::size_t>(side)].picker =
        makeRunPicker(side == 0 ? tr("Run A") : tr("Run B"), 20, [this, side](RunId run) {
          setSide(side, run);
          emit runsChosen();
        });
  }
  auto* swapButton = new QToolButton;
  swapButton->setIcon(icon("swap"));
  swapButton->setToolTip(tr("Swap A and B"));
  swapButton->setAccessibleName(swapButton->toolTip());
  connect(swapButton, &QToolButton::clicked, this, &ComparePage::swap);
  top->addWidget(new QLabel(tr("A")));
  top->addWidget(m_sides[0].picker, 1);
  top->addWidget(swapButton);
  top->addWidget(new QLabel(tr("B")));
  top->addWidget(m_sides[1].picker, 1);
  m_headline = new QLabel;
  m_cacheLine = new QLabel;
  QFont big = m_headline->font();
  big.setPointSize(20);
  m_headline->setFont(big);
  m_cacheLine->setFont(big);
  m_cacheLine->setForegroundRole(QPalette::PlaceholderText);
  m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);
  for (QLabel* label : {m_headline, m_cacheLine}) label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* column = new QVBoxLayout(header);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  column->addLayout(top);
  column->addWidget(m_headline);
  column->addWidget(m_cacheLine);
  return header;
}

QWidget* ComparePage::makePlots() {
  auto* page = new QWidget;
  auto* grid = new QGridLayout(page);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(8);
  for (Side& side : m_sides) {
    side.memory = new Plot(tr("Memory"), PlotUnit::bytes);
    side.memory->keepZero(true);
    side.memory->setHorizontal(QString(), PlotUnit::seconds);
  }
  m_loss = new Plot(tr("Loss by step"), PlotUnit::plain);
  m_loss->setHorizontal(QString(), PlotUnit::plain);
  m_price = new Plot(tr("Loss by active time: the price"), PlotUnit::plain);
  m_price->setHorizontal(QString(), PlotUnit::seconds);
  m_faults = new Plot(tr("Page faults per second, minor and major"), PlotUnit::perSecond);
  m_faults->setHorizontal(tr("active time"), PlotUnit::seconds);
  m_disk = new Plot(tr("Read from disk, per second"), PlotUnit::bytesPerSecond);
  m_disk->setHorizontal(tr("active time"), PlotUnit::seconds);
  grid->addWidget(m_sides[0].memory, 0, 0);
  grid->addWidget(m_sides[1].memory, 1, 0);
  grid->addWidget(m_loss, 0, 1);
  grid->addWidget(m_price, 1, 1);
  grid->addWidget(m_faults, 2, 0);
  grid->addWidget(m_disk, 2, 1);
  for (int row = 0; row < 3; ++row) grid->setRowStretch(row, row < 2 ? 4 : 3);
  for (Plot* plot : plots()) plot->setEmptyText(tr("no samples yet"));
  linkPlots({m_sides[0].memory, m_sides[1].memory, m_price, m_faults, m_disk});
  return page;
}

QWidget* ComparePage::makeTables() {
  auto* page = new QWidget;
  m_results =
      valueTable({tr("Result"), tr("A"), tr("B"), QString(QChar(0x00D7)), QString(QChar(0x0394))}, tr("Results"));
  m_parameters = valueTable({tr("Parameter"), tr("A"), tr("B")}, tr("Differences"));
  m_onlyDifferences = new QCheckBox(tr("Differences only"));
  m_onlyDifferences->setChecked(true);
  connect(m_onlyDifferences, &QCheckBox::toggled, this, &ComparePage::fillTables);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(sectionLabel(tr("Results")));
  column->addWidget(m_results, 3);
  auto* line = new QHBoxLayout;
  line->addWidget(sectionLabel(tr("Parameters")));
  line->addStretch(1);
  line->addWidget(m_onlyDifferences);
  column->addLayout(line);
  column->addWidget(m_parameters, 2);
  page->setMinimumWidth(240);
  return page;
}

QVector<Plot*> ComparePage::plots() const {
  return {m_sides[0].memory, m_sides[1].memory, m_loss, m_price, m_faults, m_disk};
}

QVector<RunId> ComparePage::runs() const {
  QVector<RunId> runs;
  for (const Side& side : m_sides)
    if (side.run != 0) runs << side.run;
  return runs;
}

void ComparePage::styleLines() {
  const Theme& theme = Theme::current();
  for (Plot* plot : plots()) plot->clearLines();
  for (Side& side : m_sides) addMemoryLines(*side.memory);
  // Equal losses lie on each other: a wide pale line beneath a thin dashed one shows both.
  m_loss->addLine({tr("A"), faded(theme.reference, 0.45F), Qt::SolidLine, 5, std::nullopt, false});
  m_loss->addLine({tr("B"), theme.dsa, Qt::DashLine, 1, std::nullopt, false});
  m_price->addLine({tr("A"), theme.reference, Qt::DashLine, 1, std::nullopt, false});
  m_price->addLine({tr("B"), theme.dsa, Qt::SolidLine, 1, std::nullopt, false});
  m_faults->addLine({tr("A minor"), faded(theme.reference, 0.5F), Qt::DotLine, 1, std::nullopt, false});
  m_faults->addLine({tr("B minor"), faded(theme.dsa, 0.5F), Qt::DashDotLine, 1, std::nullopt, false});
  m_faults->addLine({tr("A major"), theme.reference, Qt::DashLine, 1, std::nullopt, false});
  m_faults->addLine({tr("B major"), theme.dsa, Qt::SolidLine, 1, std::nullopt, false});
  m_disk->addLine({tr("A"), theme.reference, Qt::DashLine, 1, std::nullopt, false});
  m_disk->addLine({tr("B"), theme.dsa, Qt::SolidLine, 1, std::nullopt, false});
}

void ComparePage::showRuns(RunId a, RunId b) {
  m_sides[0].uuid.clear();
  m_sides[1].uuid.clear();
  setSide(0, a);
  setSide(1, b);
}

void ComparePage::expect(const QStringList& uuids) {
  for (std::size_t side = 0; side < 2; ++side) {
    setSide(static_cast<int>(side), 0);
    m_sides[side].uuid = static_cast<qsizetype>(side) < uuids.size() ? uuids[static_cast<qsizetype>(side)] : QString();
  }
  m_stack->setCurrentIndex(1);
  runsChanged();
}

void ComparePage::setSide(int number, RunId run) {
  Side& side = m_sides[static_cast<std::size_t>(number)];
  if (side.run != run) {
    side.run = run;
    side.series.clear();
    side.row.reset();
    styleLines();
  }
  m_dirty = true;
  if (run != 0 || !runs().isEmpty()) m_stack->setCurrentIndex(1);
  fillPickers();
  fetch();
}

void ComparePage::fetch() {
  for (std::size_t number = 0; number < 2; ++number) {
    const RunId asked = m_sides[number].run;
    if (asked == 0) continue;
    m_records.fetchRun(asked, this, [this, number, asked](const std::optional<RunRow>& row) {
      if (m_sides[number].run != asked) return;
      m_sides[number].row = row;
      fillTables();
      updateHeadline();
      m_dirty = true;
    });
  }
}

void ComparePage::swap() {
  std::swap(m_sides[0].run, m_sides[1].run);
  std::swap(m_sides[0].uuid, m_sides[1].uuid);
  std::swap(m_sides[0].series, m_sides[1].series);
  std::swap(m_sides[0].row, m_sides[1].row);
  fillPickers();
  fillTables();
  updateHeadline();
  m_dirty = true;
}

void ComparePage::toggleLog() {
  for (Plot* plot : {m_loss, m_price}) plot->setLogarithmic(!plot->isLogarithmic());
}

void ComparePage::takeChunks(const ChunkList& chunks) {
  for (const SeriesChunk& chunk : chunks)
    for (Side& side : m_sides)
      if (chunk.run == side.run) m_dirty |= side.series.add(chunk);
}

void ComparePage::runsChanged() {
  bool found = false;
  for (std::size_t number = 0; number < 2; ++number) {
    Side& side = m_sides[number];
    if (side.uuid.isEmpty()) continue;
    if (const auto run = m_model.byUuid(side.uuid)) {
      side.uuid.clear();
      setSide(static_cast<int>(number), run->id);
      found = true;
    }
  }
  if (found) emit runsChosen();
  fillPickers();
  // Only a run that goes on, or that has just ended, has new figures: others write to the database, too.
  const bool news = std::any_of(m_sides.begin(), m_sides.end(), [this](const Side& side) {
    const auto run = m_model.run(side.run);
    return run && (runStatusIsActive(run->status) || !side.row || side.row->status != run->status);
  });
  if (news && isVisible()) fetch();
}

void ComparePage::fillPickers() {
  for (Side& side : m_sides) {
    side.picker->setPlaceholderText(side.uuid.isEmpty() ? tr("choose a run") : tr("starts after the first"));
    fillRunPicker(*side.picker, m_model.runs(), side.run);
  }
}

void ComparePage::feedPlots() {
  m_dirty = false;
  // One scale for both: what is drawn higher is larger.
  double top = 0;
  double seconds = 1;
  for (const Side& side : m_sides) {
    top = std::max(top, memoryTop(side.series));
    seconds = std::max(seconds, side.series.seconds());
  }
  for (std::size_t number = 0; number < 2; ++number) {
    Side& side = m_sides[number];
    const auto line = [&](Plot* plot, int which, const char* metric, bool bySteps) {
      const Series& series = side.series.of(metric);
      plot->setLine(which, bySteps ? series.step : series.seconds, series.value);
    };
    const auto run = m_model.run(side.run);
    const bool simulated = feedMemory(*side.memory, side.series);
    side.memory->setTitle((number == 0 ? tr("Memory of A") : tr("Memory of B")) +
                          (run ? ", " + tr("table in: %1").arg(placeText(run->placement)) : QString()) +
                          (simulated ? ", " + tr("the card is simulated") : QString()));
    side.memory->setToolTip(memorySources(side.series));
    side.memory->setFloorOfTop(top);
    const int n = static_cast<int>(number);
    line(m_loss, n, "loss", true);
    line(m_price, n, "loss", false);
    line(m_faults, n, "faults.minor", false);
    line(m_faults, 2 + n, "faults.major", false);
    line(m_disk, n, "io.read", false);
  }
  for (Plot* plot : plots())
    if (plot != m_loss) plot->setRange(QCPRange(0, seconds));
  const auto& a = m_sides[0].row;
  const auto& b = m_sides[1].row;
  const QString same = a && b ? samenessText(sameness(*a, *b)) : QString();
  m_loss->setTitle(same.isEmpty() ? tr("Loss by step") : tr("Loss by step: %1").arg(same));
}

void ComparePage::fillTables() {
  m_results->setRowCount(0);
  m_parameters->setRowCount(0);
  const auto& a = m_sides[0].row;
  const auto& b = m_sides[1].row;
  if (!a || !b) return;
  const QVector<ResultRow> results = compareResults(*a, *b);
  m_results->setRowCount(static_cast<int>(results.size()));
  for (int i = 0; i < results.size(); ++i)
    setRow(*m_results, i, {results[i].name, results[i].a, results[i].b, results[i].ratio, results[i].delta}, true);
  QVector<ParameterRow> parameters = compareParameters(*a, *b);
  if (m_onlyDifferences->isChecked())
    parameters.erase(
        std::remove_if(parameters.begin(), parameters.end(), [](const ParameterRow& row) { return !row.differs; }),
        parameters.end());
  m_parameters->setRowCount(static_cast<int>(parameters.size()));
  for (int i = 0; i < parameters.size(); ++i)
    setRow(*m_parameters, i, {parameters[i].key, parameters[i].a, parameters[i].b}, false);
  const QStringList reasons = notLikeForLike(*a, *b);
  if (reasons.isEmpty()) {
    m_banner->hide();
  } else {
    m_banner->say(Banner::Kind::warning, tr("Not like for like: %1.")
                                             .arg(reasons.mid(0, 4).join(", ") +
                                                  (reasons.size() > 4 ? QString(", ") + QChar(0x2026) : QString())));
  }
}

void ComparePage::updateHeadline() {
  const auto& a = m_sides[0].row;
  const auto& b = m_sides[1].row;
  const auto bytes = [](const std::optional<RunRow>& row, auto field) {
    const auto value = row ? row->progress.*field : std::nullopt;
    return value ? Units::bytes(static_cast<double>(*value)) : QString(QChar(0x2026));
  };
  m_headline->setText(
      tr("Private peak %1 \u2192 %2").arg(bytes(a, &RunProgress::privatePeak), bytes(b, &RunProgress::privatePeak)));
  QString cache;
  if (b && b->placement == "disk")
    cache = tr("page cache of B %1 (reclaimable)").arg(bytes(b, &RunProgress::cachePeak));
  else if (a && a->placement == "disk")
    cache = tr("page cache of A %1 (reclaimable)").arg(bytes(a, &RunProgress::cachePeak));
  const double before = a ? trainedSeconds(*a).value_or(0) : 0;
  const double after = b ? trainedSeconds(*b).value_or(0) : 0;
  if (before > 0 && after > 0) {
    if (!cache.isEmpty()) cache += QString("  ") + QChar(0x00B7) + "  ";
    cache += tr("time %1 \u00D7").arg(Units::number(after / before));
  }
  m_cacheLine->setText(cache);
}

QString ComparePage::headline() const { return m_headline->text(); }
QString ComparePage::bannerText() const { return m_banner->isHidden() ? QString() : m_banner->text(); }

void ComparePage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange || m_loss == nullptr) return;
  styleLines();
  m_dirty = true;
}

void ComparePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_dirty = true;
  fetch();
}

}  // namespace dsa::ui
