// SPDX-License-Identifier: GPL-3.0-or-later
// Words for what a run is and how it stands.
#pragma once

#include <QColor>
#include <QString>

#include "core/record/records.h"

namespace dsa::ui {

[[nodiscard]] QString statusText(RunStatus status);
[[nodiscard]] QColor statusColour(RunStatus status);
[[nodiscard]] QString placeText(const std::string& placement);
[[nodiscard]] QString ruleText(const std::string& rule);
[[nodiscard]] QString modelText(const std::string& model);
/// "Euclidean" or "k = 1".
[[nodiscard]] QString geometryText(double k);
/// Whether `dsa resume` takes it up.
[[nodiscard]] bool canResume(const RunSummary& run);
/// Whether a table lies on the disk that no process uses.
[[nodiscard]] bool canDeleteTable(const RunSummary& run);

}  // namespace dsa::ui
