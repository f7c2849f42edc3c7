// SPDX-License-Identifier: GPL-3.0-or-later
// Works through the window over a large made database and prints how long its thread was ever busy with one event.
#pragma once

namespace dsa::ui {

/// 1,000,000 samples, 1,000 runs. Exit code 0 when all that it did worked; times are told, never judged.
int runSelftest();

}  // namespace dsa::ui
