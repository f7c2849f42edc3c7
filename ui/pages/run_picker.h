// SPDX-License-Identifier: GPL-3.0-or-later
// The box in which a page chooses a run.
#pragma once

#include <functional>

#include "ui/records/records_service.h"

class QComboBox;
class QLabel;

namespace dsa::ui {

/// An empty one that is at least `letters` wide, however long the runs' names. `run` of what is chosen by hand goes to
/// `chosen`.
[[nodiscard]] QComboBox* makeRunPicker(const QString& name, int letters, std::function<void(RunId run)> chosen);

/// Newest first, archived ones only when shown; `shown` becomes the current one. Says no signal, and leaves an open
/// list alone: it must not be pulled away from under the user. Item data: the run's number.
void fillRunPicker(QComboBox& picker, const RunList& runs, RunId shown);

/// A run's status in its colour, with other words where there are better ones.
void showStatus(QLabel& label, RunStatus status, const QString& text);

}  // namespace dsa::ui
