// SPDX-License-Identifier: Apache-2.0
// `dsa data`: list, inspect, import.
#include <memory>

#include "app/commands.h"
#include "core/data/inspect.h"

namespace dsa {

namespace {

struct ImportArguments {
  std::string file, out, encoding, separator, columns;
  bool json = false, skipBadLines = false, closure = false, hierarchy = false, noHeader = false;
  double minWeight = 0;
  bool hasMinWeight = false;
};

Result<LoadOptions> optionsOf(const ImportArguments& a) {
  LoadOptions options;
  if (!a.encoding.empty()) {
    DSA_ASSIGN(options.encoding, parseEncoding(a.encoding));
  }
  if (!a.separator.empty()) {
    DSA_ASSIGN(options.separator, parseSeparator(a.separator));
  }
  if (!a.columns.empty()) {
    DSA_ASSIGN(options.columns, parseColumns(a.columns));
  }
  if (a.skipBadLines) options.badLines = BadLines::skip;
  if (a.hierarchy) options.asHierarchy = Choice::yes;
  if (a.noHeader) options.header = Choice::no;
  options.closure = a.closure;
  if (a.hasMinWeight) options.minWeight = a.minWeight;
  return options;
}

int told(const Result<Inspection>& inspection, bool json) {
  if (!inspection) return reportError(inspection.error());
  if (json) {
    printJson(describeJson(*inspection));
  } else {
    fmt::print("{}\n", describeText(*inspection));
  }
  return 0;
}

void addImportOptions(CLI::App& command, const std::shared_ptr<ImportArguments>& a) {
  command.add_option("--encoding", a->encoding, "utf-8, utf-16le, utf-16be, windows-1252; default by the file");
  command.add_option("--separator", a->separator, "tab, comma, semicolon, blanks; default by the file");
  command.add_option("--columns", a->columns,
                     "What each column is, for example head,relation,tail or head,tail,weight; - leaves one out");
  command.add_flag("--no-header", a->noHeader, "The first line is data, whatever it says");
  command.add_flag("--skip-bad-lines", a->skipBadLines, "Leave out lines that cannot be read instead of stopping");
  command.add_flag("--hierarchy", a->hierarchy, "Each edge leads from child to parent; relations are dropped");
  command.add_flag("--closure", a->closure, "Train on every (node, ancestor) pair of the hierarchy");
  command.add_option_function<double>(
      "--min-weight", [a](double value) { a->minWeight = value, a->hasMinWeight = true; },
      "Keep edges of at least this weight, for example ratings of 4 and more");
  command.add_flag("--json", a->json, "One JSON object on stdout");
}

}  // namespace

void addDataCommands(CLI::App& app, Chosen& chosen) {
  auto a = std::make_shared<ImportArguments>();
  CLI::App* data = app.add_subcommand("data", "Datasets: bundled ones and your own files");
  data->require_subcommand(1);
  CLI::App* list = data->add_subcommand("list", "The bundled datasets");
  list->add_flag("--json", a->json, "One JSON object on stdout");
  list->callback([a, &chosen] {
    chosen = [a] {
      if (a->json)
        printJson(catalogueJson());
      else
        fmt::print("{}\n", catalogueText());
      return 0;
    };
  });
  CLI::App* inspect = data->add_subcommand("inspect", "How a file or dataset is read: counts, first rows, warnings");
  inspect->add_option("FILE", a->file, "File, folder or dataset name")->required();
  addImportOptions(*inspect, a);
  inspect->callback([a, &chosen] {
    chosen = [a] {
      const auto options = optionsOf(*a);
      return options ? told(inspectDataset(a->file, *options), a->json) : reportError(options.error());
    };
  });
  CLI::App* import = data->add_subcommand("import", "Write a file as a clean dataset folder; all or nothing");
  import->add_option("FILE", a->file, "File or folder to read")->required();
  import->add_option("--out", a->out, "Folder to make")->required();
  addImportOptions(*import, a);
  import->callback([a, &chosen] {
    chosen = [a] {
      const auto options = optionsOf(*a);
  return options ? told(importToFolder(a->file, a->out, *options), a->json) : reportError(options.error());
};
}  // namespace dsa
);
}

}  // namespace dsa
