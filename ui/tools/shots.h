// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of every screen and dialog, without a display.
#pragma once

#include <QString>

namespace dsa::ui {

/// Draws into `folder` (made where missing). `database`: runs to show; empty: a made one. Gives the exit code.
int drawShots(const QString& folder, const QString& database);

}  // namespace dsa::ui
