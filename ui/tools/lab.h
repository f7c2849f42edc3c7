// SPDX-License-Identifier: GPL-3.0-or-later
// The program behind the window: its command line, language, look; pictures and the self-test.
#pragma once

namespace dsa::ui {

/// `dsa-lab [--db FILE] [--dark|--light] [--lang LANG] [--scale FACTOR] [--shots DIR | --selftest]`. Gives the exit
/// code.
int runLab(int argc, char** argv);

}  // namespace dsa::ui
