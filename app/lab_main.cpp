// SPDX-License-Identifier: GPL-3.0-or-later
// `dsa-lab`: the window.
#include "ui/tools/lab.h"

int main(int argc, char** argv) { return dsa::ui::runLab(argc, argv); }
