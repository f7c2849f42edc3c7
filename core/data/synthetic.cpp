// SPDX-License-Identifier: Apache-2.0
#include "core/data/synthetic.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/data/catalogue.h"

namespace dsa {

namespace {

constexpr std::string_view kTree = "tree:", kZipf = "zipf:";
// A hundred rows a cluster: enough partners for a positive, and few enough that they are drawn again while a demo runs.
constexpr std::uint64_t kRowsPerCluster = 100;
// Like words and shops; at 1.0 the demo does not halve its loss within 300 steps, since half of its rows are seen once.
constexpr double kZipfExponent = 1.1;

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Closure edges of a complete tree, or nullopt when they pass the limit.
std::optional<std::uint64_t> treeEdges(std::uint64_t branching, std::uint64_t depth) {
  std::uint64_t level = 1, edges = 0;
  for (std::uint64_t d = 1; d <= depth; ++d) {
    if (level > kMaxTreeEdges / branching) return std::nullopt;
    level *= branching;
    edges += level * d;
    if (edges > kMaxTreeEdges) return std::nullopt;
  }
  return edges;
}

/// Adds the edges of every node below `name` in breadth-first order. `ancestors` of a node are found by cutting its
/// name.
void addTree(Dataset& dataset, std::uint64_t branching, std::uint64_t depth) {
  std::vector<std::string> level = {"0"};
  for (std::uint64_t d = 1; d <= depth; ++d) {
    std::vector<std::string> next;
    next.reserve(level.size() * branching);
    for (const std::string& parent : level) {
      for (std::uint64_t child = 0; child < branching; ++child) {
        next.push_back(fmt::format("{}.{}", parent, child));
        const std::uint32_t head = dataset.entities.add(next.back());
        std::string_view above = next.back();
        while (above.rfind('.') != std::string_view::npos) {
          above = above.substr(0, above.rfind('.'));
          dataset.train.push_back({head, 0, dataset.entities.add(above)});
        }
      }
    }
    level = std::move(next);
  }
}

Result<Dataset> makeTree(const std::string& name) {
  const std::string_view recipe = std::string_view(name).substr(kTree.size());
  const std::size_t comma = recipe.find(',');
  const std::uint64_t branching = whole(recipe.substr(0, comma)).value_or(0);
  const std::uint64_t depth = comma == std::string_view::npos ? 0 : whole(recipe.substr(comma + 1)).value_or(0);
  if (branching == 0 || depth == 0) {
    return fail(ErrorCode::input, "{}: expected tree:BRANCHING,DEPTH with two whole numbers from 1, as in tree:3,5",
                name);
  }
  const auto edges = treeEdges(branching, depth);
  if (!edges) {
    return fail(ErrorCode::input,
                "{}: this tree has more than {} pairs of a node and an ancestor, which is the limit; take less "
                "branching or depth",
                name, kMaxTreeEdges);
  }
  Dataset dataset;
  dataset.kind = DatasetKind::hierarchy;
  dataset.relations.add("is_below");
  dataset.train.reserve(*edges);
  addTree(dataset, branching, depth);
  dataset.entityCount = dataset.entities.size();
  return dataset;
}

Result<Dataset> makeZipf(const std::string& name) {
  const auto rows = whole(std::string_view(name).substr(kZipf.size()));
  if (!rows || *rows < kMinZipfRows || *rows > kMaxZipfRows) {
    return fail(ErrorCode::input, "{}: expected zipf:ROWS with {} to {} rows, as in zipf:1000000", name, kMinZipfRows,
                kMaxZipfRows);
  }
  Dataset dataset;
  dataset.kind = DatasetKind::pairs;
  dataset.entities = Vocabulary::numbered(*rows);
  dataset.entityCount = *rows;
  dataset.zipf = {*rows, kZipfExponent, std::max<std::uint64_t>(1, *rows / kRowsPerCluster)};
  return dataset;
}

}  // namespace

bool isSyntheticName(const std::string& name) { return name.starts_with(kTree) || name.starts_with(kZipf); }

Result<Dataset> makeSynthetic(const std::string& name) {
  DSA_ASSIGN(Dataset dataset, name.starts_with(kTree) ? makeTree(name) : makeZipf(name));
  dataset.name = name;
  dataset.licence = "none needed: synthetic";
  dataset.sha256 = contentHash(dataset);
  return dataset;
}

}  // namespace dsa
