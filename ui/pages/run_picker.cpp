// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/run_picker.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <utility>

#include "ui/look/theme.h"
#include "ui/run/run_text.h"

namespace dsa::ui {

namespace {

constexpr qsizetype kMostRuns = 200;  // what a list can still be looked through for

}  // namespace

QComboBox* makeRunPicker(const QString& name, int letters, std::function<void(RunId run)> chosen) {
  auto* picker = new QComboBox;
  picker->setAccessibleName(name);
  picker->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  picker->setMinimumContentsLength(letters);
  QObject::connect(picker, &QComboBox::activated, picker,
                   [picker, chosen = std::move(chosen)](int index) { chosen(picker->itemData(index).toLongLong()); });
  return picker;
}

void showStatus(QLabel& label, RunStatus status, const QString& text) {
  label.setText(text);
  setSheet(label, QString("color: %1; font-weight: 600;").arg(statusColour(status).name()));
}

void fillRunPicker(QComboBox& picker, const RunList& runs, RunId shown) {
  if (picker.view()->isVisible()) return;
  const QSignalBlocker block(picker);
  QVector<const RunSummary*> wanted;
  for (auto it = runs.rbegin(); it != runs.rend() && wanted.size() < kMostRuns; ++it)
    if (!it->archived || it->id == shown) wanted << &*it;
  bool same = picker.count() == wanted.size();
  for (int i = 0; same && i < picker.count(); ++i)
    same = picker.itemData(i).toLongLong() == wanted[i]->id &&
           picker.itemText(i) == QString::fromStdString(wanted[i]->name);
  if (!same) {
    picker.clear();
    for (const RunSummary* run : wanted)
      picker.addItem(QString::fromStdString(run->name), QVariant::fromValue<qlonglong>(run->id));
  }
  picker.setCurrentIndex(picker.findData(QVariant::fromValue<qlonglong>(shown)));
}

}  // namespace dsa::ui
