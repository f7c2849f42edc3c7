// SPDX-License-Identifier: GPL-3.0-or-later
// The memory plot of one run: page cache, private memory, and the card's, where the run has one.
#pragma once

#include "ui/plots/plot.h"
#include "ui/run/series.h"

namespace dsa::ui {

/// Adds the strip's lines in the present theme; clear older ones first.
void addMemoryLines(Plot& plot);
/// Gives them the run's samples. True: the card is simulated, which the plot's title has to say.
bool feedMemory(Plot& plot, const RunSeries& series);
/// The highest sample of any of them.
[[nodiscard]] double memoryTop(const RunSeries& series);
/// Where the figures are read, for a tool tip.
[[nodiscard]] QString memorySources(const RunSeries& series);

}  // namespace dsa::ui
