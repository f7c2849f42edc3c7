// SPDX-License-Identifier: Apache-2.0
// Flags from the table of spec keys.
#include "app/options.h"

#include "core/base/file.h"
#include "core/spec/recipe.h"
#include "core/spec/spec_table.h"

namespace dsa {
namespace {

constexpr std::uint64_t kLargestSpecFile = 1u << 20;  // a spec is a page of text; more is another file named by mistake

std::string groupOf(const std::string& path) {
  const std::size_t dot = path.find('.');
  if (dot != std::string::npos) {
    std::string group = path.substr(0, dot);
    group[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(group[0])));
    return group;
  }
  return path == "cache" || path == "ram_budget" || path == "device" ? "Machine" : "Run";
}

std::string typeNameOf(const SpecKey& key) {
  switch (key.type) {
    case SpecType::text:
      return "TEXT";
    case SpecType::count:
      return "COUNT";
    case SpecType::number:
      return "NUMBER";
    case SpecType::size:
      return "SIZE";
    case SpecType::device:
      return "DEVICE";
    case SpecType::choice:
      break;
  }
  std::string names;
  for (const std::string& choice : key.choices) names += (names.empty() ? "" : "|") + choice;
  return names;
}

std::string helpOf(const SpecKey& key) {
  std::string help = key.help;
  if (key.type == SpecType::count || key.type == SpecType::number || key.type == SpecType::device) {
    help += "; " + allowedText(key);
  }
  return help + " [" + key.defaultText + "]";
}

}  // namespace

std::string flagOf(const std::string& path) {
  const SpecKey* key = findSpecKey(path);
  DSA_CHECK(key != nullptr);
  return key->flags.substr(0, key->flags.find(','));
}

void addSpecOptions(CLI::App& app, SpecArguments& arguments) {
  app.add_option("--spec", arguments.specFile, "JSON file with a run spec")->type_name("FILE")->group("Run");
  app.add_option("--recipe", arguments.recipe, "bundled recipe; --spec and flags override its keys")
      ->type_name("NAME")
      ->group("Run");
  for (const SpecKey& key : specTable()) {
    const auto keep = [&arguments, path = key.path](const std::string& text) { arguments.values[path] = text; };
    app.add_option_function<std::string>(key.flags, keep, helpOf(key))
        ->type_name(typeNameOf(key))
        ->group(groupOf(key.path));
  }
}

void addOutputOptions(CLI::App& app, OutputArguments& arguments) {
  app.add_option("--db", arguments.database, "database of the runs [in the user's data folder]")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("--hash", arguments.hash, "print the SHA-256 of the table at the end")->group("Output");
  app.add_flag("--json", arguments.json, "print one JSON object at the end")->group("Output");
}

void addUuidOption(CLI::App& app, OutputArguments& arguments) {
  app.add_option("--uuid", arguments.uuid, "identity of the run's record [a new one]")
      ->type_name("UUID")
      ->group("Output");
}

Result<RunSpec> gatherSpec(const SpecArguments& arguments) {
  RunSpec spec;
  if (!arguments.recipe.empty()) {
    DSA_ASSIGN(const Recipe recipe, loadRecipe(arguments.recipeFolder, arguments.recipe));
    spec = recipe.spec;
  }
  if (!arguments.specFile.empty()) {
    DSA_ASSIGN(const std::string text, readTextFile(arguments.specFile, kLargestSpecFile));
    const auto written = parseSpec(text);
    if (!written) return fail(written.error().code, "{}: {}", arguments.specFile, written.error().message);
    spec = overlay(spec, *written);
  }
  for (const auto& [path, text] : arguments.values) {
    const SpecKey* key = findSpecKey(path);
    DSA_CHECK(key != nullptr);
    DSA_ASSIGN(const SpecValue value, valueFromText(*key, text, flagOf(path)));
    key->set(spec, value);
  }
  return spec;
}

}  // namespace dsa
