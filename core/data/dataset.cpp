// SPDX-License-Identifier: Apache-2.0
#include "core/data/dataset.h"

#include <bit>
#include <cstring>

#include "core/base/file.h"

namespace dsa {

namespace {

/// Feeds little-endian integers and strings to a hash in pieces of some 64 KiB.
class Feed {
 public:
  explicit Feed(Sha256& hash) : m_hash(hash) { m_buffer.reserve(kPiece + 64); }
  ~Feed() { flush(); }
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  template <class Unsigned>
  void number(Unsigned value) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) m_buffer.push_back(static_cast<char>((value >> (8 * i)) & 0xFF));
    if (m_buffer.size() >= kPiece) flush();
  }
  void text(std::string_view value) {
    number(std::uint64_t{value.size()});
    m_buffer.append(value);
    if (m_buffer.size() >= kPiece) flush();
  }

 private:
  static constexpr std::size_t kPiece = 65536;
  void flush() {
    m_hash.add(m_buffer.data(), m_buffer.size());
    m_buffer.clear();
  }
  Sha256& m_hash;
  std::string m_buffer;
};

void feedNames(Feed& feed, const Vocabulary& names) {
  feed.number(names.size());
  if (names.isNumbered()) return;
  std::string scratch;
  for (std::uint64_t id = 0; id < names.size(); ++id) feed.text(names.view(id, scratch));
}

void feedEdges(Feed& feed, const std::vector<Edge>& edges) {
  feed.number(std::uint64_t{edges.size()});
  for (const Edge& edge : edges) {
    feed.number(edge.head);
    feed.number(edge.relation);
    feed.number(edge.tail);
  }
}

}  // namespace

std::string_view kindName(DatasetKind kind) {
  switch (kind) {
    case DatasetKind::hierarchy:
      return "hierarchy";
    case DatasetKind::graph:
      return "graph";
    case DatasetKind::pairs:
      return "pairs";
  }
  return "";
}

std::optional<DatasetKind> kindFromName(std::string_view name) {
  for (const DatasetKind kind : {DatasetKind::hierarchy, DatasetKind::graph, DatasetKind::pairs}) {
    if (kindName(kind) == name) return kind;
  }
  return std::nullopt;
}

std::string contentHash(const Dataset& dataset) {
  Sha256 hash;
  {
    Feed feed(hash);
    feed.text("dsa-lab dataset 1");  // the version of this layout
    feed.text(kindName(dataset.kind));
    feed.number(dataset.entityCount);
    feedNames(feed, dataset.entities);
    feedNames(feed, dataset.relations);
    feedEdges(feed, dataset.train);
    feedEdges(feed, dataset.valid);
    feedEdges(feed, dataset.test);
    feed.number(std::uint64_t{dataset.trainWeights.size()});
    for (const double weight : dataset.trainWeights) feed.number(std::bit_cast<std::uint64_t>(weight));
    if (dataset.kind == DatasetKind::pairs) {
      feed.number(dataset.zipf.rows);
      feed.number(std::bit_cast<std::uint64_t>(dataset.zipf.exponent));
      feed.number(dataset.zipf.clusters);
    }
  }
  return hash.hex();
}

}  // namespace dsa
