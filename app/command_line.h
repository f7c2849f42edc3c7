// SPDX-License-Identifier: Apache-2.0
// The command line of `dsa`, whole.
#pragma once

namespace dsa {

/// `dsa ARGUMENT...`: parses the line and runs its subcommand; gives the exit code (README, "Exit codes").
int runCommandLine(int argc, char** argv);

}  // namespace dsa
