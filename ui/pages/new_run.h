// SPDX-License-Identifier: GPL-3.0-or-later
// The form of a new run: every field empty means its default, which stands in it in grey; beside it what will fit.
#pragma once

#include <QDialog>
#include <QMap>

#include "ui/run/dataset_probe.h"
#include "ui/run/hardware.h"
#include "ui/run/launcher.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace dsa::ui {

class FitBars;

class NewRunDialog : public QDialog {
  Q_OBJECT
 public:
  NewRunDialog(DatasetProbe& probe, Hardware& hardware, QWidget* parent = nullptr);

  /// Fills the form from a spec ("Duplicate").
  void setSpec(const RunSpec& spec);
  void setDataset(const QString& nameOrPath);
  /// What the form says now. Absent while a field holds what no run can take; problem() says which.
  [[nodiscard]] std::optional<LaunchRequest> request(bool queue = false) const;
  [[nodiscard]] QString problem() const { return m_problem; }
  [[nodiscard]] const FitBars& picture() const { return *m_picture; }

 signals:
  void wanted(const dsa::ui::LaunchRequest& request);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  QWidget* makeForm();
  QWidget* makeSide();
  QLineEdit* addText(QFormLayout& form, const QString& path, const QString& label, const QString& tip);
  QComboBox* addChoice(QFormLayout& form, const QString& path, const QString& label, const QString& tip,
                       const QMap<QString, QString>& names);
  void loadRecipes();
  void applyRecipe(int index);
  void browseDataset();
  void browseCache();
  /// Reads the fields; the first that is wrong is named in m_problem.
  std::optional<RunSpec> gather();
  void refresh();
  void showDefaults(const ResolvedSpec& resolved);
  /// Gives whether there is a plan.
  bool showPicture(const RunSpec& spec, const DatasetFacts& facts);
  void showCache();
  void say(const QString& problem);
  void start(bool queue);

  DatasetProbe& m_probe;
  Hardware& m_hardware;
  QMap<QString, QLineEdit*> m_texts;  ///< by path of the key
  QMap<QString, QComboBox*> m_choices;
  QComboBox* m_recipe = nullptr;
  QComboBox* m_dataset = nullptr;
  QLabel* m_datasetFacts = nullptr;
  QRadioButton* m_euclidean = nullptr;
  QRadioButton* m_poincare = nullptr;
  QComboBox* m_place = nullptr;
  QComboBox* m_device = nullptr;
  QLabel* m_cacheState = nullptr;
  FitBars* m_picture = nullptr;
  QLabel* m_summary = nullptr;
  QLabel* m_problemLabel = nullptr;
  QPushButton* m_start = nullptr;
  QPushButton* m_queue = nullptr;
  QPushButton* m_copy = nullptr;
  RunSpec m_base;  ///< of the recipe or duplicated run: keys that have no field
  QString m_problem;
  std::optional<RunSpec> m_spec;
  QStringList m_arms;
  bool m_filling = false;
};

}  // namespace dsa::ui
