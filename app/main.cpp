// SPDX-License-Identifier: Apache-2.0
// `dsa`: trains embedding tables that do not fit in memory, and tells what they cost.
#include "app/command_line.h"

int main(int argc, char** argv) { return dsa::runCommandLine(argc, argv); }
