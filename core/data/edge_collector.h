// SPDX-License-Identifier: Apache-2.0
// Turns named edges into ids as they are read: drops equal ones, notes self-loops, leaks and near-equal names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/importer.h"

namespace dsa {

enum class Split { train, valid, test };

/// Set of edges by their place in a vector that grows: 5.3 to 10.7 bytes an edge.
class EdgeSet {
 public:
  /// Place of an equal edge in `edges`, or edges.size() after noting that `edge` will be appended there.
  std::uint64_t findOrNote(const Edge& edge, const std::vector<Edge>& edges);
  [[nodiscard]] bool contains(const Edge& edge, const std::vector<Edge>& edges) const;

 private:
  [[nodiscard]] std::size_t slotOf(const Edge& edge, const std::vector<Edge>& edges) const;
  std::vector<std::uint32_t> m_slots;  ///< place + 1, 0 = free
  std::uint64_t m_count = 0;
};

/// One edge as text. Without a relation the implicit one stands.
struct NamedEdge {
  std::string_view head, relation, tail;
  bool hasRelation = true;
  double weight = 1;
};

/// Splits come in the order train, valid, test. Thread: its owner.
class EdgeCollector {
 public:
  EdgeCollector(const ImportOptions& options, DatasetKind kind, bool weighted, std::string implicitRelation);

  /// All edges that follow are of this split and file.
  void begin(Split split, std::string file);
  /// Adds an edge of `line`. Errors input: over a limit of ids or edges; the names are too long (a bad line; nothing
  /// was added).
  Result<void> add(const NamedEdge& edge, std::uint64_t line);
  /// Puts a name into the vocabulary before any edge (OpenKE's id tables). False: it was there.
  bool addEntity(const std::string& name);
  bool addRelation(const std::string& name);
  /// Notes on names, cycle and closure; the checksum. The collector is used up.
  Result<Imported> finish(ImportReport report, std::string name);

  NoteList& badLines() { return m_report.badLines; }
  [[nodiscard]] const Dataset& dataset() const { return m_dataset; }

 private:
  struct Place {
    std::uint32_t file = 0;
    std::uint32_t line = 0;  ///< saturates
  };
  std::uint32_t idOf(Vocabulary& names, std::vector<Place>& places, std::string_view name, std::uint64_t line);
  std::vector<Edge>& edges();
  void noteUnseen(const Edge& edge, const NamedEdge& named, std::uint64_t line);
  void noteNearNames(const Vocabulary& names, const std::vector<Place>& places, const char* what);
  Result<void> finishHierarchy();
  void finishWarnings();

  const ImportOptions& m_options;
  Dataset m_dataset;
  ImportReport m_report;
  bool m_weighted;
  std::string m_implicitRelation;
  Split m_split = Split::train;
  std::vector<std::string> m_files;
  std::vector<Place> m_entityPlaces, m_relationPlaces;   ///< where each name stood first
  std::vector<bool> m_entityInTrain, m_relationInTrain;  ///< by id; made when train ends
  std::uint64_t m_weightConflicts = 0;
  EdgeSet m_trainSet, m_validSet, m_testSet;
};

}  // namespace dsa
