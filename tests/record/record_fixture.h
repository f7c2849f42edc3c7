// SPDX-License-Identifier: Apache-2.0
// What the tests of the record share: a database in a folder of its own, a raw connection beside it, and forked
// writers.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/record/reader.h"
#include "core/record/recorder.h"

/// Fails the test with the Result's own message.
#define MUST(result)                                                                        \
  do {                                                                                      \
    const auto& mustResult = (result);                                                      \
    QVERIFY2(mustResult.has_value(), mustResult ? "" : mustResult.error().message.c_str()); \
  } while (false)

namespace dsa::test {

class Folder {
 public:
  [[nodiscard]] std::string file(const std::string& name) const { return m_dir.filePath(name.c_str()).toStdString(); }
  [[nodiscard]] std::string database() const { return file("runs.sqlite"); }

 private:
  QTemporaryDir m_dir;
};

inline RunRow row(const std::string& name) {
  RunRow run;
  run.name = name;
  run.dataset = "zipf:1000";
  run.dim = 128;
  run.rule = "sparse_adam";
  run.placement = "disk";
  run.model = "euclidean";
  run.seed = 0xFFFFFFFFFFFFFFFFull;  // the largest: SQLite's integers are signed
  run.spec = R"({"name": "x"})";
  return run;
}

inline MetricInfo loss() { return MetricInfo{0, "loss", "", "mean of the batch", MetricAxis::step}; }
inline MetricInfo memory() {
  return MetricInfo{0, "memory.private", "B", "RssAnon + VmPTE + VmSwap", MetricAxis::time};
}

/// Three of a thousand rows of dim 2; the weights tell the step.
inline EmbeddingSample embedding(std::uint64_t step) {
  auto of = std::make_shared<EmbeddingRows>();
  of->table = "entities";
  of->totalRows = 1000;
  of->dim = 2;
  of->k = 1.5;
  of->rows = {4, 7, 0xFFFFFFFFFFull};
  of->labels = {"\u0436\u0438\u0432\u043e\u0442\u043d\u043e\u0435", "a \"quoted\" name", ""};
  const auto s = static_cast<float>(step);
  return EmbeddingSample{step, 0, of, {s, 0.5f, -s, 0.25f, 1e-30f, std::numeric_limits<float>::quiet_NaN()}};
}

/// A second connection that knows nothing of the library.
inline SQLite::Database raw(const std::string& path) {
  return SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 10000);
}

inline std::int64_t number(const std::string& path, const std::string& query) {
  return raw(path).execAndGet(query).getInt64();
}

/// Steps of the plotted series, read page by page.
inline std::vector<Sample> series(const Reader& reader, RunId run, const std::string& name, std::size_t page = 1000) {
  std::vector<Sample> all;
  const std::vector<MetricInfo> metrics = reader.metrics(run).value();
  for (const MetricInfo& metric : metrics) {
    if (metric.name != name) continue;
    SampleCursor cursor;
    for (bool more = true; more;) {
      const SamplePage got = reader.samples(run, metric.id, cursor, page).value();
      all.insert(all.end(), got.samples.begin(), got.samples.end());
      cursor = got.next;
      more = got.more && all.size() < 1000000;  // pages that repeat must fail a test, not fill the memory
    }
  }
  return all;
}

/// Runs `work` in a child process, which ends with its return value; gives the pid.
inline pid_t inChild(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work());
  return pid;
}

inline int exitStatusOf(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace dsa::test
