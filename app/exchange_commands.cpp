// SPDX-License-Identifier: Apache-2.0
// `dsa store export | import`: a table as files of other programs, and out of them.
#include <unistd.h>

#include <chrono>
#include <memory>

#include "app/commands.h"
#include "core/exchange/export_table.h"
#include "core/exchange/import_table.h"

namespace dsa {

namespace {

struct ExportArguments {
  std::string table, database, out, format = "npy", name;
  bool state = false, json = false;
};

/// A bar on a terminal, a line every few seconds elsewhere; nothing for what ends sooner.
class RowsPrinter {
 public:
  void operator()(std::uint64_t done, std::uint64_t rows) {
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    const auto now = std::chrono::steady_clock::now();
    const bool last = done == rows;
    if (std::chrono::duration<double>(now - m_last).count() < (terminal ? 0.1 : 5.0) && !(last && terminal)) return;
    m_last = now;
    if (!terminal) {
      fmt::print(stderr, "dsa: row {}/{}\n", done, rows);
      return;
    }
    fmt::print(stderr, "\r\033[K{} row {}/{}{}", progressBar(static_cast<double>(done) / static_cast<double>(rows)),
               done, rows, last ? "\n" : "");
  }

 private:
  std::chrono::steady_clock::time_point m_last = std::chrono::steady_clock::now();
};

Result<std::uint32_t> tableNamed(const RowStore& store, const std::string& name) {
  std::string names;
  for (std::uint32_t t = 0; t < store.shape().tables.size(); ++t) {
    if (name.empty() || store.shape().tables[t].name == name) return t;
    names += (names.empty() ? "" : ", ") + store.shape().tables[t].name;
  }
  return fail(ErrorCode::usage, "--table {}: there is no such table; there are: {}", name, names);
}

Result<nlohmann::ordered_json> exportCommand(const ExportArguments& a) {
  ExportOptions options;
  const auto format = tableFormatFromName(a.format);
  if (!format) return fail(ErrorCode::usage, "--format {}: not a format; take npy, word2vec, tsv or raw", a.format);
  options.format = *format;
  options.state = a.state;
  DSA_ASSIGN(const FoundTable found, findTable(a.table, a.database));
  DSA_ASSIGN(const std::unique_ptr<RowStore> store, RowStore::openReadOnly(found.folder));
  DSA_ASSIGN(options.table, tableNamed(*store, a.name));
  const TableShape& shape = store->shape().tables[options.table];
  std::shared_ptr<const Dataset> dataset;
  if (found.run && (*format == TableFormat::word2vec || *format == TableFormat::tsv)) {
    DSA_ASSIGN(const RunSetup setup, setupOfRun(*found.run));
    dataset = setup.dataset;
    options.names = shape.name == "relations" ? &dataset->relations : &dataset->entities;
  }
  options.progress = RowsPrinter();
  options.shouldStop = [] { return stopFlag().load(); };
  DSA_ASSIGN(const Exported exported, exportTable(*store, a.out, options));
  nlohmann::ordered_json object;
  object["table"] = shape.name;
  object["rows"] = shape.rows;
  object["dim"] = shape.dim;
  object["format"] = tableFormatName(*format);
  object["step"] = store->step();
  object["bytes"] = exported.bytes;
  object["files"] = exported.files;
  return object;
}

struct TableImportArguments {
  std::string file, out, format, rule = "sparse_adam", table = "entities";
  std::uint32_t dim = 0;
  bool json = false;
};

Result<nlohmann::ordered_json> importTableCommand(const TableImportArguments& a) {
  TableImportOptions options;
  options.format = tableFormatFromName(a.format);
  if (!a.format.empty() && !options.format)
    return fail(ErrorCode::usage, "--format {}: not a format; take npy, word2vec, tsv or raw", a.format);
  const auto rule = ruleFromName(a.rule);
  if (!rule) return fail(ErrorCode::usage, "--rule {}: not a rule; take one of {}", a.rule, allRuleNames());
  options.rule = *rule;
  options.dim = a.dim;
  options.table = a.table;
  options.progress = RowsPrinter();
  options.shouldStop = [] { return stopFlag().load(); };
  DSA_ASSIGN(const ImportedTable imported, importTable(a.file, a.out, options));
  nlohmann::ordered_json object;
  object["folder"] = a.out;
  object["table"] = imported.shape.name;
  object["rows"] = imported.shape.rows;
  object["dim"] = imported.shape.dim;
  object["rule"] = ruleName(imported.shape.rule);
  object["format"] = tableFormatName(imported.format);
  object["state"] = imported.state;
  object["names"] = imported.names;
  object["rounded"] = imported.rounded;
  object["files"] = imported.files;
  return object;
}

void printImportedTable(const nlohmann::ordered_json& object) {
  for (const auto& file : object["files"]) fmt::print("read {}\n", file.get<std::string>());
  fmt::print("{}: {} rows x {} of table {}, {}, {}, {}\n", object["folder"].get<std::string>(), object["rows"].dump(),
             object["dim"].dump(), object["table"].get<std::string>(), object["rule"].get<std::string>(),
             object["state"].get<bool>() ? "with its state" : "state zero",
             object["names"].get<bool>() ? "rows with names" : "rows without names");
  if (object["rounded"] != 0)
    fmt::print("{} float64 values were rounded to the nearest float32\n", object["rounded"].dump());
}

void addTableImport(CLI::App& stores, Chosen& chosen) {
  auto a = std::make_shared<TableImportArguments>();
  CLI::App* command = stores.add_subcommand("import", "A table's folder out of files of other programs");
  command->add_option("FILE", a->file, "File with the weights; of raw also NAME of NAME_w.dat")->required();
  command->add_option("--out", a->out, "Folder to make; a table that is there is not replaced")->required();
  command->add_option("--format", a->format,
                      "npy, word2vec (text), tsv (names from FILE.metadata.tsv) or raw (float32 without a header); "
                      "default by the file's name");
  command
      ->add_option("--rule", a->rule,
                   "Update rule: which state a row has. It is read from the files that "
                   "export writes it to, all or none of them; else it is zero")
      ->capture_default_str();
  command->add_option("--dim", a->dim, "raw: numbers of a row");
  command->add_option("--table", a->table, "What the table is called")->capture_default_str();
  command->add_flag("--json", a->json, "One JSON object on stdout");
  command->callback([a, &chosen] {
    chosen = [a] {
      const auto object = importTableCommand(*a);
      if (!object) return reportError(object.error());
      if (a->json)
        printJson(*object);
      else
        printImportedTable(*object);
      return 0;
    };
  });
}

}  // namespace

void addExchangeCommands(CLI::App& stores, Chosen& chosen) {
  addTableImport(stores, chosen);
  auto a = std::make_shared<ExportArguments>();
  CLI::App* command = stores.add_subcommand("export", "A table as a file for other programs; the table is only read");
  command->add_option("PATH", a->table, "Folder of the table, or the run")->required();
  command->add_option("--out", a->out, "File to write; an existing one is not overwritten")->required();
  command
      ->add_option(
          "--format", a->format,
          "npy (NumPy, float32); word2vec (text; blanks in names become _); tsv (for the embedding projector, names in "
          "OUT.metadata.tsv); raw (OUT_w.dat, OUT_m.dat, OUT_v.dat). Rows of a run, and "
          "imported ones, have their names, others their numbers")
      ->capture_default_str();
  command->add_option("--table", a->name, "Which table; default the first");
  command->add_flag("--state", a->state, "npy: the optimizer's state, too: OUT-m.npy, OUT-v.npy");
  command->add_option("--db", a->database, "Database of runs");
  command->add_flag("--json", a->json, "One JSON object on stdout");
  command->callback([a, &chosen] {
    chosen = [a] {
      const auto object = exportCommand(*a);
      if (!object) return reportError(object.error());
      if (a->json) {
        printJson(*object);
      } else {
        for (const auto& file : (*object)["files"]) fmt::print("{}\n", file.get<std::string>());
        fmt::print("{} rows x {} of table {} at step {}, {}\n", (*object)["rows"].dump(), (*object)["dim"].dump(),
                   (*object)["table"].get<std::string>(), (*object)["step"].dump(),
                   formatBytes((*object)["bytes"].get<std::uint64_t>()));
      }
      return 0;
    };
  });
}

}  // namespace dsa
