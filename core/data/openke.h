// SPDX-License-Identifier: Apache-2.0
// Reads OpenKE's folders: names by id in entity2id.txt and relation2id.txt, edges of ids in train2id.txt (head, TAIL,
// relation).
#pragma once

#include <optional>
#include <string>

#include "core/data/edge_collector.h"
#include "core/data/importer.h"

namespace dsa {

/// Members of an OpenKE set.
struct OpenKeFiles {
  std::size_t entities = 0, relations = 0, train = 0;
  std::optional<std::size_t> valid, test;
};

/// The set, if the container holds one: entity2id, relation2id and train2id, whatever the suffix.
std::optional<OpenKeFiles> findOpenKe(const Container& container);

/// Reads tables and edges. options.columns, if given, is the order of the edge files' columns.
/// Errors input: tables with gaps, double ids or double names, or shorter than they say.
Result<Imported> importOpenKe(const Container& container, const OpenKeFiles& files, const ImportOptions& options,
                              ImportReport report, const std::string& name);

}  // namespace dsa
