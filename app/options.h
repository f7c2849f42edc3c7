// SPDX-License-Identifier: Apache-2.0
// The command line of a spec: every leaf key as a flag, from the table, and the merge of recipe, file and flags.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/spec/run_spec.h"

namespace dsa {

/// What the command line said about the spec. Must outlive the CLI::App that fills it.
struct SpecArguments {
  std::map<std::string, std::string> values;  ///< path of the key -> the flag's text
  std::string specFile;                       ///< --spec
  std::string recipe;                         ///< --recipe
  std::string recipeFolder;                   ///< where the recipes lie; set by the program, not by a flag
};

/// --db, --hash, --json: where the record goes and what is printed at the end.
struct OutputArguments {
  std::string database;
  bool hash = false;
  bool json = false;
  std::string uuid;  ///< identity of the new run's record; of compare: one an arm, with commas
};

/// Adds --spec, --recipe and one flag for each key of the table to `app`; they take any text, gatherSpec checks it.
void addSpecOptions(CLI::App& app, SpecArguments& arguments);

void addOutputOptions(CLI::App& app, OutputArguments& arguments);
/// --uuid, for commands that make new records: whoever starts them can find these again.
void addUuidOption(CLI::App& app, OutputArguments& arguments);

/// The spec that was asked for: recipe, then --spec, then flags, each over the one before; what none sets stays unset
/// for resolve(). Errors: usage, a flag's value (names the flag); those of loadRecipe, readTextFile and parseSpec.
Result<RunSpec> gatherSpec(const SpecArguments& arguments);

/// How the user knows a key: its first flag, "--lr".
std::string flagOf(const std::string& path);

}  // namespace dsa
