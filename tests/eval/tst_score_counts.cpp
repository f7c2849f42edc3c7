// SPDX-License-Identifier: Apache-2.0
// Counting above and level with every score equals counting by definition, for one level and many, in any pieces.
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "core/eval/score_counts.h"

using namespace dsa;

class TestScoreCounts : public QObject {
  Q_OBJECT
 private slots:
  void countsEqualTheDefinition_data() {
    QTest::addColumn<int>("levels");
    QTest::addColumn<int>("candidates");
    // Both sides of kPassLevels, where the method changes.
    static_assert(kPassLevels == 24);
    for (const int levels : {1, 2, 23, 24, 25, 26, 300}) {
      for (const int candidates : {0, 1, 17, 1000})
        QTest::addRow("%d levels %d", levels, candidates) << levels << candidates;
    }
  }
  void countsEqualTheDefinition() {
    QFETCH(int, levels);
    QFETCH(int, candidates);
    std::vector<double> values;
    for (int i = 0; i < levels; ++i) values.push_back(-300 + 2 * i);  // a candidate between any two, and on them
    std::vector<double> scores;
    for (int i = 0; i < candidates; ++i) {
      const Random4 r = philox(3, Stream::tests, static_cast<std::uint64_t>(i), 0);
      scores.push_back(static_cast<double>(belowFrom(r.word[0], r.word[1], 650)) - 320);
    }
    if (candidates > 1) scores[1] = -HUGE_VAL;
    std::vector<std::uint64_t> above(values.size(), 0);
    std::vector<std::uint64_t> equal(values.size(), 0);
    const ScoreCounts counts{values.data(), above.data(), equal.data(), values.size()};
    for (std::size_t at = 0; at < scores.size(); at += 64) {
      countScores(counts, scores.data() + at,
                  static_cast<std::uint32_t>(std::min<std::size_t>(64, scores.size() - at)));
    }
    finishCounts(counts);
    for (std::size_t i = 0; i < values.size(); ++i) {
      QCOMPARE(above[i], static_cast<std::uint64_t>(
                             std::count_if(scores.begin(), scores.end(), [&](double x) { return x > values[i]; })));
      QCOMPARE(equal[i], static_cast<std::uint64_t>(std::count(scores.begin(), scores.end(), values[i])));
    }
  }
};

QTEST_APPLESS_MAIN(TestScoreCounts)
#include "tst_score_counts.moc"
