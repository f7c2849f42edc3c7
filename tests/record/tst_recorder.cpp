// SPDX-License-Identifier: Apache-2.0
// The recorder's promises to a trainer: what it stores, in which order, and how orders come back.
#include <QObject>
#include <cmath>
#include <limits>
#include <thread>

#include "core/record/editor.h"
#include "core/record/recorder.h"
#include "tests/record/record_fixture.h"

using namespace dsa;

namespace {

std::unique_ptr<Recorder> begun(const std::string& path, const RecorderOptions& options = {}) {
  auto recorder = Recorder::open(path, options);
  if (!recorder || !(*recorder)->createRun(test::row("first")) || !(*recorder)->beginAttempt(0)) return nullptr;
  return std::move(*recorder);
}

std::vector<std::uint64_t> stepsOf(const std::vector<Sample>& samples) {
  std::vector<std::uint64_t> steps;
  for (const Sample& sample : samples) steps.push_back(sample.step);
  return steps;
}

}  // namespace

class TestRecorder : public QObject {
  Q_OBJECT
 private slots:
  void theRunIsThereBeforeTrainingStarts() {
    const test::Folder folder;
    auto recorder = Recorder::open(folder.database());
    MUST(recorder);
    const auto id = (*recorder)->createRun(test::row("mine"));
    MUST(id);
    const auto reader = Reader::open(folder.database());
    const auto run = reader->run(*id);
    MUST(run);
    QCOMPARE(run->name, std::string("mine"));
    QCOMPARE(run->status, RunStatus::queued);
    QCOMPARE(run->uuid.size(), std::size_t{36});
    QCOMPARE(run->pid, std::int64_t{::getpid()});
    QCOMPARE(run->seed, 0xFFFFFFFFFFFFFFFFull);
    QCOMPARE(run->colour, 0);
    MUST((*recorder)->beginAttempt(0));
    QCOMPARE(reader->run(*id)->status, RunStatus::running);
    QVERIFY(reader->run(*id)->startedMs.has_value());
  }

  void samplesEventsAndTheEndAreStored() {
    const test::Folder folder;
    auto recorder = begun(folder.database());
    QVERIFY(recorder);
    const auto loss = recorder->metric(test::loss());
    const auto memory = recorder->metric(test::memory());
    for (std::uint64_t step = 1; step <= 500; ++step) {
      recorder->sample(step, loss, 1.0 / static_cast<double>(step));
      if (step % 10 == 0) recorder->sample(step, memory, 4096);
    }
    recorder->event("phase", "filling the table", 1);
    RunProgress progress;
    progress.step = 500;
    progress.lossLast = std::numeric_limits<double>::quiet_NaN();
    recorder->updateProgress(progress);
    progress = RunProgress{};
    progress.privatePeak = 1u << 30;
    recorder->updateProgress(progress);
    MUST(recorder->finish(RunStatus::finished, "", R"({"steps": 500})"));

    const auto reader = Reader::open(folder.database());
    const auto samples = test::series(*reader, 1, "loss");
    QCOMPARE(samples.size(), std::size_t{500});
    QCOMPARE(samples[499].step, std::uint64_t{500});
    QCOMPARE(samples[499].value, 1.0 / 500);
    QCOMPARE(test::series(*reader, 1, "memory.private").size(), std::size_t{50});
    QCOMPARE(reader->events(1)->at(0).text, std::string("filling the table"));
    const auto run = reader->run(1);
    QCOMPARE(run->status, RunStatus::finished);
    QCOMPARE(run->result, std::string(R"({"steps": 500})"));
    QCOMPARE(run->progress.step, std::optional<std::uint64_t>(500));
    QCOMPARE(run->progress.privatePeak, std::optional<std::uint64_t>(1u << 30));
    QVERIFY(run->progress.lossLast && std::isnan(*run->progress.lossLast));
    QVERIFY(!run->progress.devicePeak.has_value());
    QCOMPARE(reader->attempts(1)->at(0).endedHow, std::string("finished"));
    // Afterwards nothing more is recorded.
    recorder->sample(501, loss, 1);
    MUST(recorder->flush());
    QCOMPARE(test::number(folder.database(), "SELECT max(step) FROM sample"), std::int64_t{500});
  }

  void whatIsNotANumberComesBackAsSuch() {
    const test::Folder folder;
    auto recorder = begun(folder.database());
    QVERIFY(recorder);
    const auto loss = recorder->metric(test::loss());
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::vector<double> values = {2, std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, -3};
    for (std::size_t i = 0; i < values.size(); ++i) recorder->sample(i, loss, values[i]);
    MUST(recorder->flush());
    const auto reader = Reader::open(folder.database());
    const auto samples = test::series(*reader, 1, "loss");
    QCOMPARE(samples.size(), values.size());
    QVERIFY(std::isnan(samples[1].value));
    QCOMPARE(samples[2].value, kInfinity);
    QCOMPARE(samples[3].value, -kInfinity);
    const auto range = reader->range(1, reader->metrics(1)->at(0).id);
    QCOMPARE(range->count, std::uint64_t{5});
    QCOMPARE(range->notFinite, std::uint64_t{3});
    QCOMPARE(range->min, std::optional<double>(-3));
    QCOMPARE(range->max, std::optional<double>(2));
  }

  void aStepIsRecordedOnce() {
    const test::Folder folder;
    auto recorder = begun(folder.database());
    QVERIFY(recorder);
    const auto loss = recorder->metric(test::loss());
    const auto memory = recorder->metric(test::memory());
    QCOMPARE(recorder->metric(test::loss()).index, loss.index);
    for (const std::uint64_t step : {1u, 2u, 2u, 1u, 3u}) recorder->sample(step, loss, static_cast<double>(step));
    // Several looks at the memory share a step: the table is being filled.
    for (int look = 0; look < 3; ++look) {
      recorder->sample(3, memory, look);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    MUST(recorder->flush());
    const auto reader = Reader::open(folder.database());
    QCOMPARE(stepsOf(test::series(*reader, 1, "loss")), (std::vector<std::uint64_t>{1, 2, 3}));
    QCOMPARE(stepsOf(test::series(*reader, 1, "memory.private")), (std::vector<std::uint64_t>{3, 3, 3}));
  }

  void stepsRiseStrictlyOverAResume() {
    const test::Folder folder;
    {
      auto recorder = begun(folder.database());
      QVERIFY(recorder);
      const auto loss = recorder->metric(test::loss());
      for (std::uint64_t step = 0; step <= 130; ++step) recorder->sample(step, loss, 1);
      MUST(recorder->flush());
    }
    const auto reader = Reader::open(folder.database());
    const MetricId metric = reader->metrics(1)->at(0).id;
    const auto before = reader->samples(1, metric);
    auto resumed = Recorder::open(folder.database());
    MUST(resumed);
    MUST((*resumed)->attachRun(1));
    const auto attempt = (*resumed)->beginAttempt(100);
    MUST(attempt);
    QCOMPARE(*attempt, 2);
    const auto loss = (*resumed)->metric(test::loss());
    for (std::uint64_t step = 100; step <= 160; ++step) (*resumed)->sample(step, loss, 2);
    MUST((*resumed)->flush());

    const auto samples = test::series(*reader, 1, "loss", 7);
    QCOMPARE(samples.size(), std::size_t{161});
    for (std::size_t i = 0; i < samples.size(); ++i) {
      QCOMPARE(samples[i].step, std::uint64_t{i});
      QCOMPARE(samples[i].attempt, i <= 100 ? 1 : 2);
    }
    // A window that had read on to 130 learns from the page's attempt that it has to read again.
    QCOMPARE(before->attempt, 1);
    QCOMPARE(reader->samples(1, metric, before->next)->attempt, 2);
    QCOMPARE(reader->samples(1, metric, before->next)->samples.front().step, std::uint64_t{101});
    // What was superseded is kept.
    QCOMPARE(test::number(folder.database(), "SELECT count(*) FROM sample"), std::int64_t{131 + 60});
    QCOMPARE(reader->attempts(1)->at(0).endedHow, std::string("interrupted"));
    QCOMPARE(reader->attempts(1)->at(0).supersededFrom, std::optional<std::uint64_t>(101));

    // A later resume from further back supersedes both.
    QCOMPARE((*resumed)->supersedeAfter(50).value(), 3);
    (*resumed)->sample(51, loss, 3);
    MUST((*resumed)->flush());
    QCOMPARE(test::series(*reader, 1, "loss").size(), std::size_t{52});
    // From step 0 everything is repeated.
    QCOMPARE((*resumed)->beginAttempt(0).value(), 4);
    (*resumed)->sample(0, loss, 4);
    MUST((*resumed)->flush());
    QCOMPARE(stepsOf(test::series(*reader, 1, "loss")), (std::vector<std::uint64_t>{0}));
  }

  void commandsAreGivenOnceAndAnswered() {
    const test::Folder folder;
    auto recorder = begun(folder.database());
    QVERIFY(recorder);
    auto editor = Editor::open(folder.database());
    MUST(editor);
    MUST(editor->sendCommand(1, CommandKind::setRamBudget, 256 << 20));
    MUST(editor->sendCommand(1, CommandKind::pause));
    test::raw(folder.database()).exec("INSERT INTO command (run, kind, created_ms) VALUES (1, 'make_coffee', 1)");
    std::vector<CommandRow> commands;
    QTRY_VERIFY([&] {
      for (const CommandRow& command : recorder->takeCommands()) commands.push_back(command);
      return commands.size() >= 2;
    }());
    QCOMPARE(commands.size(), std::size_t{2});
    QCOMPARE(commands[0].kind, CommandKind::setRamBudget);
    QCOMPARE(commands[0].value, std::optional<std::int64_t>(256 << 20));
    QCOMPARE(commands[1].kind, CommandKind::pause);
    recorder->answerCommand(commands[1], "paused after step 9", 9);
    MUST(recorder->flush());
    const auto reader = Reader::open(folder.database());
    QVERIFY(reader->commands(1)->at(0).takenMs.has_value());
    QVERIFY(!reader->commands(1)->at(0).answeredMs.has_value());
    QCOMPARE(reader->commands(1)->at(1).answer, std::string("paused after step 9"));
    QCOMPARE(reader->events(1)->back().kind, std::string("command"));
    QCOMPARE(reader->events(1)->back().text, std::string("pause: paused after step 9"));
    QTRY_COMPARE(test::number(folder.database(), "SELECT count(*) FROM command WHERE answer LIKE 'refused%'"),
                 std::int64_t{1});
    QVERIFY(recorder->takeCommands().empty());
    MUST(recorder->finish(RunStatus::stopped, "", "{}"));
    QVERIFY(reader->commands(1)->at(0).answer.find("ended") != std::string::npos);
    QVERIFY(!editor->sendCommand(1, CommandKind::stop));
  }

  void ordersToADeadProcessDoNotReachTheNext() {
    const test::Folder folder;
    RecorderOptions deaf;
    deaf.watchedIntervalMs = 3600000;  // never looks
    {
      auto recorder = begun(folder.database(), deaf);
      QVERIFY(recorder);
      MUST(Editor::open(folder.database())->sendCommand(1, CommandKind::stop));
    }
    auto next = Recorder::open(folder.database());
    MUST((*next)->attachRun(1));
    MUST((*next)->beginAttempt(0));
    MUST(Editor::open(folder.database())->sendCommand(1, CommandKind::checkpoint));
    std::vector<CommandRow> commands;
    QTRY_VERIFY([&] {
      for (const CommandRow& command : (*next)->takeCommands()) commands.push_back(command);
      return !commands.empty();
    }());
    QCOMPARE(commands.size(), std::size_t{1});
    QCOMPARE(commands[0].kind, CommandKind::checkpoint);
    QVERIFY(!Reader::open(folder.database())->commands(1)->at(0).answer.empty());
  }

  void aWatchedRunIsStoredAtOnce() {
    const test::Folder folder;
    RecorderOptions options;
    options.watchedIntervalMs = 20;
    options.idleIntervalMs = 3600000;  // unwatched, nothing would come within this test
    auto recorder = begun(folder.database(), options);
    QVERIFY(recorder);
    MUST(recorder->flush());
    const auto loss = recorder->metric(test::loss());
    recorder->sample(1, loss, 1);
    QTest::qWait(200);
    QCOMPARE(test::number(folder.database(), "SELECT count(*) FROM sample"), std::int64_t{0});
    MUST(Editor::open(folder.database())->watch(1));
    QTRY_COMPARE(test::number(folder.database(), "SELECT count(*) FROM sample"), std::int64_t{1});
    QVERIFY(recorder->watched());
  }

  void theHeartbeatGoesOnWithoutSamples() {
    const test::Folder folder;
    RecorderOptions options;
    options.watchedIntervalMs = 10;
    options.idleIntervalMs = 50;
    auto recorder = begun(folder.database(), options);
    QVERIFY(recorder);
    const std::int64_t first = test::number(folder.database(), "SELECT heartbeat_ms FROM run");
    QTRY_VERIFY(test::number(folder.database(), "SELECT heartbeat_ms FROM run") > first);
  }

  void onlyTheLatestEmbeddingIsKept() {
    const test::Folder folder;
    auto recorder = begun(folder.database());
    QVERIFY(recorder);
    const auto reader = Reader::open(folder.database());
    QVERIFY(!reader->embedding(1)->has_value());
    for (const std::uint64_t step : {5u, 6u, 7u}) recorder->embedding(test::embedding(step));
    QCOMPARE(recorder->pending(), std::uint64_t{0});  // a picture is no value that must not be lost
    MUST(recorder->flush());
    QCOMPARE(test::number(folder.database(), "SELECT count(*) FROM embedding"), std::int64_t{1});
    const auto first = reader->embedding(1);
    MUST(first);
    QVERIFY(first->has_value());
    const EmbeddingSample given = test::embedding(7);
    const EmbeddingSample& stored = **first;
    QCOMPARE(stored.step, std::uint64_t{7});
    QVERIFY(std::abs(stored.wallMs - wallClockMs()) < 60000);
    QCOMPARE(stored.of->table, given.of->table);
    QCOMPARE(stored.of->totalRows, std::uint64_t{1000});
    QCOMPARE(stored.of->dim, std::uint64_t{2});
    QCOMPARE(stored.of->k, 1.5);
    QCOMPARE(stored.of->rows, given.of->rows);
    QCOMPARE(stored.of->labels, given.of->labels);
    QCOMPARE(stored.weights.size(), std::size_t{6});
    for (std::size_t i = 0; i < 5; ++i) QCOMPARE(stored.weights[i], given.weights[i]);
    QVERIFY(std::isnan(stored.weights[5]));

    recorder->embedding(test::embedding(9));
    MUST(recorder->finish(RunStatus::finished, "", "{}"));
    QCOMPARE(test::number(folder.database(), "SELECT count(*) FROM embedding"), std::int64_t{1});
    QCOMPARE((*reader->embedding(1, 7))->step, std::uint64_t{9});
    QVERIFY(!reader->embedding(1, 9)->has_value());
    QCOMPARE((*reader->embedding(1, 20))->step, std::uint64_t{9});  // a run that went back
    recorder->embedding(test::embedding(11));
    MUST(recorder->flush());
    QCOMPARE((*reader->embedding(1))->step, std::uint64_t{9});
    test::raw(folder.database()).exec("PRAGMA foreign_keys = ON; DELETE FROM run");
    QCOMPARE(test::number(folder.database(), "SELECT count(*) FROM embedding"), std::int64_t{0});
  }

  void anEmbeddingAloneIsStoredWhileWatched() {
    const test::Folder folder;
    RecorderOptions options;
    options.watchedIntervalMs = 20;
    options.idleIntervalMs = 3600000;  // no heartbeat takes it along
    auto recorder = begun(folder.database(), options);
    QVERIFY(recorder);
    MUST(Editor::open(folder.database())->watch(1));
    QTRY_VERIFY(recorder->watched());
    MUST(recorder->flush());
    recorder->embedding(test::embedding(3));
    QTRY_COMPARE(test::number(folder.database(), "SELECT count(*) FROM embedding"), std::int64_t{1});
  }

  void aRefusedRunEndsWithoutAnAttempt() {
    const test::Folder folder;
    auto recorder = Recorder::open(folder.database());
    MUST((*recorder)->createRun(test::row("too large")));
    MUST((*recorder)->finish(RunStatus::refused, "needs 14.31 GiB, card has 12.00 GiB; nothing was run", "{}"));
    const auto run = Reader::open(folder.database())->run(1);
    QCOMPARE(run->status, RunStatus::refused);
    QCOMPARE(run->attempts, 0);
  }
};

QTEST_GUILESS_MAIN(TestRecorder)
#include "tst_recorder.moc"
