// SPDX-License-Identifier: GPL-3.0-or-later
// The box in which a page chooses a run.
#pragma once

#include "ui/records/records_service.h"

class QComboBox;

namespace dsa::ui {

/// Newest first, archived ones only when shown; `shown` becomes the current one. Says no signal, and leaves an open
/// list alone: it must not be pulled away from under the user. Item data: the run's number.
void fillRunPicker(QComboBox& picker, const RunList& runs, RunId shown);

}  // namespace dsa::ui
