// SPDX-License-Identifier: GPL-3.0-or-later
// The list of runs as a table of values, and the filter over it.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <optional>

#include "ui/records/records_service.h"
#include "ui/run/run_filter.h"

namespace dsa::ui {

class RunsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Status, Dataset, Dim, K, RuleColumn, Place, Loss, Private, Cache, Time, Started, ColumnCount };
  enum Role { SortRole = Qt::UserRole, IdRole };

  explicit RunsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  /// Takes over a new list; rows that only changed keep their place and selection.
  void setRuns(const RunList& runs);
  [[nodiscard]] const RunList& runs() const { return m_runs; }
  [[nodiscard]] std::optional<RunSummary> run(RunId id) const;
  [[nodiscard]] std::optional<RunSummary> byUuid(const QString& uuid) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 signals:
  /// The user typed another name into the table; the model waits for the record to say so.
  void renameWanted(dsa::RunId run, const QString& name);

 private:
  [[nodiscard]] QString text(const RunSummary& run, int column) const;
  [[nodiscard]] QVariant sortKey(const RunSummary& run, int column) const;

  RunList m_runs;
};

class RunsFilterModel : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit RunsFilterModel(RunsModel& source, QObject* parent = nullptr);
  void setFilterText(const QString& text);
  void setShowArchived(bool show);
  [[nodiscard]] bool showsArchived() const { return m_archived; }

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  RunsModel& m_source;
  RunFilter m_filter;
  bool m_archived = false;
};

}  // namespace dsa::ui
