// SPDX-License-Identifier: Apache-2.0
// The command line as a whole: which subcommands there are, and what a wrong line is answered.
#include "app/command_line.h"

#include "app/commands.h"

namespace dsa {

int runCommandLine(int argc, char** argv) {
  CLI::App app{"DSA Lab's runner: embedding tables on disk, in RAM or on a card, with the same bits everywhere", "dsa"};
  app.set_version_flag("--version", std::string("dsa " DSA_VERSION));
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    // "A subcommand is required" alone does not say what was mistyped.
    const std::vector<std::string> rest = failed->remaining();
    const std::string what =
        rest.empty() ? error.what() : fmt::format("{} (not known: {})", error.what(), rest.front());
    return fmt::format("dsa: {}\ndsa: see {} --help\n", what, failed->get_name().empty() ? "dsa" : failed->get_name());
  });
  Chosen chosen;
  addTrainCommands(app, chosen);
  addCompareCommand(app, chosen);
  addPlanCommand(app, chosen);
  addDataCommands(app, chosen);
  addStoreCommands(app, chosen);
  addRunsCommands(app, chosen);
  addBenchCommands(app, chosen);
  addDoctorCommand(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(ErrorCode::usage);
  }
  installStopSignals();
  return chosen ? chosen() : static_cast<int>(ErrorCode::usage);
}

}  // namespace dsa
