// SPDX-License-Identifier: Apache-2.0
// `dsa bench train`: whole training steps in several places, the arms in turn, and where their time goes. Nothing is
// recorded, evaluated or kept.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/arms.h"
#include "app/bench_parts.h"
#include "app/commands.h"
#include "app/options.h"
#include "core/data/catalogue.h"
#include "core/metrics/machine.h"

namespace dsa {

namespace {

using nlohmann::ordered_json;

struct TrainBenchArguments {
  SpecArguments spec;
  std::string arms = "ram:sparse_adam,disk:sparse_adam";
  std::uint64_t rounds = 3;
  bool json = false;
};

constexpr std::uint64_t kDefaultSteps = 200;
constexpr std::uint64_t kMostRounds = 1000;

/// Sums over the steps after the first tenth, then stops the run: so it is not evaluated.
class StepSums : public TrainObserver {
 public:
  StepSums(std::uint64_t warmUp, std::uint64_t last) : m_warmUp(warmUp), m_last(last) {}
  void stepped(const StepReport& report) override {
    if (stopFlag() || report.step >= m_last) stop = true;
    if (report.step <= m_warmUp) {
      m_begin = report.seconds;
      return;
    }
    samples += report.samples;
    rows += report.rows;
    wait += report.waitSeconds;
    compute += report.computeSeconds;
    apply += report.applySeconds;
    seconds = report.seconds - m_begin;
  }
  std::atomic<bool> stop{false};
  std::uint64_t samples = 0, rows = 0;
  double wait = 0, compute = 0, apply = 0, seconds = 0;

 private:
  const std::uint64_t m_warmUp, m_last;
  double m_begin = 0;
};

/// One arm's figures, a value a round.
struct ArmFigures {
  std::string refusal;
  std::vector<double> samplesPerSecond, rowsPerSecond, wait, compute, apply, ratio;
};

class TrainBench {
 public:
  TrainBench(const TrainBenchArguments& arguments, RunSpec spec, std::vector<Arm> arms)
      : m_rounds(arguments.rounds), m_spec(std::move(spec)), m_arms(std::move(arms)), m_figures(m_arms.size()) {
    m_steps = m_spec.train.steps.value_or(0) > 0 ? *m_spec.train.steps : kDefaultSteps;
    m_warmUp = m_steps / 10 + 1;
    // One more than are run: a run that ended by itself would be evaluated.
    m_spec.train.steps = m_warmUp + m_steps + 1;
    m_spec.evaluate.every = 0;
    const std::string root = m_spec.cache.value_or("");
    m_folder = (root.empty() ? defaultCacheFolder() : root) + "/bench-" + newUuid();
  }

  Result<ordered_json> run() {
    if (!m_spec.dataset || m_spec.dataset->empty())
      return fail(ErrorCode::usage, "no dataset: give --dataset NAME, for example zipf:1000000");
    DSA_ASSIGN(Dataset dataset, loadDataset(*m_spec.dataset));
    m_dataset = std::make_shared<const Dataset>(std::move(dataset));
    for (std::uint64_t round = 0; round < m_rounds; ++round) {
      for (std::size_t i = 0; i < m_arms.size(); ++i) {
        // Every other round backwards: what the arm before leaves behind favours nobody.
        const std::size_t arm = round % 2 == 0 ? i : m_arms.size() - 1 - i;
        if (m_figures[arm].refusal.empty()) DSA_TRY(runOne(arm));
      }
      const std::vector<double>& first = m_figures[0].samplesPerSecond;
      for (ArmFigures& one : m_figures)
        if (!first.empty() && !one.samplesPerSecond.empty())
          one.ratio.push_back(one.samplesPerSecond.back() / first.back());
    }
    return toJson();
  }

 private:
  Result<void> runOne(std::size_t arm) {
    RunSpec spec = m_spec;
    setArm(spec, m_arms[arm].placement, m_arms[arm].rule);
    DSA_ASSIGN(const RunSetup setup, makeSetup(spec, m_dataset));
    m_batch = setup.spec.train.batch;
    m_dim = setup.spec.dim;
    if (auto fits = checkFits(setup, describeMachine().memoryAvailable.value_or(UINT64_MAX)); !fits) {
      m_figures[arm].refusal = fits.error().message;
      return {};
    }
    StepSums sums(m_warmUp, m_warmUp + m_steps);
    TrainOptions options;
    options.folder = m_folder;
    options.stop = &sums.stop;
    const auto outcome = train(setup, options, sums);
    const auto removed = RowStore::remove(m_folder);
    if (!outcome) return tl::unexpected(outcome.error());
    if (!removed) return tl::unexpected(removed.error());
    if (stopFlag()) return fail(ErrorCode::stopped, "stopped by the user; the tables that were measured are deleted");
    ArmFigures& figures = m_figures[arm];
    figures.samplesPerSecond.push_back(static_cast<double>(sums.samples) / sums.seconds);
    figures.rowsPerSecond.push_back(static_cast<double>(sums.rows) / sums.seconds);
    figures.wait.push_back(sums.wait / sums.seconds);
    figures.compute.push_back(sums.compute / sums.seconds);
    figures.apply.push_back(sums.apply / sums.seconds);
    return {};
  }

  [[nodiscard]] ordered_json toJson() const {
    ordered_json all;
    all["dataset"] = *m_spec.dataset;
    all["dim"] = m_dim;
    all["batch"] = m_batch;
    all["warm_up"] = m_warmUp;
    all["steps"] = m_steps;
    all["rounds"] = m_rounds;
    all["arms"] = ordered_json::array();
    for (std::size_t i = 0; i < m_arms.size(); ++i) {
      const ArmFigures& figures = m_figures[i];
      ordered_json one;
      one["arm"] = m_arms[i].label;
      one["status"] = figures.refusal.empty() ? "finished" : "refused";
      if (!figures.refusal.empty()) {
        one["reason"] = figures.refusal;
      } else {
        one["samples_per_s"] = median(figures.samplesPerSecond);
        one["rows_per_s"] = median(figures.rowsPerSecond);
        one["share"] = {
            {"wait", median(figures.wait)}, {"compute", median(figures.compute)}, {"apply", median(figures.apply)}};
        if (!figures.ratio.empty()) one["ratio"] = median(figures.ratio);
      }
      all["arms"].push_back(std::move(one));
    }
    return all;
  }

  const std::uint64_t m_rounds;
  RunSpec m_spec;
  const std::vector<Arm> m_arms;
  std::vector<ArmFigures> m_figures;
  std::shared_ptr<const Dataset> m_dataset;
  std::string m_folder;
  std::uint64_t m_steps = 0, m_warmUp = 0, m_batch = 0, m_dim = 0;
};

void printTrainBench(const ordered_json& object) {
  fmt::print("{}, dim {}, batch {}: {} steps after {} of warm-up, median of {} rounds, arms in turn\n",
             object["dataset"].get<std::string>(), object["dim"].get<std::uint64_t>(),
             object["batch"].get<std::uint64_t>(), object["steps"].get<std::uint64_t>(),
             object["warm_up"].get<std::uint64_t>(), object["rounds"].get<std::uint64_t>());
  fmt::print("{:<20}{:>12}{:>12}{:>8}{:>10}{:>10}{:>10}\n", "arm", "samples/s", "rows/s", "ratio", "waiting", "compute",
             "apply");
  for (const ordered_json& arm : object["arms"]) {
    if (arm.contains("reason")) {
      fmt::print("{:<20}refused: {}\n", arm["arm"].get<std::string>(), arm["reason"].get<std::string>());
      continue;
    }
    const auto share = [&](const char* key) { return arm["share"][key].get<double>() * 100; };
    fmt::print("{:<20}{:>12.0f}{:>12.0f}{:>8}{:>9.0f}%{:>9.0f}%{:>9.0f}%\n", arm["arm"].get<std::string>(),
               arm["samples_per_s"].get<double>(), arm["rows_per_s"].get<double>(),
               arm.contains("ratio") ? fmt::format("{:.2f}", arm["ratio"].get<double>()) : "-", share("wait"),
               share("compute"), share("apply"));
  }
}

int benchTrainCommand(TrainBenchArguments& a) {
  a.spec.recipeFolder = recipeFolder();
  const auto arms = parseArms(a.arms);
  if (!arms) return reportError(arms.error());
  if (a.rounds < 1 || a.rounds > kMostRounds) {
    return reportError(Error{ErrorCode::usage, fmt::format("--rounds: {} is not in 1 to {}", a.rounds, kMostRounds)});
  }
  const auto spec = gatherSpec(a.spec);
  if (!spec) return reportError(spec.error());
  const auto object = TrainBench(a, *spec, *arms).run();
  if (!object) return reportError(object.error());
  if (a.json) {
    printJson(*object);
  } else {
    printTrainBench(*object);
  }
  // A refused arm is an answer as long as another one ran.
  for (const ordered_json& arm : (*object)["arms"])
    if (!arm.contains("reason")) return 0;
  return static_cast<int>(ErrorCode::machine);
}

}  // namespace

void addTrainBench(CLI::App& bench, Chosen& chosen) {
  auto a = std::make_shared<TrainBenchArguments>();
  CLI::App* command =
      bench.add_subcommand("train", "Whole training steps in several places, and where their time goes");
  addSpecOptions(*command, a->spec);
  command->add_option("--arms", a->arms,
                      "PLACE:RULE,...; ratios are to the first. Where not given: ram and disk, sparse_adam");
  command->add_option("--rounds", a->rounds, "Times that each arm runs, in turn")->capture_default_str();
  command->add_flag("--json", a->json, "One JSON object on stdout");
  command->callback([a, &chosen] { chosen = [a] { return benchTrainCommand(*a); }; });
}

}  // namespace dsa
