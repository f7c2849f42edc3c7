// SPDX-License-Identifier: Apache-2.0
// The subcommands of `dsa`. Each add...() declares its flags; the chosen one runs after parsing and sets the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/train/runner.h"

namespace dsa {

/// What a subcommand does once the line is parsed; gives the exit code.
using Chosen = std::function<int()>;

void addTrainCommands(CLI::App& app, Chosen& chosen);  // train, resume, eval
void addCompareCommand(CLI::App& app, Chosen& chosen);
void addPlanCommand(CLI::App& app, Chosen& chosen);
void addDataCommands(CLI::App& app, Chosen& chosen);
void addStoreCommands(CLI::App& app, Chosen& chosen);
void addExchangeCommands(CLI::App& stores, Chosen& chosen);  // below "store": export, import
void addRunsCommands(CLI::App& app, Chosen& chosen);
void addBenchCommands(CLI::App& app, Chosen& chosen);
void addDiskBench(CLI::App& bench, Chosen& chosen);   // below "bench": disk
void addTrainBench(CLI::App& bench, Chosen& chosen);  // below "bench": train
void addDoctorCommand(CLI::App& app, Chosen& chosen);

/// A table's folder, and the run whose it is where it was named by that.
struct FoundTable {
  std::string folder;
  std::optional<RunRow> run;
};
/// An existing path, else the number or name of a run. Error input: neither, or the run has no table here.
Result<FoundTable> findTable(const std::string& pathOrRun, const std::string& database);
/// "[#####...............]", done in [0, 1].
[[nodiscard]] std::string progressBar(double done);
/// "dsa: MESSAGE" on stderr; the exit code of the error.
int reportError(const Error& error);
/// Prints an object on stdout as one indented JSON document.
void printJson(const nlohmann::ordered_json& object);
/// Set by SIGINT and SIGTERM: finish the batch, checkpoint, exit. A second signal ends at once.
const std::atomic<bool>& stopFlag();
void installStopSignals();
/// Recorder and reader options of a terminal: progress and notes on stderr.
RunnerOptions terminalOptions(const std::string& database, bool hash);
/// The end of a run, for people.
void printRun(const nlohmann::ordered_json& object);
/// The folder of the bundled recipes, empty where there is none.
std::string recipeFolder();

}  // namespace dsa
