// SPDX-License-Identifier: Apache-2.0
#include "core/spec/dataset_facts.h"

#include "core/data/catalogue.h"

namespace dsa {

namespace {

DatasetFacts::Kind factsKind(DatasetKind kind) {
  switch (kind) {
    case DatasetKind::hierarchy:
      return DatasetFacts::Kind::hierarchy;
    case DatasetKind::graph:
      return DatasetFacts::Kind::graph;
    case DatasetKind::pairs:
      break;
  }
  return DatasetFacts::Kind::pairs;
}

}  // namespace

DatasetFacts factsOf(const Dataset& dataset) {
  DatasetFacts facts;
  facts.kind = factsKind(dataset.kind);
  facts.entities = dataset.entityCount;
  facts.relations = dataset.kind == DatasetKind::graph ? dataset.relations.size() : 0;
  facts.trainCount = dataset.kind == DatasetKind::pairs ? dataset.zipf.rows : dataset.train.size();
  return facts;
}

std::optional<DatasetFacts> factsOfBundled(const std::string& name) {
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name != name) continue;
    DatasetFacts facts;
    facts.kind = factsKind(entry.kind);
    facts.entities = entry.entities;
    facts.relations = entry.kind == DatasetKind::graph ? entry.relations : 0;
    facts.trainCount = entry.train;
    return facts;
  }
  return std::nullopt;
}

}  // namespace dsa
