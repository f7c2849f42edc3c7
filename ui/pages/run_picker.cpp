// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/run_picker.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QSignalBlocker>

namespace dsa::ui {

namespace {

constexpr qsizetype kMostRuns = 200;  // what a list can still be looked through for

}  // namespace

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
