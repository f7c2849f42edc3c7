// SPDX-License-Identifier: Apache-2.0
// Small datasets and tables for the tests of core/eval, and the naive evaluation that they are compared with.
#pragma once

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/eval/evaluate.h"

namespace dsa::test {

inline Dataset makeDataset(DatasetKind kind, std::uint64_t entities, std::uint32_t relations = 1) {
  Dataset dataset;
  dataset.kind = kind;
  dataset.entityCount = entities;
  for (std::uint64_t i = 0; i < entities; ++i) dataset.entities.add("e" + std::to_string(i));
  for (std::uint32_t i = 0; i < relations; ++i) dataset.relations.add("r" + std::to_string(i));
  return dataset;
}

/// A table and its source; rows are dim long.
struct Table {
  std::uint32_t dim = 1;
  std::vector<float> values;
  [[nodiscard]] const float* row(std::uint64_t i) const { return values.data() + i * dim; }
  [[nodiscard]] WeightSource source() const { return memoryWeights(values.data(), values.size() / dim, dim); }
};

inline std::uint32_t draw(std::uint64_t seed, std::uint64_t i, std::uint32_t slot, std::uint32_t below) {
  const Random4 r = philox(seed, Stream::tests, i, slot);
  return static_cast<std::uint32_t>(belowFrom(r.word[0], r.word[1], below));
}

/// coarse: coordinates are quarters in [-1, 1], so that scores are often exactly equal (and exact in double).
inline Table randomTable(std::uint64_t seed, std::uint64_t rows, std::uint32_t dim, bool coarse, float scale = 1) {
  Table table{dim, std::vector<float>(rows * dim)};
  for (std::uint64_t i = 0; i < table.values.size(); ++i) {
    const float fine = symmetricFrom(philox(seed, Stream::tests, i, 7).word[0], 1.0f);
    table.values[i] = scale * (coarse ? std::round(fine * 4) / 4 : fine);
  }
  return table;
}

/// A random hierarchy with doubled edges and edges to itself; node 0 has edges to most others.
inline Dataset randomHierarchy(std::uint64_t seed, std::uint32_t nodes) {
  Dataset dataset = makeDataset(DatasetKind::hierarchy, nodes);
  for (std::uint32_t i = 0; i < 3 * nodes; ++i) {
    dataset.train.push_back({draw(seed, i, 1, nodes / 2 + 1), 0, draw(seed, i, 2, nodes)});
  }
  for (std::uint32_t i = 0; i < nodes; i += 1 + draw(seed, i, 3, 2)) dataset.train.push_back({0, 0, i});
  return dataset;
}

inline Dataset randomGraph(std::uint64_t seed, std::uint32_t entities, std::uint32_t relations) {
  Dataset dataset = makeDataset(DatasetKind::graph, entities, relations);
  std::vector<Edge>* const splits[] = {&dataset.train, &dataset.train, &dataset.train, &dataset.valid, &dataset.test};
  for (std::uint32_t i = 0; i < 6 * entities; ++i) {
    const Edge edge{draw(seed, i, 1, entities), draw(seed, i, 2, relations), draw(seed, i, 3, entities)};
    splits[draw(seed, i, 4, 5)]->push_back(edge);
  }
  dataset.test.push_back({0, 0, 1});
  dataset.test.push_back({0, 0, 1});  // an edge given twice is two queries
  return dataset;
}

/// The score of (head, relation, tail) in plain double. relation is null for distances.
inline double naiveScore(ModelKind model, double k, std::uint32_t dim, const float* head, const float* relation,
                         const float* tail) {
  double sum = 0;
  double headSquare = 0;
  double tailSquare = 0;
  for (std::uint32_t i = 0; i < dim; ++i) {
    const double h = head[i];
    const double t = tail[i];
    if (model == ModelKind::distmult) {
      sum += h * relation[i] * t;
    } else {
      const double delta = h + (relation ? static_cast<double>(relation[i]) : 0.0) - t;
      sum += delta * delta;
    }
    headSquare += h * h;
    tailSquare += t * t;
  }
  if (model == ModelKind::distmult) return sum;
  // Both are monotone in the distance, and exact for coarse tables.
  return model == ModelKind::poincare && k > 0 ? -sum / ((1 - k * headSquare) * (1 - k * tailSquare)) : -sum;
}

struct NaiveLinks {
  double mrr = 0, optimistic = 0, pessimistic = 0, hits1 = 0, hits3 = 0, hits10 = 0, meanRank = 0;
};

/// Link prediction as the definition reads: every query by itself, every candidate looked up in the set of known edges.
inline NaiveLinks naiveLinks(const Dataset& dataset, ModelKind model, const Table& entities, const Table& relations) {
  const auto key = [](const Edge& e) { return std::tuple(e.head, e.relation, e.tail); };
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> known;
  for (const auto* split : {&dataset.train, &dataset.valid, &dataset.test}) {
    for (const Edge& edge : *split) known.insert(key(edge));
  }
  NaiveLinks sums;
  const auto scoreOf = [&](const Edge& e) {
    const float* const relation = hasRelations(model) ? relations.row(e.relation) : nullptr;
    return naiveScore(model, 0, entities.dim, entities.row(e.head), relation, entities.row(e.tail));
  };
  for (const Edge& edge : dataset.test) {
    for (const bool heads : {false, true}) {
      double better = 0;
      double equal = 0;
      for (std::uint32_t candidate = 0; candidate < dataset.entityCount; ++candidate) {
        Edge other = edge;
        (heads ? other.head : other.tail) = candidate;
        if (known.count(key(other)) != 0) continue;
        better += scoreOf(other) > scoreOf(edge);
        equal += scoreOf(other) == scoreOf(edge);
      }
      const double rank = 1 + better + equal / 2;
      sums.mrr += 1 / rank;
      sums.optimistic += 1 / (1 + better);
      sums.pessimistic += 1 / (1 + better + equal);
      sums.hits1 += rank <= 1;
      sums.hits3 += rank <= 3;
      sums.hits10 += rank <= 10;
      sums.meanRank += rank;
    }
  }
  for (double* sum :
       {&sums.mrr, &sums.optimistic, &sums.pessimistic, &sums.hits1, &sums.hits3, &sums.hits10, &sums.meanRank}) {
    *sum /= 2.0 * static_cast<double>(dataset.test.size());
  }
  return sums;
}

struct NaiveReconstruction {
  double map = 0, meanRank = 0;
};

inline NaiveReconstruction naiveReconstruction(const Dataset& dataset, ModelKind model, double k, const Table& table) {
  std::vector<std::set<std::uint32_t>> ancestors(dataset.entityCount);
  for (const Edge& edge : dataset.train) {
    if (edge.head != edge.tail) ancestors[edge.head].insert(edge.tail);
  }
  NaiveReconstruction result;
  double nodes = 0;
  double edges = 0;
  for (std::uint32_t u = 0; u < dataset.entityCount; ++u) {
    if (ancestors[u].empty()) continue;
    double precisions = 0;
    const auto scoreOf = [&](std::uint32_t v) {
      return naiveScore(model, k, table.dim, table.row(u), nullptr, table.row(v));
    };
    for (const std::uint32_t v : ancestors[u]) {
      double rank = 1;
      double positives = 0;
      double candidates = 0;
      for (std::uint32_t w = 0; w < dataset.entityCount; ++w) {
        if (w == u) continue;
        const bool isPositive = ancestors[u].count(w) != 0;
        const double difference = scoreOf(w) - scoreOf(v);
        positives += isPositive && difference >= 0;
        candidates += difference >= 0;
        if (!isPositive) rank += difference > 0 ? 1 : difference == 0 ? 0.5 : 0;
      }
      result.meanRank += rank;
      precisions += positives / candidates;
      edges += 1;
    }
    result.map += precisions / static_cast<double>(ancestors[u].size());
    nodes += 1;
  }
  result.meanRank /= edges;
  result.map /= nodes;
  return result;
}

}  // namespace dsa::test
