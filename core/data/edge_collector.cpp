// SPDX-License-Identifier: Apache-2.0
#include "core/data/edge_collector.h"

#include <algorithm>
#include <limits>

#include "core/data/unicode.h"

namespace dsa {

namespace {

std::uint64_t hashEdge(const Edge& edge) {
  std::uint64_t hash = (std::uint64_t{edge.head} << 32 | edge.tail) * 0x9E3779B97F4A7C15ull;
  hash ^= hash >> 29;
  hash = (hash + edge.relation) * 0xBF58476D1CE4E5B9ull;
  return hash ^ (hash >> 32);
}

/// Lists the first lines of a note list: "lines 2, 4, 5" or "line 7" or "lines 1, 2, 3, ... (40 in all)".
std::string lineList(const NoteList& notes) {
  constexpr std::size_t kShown = 5;
  std::string text = notes.total == 1 ? "line " : "lines ";
  for (std::size_t i = 0; i < std::min(notes.first.size(), kShown); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", notes.first[i].line);
  }
  if (notes.total > kShown) text += fmt::format(", ... ({} in all)", notes.total);
  return text;
}

}  // namespace

std::size_t EdgeSet::slotOf(const Edge& edge, const std::vector<Edge>& edges) const {
  const std::size_t mask = m_slots.size() - 1;
  std::size_t slot = hashEdge(edge) & mask;
  while (m_slots[slot] != 0 && edges[m_slots[slot] - 1] != edge) slot = (slot + 1) & mask;
  return slot;
}

std::uint64_t EdgeSet::findOrNote(const Edge& edge, const std::vector<Edge>& edges) {
  if ((m_count + 1) * 4 > m_slots.size() * 3) {
    m_slots.assign(m_slots.empty() ? 16 : m_slots.size() * 2, 0);
    for (std::size_t place = 0; place < edges.size(); ++place) {
      m_slots[slotOf(edges[place], edges)] = static_cast<std::uint32_t>(place + 1);
    }
  }
  const std::size_t slot = slotOf(edge, edges);
  if (m_slots[slot] != 0) return m_slots[slot] - 1;
  m_slots[slot] = static_cast<std::uint32_t>(edges.size() + 1);
  ++m_count;
  return edges.size();
}

bool EdgeSet::contains(const Edge& edge, const std::vector<Edge>& edges) const {
  return !m_slots.empty() && m_slots[slotOf(edge, edges)] != 0;
}

EdgeCollector::EdgeCollector(const ImportOptions& options, DatasetKind kind, bool weighted,
                             std::string implicitRelation)
    : m_options(options), m_weighted(weighted), m_implicitRelation(std::move(implicitRelation)) {
  m_dataset.kind = kind;
}

void EdgeCollector::begin(Split split, std::string file) {
  if (m_split == Split::train && split != Split::train) {
    m_entityInTrain.resize(m_dataset.entities.size());
    m_relationInTrain.resize(m_dataset.relations.size());
    for (const Edge& edge : m_dataset.train) {
      m_entityInTrain[edge.head] = m_entityInTrain[edge.tail] = m_relationInTrain[edge.relation] = true;
    }
  }
  m_split = split;
  m_files.push_back(std::move(file));
}

std::vector<Edge>& EdgeCollector::edges() {
  return m_split == Split::train ? m_dataset.train : m_split == Split::valid ? m_dataset.valid : m_dataset.test;
}

std::uint32_t EdgeCollector::idOf(Vocabulary& names, std::vector<Place>& places, std::string_view name,
                                  std::uint64_t line) {
  const std::uint32_t id = m_options.unicode == UnicodeForm::nfc ? names.add(toNfc(name)) : names.add(name);
  if (id == places.size()) {
    const auto file = m_files.empty() ? 0 : m_files.size() - 1;
    places.push_back({static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                                            line, std::numeric_limits<std::uint32_t>::max()))});
  }
  return id;
}

bool EdgeCollector::addEntity(const std::string& name) {
  const std::uint64_t before = m_dataset.entities.size();
  return idOf(m_dataset.entities, m_entityPlaces, name, 0) == before;
}

bool EdgeCollector::addRelation(const std::string& name) {
  const std::uint64_t before = m_dataset.relations.size();
  return idOf(m_dataset.relations, m_relationPlaces, name, 0) == before;
}

Result<void> EdgeCollector::add(const NamedEdge& named, std::uint64_t line) {
  if (m_options.minWeight && m_weighted && named.weight < *m_options.minWeight) {
    ++m_report.belowMinWeight;
    return {};
  }
  std::vector<Edge>& list = edges();
  if (list.size() >= m_options.limits.edges || m_dataset.entities.size() + 2 > Vocabulary::kMaxNames) {
    return fail(ErrorCode::input,
                "{}: line {}: more than {} edges or {} names, which is the limit; give a part of the file",
                m_files.back(), line, m_options.limits.edges, Vocabulary::kMaxNames);
  }
  Edge edge{};
  edge.head = idOf(m_dataset.entities, m_entityPlaces, named.head, line);
  edge.tail = idOf(m_dataset.entities, m_entityPlaces, named.tail, line);
  const std::string_view relation = named.hasRelation ? named.relation : std::string_view(m_implicitRelation);
  edge.relation = idOf(m_dataset.relations, m_relationPlaces, relation, line);
  if (edge.head == edge.tail) {
    m_report.selfLoops.add(m_files.back(), line, std::string(named.head));
    if (m_dataset.kind == DatasetKind::hierarchy) return {};  // nothing is its own ancestor
  }
  EdgeSet& set = m_split == Split::train ? m_trainSet : m_split == Split::valid ? m_validSet : m_testSet;
  const std::uint64_t place = set.findOrNote(edge, list);
  if (place < list.size()) {
    m_report.duplicates.add(m_files.back(), line, fmt::format("{} {} {}", named.head, relation, named.tail));
    if (m_weighted && m_split == Split::train && m_dataset.trainWeights[place] != named.weight) ++m_weightConflicts;
    return {};
  }
  list.push_back(edge);
  if (m_weighted && m_split == Split::train) m_dataset.trainWeights.push_back(named.weight);
  if (m_split != Split::train) noteUnseen(edge, named, line);
  return {};
}

void EdgeCollector::noteUnseen(const Edge& edge, const NamedEdge& named, std::uint64_t line) {
  const std::string& file = m_files.back();
  const auto inTrain = [](const std::vector<bool>& seen, std::uint32_t id) { return id < seen.size() && seen[id]; };
  const auto unseen = [&](const char* what, std::string_view name) {
    m_report.unseen.add(file, line, fmt::format("{} `{}` is not in train", what, name));
  };
  if (!inTrain(m_entityInTrain, edge.head)) unseen("entity", named.head);
  if (!inTrain(m_entityInTrain, edge.tail) && edge.tail != edge.head) unseen("entity", named.tail);
  if (named.hasRelation && !inTrain(m_relationInTrain, edge.relation)) unseen("relation", named.relation);
  const char* where = m_trainSet.contains(edge, m_dataset.train)                             ? "train"
                      : m_split == Split::test && m_validSet.contains(edge, m_dataset.valid) ? "valid"
                                                                                             : nullptr;
  if (where != nullptr) {
    m_report.leaks.add(file, line,
                       fmt::format("{} {} {} is also in {}", named.head, named.relation, named.tail, where));
  }
}

void EdgeCollector::noteNearNames(const Vocabulary& names, const std::vector<Place>& places, const char* what) {
  struct Keyed {
    std::size_t hash;
    std::uint32_t id;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(names.size());
  std::string scratch;
  for (std::uint64_t id = 0; id < names.size(); ++id) {
    const std::size_t hash = std::hash<std::string>()(nearKey(names.view(id, scratch)));
    keyed.push_back({hash, static_cast<std::uint32_t>(id)});
  }
  std::sort(keyed.begin(), keyed.end(),
            [](const Keyed& a, const Keyed& b) { return a.hash != b.hash ? a.hash < b.hash : a.id < b.id; });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // (later name, earlier name)
  for (std::size_t i = 1; i < keyed.size(); ++i) {
    if (keyed[i].hash != keyed[i - 1].hash) continue;
    if (nearKey(names.name(keyed[i].id)) == nearKey(names.name(keyed[i - 1].id)))
      pairs.emplace_back(keyed[i].id, keyed[i - 1].id);
  }
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [later, earlier] : pairs) {
    const std::string a = names.name(earlier), b = names.name(later);
    const std::string why = toNfd(a) == toNfd(b)
                                ? fmt::format("{} `{}` stands in two Unicode forms", what, b)
                                : fmt::format("{} names `{}` and `{}` differ only in case or blanks", what, a, b);
    const Place first = places[earlier], second = places[later];
    const std::string file = m_files.empty() ? std::string() : m_files[second.file];
    const std::string lines =
        first.file == second.file && second.line != 0 ? fmt::format(" (lines {}, {})", first.line, second.line) : "";
    m_report.nearNames.add(file, second.line, why + lines);
  }
}

Result<void> EdgeCollector::finishHierarchy() {
  if (m_dataset.kind != DatasetKind::hierarchy) return {};
  for (const std::uint32_t node : findCycle(m_dataset.train, m_dataset.entityCount)) {
    m_report.cycle.push_back(m_dataset.entities.name(node));
  }
  if (!m_options.closure) return {};
  DSA_ASSIGN(m_dataset.train, transitiveClosure(m_dataset.train, m_dataset.entityCount, m_options.limits.closureEdges));
  m_dataset.trainWeights.clear();
  m_report.weighted = false;
  m_report.closureEdges = m_dataset.train.size();
  return {};
}

void EdgeCollector::finishWarnings() {
  std::vector<std::string>& warnings = m_dataset.warnings;
  const auto listed = [&](const NoteList& notes) {
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(notes.first.size(), kShown); ++i) {
      const LineNote& note = notes.first[i];
      const bool several = m_files.size() > 1 && note.line != 0;
      warnings.push_back(several ? fmt::format("{} line {}: {}", fileStem(note.file), note.line, note.text)
                                 : note.text);
    }
    if (notes.total > kShown) warnings.push_back(fmt::format("... and {} more of the same kind", notes.total - kShown));
  };
  const NoteList& bad = m_report.badLines;
  if (bad.total != 0) warnings.push_back(fmt::format("{} bad lines skipped: {}", bad.total, lineList(bad)));
  const NoteList& duplicates = m_report.duplicates;
  if (duplicates.total != 0)
    warnings.push_back(fmt::format("{} duplicates dropped: {}", duplicates.total, lineList(duplicates)));
  if (m_weightConflicts != 0) {
    warnings.push_back(
        fmt::format("{} of the duplicates had another weight; the first one was kept", m_weightConflicts));
  }
  const NoteList& loops = m_report.selfLoops;
  if (loops.total != 0) {
    const char* fate = m_dataset.kind == DatasetKind::hierarchy ? "dropped (nothing is its own ancestor)" : "kept";
    warnings.push_back(fmt::format("{} self-loops {}: {}", loops.total, fate, lineList(loops)));
  }
  if (!m_report.cycle.empty()) {
    warnings.push_back(fmt::format("not a hierarchy everywhere: there is a cycle {}", cycleText(m_report.cycle)));
  }
  listed(m_report.unseen);
  listed(m_report.leaks);
  listed(m_report.nearNames);
  warnings.insert(warnings.end(), m_report.notes.begin(), m_report.notes.end());
}

Result<Imported> EdgeCollector::finish(ImportReport report, std::string name) {
  // What the reader found and what was found here are two halves of one report.
  report.badLines = std::move(m_report.badLines);
  report.duplicates = std::move(m_report.duplicates);
  report.selfLoops = std::move(m_report.selfLoops);
  report.unseen = std::move(m_report.unseen);
  report.leaks = std::move(m_report.leaks);
  report.belowMinWeight = m_report.belowMinWeight;
  m_report = std::move(report);
  m_dataset.name = std::move(name);
  m_dataset.entityCount = m_dataset.entities.size();
  m_report.implicitRelation = !m_implicitRelation.empty();
  m_report.weighted = m_weighted;
  if (!m_dataset.trainWeights.empty()) {
    const auto [lowest, highest] = std::minmax_element(m_dataset.trainWeights.begin(), m_dataset.trainWeights.end());
    m_report.weightLowest = *lowest;
    m_report.weightHighest = *highest;
  }
  noteNearNames(m_dataset.entities, m_entityPlaces, "entity");
  noteNearNames(m_dataset.relations, m_relationPlaces, "relation");
  DSA_TRY(finishHierarchy());
  finishWarnings();
  m_dataset.sha256 = contentHash(m_dataset);
  return Imported{std::move(m_dataset), std::move(m_report)};
}

}  // namespace dsa
