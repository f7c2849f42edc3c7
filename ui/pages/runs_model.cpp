// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs_model.h"

#include <QFont>
#include <QLocale>
#include <QPainter>
#include <QPixmap>
#include <cmath>

#include "ui/look/theme.h"
#include "ui/look/units.h"
#include "ui/run/run_text.h"

namespace dsa::ui {

namespace {

QPixmap chip(int slot) {
  QPixmap pixmap(24, 24);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(runColour(slot));
  painter.setPen(Qt::NoPen);
  painter.drawRoundedRect(QRectF(4, 4, 16, 16), 4, 4);
  painter.end();
  pixmap.setDevicePixelRatio(2);
  return pixmap;
}

QString optionalBytes(const std::optional<std::uint64_t>& bytes) {
  return bytes ? Units::bytes(static_cast<double>(*bytes)) : QString();
}

QString percentDone(const RunSummary& run) {
  if (!run.plannedSteps || *run.plannedSteps == 0 || !run.progress.step || !runStatusIsActive(run.status)) return {};
  const double share = 100.0 * static_cast<double>(*run.progress.step) / static_cast<double>(*run.plannedSteps);
  return QString(" %1 %").arg(static_cast<int>(share));
}

}  // namespace

void RunsModel::setRuns(const RunList& runs) {
  // Runs come in order of their numbers, so that most lists only grow at the end.
  bool sameOrder = runs.size() >= m_runs.size();
  for (qsizetype i = 0; sameOrder && i < m_runs.size(); ++i) sameOrder = m_runs[i].id == runs[i].id;
  if (!sameOrder) {
    beginResetModel();
    m_runs = runs;
    endResetModel();
    return;
  }
  const qsizetype had = m_runs.size();
  if (runs.size() > had) {
    beginInsertRows({}, static_cast<int>(had), static_cast<int>(runs.size()) - 1);
    m_runs = runs;
    endInsertRows();
  } else {
    m_runs = runs;
  }
  if (had > 0) emit dataChanged(index(0, 0), index(static_cast<int>(had) - 1, ColumnCount - 1));
}

std::optional<RunSummary> RunsModel::run(RunId id) const {
  for (const RunSummary& run : m_runs)
    if (run.id == id) return run;
  return std::nullopt;
}

std::optional<RunSummary> RunsModel::byUuid(const QString& uuid) const {
  for (const RunSummary& run : m_runs)
    if (run.uuid == uuid.toStdString()) return run;
  return std::nullopt;
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QString RunsModel::text(const RunSummary& run, int column) const {
  switch (column) {
    case Name:
      return QString::fromStdString(run.name);
    case Status:
      return statusText(run.status) + percentDone(run);
    case Dataset:
      return QString::fromStdString(run.dataset).section('/', -1);
    case Dim:
      return Units::count(run.dim);
    case K:
      return run.k == 0 ? QString("0") : QLocale().toString(run.k, 'g', 6);
    case RuleColumn:
      return ruleText(run.rule);
    case Place:
      return placeText(run.placement);
    case Loss:
      return run.progress.lossLast ? Units::number(*run.progress.lossLast) : QString();
    case Private:
      return optionalBytes(run.progress.privatePeak);
    case Cache:
      return optionalBytes(run.progress.cachePeak);
    case Time:
      return run.progress.seconds ? Units::duration(*run.progress.seconds) : QString();
    case Started:
      return run.startedMs ? Units::moment(*run.startedMs) : QString();
    default:
      return {};
  }
}

QVariant RunsModel::sortKey(const RunSummary& run, int column) const {
  const auto number = [](const auto& optional) {
    return optional ? QVariant(static_cast<double>(*optional)) : QVariant(-1.0);
  };
  switch (column) {
    case Dim:
      return static_cast<double>(run.dim);
    case K:
      return run.k;
    case Loss: {
      // What has no number is behind all that have one.
      const double loss = run.progress.lossLast.value_or(std::nan(""));
      return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
    }
    case Private:
      return number(run.progress.privatePeak);
    case Cache:
      return number(run.progress.cachePeak);
    case Time:
      return number(run.progress.seconds);
    case Started:
      return number(run.startedMs);
    default:
      return text(run, column);
  }
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= m_runs.size()) return {};
  const RunSummary& run = m_runs[index.row()];
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
      return text(run, index.column());
    case SortRole:
      return sortKey(run, index.column());
    case IdRole:
      return QVariant::fromValue<qlonglong>(run.id);
    case Qt::DecorationRole:
      return index.column() == Name ? QVariant(chip(run.colour)) : QVariant();
    case Qt::ForegroundRole:
      if (run.archived) return Theme::current().muted;
      return index.column() == Status ? QVariant(statusColour(run.status)) : QVariant();
    case Qt::TextAlignmentRole:
      return index.column() == Dim || index.column() == K || (index.column() >= Loss && index.column() <= Time)
                 ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                 : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
    case Qt::ToolTipRole:
      if (index.column() == Status && !run.reason.empty()) return QString::fromStdString(run.reason);
      return index.column() == Dataset ? QString::fromStdString(run.dataset) : text(run, index.column());
    default:
      return {};
  }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    const bool number = section == Dim || section == K || (section >= Loss && section <= Time);
    return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole) {
    if (section == Private) return tr("Peak of RssAnon + VmPTE + VmSwap of the trainer");
    if (section == Cache)
      return tr("Peak of the page cache of the table's files: reclaimable, never counted as private");
    return {};
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Name:
      return tr("Run");
    case Status:
      return tr("Status");
    case Dataset:
      return tr("Dataset");
    case Dim:
      return tr("Dim");
    case K:
      return tr("k");
    case RuleColumn:
      return tr("Rule");
    case Place:
      return tr("Table in");
    case Loss:
      return tr("Loss");
    case Private:
      return tr("Private peak");
    case Cache:
      return tr("Page cache");
    case Time:
      return tr("Time");
    case Started:
      return tr("Started");
    default:
      return {};
  }
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  if (index.column() == Name) flags |= Qt::ItemIsEditable;
  return flags;
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || index.column() != Name || index.row() >= m_runs.size()) return false;
  const QString name = value.toString().trimmed();
  const RunSummary& run = m_runs[index.row()];
  if (name.isEmpty() || name.toStdString() == run.name) return false;
  emit renameWanted(run.id, name);
  return true;
}

RunsFilterModel::RunsFilterModel(RunsModel& source, QObject* parent) : QSortFilterProxyModel(parent), m_source(source) {
  setSourceModel(&source);
  setSortRole(RunsModel::SortRole);
  setSortCaseSensitivity(Qt::CaseInsensitive);
  setDynamicSortFilter(true);
}

void RunsFilterModel::setFilterText(const QString& text) {
  m_filter = RunFilter(text);
  invalidateFilter();
}

void RunsFilterModel::setShowArchived(bool show) {
  m_archived = show;
  invalidateFilter();
}

bool RunsFilterModel::filterAcceptsRow(int row, const QModelIndex&) const {
  const RunSummary& run = m_source.runs()[row];
  return (m_archived || !run.archived) && m_filter.matches(run);
}

}  // namespace dsa::ui
