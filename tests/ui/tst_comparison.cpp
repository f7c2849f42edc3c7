// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs as tables: only differences, like for like, sameness by losses and hash.
#include "ui/run/comparison.h"
#include "ui/run/hardware.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

RunRow row(const std::string& spec, const std::string& result = "") {
  RunRow run;
  run.spec = spec;
  run.result = result;
  run.versions = R"({"dataset_sha256": "abc"})";
  return run;
}

const char* const kSpec =
    R"({"dataset": "umls", "dim": 64, "optimizer": {"placement": "ram", "rule": "sparse_adam"}, "train": {"seed": 1}})";

}  // namespace

class TestComparison : public QObject {
  Q_OBJECT
 private slots:
  void runsThatDifferInDimGiveOneRow() {
    const RunRow a = row(R"({"dataset": "umls", "dim": 64, "train": {"seed": 1}})");
    const RunRow b = row(R"({"dataset": "umls", "dim": 128, "train": {"seed": 1}})");
    QStringList differing;
    for (const ParameterRow& parameter : compareParameters(a, b))
      if (parameter.differs) differing << parameter.key + " " + parameter.a + " " + parameter.b;
    QCOMPARE(differing, QStringList{"dim 64 128"});
    QCOMPARE(notLikeForLike(a, b).size(), 1);
  }

  void placesMayDiffer() {
    RunRow b = row(
        R"({"dataset": "umls", "dim": 64, "optimizer": {"placement": "disk", "rule": "sparse_adam"}, "train": {"seed": 1}})");
    QVERIFY(notLikeForLike(row(kSpec), b).isEmpty());
    b.versions = R"({"dataset_sha256": "other"})";
    QCOMPARE(notLikeForLike(row(kSpec), b).size(), 1);
  }

  void samenessNeedsTheSameHash() {
    const std::string one = R"({"losses": [2, 1], "table_sha256": "x"})";
    QCOMPARE(sameness(row(kSpec, one), row(kSpec, one)), Sameness::sameTable);
    QCOMPARE(sameness(row(kSpec, one), row(kSpec, R"({"losses": [2, 1], "table_sha256": "y"})")), Sameness::differ);
    QCOMPARE(sameness(row(kSpec, one), row(kSpec, R"({"losses": [2, 1]})")), Sameness::sameLosses);
    QCOMPARE(sameness(row(kSpec, one), row(kSpec, R"({"losses": [2, 1.5]})")), Sameness::differ);
    QCOMPARE(sameness(row(kSpec, one), row(kSpec)), Sameness::unknown);
  }

  void resultsHaveRatios() {
    const RunRow a = row(kSpec, R"({"seconds": 10, "memory": {"private_peak": 1000000, "device_peak": 0}})");
    const RunRow b = row(kSpec, R"({"seconds": 25, "memory": {"private_peak": 20000, "device_peak": 0}})");
    const QVector<ResultRow> rows = compareResults(a, b);
    QCOMPARE(rows.size(), 2);  // no line of zeros for a card that nobody has
    QVERIFY(rows[0].ratio.startsWith("0.0200"));
    QVERIFY(rows[1].ratio.startsWith("2.500"));
  }

  void gpuMemoryThatIsNotReportedIsSaidSo() {
    GpuReading gpu;
    gpu.name = "Fake 8000";
    QString text = gpuText(gpu);
    QVERIFY2(text.contains("not reported") && !text.contains(" 0"), qPrintable(text));
    gpu.total = std::uint64_t{8} << 30;
    gpu.used = std::uint64_t{2} << 30;
    text = gpuText(gpu).replace(QChar(0xA0), ' ');
    QVERIFY2(text.contains("2.00 GiB of 8.00 GiB") && text.contains("this process: not reported"), qPrintable(text));
    gpu.foreignProcesses = true;
    QVERIFY(gpuText(gpu).contains("container"));
  }

  void aRunThatGoesOnShowsWhatIsKnown() {
    RunRow b = row(kSpec);
    b.progress.privatePeak = 5;
    const QVector<ResultRow> rows = compareResults(row(kSpec), b);
    QCOMPARE(rows.size(), 1);
    QVERIFY(rows[0].a.isEmpty() && !rows[0].b.isEmpty());
  }
};

QTEST_MAIN(TestComparison)
#include "tst_comparison.moc"
