// SPDX-License-Identifier: GPL-3.0-or-later
// All runs as a table with a filter, and beside it everything about the selected one.
#pragma once

#include <QUndoStack>
#include <QWidget>

#include "ui/pages/runs_model.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QTableView;
class QToolButton;
class QTreeWidget;

namespace dsa::ui {

class RunsPage : public QWidget {
  Q_OBJECT
 public:
  RunsPage(RecordsService& records, RunsModel& model, QWidget* parent = nullptr);

  [[nodiscard]] QVector<RunId> selected() const;
  void select(RunId run);
  void focusFilter();
  void renameSelected();
  /// Archives the selected runs, or takes them back if all of them are archived.
  void archiveSelected();
  [[nodiscard]] QUndoStack& undoStack() { return m_undo; }
  [[nodiscard]] QTableView& table() { return *m_table; }
  [[nodiscard]] RunsFilterModel& shown() { return *m_shown; }

 signals:
  void openWanted(dsa::RunId run);
  void resumeWanted(dsa::RunId run);
  void compareWanted(const QVector<dsa::RunId>& runs);
  void duplicateWanted(dsa::RunId run);
  void deleteTableWanted(dsa::RunId run);
  void selectionChanged();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QWidget* makeList();
  QWidget* makeInspector();
  void showMenu(const QPoint& at);
  void onSelection();
  void showRun(const std::optional<RunRow>& run);
  void saveNotes();
  void rename(RunId run, const QString& name);
  void setArchived(const QVector<RunId>& runs, bool archived);
  void updateCounts();

  RecordsService& m_records;
  RunsModel& m_model;
  RunsFilterModel* m_shown;
  QUndoStack m_undo;
  QLineEdit* m_filter = nullptr;
  QToolButton* m_archived = nullptr;
  QLabel* m_counts = nullptr;
  QTableView* m_table = nullptr;
  QLabel* m_title = nullptr;
  QLabel* m_reason = nullptr;
  QTreeWidget* m_details = nullptr;
  QPlainTextEdit* m_notes = nullptr;
  RunId m_inspected = 0;
  QString m_notesStored;
};

}  // namespace dsa::ui
