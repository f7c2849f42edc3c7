// SPDX-License-Identifier: GPL-3.0-or-later
// What plots are fed with: no spike lost, no NaN hidden, no past rewritten, no gap or zigzag between attempts.
#include "ui/run/series.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

QVector<double> rising(int n) {
  QVector<double> x(n);
  std::iota(x.begin(), x.end(), 0.0);
  return x;
}

Sample sample(int attempt, std::uint64_t step, std::int64_t wallMs, double value) {
  Sample s;
  s.attempt = attempt;
  s.step = step;
  s.wallMs = wallMs;
  s.value = value;
  return s;
}

}  // namespace

class TestSeries : public QObject {
  Q_OBJECT
 private slots:
  void oneSpikeInAMillionStays() {
    const QVector<double> x = rising(1'000'000);
    QVector<double> y(x.size(), 1.0);
    y[777'777] = 42;
    y[123'456] = -7;
    const Points points = decimate(x, y, 0, 999'999, 500);
    QVERIFY(points.x.size() <= 4 * 502);
    QCOMPARE(*std::max_element(points.y.begin(), points.y.end()), 42.0);
    QCOMPARE(*std::min_element(points.y.begin(), points.y.end()), -7.0);
    QVERIFY(std::is_sorted(points.x.begin(), points.x.end()));
    QCOMPARE(points.x.front(), 0.0);
    QCOMPARE(points.x.back(), 999'999.0);
  }

  void aPartKeepsItsNeighbours() {
    const QVector<double> x = rising(100);
    const Points points = decimate(x, x, 10.5, 20.5, 50);
    QCOMPARE(points.x.front(), 10.0);  // the line runs in from the left
    QCOMPARE(points.x.back(), 21.0);
  }

  void whatIsNoNumberIsFoundAndNotDrawn() {
    const QVector<double> x = rising(1000);
    QVector<double> y(x.size(), 2.0);
    y[400] = std::nan("");
    y[401] = std::numeric_limits<double>::infinity();
    QCOMPARE(notFinite(x, y), (QVector<double>{400, 401}));
    for (const int columns : {50, 5000}) {
      const Points points = decimate(x, y, 0, 999, columns);
      QVERIFY(!points.x.isEmpty());
      for (const double v : points.y) QVERIFY(std::isfinite(v));
    }
  }

  void smoothingNeverRewritesThePast() {
    QVector<double> y(20'000);
    for (int i = 0; i < y.size(); ++i) y[i] = std::sin(i * 0.01) + std::cos(i * 1.7);
    const QVector<double> whole = movingMean(y, 25);
    const QVector<double> begin = movingMean(y.mid(0, 10'000), 25);
    QCOMPARE(whole.mid(0, 10'000), begin);
    QCOMPARE(whole[0], y[0]);  // no bias towards zero at the start
  }

  void timeBetweenAttemptsIsLeftOut() {
    AttemptRow first;
    first.number = 1;
    first.startedMs = 1'000;
    AttemptRow second;
    second.number = 2;
    second.startedMs = 3'600'000;
    SeriesChunk chunk;
    chunk.metric = "loss";
    chunk.attempts = {first, second};
    chunk.samples = {sample(1, 0, 1'000, 3), sample(1, 99, 11'000, 2), sample(2, 100, 3'600'500, 1.9),
                     sample(2, 130, 3'605'000, 1.5)};
    RunSeries series;
    QVERIFY(series.add(chunk));
    QCOMPARE(series.of("loss").seconds, (QVector<double>{0, 10, 10.5, 15}));
    QCOMPARE(series.of("loss").step, (QVector<double>{0, 99, 100, 130}));
    QCOMPARE(series.seconds(), 15.0);
  }

  void aLaterAttemptReplacesWhatWasRead() {
    AttemptRow first;
    first.number = 1;
    SeriesChunk chunk;
    chunk.metric = "loss";
    chunk.attempts = {first};
    chunk.samples = {sample(1, 0, 0, 3), sample(1, 130, 1'000, 2)};
    RunSeries series;
    series.add(chunk);
    chunk.reset = true;
    AttemptRow second;
    second.number = 2;
    second.startedMs = 5'000;
    chunk.attempts = {first, second};
    chunk.samples = {sample(1, 0, 0, 3), sample(1, 100, 800, 2.2), sample(2, 101, 5'100, 2.1)};
    series.add(chunk);
    const QVector<double>& steps = series.of("loss").step;
    QCOMPARE(steps, (QVector<double>{0, 100, 101}));
  }
};

QTEST_MAIN(TestSeries)
#include "tst_series.moc"
