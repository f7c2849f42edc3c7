// SPDX-License-Identifier: Apache-2.0
// `dsa compare`: the same run in several places, each arm in a process of its own so that faults and peaks are its own.
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "app/arms.h"
#include "app/commands.h"
#include "app/options.h"
#include "core/record/editor.h"

extern char** environ;

namespace dsa {

namespace {

using nlohmann::ordered_json;

/// A nameless file with the spec, which the child reads by its number.
Result<File> specFile(const RunSpec& spec) {
  const int fd = ::memfd_create("spec", 0);
  if (fd < 0) return failErrno("spec of an arm", "write", errno);
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  DSA_ASSIGN(File file, File::open(path, File::Mode::readWrite));
  const int flags = ::fcntl(file.fd(), F_GETFD);
  ::fcntl(file.fd(), F_SETFD, flags & ~FD_CLOEXEC);
  ::close(fd);
  const std::string text = specToJson(spec);
  DSA_TRY(file.writeAt(std::as_bytes(std::span(text)), 0));
  return file;
}

std::string readAll(int fd) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

struct ArmEnd {
  ordered_json object;
  int exitCode = 0;
};

/// Runs one arm as `dsa train --spec ... --json`; its progress goes to our stderr.
Result<ArmEnd> runArm(const RunSpec& spec, const OutputArguments& output, const std::string& uuid) {
  DSA_ASSIGN(const File file, specFile(spec));
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return failErrno("pipe to an arm", "open", errno);
  std::vector<std::string> words = {"dsa", "train", "--spec", fmt::format("/proc/self/fd/{}", file.fd()), "--json"};
  if (output.hash) words.emplace_back("--hash");
  if (!uuid.empty()) words.insert(words.end(), {"--uuid", uuid});
  if (!output.database.empty()) words.insert(words.end(), {"--db", output.database});
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  if (failed != 0) {
    ::close(pipe[0]);
    return failErrno("dsa", "start", failed);
  }
  const std::string text = readAll(pipe[0]);
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ArmEnd end;
  end.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  end.object = ordered_json::parse(text, nullptr, false);
  if (end.object.is_object()) return end;
  if (WIFSIGNALED(status))
    return fail(ErrorCode::machine, "an arm was ended by signal {}; what it recorded stands: dsa runs list",
                WTERMSIG(status));
  return fail(static_cast<ErrorCode>(end.exitCode == 0 ? 1 : end.exitCode),
              "an arm could not start; its message stands above");
}

bool sameLosses(const ordered_json& arms) {
  for (const auto& arm : arms) {
    if (!arm.contains("losses") || arm["losses"] != arms[0].value("losses", ordered_json())) return false;
  }
  return arms.size() > 1;
}

std::string cell(const ordered_json& arm, const char* group, const char* key) {
  const ordered_json* value = &arm;
  if (group != nullptr) value = arm.contains(group) ? &arm[group] : nullptr;
  if (value == nullptr || !value->contains(key) || !(*value)[key].is_number()) return "-";
  return group != nullptr && std::string(group) == "memory" ? formatBytes((*value)[key].get<std::uint64_t>())
                                                            : fmt::format("{:.6g}", (*value)[key].get<double>());
}

void printTable(const ordered_json& object) {
  const ordered_json& arms = object["arms"];
  struct Line {
    const char* title;
    const char* group;
    const char* key;
  };
  constexpr Line kLines[] = {{"loss, first", nullptr, "loss_first"},
                             {"loss, last", nullptr, "loss_last"},
                             {"MAP", "metrics", "map"},
                             {"mean rank", "metrics", "mean_rank"},
                             {"MRR", "metrics", "mrr"},
                             {"Hits@10", "metrics", "hits_10"},
                             {"private memory, peak", "memory", "private_peak"},
                             {"table in memory, peak", "memory", "table_resident_peak"},
                             {"device memory, peak", "memory", "device_peak"},
                             {"on disk", "memory", "disk_bytes"},
                             {"major page faults", "faults", "major"},
                             {"seconds", nullptr, "seconds"},
                             {"samples/s", nullptr, "samples_per_s"}};
  fmt::print("{:<24}", "");
  for (const auto& arm : arms) fmt::print("{:>20}", arm["arm"].get<std::string>());
  fmt::print("\n{:<24}", "status");
  for (const auto& arm : arms) fmt::print("{:>20}", arm.value("status", ""));
  fmt::print("\n");
  for (const Line& line : kLines) {
    bool any = false;
    std::string text = fmt::format("{:<24}", line.title);
    for (const auto& arm : arms) {
      const std::string value = cell(arm, line.group, line.key);
      any |= value != "-" && value != "0 B";
      text += fmt::format("{:>20}", value);
    }
    if (any) fmt::print("{}\n", text);
  }
  for (const auto& arm : arms) {
    if (const std::string reason = arm.value("reason", ""); !reason.empty())
      fmt::print("{}: {}\n", arm["arm"].get<std::string>(), reason);
  }
  if (object["same_losses"].get<bool>())
    fmt::print("The loss is the same in every arm at every recorded step (difference 0).\n");
  if (object.contains("same_table"))
    fmt::print("{}\n", object["same_table"].get<bool>() ? "The tables are identical, bit for bit (sha256)."
                                                        : "The tables differ.");
}

int compare(const SpecArguments& arguments, const OutputArguments& output, const std::string& armsText) {
  const auto arms = parseArms(armsText);
  if (!arms) return reportError(arms.error());
  const auto base = gatherSpec(arguments);
  if (!base) return reportError(base.error());
  const std::vector<std::string> uuids = splitAtCommas(output.uuid);
  if (!uuids.empty() && uuids.size() != arms->size()) {
    return reportError(
        Error{ErrorCode::usage, fmt::format("--uuid: {} given for {} arms", uuids.size(), arms->size())});
  }
  ordered_json object;
  object["arms"] = ordered_json::array();
  int worst = 0;
  bool ran = false;
  std::vector<ComparisonArm> recorded;
  for (const Arm& arm : *arms) {
    RunSpec spec = *base;
    setArm(spec, arm.placement, arm.rule);
    if (spec.name) spec.name = fmt::format("{} {}", *spec.name, arm.label);
    // A card is only for the arms that use it; --device stays for all of them, so that each counts its batch there.
    const auto end = runArm(spec, output, uuids.empty() ? "" : uuids[object["arms"].size()]);
    if (!end) return reportError(end.error());
    ordered_json one;
    one["arm"] = arm.label;
    for (const auto& [key, value] : end->object.items()) one[key] = value;
    if (one.contains("run")) recorded.push_back(ComparisonArm{one["run"].get<RunId>(), arm.label});
    const bool refused = one.value("status", "") == "refused";
    ran |= end->exitCode == 0;
    if (end->exitCode != 0 && (!refused || worst == 0)) worst = end->exitCode;
    object["arms"].push_back(std::move(one));
    if (end->exitCode == static_cast<int>(ErrorCode::stopped)) break;
  }
  object["same_losses"] = sameLosses(object["arms"]);
  if (output.hash) {
    bool same = object["arms"].size() > 1;
    for (const auto& arm : object["arms"])
      same = same && arm.contains("table_sha256") && arm["table_sha256"] == object["arms"][0].value("table_sha256", "");
    object["same_table"] = same;
  }
  if (auto editor = Editor::open(output.database.empty() ? Database::defaultPath() : output.database)) {
    if (const auto id = editor->addComparison(recorded)) object["comparison"] = *id;
  }
  if (output.json) {
    printJson(object);
  } else {
    printTable(object);
  }
  // A refused arm is an answer as long as another one ran.
  bool onlyRefusals = true;
  for (const auto& arm : object["arms"])
    onlyRefusals = onlyRefusals && (arm.value("status", "") == "finished" || arm.value("status", "") == "refused");
  return ran && onlyRefusals ? 0 : worst;
}

}  // namespace

void addCompareCommand(CLI::App& app, Chosen& chosen) {
  auto spec = std::make_shared<SpecArguments>();
  auto output = std::make_shared<OutputArguments>();
  auto arms = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("compare", "The same run in several places, in turn, and one table");
  addSpecOptions(*command, *spec);
  addOutputOptions(*command, *output);
  addUuidOption(*command, *output);
  command->add_option("--arms", *arms, "PLACE:RULE,...; for example ram:sparse_adam,disk:sparse_adam")->required();
  command->callback([spec, output, arms, &chosen] {
    chosen = [spec, output, arms] {
      spec->recipeFolder = recipeFolder();
      return compare(*spec, *output, *arms);
    };
  });
}

}  // namespace dsa
