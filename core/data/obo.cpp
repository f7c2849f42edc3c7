// SPDX-License-Identifier: Apache-2.0
#include "core/data/obo.h"

#include <algorithm>

namespace dsa {

namespace {

/// Takes the next word; a qualifier "{...}" or a comment "! ..." ends the value.
std::string_view takeWord(std::string_view& rest) {
  rest = withoutBlanks(rest);
  if (rest.empty() || rest.front() == '!' || rest.front() == '{') return {};
  const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

/// A free text without its comment and escapes: "a \! b ! note" -> "a ! b".
std::string plainText(std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '!') break;
    if (value[i] == '\\' && i + 1 < value.size()) {
      const char next = value[++i];
      text.push_back(next == 'n' || next == 't' || next == 'W' ? ' ' : next);
    } else {
      text.push_back(value[i]);
    }
  }
  return std::string(withoutBlanks(text));
}

class OboReader {
 public:
  OboReader(PeekedLines& lines, const ImportOptions& options, EdgeCollector& collector, ImportReport& report)
      : m_lines(lines), m_options(options), m_collector(collector), m_report(report) {}

  Result<void> read();

 private:
  struct Term {
    std::string name;
    bool defined = false, obsolete = false;
  };
  struct RawEdge {
    std::uint32_t head, relation, tail;
    std::uint64_t line;
  };

  void handleLine(std::string_view line, std::uint64_t number);
  void handleTag(std::string_view tag, std::string_view value, std::uint64_t number);
  void nameTerm(std::string name, std::uint64_t number);
  void addEdge(std::string_view relation, std::string_view target, std::uint64_t number);
  std::uint32_t termOf(std::string_view id);
  void nameTerms();
  Result<void> giveEdges();
  void bad(std::uint64_t number, std::string reason) {
    m_collector.badLines().add(m_lines.reader().label(), number, std::move(reason));
  }

  PeekedLines& m_lines;
  const ImportOptions& m_options;
  EdgeCollector& m_collector;
  ImportReport& m_report;
  Vocabulary m_ids, m_relations;
  std::vector<Term> m_terms;  ///< by id in m_ids
  std::vector<RawEdge> m_edges;
  bool m_inTerm = false, m_hasTerm = false;
  std::uint32_t m_term = 0;
};

std::uint32_t OboReader::termOf(std::string_view id) {
  const std::uint32_t term = m_ids.add(id);
  if (term == m_terms.size()) m_terms.emplace_back();
  return term;
}

void OboReader::addEdge(std::string_view relation, std::string_view target, std::uint64_t number) {
  if (relation.empty() || target.empty()) {
    bad(number, "an edge needs a relation and a target");
  } else if (relation.size() > m_options.limits.nameBytes || target.size() > m_options.limits.nameBytes) {
    bad(number, fmt::format("a name of more than {} bytes", m_options.limits.nameBytes));
  } else if (m_options.asHierarchy != Choice::yes || relation == "is_a") {
    m_edges.push_back({m_term, m_relations.add(relation), termOf(target), number});
  }
}

/// Never a part of a name: it could end inside a character.
void OboReader::nameTerm(std::string name, std::uint64_t number) {
  if (name.size() > m_options.limits.nameBytes) {
    bad(number, fmt::format("a name of more than {} bytes", m_options.limits.nameBytes));
  } else {
    m_terms[m_term].name = std::move(name);
  }
}

void OboReader::handleTag(std::string_view tag, std::string_view value, std::uint64_t number) {
  if (tag == "id") {
    const std::string_view id = takeWord(value);
    if (id.empty() || id.size() > m_options.limits.nameBytes) {
      bad(number, "the term has an empty id, or too long a one");
      m_inTerm = false;
      return;
    }
    m_term = termOf(id);
    m_hasTerm = true;
    if (m_terms[m_term].defined) bad(number, fmt::format("the id {} stands twice", id));
    m_terms[m_term].defined = true;
    return;
  }
  const bool isEdge = tag == "is_a" || tag == "relationship";
  if (!m_hasTerm) {
    if (isEdge || tag == "name") {
      bad(number, fmt::format("`{}` before the term's id", tag));
    }
    return;
  }
  if (tag == "name") nameTerm(plainText(value), number);
  if (tag == "is_obsolete" && takeWord(value) == "true") m_terms[m_term].obsolete = true;
  if (isEdge) {
    const std::string_view relation = tag == "is_a" ? std::string_view("is_a") : takeWord(value);
    addEdge(relation, takeWord(value), number);
  }
}

void OboReader::handleLine(std::string_view line, std::uint64_t number) {
  line = withoutBlanks(line);
  if (line.empty()) {
    ++m_report.blankLines;
    return;
  }
  if (line.front() == '!') {
    ++m_report.comments;
    return;
  }
  if (line.front() == '[') {
    m_inTerm = line == "[Term]";
    m_hasTerm = false;
    return;
  }
  if (!m_inTerm) return;  // the head, [Typedef] and [Instance] give no edges
  const std::size_t colon = line.find(':');
  if (line.find('\0') != std::string_view::npos) {
    bad(number, "a NUL byte");
  } else if (colon == std::string_view::npos) {
    bad(number, "no `tag: value`");
  } else {
    handleTag(line.substr(0, colon), withoutBlanks(line.substr(colon + 1)), number);
  }
}

void OboReader::nameTerms() {
  Vocabulary names;
  std::vector<std::uint32_t> count;
  std::vector<std::uint32_t> nameOf;
  for (std::uint32_t term = 0; term < m_terms.size(); ++term) {
    if (m_terms[term].name.empty()) m_terms[term].name = m_ids.name(term);
    nameOf.push_back(names.add(m_terms[term].name));
    count.resize(names.size(), 0);
    if (!m_terms[term].obsolete) ++count[nameOf.back()];
  }
  std::uint64_t shared = 0;
  for (std::uint32_t term = 0; term < m_terms.size(); ++term) {
    if (m_terms[term].obsolete || count[nameOf[term]] < 2) continue;
    m_terms[term].name += " [" + m_ids.name(term) + "]";
    ++shared;
  }
  if (shared != 0)
    m_report.notes.push_back(fmt::format("{} terms share their name with another; their id was added to it", shared));
}

Result<void> OboReader::giveEdges() {
  std::uint64_t toObsolete = 0, undefinedEdges = 0;
  for (const RawEdge& edge : m_edges) {
    const Term& head = m_terms[edge.head];
    const Term& tail = m_terms[edge.tail];
    if (head.obsolete) continue;
    if (tail.obsolete) {
      ++toObsolete;
      continue;
    }
    if (!tail.defined) ++undefinedEdges;
    const std::string relation = m_relations.name(edge.relation);
    NamedEdge named{head.name, relation, tail.name, m_options.asHierarchy != Choice::yes, 1};
    DSA_TRY(m_collector.add(named, edge.line));
  }
  if (toObsolete != 0) m_report.notes.push_back(fmt::format("{} edges to obsolete terms dropped", toObsolete));
  if (undefinedEdges != 0) {
    m_report.notes.push_back(fmt::format(
        "{} edges lead to terms that the file does not define; these are named by their ids", undefinedEdges));
  }
  return {};
}

Result<void> OboReader::read() {
  std::string line;
  std::uint64_t number = 0;
  while (true) {
    DSA_ASSIGN(const bool more, m_lines.next(line, number));
    if (!more) break;
    ++m_report.lines;
    handleLine(line, number);
  }
  m_report.obsoleteTerms = static_cast<std::uint64_t>(
      std::count_if(m_terms.begin(), m_terms.end(), [](const Term& term) { return term.obsolete; }));
  if (m_report.obsoleteTerms != 0) {
    const char* plural = m_report.obsoleteTerms == 1 ? "" : "s";
    m_report.notes.push_back(fmt::format("{} obsolete term{} skipped", m_report.obsoleteTerms, plural));
  }
  nameTerms();
  return giveEdges();
}

}  // namespace

bool looksLikeObo(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const std::string_view text = withoutBlanks(line);
    if (text.empty() || text.front() == '!') continue;
    return text.starts_with("format-version:") || text == "[Term]" ||
           (text.find(':') != std::string_view::npos && std::find(lines.begin(), lines.end(), "[Term]") != lines.end());
  }
  return false;
}

Result<void> readObo(PeekedLines& lines, const ImportOptions& options, EdgeCollector& collector, ImportReport& report) {
  return OboReader(lines, options, collector, report).read();
}

}  // namespace dsa
