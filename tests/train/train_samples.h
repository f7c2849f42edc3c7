// SPDX-License-Identifier: Apache-2.0
// Small runs for tests of training, and a watcher that keeps what the trainer told and gives orders at chosen steps.
#pragma once

#include <QTemporaryDir>
#include <QTest>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "core/data/catalogue.h"
#include "core/train/table_hash.h"
#include "core/train/trainer.h"

#define VERIFY_OK(expression)                                             \
  do {                                                                    \
    const auto& okResult = (expression);                                  \
    QVERIFY2(okResult, okResult ? "" : okResult.error().message.c_str()); \
  } while (false)

namespace samples {

/// folder("x"): a place that no other test function of the class has.
class FolderOfTest {
 public:
  [[nodiscard]] std::string operator()(const char* name) const {
    return m_dir.filePath(QString("%1-%2").arg(QTest::currentTestFunction(), name)).toStdString();
  }

 private:
  QTemporaryDir m_dir;
};

inline std::shared_ptr<const dsa::Dataset> dataset(const std::string& name) {
  qputenv("DSA_RESOURCES", DSA_RESOURCES);
  auto loaded = dsa::loadDataset(name);
  if (!loaded) qFatal("%s", loaded.error().message.c_str());
  return std::make_shared<const dsa::Dataset>(std::move(*loaded));
}

/// A run from the JSON of its spec.
inline dsa::RunSetup setup(const std::string& json) {
  auto spec = dsa::parseSpec(json);
  if (!spec) qFatal("%s", spec.error().message.c_str());
  auto made = dsa::makeSetup(*spec, dataset(spec->dataset.value()));
  if (!made) qFatal("%s", made.error().message.c_str());
  return std::move(*made);
}

/// 121 nodes, 426 edges: 14 steps an epoch, 42 in all. `optimizer` and `more` are JSON members, for example
/// R"("placement": "ram")".
inline std::string treeSpec(const std::string& optimizer = R"("placement": "disk")",
                            const std::string& more = R"("checkpoint": {"every_steps": 0})") {
  return R"({"dataset": "tree:3,4", "model": "poincare", "dim": 6, "k": 1.0, "optimizer": {"rule": "radam", )" +
         optimizer + R"(}, "train": {"epochs": 3, "batch": 32, "negatives": 5, "seed": 7, "threads": 2}, )" + more +
         "}";
}

/// Keeps everything; orders by step wait until the trainer looks for them again (it does every 20 ms).
class Watcher : public dsa::TrainObserver {
 public:
  void phase(const std::string& name) override {
    phases.push_back(name);
    if (onPhase) onPhase(name);
  }
  void tablesReady(const dsa::Tables& ready) override {
    tables = &ready;
    recovery = ready.recovery();
  }
  void stepped(const dsa::StepReport& report) override {
    steps.push_back(report);
    if (hashEachStep) hashes[report.step] = *dsa::tableSha256(*tables, "");
    if (onStep) onStep(report);
    if (orderAt.contains(report.step)) {
      m_due = report.step;
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
  }
  void evaluated(std::uint64_t epoch, const dsa::EvalMetrics&) override { evaluations.push_back(epoch); }
  std::vector<dsa::Order> orders() override {
    ++asked;
    std::vector<dsa::Order> due;
    const auto add = [&](dsa::Order::Kind kind) {
      due.push_back(dsa::Order{kind, value, [this](const std::string& text) { answers.push_back(text); }});
    };
    if (m_due != 0) {
      for (const dsa::Order::Kind kind : orderAt[m_due]) add(kind);
      m_due = 0;
    } else if (!later.empty() && ++m_waits >= 3) {
      add(later.front());
      later.erase(later.begin());
      m_waits = 0;
    }
    return due;
  }

  std::map<std::uint64_t, std::vector<dsa::Order::Kind>> orderAt;
  std::uint64_t value = 0;              ///< of every order
  std::vector<dsa::Order::Kind> later;  ///< one each, after two empty looks
  std::function<void(const dsa::StepReport&)> onStep;
  std::function<void(const std::string&)> onPhase;
  bool hashEachStep = false;

  const dsa::Tables* tables = nullptr;
  dsa::Recovery recovery = dsa::Recovery::clean;
  std::vector<std::string> phases, answers;
  std::vector<dsa::StepReport> steps;
  std::vector<std::uint64_t> evaluations;
  std::map<std::uint64_t, std::string> hashes;
  int asked = 0;

 private:
  std::uint64_t m_due = 0;
  int m_waits = 0;
};

inline dsa::Result<dsa::TrainOutcome> trainIn(const std::string& folder, const dsa::RunSetup& run,
                                              dsa::TrainObserver& watcher) {
  dsa::TrainOptions options;
  options.folder = folder;
  options.hash = true;
  return dsa::train(run, options, watcher);
}

inline dsa::TrainOutcome finished(dsa::Result<dsa::TrainOutcome> outcome) {
  if (!outcome) qFatal("%s", outcome.error().message.c_str());
  return std::move(*outcome);
}

}  // namespace samples
