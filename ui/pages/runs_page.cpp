// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs_page.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QTreeWidget>
#include <QUndoCommand>
#include <QVBoxLayout>

#include "core/spec/run_spec.h"
#include "ui/look/icons.h"
#include "ui/look/theme.h"
#include "ui/look/units.h"
#include "ui/run/launcher.h"
#include "ui/run/run_text.h"

namespace dsa::ui {

namespace {

/// A change with its way back; both go through the writing thread.
class Change : public QUndoCommand {
 public:
  Change(const QString& text, std::function<void()> there, std::function<void()> back)
      : QUndoCommand(text), m_there(std::move(there)), m_back(std::move(back)) {}
  void redo() override { m_there(); }
  void undo() override { m_back(); }

 private:
  std::function<void()> m_there;
  std::function<void()> m_back;
};

void addObject(QTreeWidgetItem* parent, const QJsonObject& object) {
  for (auto it = object.begin(); it != object.end(); ++it) {
    auto* item = new QTreeWidgetItem(parent, {it.key()});
    if (it->isObject()) {
      addObject(item, it->toObject());
    } else if (it->isArray()) {
      item->setText(1, RunsPage::tr("%n value(s)", nullptr, static_cast<int>(it->toArray().size())));
    } else {
      const QVariant value = it->toVariant();
      const bool bytes = parent->text(0) == "memory" || parent->text(0) == "io";
      const auto plain = [&] { return QString::fromLatin1(QByteArray::number(value.toDouble(), 'g', 15)); };
      item->setText(1, !it->isDouble() ? value.toString() : bytes ? Units::bytes(value.toDouble()) : plain());
    }
    item->setToolTip(1, item->text(1));
  }
}

}  // namespace

RunsPage::RunsPage(RecordsService& records, RunsModel& model, QWidget* parent)
    : QWidget(parent), m_records(records), m_model(model), m_shown(new RunsFilterModel(model, this)) {
  auto* split = new QSplitter(Qt::Horizontal);
  split->addWidget(makeList());
  split->addWidget(makeInspector());
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  split->setSizes({930, 250});
  split->setChildrenCollapsible(true);
  split->setHandleWidth(1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(split);
  connect(&m_model, &RunsModel::renameWanted, this, &RunsPage::rename);
  connect(&m_model, &QAbstractItemModel::dataChanged, this, &RunsPage::updateCounts);
  connect(m_shown, &QAbstractItemModel::rowsInserted, this, &RunsPage::updateCounts);
  connect(m_shown, &QAbstractItemModel::rowsRemoved, this, &RunsPage::updateCounts);
  connect(m_shown, &QAbstractItemModel::modelReset, this, &RunsPage::updateCounts);
  updateCounts();
  showRun(std::nullopt);
}

QWidget* RunsPage::makeList() {
  auto* page = new QWidget;
  m_filter = new QLineEdit;
  m_filter->setPlaceholderText(tr("Filter: words, or dim>=128 k=0 status:done place:disk"));
  m_filter->setAccessibleName(tr("Filter"));
  m_filter->setClearButtonEnabled(true);
  m_filter->addAction(icon("search"), QLineEdit::LeadingPosition);
  connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
    m_shown->setFilterText(text);
    updateCounts();
  });
  m_archived = new QToolButton;
  m_archived->setText(tr("Archived"));
  m_archived->setCheckable(true);
  m_archived->setToolTip(tr("Show archived runs, too"));
  connect(m_archived, &QToolButton::toggled, this, [this](bool on) {
    m_shown->setShowArchived(on);
    updateCounts();
  });
  m_counts = new QLabel;
  m_counts->setForegroundRole(QPalette::PlaceholderText);
  m_table = new QTableView;
  m_table->setModel(m_shown);
  m_table->setAccessibleName(tr("Runs"));
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(RunsModel::Started, Qt::DescendingOrder);
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setEditTriggers(QAbstractItemView::EditKeyPressed);
  m_table->setShowGrid(false);
  m_table->setAlternatingRowColors(false);
  m_table->setWordWrap(false);
  m_table->setTabKeyNavigation(false);
  m_table->verticalHeader()->hide();
  m_table->verticalHeader()->setDefaultSectionSize(28);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->horizontalHeader()->setSectionsMovable(true);
  const int widths[] = {150, 78, 98, 40, 28, 100, 60, 60, 92, 92, 50, 60};
  // At least its heading, in any language.
  for (int i = 0; i < RunsModel::ColumnCount; ++i)
    m_table->setColumnWidth(i, std::max(widths[i], m_table->horizontalHeader()->sectionSizeHint(i)));
  m_table->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(m_table, &QTableView::customContextMenuRequested, this, &RunsPage::showMenu);
  connect(m_table, &QTableView::activated, this,
          [this](const QModelIndex& index) { emit openWanted(index.data(RunsModel::IdRole).toLongLong()); });
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsPage::onSelection);
  auto* top = new QHBoxLayout;
  top->addWidget(m_filter, 1);
  top->addWidget(m_archived);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(16, 12, 12, 12);
  column->setSpacing(8);
  column->addLayout(top);
  column->addWidget(m_table, 1);
  column->addWidget(m_counts);
  return page;
}

QWidget* RunsPage::makeInspector() {
  auto* page = new QWidget;
  m_title = new QLabel;
  QFont font = m_title->font();
  font.setPointSize(13);
  font.setWeight(QFont::DemiBold);
  m_title->setFont(font);
  m_title->setWordWrap(true);
  m_reason = new QLabel;
  m_reason->setWordWrap(true);
  m_reason->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_details = new QTreeWidget;
  m_details->setAccessibleName(tr("Details of the run"));
  m_details->setHeaderLabels({tr("Key"), tr("Value")});
  m_details->setColumnWidth(0, 126);
  m_details->setIndentation(12);
  m_notes = new QPlainTextEdit;
  m_notes->setPlaceholderText(tr("Notes"));
  m_notes->setAccessibleName(tr("Notes"));
  m_notes->setTabChangesFocus(true);
  m_notes->setMaximumHeight(120);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget* old, QWidget*) {
    if (old == m_notes) saveNotes();
  });
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(12, 12, 16, 12);
  column->setSpacing(8);
  column->addWidget(m_title);
  column->addWidget(m_reason);
  column->addWidget(m_details, 1);
  column->addWidget(m_notes);
  page->setMinimumWidth(220);
  return page;
}

QVector<RunId> RunsPage::selected() const {
  QVector<RunId> runs;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
    runs << index.data(RunsModel::IdRole).toLongLong();
  return runs;
}

void RunsPage::select(RunId run) {
  for (int row = 0; row < m_shown->rowCount(); ++row) {
    if (m_shown->index(row, 0).data(RunsModel::IdRole).toLongLong() != run) continue;
    m_table->selectRow(row);
    m_table->scrollTo(m_shown->index(row, 0));
  }
}

void RunsPage::focusFilter() {
  m_filter->setFocus(Qt::ShortcutFocusReason);
  m_filter->selectAll();
}

void RunsPage::renameSelected() {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows(RunsModel::Name);
  if (rows.size() == 1) m_table->edit(rows.constFirst());
}

void RunsPage::rename(RunId id, const QString& name) {
  const auto run = m_model.run(id);
  if (!run) return;
  const QString what = tr("Rename the run");
  const auto set = [this, id, what](const std::string& to) {
    m_records.edit(what, [id, to](Editor& editor) { return editor.rename(id, to); });
  };
  m_undo.push(new Change(
      what, [set, name] { set(name.toStdString()); }, [set, old = run->name] { set(old); }));
}

void RunsPage::archiveSelected() {
  const QVector<RunId> runs = selected();
  if (runs.isEmpty()) return;
  bool all = true;
  for (const RunId id : runs) all = all && m_model.run(id).value_or(RunSummary()).archived;
  setArchived(runs, !all);
}

void RunsPage::setArchived(const QVector<RunId>& runs, bool archived) {
  const QString what = archived ? tr("Archive") : tr("Take back from the archive");
  const auto set = [this, runs, what](bool to) {
    m_records.edit(what, [runs, to](Editor& editor) -> Result<void> {
      for (const RunId run : runs) DSA_TRY(editor.setArchived(run, to));
      return {};
    });
  };
  m_undo.push(new Change(
      what, [set, archived] { set(archived); }, [set, archived] { set(!archived); }));
}

void RunsPage::saveNotes() {
  const QString notes = m_notes->toPlainText();
  if (m_inspected == 0 || notes == m_notesStored) return;
  const QString what = tr("Change the notes");
  const auto set = [this, run = m_inspected, what](const QString& to) {
    m_records.edit(what, [run, text = to.toStdString()](Editor& editor) { return editor.setNotes(run, text); });
    if (run == m_inspected && m_notes->toPlainText() != to) m_notes->setPlainText(to);
    m_notesStored = to;
  };
  m_undo.push(new Change(
      what, [set, notes] { set(notes); }, [set, old = m_notesStored] { set(old); }));
}

void RunsPage::onSelection() {
  saveNotes();
  const QVector<RunId> runs = selected();
  m_inspected = runs.size() == 1 ? runs.constFirst() : 0;
  emit selectionChanged();
  if (m_inspected == 0) {
    showRun(std::nullopt);
    if (runs.size() > 1) m_reason->setText(tr("%n runs are selected.", nullptr, static_cast<int>(runs.size())));
    return;
  }
  m_records.fetchRun(m_inspected, this, [this, asked = m_inspected](const std::optional<RunRow>& run) {
    if (asked == m_inspected) showRun(run);
  });
}

void RunsPage::showRun(const std::optional<RunRow>& run) {
  m_details->clear();
  m_notes->setEnabled(run.has_value());
  if (!run) {
    m_title->setText(tr("Details"));
    m_reason->setText(tr("Select a run to see what it was and what came of it."));
    m_notes->clear();
    m_notesStored.clear();
    return;
  }
  m_title->setText(QString::fromStdString(run->name));
  m_reason->setText(run->reason.empty() ? statusText(run->status)
                                        : statusText(run->status) + ": " + QString::fromStdString(run->reason));
  m_notesStored = QString::fromStdString(run->notes);
  m_notes->setPlainText(m_notesStored);
  const auto section = [this](const QString& title, const std::string& json) {
    const QJsonDocument document = QJsonDocument::fromJson(QByteArray::fromStdString(json));
    if (!document.isObject() || document.object().isEmpty()) return;
    auto* item = new QTreeWidgetItem(m_details, {title});
    addObject(item, document.object());
    item->setExpanded(true);
    for (int i = 0; i < item->childCount(); ++i) item->child(i)->setExpanded(true);
  };
  section(tr("Result"), run->result);
  section(tr("Parameters"), run->spec);
  section(tr("Versions"), run->versions);
  auto* machine = new QTreeWidgetItem(m_details, {tr("Machine")});
  for (const QString& line : QString::fromStdString(run->machine).split('\n', Qt::SkipEmptyParts)) {
    auto* item = new QTreeWidgetItem(machine, {line.section(": ", 0, 0), line.section(": ", 1)});
    item->setToolTip(1, item->text(1));
  }
  if (!run->cacheFolder.empty()) {
    auto* folder = new QTreeWidgetItem(m_details, {tr("Table's folder"), QString::fromStdString(run->cacheFolder)});
    folder->setToolTip(1, folder->text(1));
  }
}

void RunsPage::showMenu(const QPoint& at) {
  const QVector<RunId> runs = selected();
  if (runs.isEmpty()) return;
  const auto run = m_model.run(runs.constFirst());
  if (!run) return;
  QMenu menu(this);
  QAction* open = menu.addAction(icon("live"), tr("Show"), this, [this, id = run->id] { emit openWanted(id); });
  QAction* compare = menu.addAction(icon("compare"), tr("Compare"), this, [this, runs] { emit compareWanted(runs); });
  QAction* resume = menu.addAction(icon("resume"), run->status == RunStatus::queued ? tr("Start") : tr("Resume"), this,
                                   [this, id = run->id] { emit resumeWanted(id); });
  menu.addSeparator();
  QAction* duplicate =
      menu.addAction(icon("new"), tr("Duplicate …"), this, [this, id = run->id] { emit duplicateWanted(id); });
  QAction* copy = menu.addAction(icon("copy"), tr("Copy command line"), this, [this, id = run->id] {
    m_records.fetchRun(id, this, [](const std::optional<RunRow>& row) {
      if (!row) return;
      LaunchRequest request;
      if (const auto spec = parseSpec(row->spec)) request.spec = *spec;
      QApplication::clipboard()->setText(commandLineFor(request));
    });
  });
  QAction* rename = menu.addAction(icon("rename"), tr("Rename"), this, &RunsPage::renameSelected);
  menu.addAction(icon("archive"), run->archived ? tr("Take back from the archive") : tr("Archive"), this,
                 &RunsPage::archiveSelected);
  menu.addSeparator();
  QAction* drop = menu.addAction(tr("Delete the table …"), this, [this, id = run->id] { emit deleteTableWanted(id); });
  const bool one = runs.size() == 1;
  for (QAction* action : {open, duplicate, copy, rename}) action->setEnabled(one);
  compare->setEnabled(runs.size() == 2);
  resume->setEnabled(one && canResume(*run));
  drop->setEnabled(one && canDeleteTable(*run));
  menu.exec(m_table->viewport()->mapToGlobal(at));
}

void RunsPage::updateCounts() {
  int running = 0;
  int interrupted = 0;
  for (const RunSummary& run : m_model.runs()) {
    running += run.status == RunStatus::running || run.status == RunStatus::paused;
    interrupted += run.status == RunStatus::interrupted && !run.archived;
  }
  QStringList parts = {tr("%1 of %2 runs").arg(m_shown->rowCount()).arg(m_model.rowCount())};
  if (running > 0) parts << tr("%n running", nullptr, running);
  if (interrupted > 0) parts << tr("%n interrupted", nullptr, interrupted);
  m_counts->setText(parts.join(QString("  ") + QChar(0x00B7) + "  "));
}

void RunsPage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange || m_filter == nullptr) return;
  for (QAction* action : m_filter->actions()) {
    if (action->icon().isNull()) continue;
    m_filter->removeAction(action);
    break;
  }
  m_filter->addAction(icon("search"), QLineEdit::LeadingPosition);
}

}  // namespace dsa::ui
