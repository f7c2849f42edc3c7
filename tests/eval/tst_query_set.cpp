// SPDX-License-Identifier: Apache-2.0
// Which queries are asked, what each hides, and which are chosen when not all are asked.
#include <QtTest>
#include <algorithm>
#include <set>

#include "core/eval/query_set.h"
#include "tests/eval/eval_samples.h"

using namespace dsa;
using namespace dsa::test;

namespace {

std::vector<std::uint32_t> ids(std::span<const std::uint32_t> span) { return {span.begin(), span.end()}; }
using Ids = std::vector<std::uint32_t>;

}  // namespace

class TestQuerySet : public QObject {
  Q_OBJECT
 private slots:
  void hierarchyAsksEachNodeOnceForItsAncestors() {
    Dataset dataset = makeDataset(DatasetKind::hierarchy, 5);
    dataset.train = {{3, 0, 1}, {1, 0, 0}, {3, 0, 0}, {3, 0, 1}, {2, 0, 2}};
    const QuerySet set = reconstructionQueries(dataset, {});
    QCOMPARE(set.groups.size(), std::size_t{2});
    QCOMPARE(set.queries, std::uint64_t{2});
    QCOMPARE(set.queriesTotal, std::uint64_t{2});
    QCOMPARE(set.filterEdges, std::uint64_t{5});
    QCOMPARE(set.groups[0].fixed, 1u);
    QCOMPARE(ids(set.targetsOf(0)), (Ids{0}));
    QCOMPARE(ids(set.hiddenOf(0)), (Ids{0, 1}));
    QCOMPARE(set.groups[1].fixed, 3u);
    QCOMPARE(ids(set.targetsOf(1)), (Ids{0, 1}));
    QCOMPARE(ids(set.hiddenOf(1)), (Ids{0, 1, 3}));
    QVERIFY(!set.groups[1].candidatesAreHeads);
  }

  void graphAsksBothSidesAndHidesAllSplits() {
    Dataset dataset = makeDataset(DatasetKind::graph, 6, 2);
    dataset.train = {{0, 1, 5}, {0, 1, 2}, {0, 0, 4}, {4, 1, 3}};
    dataset.valid = {{0, 1, 1}, {2, 1, 3}};
    dataset.test = {{0, 1, 3}, {0, 1, 2}};
    const QuerySet set = linkQueries(dataset, {});
    QCOMPARE(set.queries, std::uint64_t{4});
    QCOMPARE(set.queriesTotal, std::uint64_t{4});
    QCOMPARE(set.filterEdges, std::uint64_t{8});
    QCOMPARE(set.groups.size(), std::size_t{3});  // (0, 1, ?) twice, (?, 1, 2), (?, 1, 3)
    QVERIFY(!set.groups[0].candidatesAreHeads);
    QCOMPARE(set.groups[0].fixed, 0u);
    QCOMPARE(set.groups[0].relation, 1u);
    QCOMPARE(ids(set.targetsOf(0)), (Ids{2, 3}));
    QCOMPARE(ids(set.hiddenOf(0)), (Ids{1, 2, 3, 5}));
    QVERIFY(set.groups[1].candidatesAreHeads);
    QCOMPARE(set.groups[1].fixed, 2u);
    QCOMPARE(ids(set.hiddenOf(1)), (Ids{0}));
    QCOMPARE(set.groups[2].fixed, 3u);
    QCOMPARE(ids(set.targetsOf(2)), (Ids{0}));
    QCOMPARE(ids(set.hiddenOf(2)), (Ids{0, 2, 4}));
  }

  void theSplitIsTheOneAskedFor() {
    Dataset dataset = makeDataset(DatasetKind::graph, 4);
    dataset.train = {{0, 0, 1}};
    dataset.valid = {{1, 0, 2}};
    dataset.test = {{2, 0, 3}};
    EvalOptions options;
    QCOMPARE(linkQueries(dataset, options).groups[0].fixed, 2u);
    options.split = EvalSplit::valid;
    QCOMPARE(linkQueries(dataset, options).groups[0].fixed, 1u);
    options.split = EvalSplit::train;
    QCOMPARE(linkQueries(dataset, options).groups[0].fixed, 0u);
  }

  void theChoiceHasTheSizeAskedForAndGrows() {
    std::set<std::uint64_t> before;
    for (const std::uint64_t wanted : {1u, 7u, 50u, 999u, 1000u}) {
      const auto chosen = chooseQueries(1000, wanted, 5);
      QCOMPARE(chosen.size(), std::size_t{wanted});
      QVERIFY(std::is_sorted(chosen.begin(), chosen.end()));
      const std::set<std::uint64_t> now(chosen.begin(), chosen.end());
      QCOMPARE(now.size(), chosen.size());
      QVERIFY(*now.rbegin() < 1000);
      QVERIFY(std::includes(now.begin(), now.end(), before.begin(), before.end()));
      before = now;
    }
    QCOMPARE(chooseQueries(1000, 0, 5).size(), std::size_t{1000});
    QCOMPARE(chooseQueries(10, 11, 5).size(), std::size_t{10});
    QCOMPARE(chooseQueries(1000, 50, 5), chooseQueries(1000, 50, 5));
    QVERIFY(chooseQueries(1000, 50, 5) != chooseQueries(1000, 50, 6));
  }

  void theChoiceIsEven() {
    // 200 seeds x 10 of 100: each query 20 times in the mean, deviation 4.2; 100 of them stay within 5 deviations.
    std::vector<int> times(100, 0);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      for (const std::uint64_t query : chooseQueries(100, 10, seed)) ++times[query];
    }
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    QVERIFY2(*least > 0 && *most < 42, qPrintable(QString("%1 to %2").arg(*least).arg(*most)));
  }

  void chosenQueriesKeepTheirWholeFilter() {
    const Dataset dataset = randomGraph(4, 30, 2);
    const QuerySet all = linkQueries(dataset, {});
    EvalOptions options;
    options.maxQueries = 9;
    const QuerySet some = linkQueries(dataset, options);
    QCOMPARE(some.queries, std::uint64_t{9});
    QCOMPARE(some.queriesTotal, all.queries);
    for (std::uint64_t g = 0; g < some.groups.size(); ++g) {
      const auto same = std::find_if(all.groups.begin(), all.groups.end(), [&](const QueryGroup& group) {
        return group.fixed == some.groups[g].fixed && group.relation == some.groups[g].relation &&
               group.candidatesAreHeads == some.groups[g].candidatesAreHeads;
      });
      QVERIFY(same != all.groups.end());
      QCOMPARE(ids(some.hiddenOf(g)), ids(all.hiddenOf(static_cast<std::uint64_t>(same - all.groups.begin()))));
    }
  }
};

QTEST_APPLESS_MAIN(TestQuerySet)
#include "tst_query_set.moc"
