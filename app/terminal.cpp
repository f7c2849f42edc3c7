// SPDX-License-Identifier: Apache-2.0
// Progress, notes, errors and results as a terminal shows them; signals.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "app/commands.h"
#include "core/data/resources.h"

namespace dsa {

namespace {

std::atomic<bool> g_stop{false};

void onSignal(int) {
  if (g_stop.exchange(true)) ::_exit(5);
}

std::string clock(double seconds) {
  const auto whole = static_cast<long>(seconds);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// A bar on a terminal, a line every few seconds elsewhere.
class ProgressPrinter {
 public:
  void operator()(const RunProgressLine& line) {
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    const auto now = std::chrono::steady_clock::now();
    const auto since = std::chrono::duration<double>(now - m_last).count();
    const bool newPhase = line.phase != m_phase;
    const bool last = !line.begins && line.step == line.plannedSteps;
    if (line.begins) {
      if (newPhase && terminal && line.phase != "training") fmt::print(stderr, "\r\033[K{} ...", line.phase);
      m_phase = line.phase;
      return;
    }
    if (!last && since < (terminal ? 0.1 : 5.0)) return;
    m_last = now;
    const double done =
        static_cast<double>(line.step) / static_cast<double>(std::max<std::uint64_t>(1, line.plannedSteps));
    if (m_firstSeconds < 0) m_firstSeconds = line.seconds, m_firstDone = done;
    // The rest at the mean rate so far; not before 2% or some seconds, when it would be a guess.
    std::string left;
    if (done - m_firstDone > 0.02 && line.seconds - m_firstSeconds > 2) {
      left = fmt::format("  {} left", clock((line.seconds - m_firstSeconds) / (done - m_firstDone) * (1 - done)));
    }
    const std::string text =
        fmt::format("step {}/{}  epoch {:.1f}  loss {:.4f}  {:.0f} samples/s  {}{}", line.step, line.plannedSteps,
                    line.epoch, line.loss, line.samplesPerSecond, clock(line.seconds), left);
    if (terminal) {
      fmt::print(stderr, "\r\033[K{} {}", progressBar(done), text);
      if (last) fmt::print(stderr, "\n");
    } else {
      fmt::print(stderr, "dsa: {}\n", text);
    }
  }

 private:
  std::chrono::steady_clock::time_point m_last{};
  std::string m_phase;
  double m_firstSeconds = -1;
  double m_firstDone = 0;
};

std::string bytesOf(const nlohmann::ordered_json& value) {
  return value.is_number_unsigned() ? formatBytes(value.get<std::uint64_t>()) : "not reported";
}

}  // namespace

std::string progressBar(double done) {
  const auto filled = static_cast<std::size_t>(done * 20);
  return fmt::format("[{}{}]", std::string(filled, '#'), std::string(20 - filled, '.'));
}

int reportError(const Error& error) {
  fmt::print(stderr, "{}dsa: {}\n", ::isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "", error.message);
  return exitCode(error);
}

void printJson(const nlohmann::ordered_json& object) {
  fmt::print("{}\n", object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

const std::atomic<bool>& stopFlag() { return g_stop; }

void installStopSignals() {
  struct sigaction action {};
  action.sa_handler = onSignal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

RunnerOptions terminalOptions(const std::string& database, bool hash) {
  RunnerOptions options;
  options.database = database;
  options.hash = hash;
  options.stop = &stopFlag();
  options.progress = ProgressPrinter();
  options.note = [](const std::string& text) { fmt::print(stderr, "dsa: note: {}\n", text); };
  return options;
}

void printRun(const nlohmann::ordered_json& object) {
  fmt::print("run {}: {}", object.value("run", 0), object.value("status", ""));
  if (const std::string reason = object.value("reason", ""); !reason.empty()) fmt::print(" ({})", reason);
  fmt::print("\n");
  if (!object.contains("memory")) return;
  const auto number = [&](const char* key) {
    return object[key].is_number() ? fmt::format("{:.6g}", object[key].get<double>()) : std::string("-");
  };
  fmt::print("  loss             {} -> {}\n", number("loss_first"), number("loss_last"));
  for (const auto& [name, value] : object["metrics"].items())
    fmt::print("  {:<16} {:.6g}\n", name, value.get<double>());
  fmt::print("  steps            {} ({:.2f} epochs) in {:.1f} s, first after {:.2f} s\n",
             object["steps"].get<std::uint64_t>(), object["epochs"].get<double>(), object["seconds"].get<double>(),
             object["seconds_to_first_step"].get<double>());
  fmt::print("  samples/s        {:.0f}\n", object["samples_per_s"].get<double>());
  const auto& memory = object["memory"];
  fmt::print("  private peak     {}  (RssAnon + VmPTE + VmSwap)\n", bytesOf(memory["private_peak"]));
  fmt::print("  table in memory  {}  ({})\n", bytesOf(memory["table_resident_peak"]),
             object["placement"] == "disk" ? "page cache, reclaimable" : "committed");
  if (memory["device_peak"].get<std::uint64_t>() > 0)
    fmt::print("  device peak      {}{}\n", bytesOf(memory["device_peak"]),
               object["simulated"].get<bool>() ? "  (simulated)" : "");
  fmt::print("  table            {}, on disk {}\n", bytesOf(memory["table_bytes"]), bytesOf(memory["disk_bytes"]));
  fmt::print("  page faults      {} minor, {} major\n", object["faults"]["minor"].dump(),
             object["faults"]["major"].dump());
  if (object.contains("table_sha256")) fmt::print("  table sha256     {}\n", object["table_sha256"].get<std::string>());
}

std::string recipeFolder() {
  const auto folder = resourceFolder();
  return folder ? *folder + "/recipes" : std::string();
}

}  // namespace dsa
