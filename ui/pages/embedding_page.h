// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a run as points, while it trains and after.
#pragma once

#include <QWidget>

#include "ui/pages/runs_model.h"
#include "ui/run/projection.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QStackedWidget;

namespace dsa::ui {

class Scatter;

/// How many of the table's rows a frame shows, and which: "1,180 rows".
[[nodiscard]] QString shownRowsText(const EmbeddingRows& of);
/// In which plane: "first two coordinates".
[[nodiscard]] QString projectionText(const EmbeddingFrame& frame);

class EmbeddingPage : public QWidget {
  Q_OBJECT
 public:
  explicit EmbeddingPage(RunsModel& model, QWidget* parent = nullptr);

  void showRun(RunId run);
  /// A run is on its way and will be shown: says so.
  void expect();
  [[nodiscard]] RunId run() const { return m_run; }
  void takeFrame(const EmbeddingFrame& frame);
  void runsChanged();
  [[nodiscard]] Scatter& scatter() { return *m_scatter; }
  [[nodiscard]] QString facts() const;
  /// Writes it into the field; the points that match light up.
  void search(const QString& text);

 signals:
  void runChosen(dsa::RunId run);
  void demoWanted();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QWidget* makeHeader();
  void updateFacts();
  void updateFound();

  RunsModel& m_model;
  RunId m_run = 0;
  QString m_problem;
  QStackedWidget* m_stack = nullptr;
  QComboBox* m_picker = nullptr;
  QLabel* m_status = nullptr;
  QLabel* m_facts = nullptr;
  QLineEdit* m_search = nullptr;
  QLabel* m_found = nullptr;
  Scatter* m_scatter = nullptr;
};

}  // namespace dsa::ui
