// SPDX-License-Identifier: GPL-3.0-or-later
// A made database for pictures and the self-test: drawn from formulas, and named so in every run.
#pragma once

#include <QString>

#include "core/base/error.h"

namespace dsa::ui {

struct MadeRecords {
  int extraRuns = 0;         ///< further runs without samples
  int samplesASeries = 600;  ///< of the two runs of the comparison
};

/// Makes `path`: a pair in RAM and on disk, one run of each status, one that diverged, one with points in the disk.
/// Errors: as Database::open.
Result<void> makeRecords(const QString& path, const MadeRecords& wanted);

}  // namespace dsa::ui
