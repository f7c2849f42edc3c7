// SPDX-License-Identifier: Apache-2.0
// A dataset in memory: names, edges by split, and the checksum of its content.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/vocabulary.h"

namespace dsa {

/// What the edges mean. The names are written to files: never rename.
enum class DatasetKind {
  hierarchy,  ///< head is below tail (child -> ancestor); one implicit relation with id 0
  graph,      ///< head relation tail
  pairs,      ///< synthetic pairs drawn by a Zipf law; no list of edges, see ZipfSpec
};

[[nodiscard]] std::string_view kindName(DatasetKind kind);
[[nodiscard]] std::optional<DatasetKind> kindFromName(std::string_view name);

struct Edge {
  std::uint32_t head, relation, tail;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// Parameters of a synthetic `zipf:ROWS` set. Ranks are drawn by P(rank r) ~ r^-exponent; the cluster of a rank is rank
/// % clusters, and the two ranks of a positive pair share one. Ranks are scattered over the rows by a fixed permutation
/// (sampler.h). No table of `rows` entries.
struct ZipfSpec {
  std::uint64_t rows = 0;
  double exponent = 1.1;
  std::uint64_t clusters = 1;
};

/// Ids are dense and in order of first appearance in the files (train, valid, test; head before tail); edges are in the
/// order of the files. Thread: a value; const use from any thread.
struct Dataset {
  std::string name;
  DatasetKind kind = DatasetKind::graph;
  std::uint64_t entityCount = 0;
  Vocabulary entities;
  Vocabulary relations;  ///< one implicit name for a hierarchy and for edges without a relation column; none for pairs
  std::vector<Edge> train, valid, test;
  std::vector<double> trainWeights;  ///< one an edge of train, or empty when the edges have no weights
  ZipfSpec zipf;                     ///< kind pairs only
  std::string sha256;                ///< contentHash()
  std::vector<std::string> warnings;
  std::string licence;
};

/// Lower-case hex SHA-256 of the logical content: kind, names in id order, edges of each split in order, weights, Zipf
/// parameters. Not of the name, the warnings or the licence. The same on every machine.
[[nodiscard]] std::string contentHash(const Dataset& dataset);

}  // namespace dsa
