// SPDX-License-Identifier: Apache-2.0
// Closure and cycles against plain definitions.
#include <QtTest>
#include <set>

#include "core/base/random.h"
#include "core/data/hierarchy.h"
#include "data_test.h"

using namespace dsa;
using namespace dsa::test;

namespace {

/// Warshall's algorithm: the definition.
std::set<std::pair<unsigned, unsigned>> reachable(const std::vector<Edge>& edges, unsigned nodes) {
  std::vector<std::vector<bool>> reach(nodes, std::vector<bool>(nodes));
  for (const Edge& edge : edges) reach[edge.head][edge.tail] = true;
  for (unsigned k = 0; k < nodes; ++k) {
    for (unsigned i = 0; i < nodes; ++i) {
      for (unsigned j = 0; j < nodes; ++j) reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
    }
  }
  std::set<std::pair<unsigned, unsigned>> pairs;
  for (unsigned i = 0; i < nodes; ++i) {
    for (unsigned j = 0; j < nodes; ++j) {
      if (reach[i][j]) pairs.insert({i, j});
    }
  }
  return pairs;
}

std::vector<Edge> randomEdges(unsigned round, unsigned nodes, bool acyclic) {
  std::vector<Edge> edges;
  const unsigned count = philox(3, Stream::tests, round, 0).word[0] % 40;
  for (unsigned i = 0; i < count; ++i) {
    const Random4 random = philox(3, Stream::tests, round, i + 1);
    unsigned head = random.word[0] % nodes, tail = random.word[1] % nodes;
    if (acyclic && head == tail) continue;
    if (acyclic && head < tail) std::swap(head, tail);
    edges.push_back({head, 0, tail});
  }
  return edges;
}

}  // namespace

class TestHierarchy : public QObject {
  Q_OBJECT
 private slots:
  void closureEqualsTheDefinition();
  void nearestAncestorsComeFirst();
  void cyclesAreFoundIffTheyExist();
  void deepChainsNeedNoStack();
  void closureHasALimit();
  void nothingFromNothing();
};

void TestHierarchy::closureEqualsTheDefinition() {
  for (unsigned round = 0; round < 400; ++round) {
    const unsigned nodes = 1 + round % 17;
    const std::vector<Edge> edges = randomEdges(round, nodes, round % 2 == 0);
    const auto closure = transitiveClosure(edges, nodes);
    DSA_REQUIRE(closure);
    std::set<std::pair<unsigned, unsigned>> found;
    for (std::size_t i = 0; i < closure->size(); ++i) {
      const Edge edge = (*closure)[i];
      QVERIFY2(found.insert({edge.head, edge.tail}).second, "each pair once");
      QVERIFY(edge.relation == 0 && edge.head != edge.tail);
      QVERIFY(i == 0 || (*closure)[i - 1].head <= edge.head);
    }
    auto expected = reachable(edges, nodes);
    std::erase_if(expected, [](const auto& pair) { return pair.first == pair.second; });
    QVERIFY2(found == expected, fmt::format("round {}", round).c_str());
  }
}

void TestHierarchy::nearestAncestorsComeFirst() {
  const std::vector<Edge> edges = {{0, 7, 3}, {0, 7, 1}, {1, 7, 2}, {2, 7, 3}};
  const auto closure = transitiveClosure(edges, 4);
  DSA_REQUIRE(closure);
  QCOMPARE(*closure, (std::vector<Edge>{{0, 7, 3}, {0, 7, 1}, {0, 7, 2}, {1, 7, 2}, {1, 7, 3}, {2, 7, 3}}));
}

void TestHierarchy::cyclesAreFoundIffTheyExist() {
  int cyclic = 0;
  for (unsigned round = 0; round < 1000; ++round) {
    const unsigned nodes = 1 + round % 23;
    const std::vector<Edge> edges = randomEdges(round, nodes, round % 3 == 0);
    const auto pairs = reachable(edges, nodes);
    const bool exists =
        std::any_of(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.first == pair.second; });
    const auto cycle = findCycle(edges, nodes);
    QCOMPARE(!cycle.empty(), exists);
    cyclic += exists;
    std::set<std::uint32_t> distinct(cycle.begin(), cycle.end());
    QCOMPARE(distinct.size(), cycle.size());
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const Edge step{cycle[i], 0, cycle[(i + 1) % cycle.size()]};
      QVERIFY(std::find(edges.begin(), edges.end(), step) != edges.end());
    }
  }
  QVERIFY(cyclic > 100);
}

void TestHierarchy::deepChainsNeedNoStack() {
  constexpr std::uint32_t kNodes = 2'000'000;
  std::vector<Edge> chain;
  for (std::uint32_t node = 0; node + 1 < kNodes; ++node) chain.push_back({node, 0, node + 1});
  QVERIFY(findCycle(chain, kNodes).empty());
  chain.push_back({kNodes - 1, 0, 0});
  QCOMPARE(findCycle(chain, kNodes).size(), std::size_t(kNodes));
}

void TestHierarchy::closureHasALimit() {
  std::vector<Edge> chain;
  for (std::uint32_t node = 0; node < 1'000'000; ++node) chain.push_back({node, 0, node + 1});
  const auto closure = transitiveClosure(chain, 1'000'001, 5'000'000);
  DSA_REFUSED(closure, "more than 5000000 pairs");
  QCOMPARE(closure.error().code, ErrorCode::input);
}

void TestHierarchy::nothingFromNothing() {
  QVERIFY(transitiveClosure({}, 0)->empty());
  QVERIFY(findCycle({}, 5).empty());
}

QTEST_APPLESS_MAIN(TestHierarchy)
#include "tst_hierarchy.moc"
