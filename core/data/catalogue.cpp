// SPDX-License-Identifier: Apache-2.0
#include "core/data/catalogue.h"

#include <algorithm>
#include <filesystem>

#include "core/base/edit_distance.h"
#include "core/data/resources.h"
#include "core/data/synthetic.h"

namespace dsa {

namespace {

constexpr const char* kWordNetLicence = "WordNet 3.0 licence (Princeton University)";

/// Files of a bundled set below datasets/, train first.
std::vector<std::string> filesOf(const CatalogueEntry& entry) {
  if (entry.name == "wordnet-nouns") return {"wordnet-nouns/direct.tsv.xz"};
  if (entry.name == "wordnet-mammals") return {"wordnet-mammals/closure.tsv.xz"};
  return {entry.name + "/train.tsv.xz", entry.name + "/valid.tsv.xz", entry.name + "/test.tsv.xz"};
}

Result<Dataset> loadBundled(const CatalogueEntry& entry) {
  ImportOptions options;
  options.name = entry.name;
  options.encoding = Encoding::utf8;
  options.separator = Separator::tab;
  options.header = Choice::no;
  options.comments = false;
  options.columns = {ColumnRole::head, ColumnRole::relation, ColumnRole::tail};
  if (entry.name == "wordnet-mammals") options.columns = {ColumnRole::head, ColumnRole::tail};
  options.asHierarchy = entry.kind == DatasetKind::hierarchy ? Choice::yes : Choice::no;
  options.closure = entry.name == "wordnet-nouns";
  std::string path;
  const std::vector<std::string> files = filesOf(entry);
  for (const std::string& file : files) {
    DSA_ASSIGN(path, verifiedDatasetFile(file));
  }
  if (files.size() > 1) path = std::filesystem::path(path).parent_path().string();
  DSA_ASSIGN(Imported imported, importDataset(path, options));
  imported.dataset.licence = entry.licence;
  return std::move(imported.dataset);
}

tl::unexpected<Error> unknownName(const std::string& name) {
  std::string all, nearest;
  std::size_t least = 4;  // further off it is another word
  for (const CatalogueEntry& entry : catalogue()) {
    all += entry.name + ", ";
    const std::size_t distance = name.size() > 64 ? least
                                 : name.size() > 2 && entry.name.find(name) != std::string::npos
                                     ? 1
                                     : editDistance(name, entry.name);
    if (distance < least) {
      least = distance;
      nearest = entry.name;
    }
  }
  const std::string hint = nearest.empty() ? "" : fmt::format(" Did you mean {}?", nearest);
  return fail(ErrorCode::input,
              "unknown dataset \"{}\": there is no file of that name, and the catalogue has {}tree:BRANCHING,DEPTH and "
              "zipf:ROWS.{}",
              name.substr(0, 200), all, hint);
}

}  // namespace

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = {
      {"wordnet-mammals", DatasetKind::hierarchy, 1'180, 1, 6'540, 0, 0, kWordNetLicence,
       "Mammals of WordNet 3.0: every pair of a synset and one above it (Nickel and Kiela 2017)"},
      {"wordnet-nouns", DatasetKind::hierarchy, 82'115, 1, 743'241, 0, 0, kWordNetLicence,
       "All nouns of WordNet 3.0: every pair of a synset and one above it (Nickel and Kiela 2017)"},
      {"umls", DatasetKind::graph, 135, 46, 5'216, 652, 661,
       "open terms of the U.S. National Library of Medicine; acknowledgement required",
       "UMLS Semantic Network: kinds of medical things and how they relate (McCray 2003)"},
      {"wn18rr", DatasetKind::graph, 40'943, 11, 86'835, 3'034, 3'134, kWordNetLicence,
       "WordNet relations without inverse twins, synsets by offset (Dettmers et al. 2018)"},
      {"wn18rr-named", DatasetKind::graph, 40'943, 11, 86'835, 3'034, 3'134, kWordNetLicence,
       "wn18rr with readable names in the place of offsets"},
  };
  return entries;
}

Result<Dataset> loadDataset(const std::string& nameOrPath, const LoadOptions& options) {
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name == nameOrPath) return loadBundled(entry);
  }
  if (isSyntheticName(nameOrPath)) return makeSynthetic(nameOrPath);
  std::error_code error;
  const bool exists = !nameOrPath.empty() && std::filesystem::exists(nameOrPath, error);
  // With a slash or a suffix it was meant as a path: then the missing file is the news.
  const bool isPath = exists || nameOrPath.find('/') != std::string::npos || nameOrPath.find('.') != std::string::npos;
  if (!isPath || nameOrPath.find('\0') != std::string::npos) return unknownName(nameOrPath);
  DSA_ASSIGN(Imported imported, importDataset(nameOrPath, options));
  return std::move(imported.dataset);
}

}  // namespace dsa
