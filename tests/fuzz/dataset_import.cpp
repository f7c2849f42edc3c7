// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the importers of datasets - delimited text, OBO, OpenKE, our own folders, packed files and archives - by
// what `dsa data import` calls.
//
// Input: six bytes of options; then the file, or with asFolder files, each begun by a byte that says which of kNames
// it is and ended by kFileEnd.
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "allocations.h"
#include "core/data/inspect.h"
#include "fuzz_input.h"

using namespace dsa;

namespace {

enum Flags : std::uint8_t {
  asFolder = 1,
  skipBad = 2,
  nfc = 4,
  closure = 8,
  noComments = 16,
  tightLimits = 32,
  leastWeight = 64
};
constexpr char kFileEnd = '\x1e';
constexpr const char* kNames[] = {"train.tsv",     "valid.txt",    "test.csv",      "entities.tsv",
                                  "relations.tsv", "dataset.json", "entity2id.txt", "relation2id.txt",
                                  "train2id.txt",  "valid2id.txt", "test2id.txt",   "other.obo"};
constexpr const char* kColumns[] = {"head,relation,tail", "head,tail",     "tail,head,weight",
                                    "user,item,weight,-", "-,head,-,tail", "relation,tail,head",
                                    "head,head,tail",     "item,-,user"};
constexpr std::uint64_t kUnpacked = 4u << 20;

template <class Enum>
Enum pick(unsigned byte, unsigned count) {
  return static_cast<Enum>(byte % count);
}

ImportOptions optionsOf(fuzz::Bytes& bytes, std::uint8_t flags) {
  ImportOptions options;
  options.badLines = (flags & skipBad) != 0 ? BadLines::skip : BadLines::stop;
  options.unicode = (flags & nfc) != 0 ? UnicodeForm::nfc : UnicodeForm::asIs;
  options.closure = (flags & closure) != 0;
  options.comments = (flags & noComments) == 0;
  if ((flags & leastWeight) != 0) options.minWeight = 3;
  const auto text = bytes.take<std::uint8_t>();
  options.separator = pick<Separator>(text, 5);
  options.encoding = pick<Encoding>(text / 5u, 5);
  const auto choices = bytes.take<std::uint8_t>();
  options.header = pick<Choice>(choices, 3);
  options.quotes = pick<Choice>(choices / 3u, 3);
  options.weights = pick<Choice>(choices / 9u, 3);
  options.asHierarchy = pick<Choice>(choices / 27u, 3);
  const auto columns = bytes.take<std::uint8_t>();
  if (columns != 0) options.columns = *parseColumns(kColumns[columns % std::size(kColumns)]);
  const auto member = bytes.take<std::uint8_t>();
  if (member != 0) options.member = kNames[member % std::size(kNames)];
  ImportLimits& limits = options.limits;
  limits.blockBytes = bytes.take<std::uint8_t>() + std::size_t{4};
  limits.closureEdges = 1u << 16;
  limits.unpack = {kUnpacked, 500, 1u << 20, 32};
  if ((flags & tightLimits) != 0) {
    limits.unpack = {2048, 10, 1024, 3};
    limits.lineBytes = 200;
    limits.nameBytes = 16;
    limits.edges = 8;
    limits.closureEdges = 12;
  }
  return options;
}

void write(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  fuzz::require(file.good());
}

/// What is to be read, in `place`.
std::string lay(const std::string& place, bool folder, std::string_view rest) {
  std::filesystem::remove_all(place);
  if (!folder) {
    write(place, rest);
    return place;
  }
  std::filesystem::create_directory(place);
  while (!rest.empty()) {
    const std::string_view file = rest.substr(0, rest.find(kFileEnd));
    rest.remove_prefix(std::min(rest.size(), file.size() + 1));
    if (file.empty()) continue;
    const auto name = static_cast<unsigned char>(file.front());
    write(place + "/" + kNames[name % std::size(kNames)], file.substr(1));
  }
  return place;
}

void checkDataset(const Dataset& dataset) {
  fuzz::require(!dataset.train.empty() && dataset.entityCount == dataset.entities.size());
  fuzz::require(dataset.trainWeights.empty() || dataset.trainWeights.size() == dataset.train.size());
  for (const auto* edges : {&dataset.train, &dataset.valid, &dataset.test}) {
    for (const Edge& edge : *edges) {
      fuzz::require(edge.head < dataset.entities.size() && edge.tail < dataset.entities.size());
      fuzz::require(edge.relation < dataset.relations.size());
    }
  }
  std::string scratch;
  for (const Vocabulary* names : {&dataset.entities, &dataset.relations}) {
    for (std::uint64_t id = 0; id < names->size(); ++id) {
      const std::string_view name = names->view(id, scratch);
      fuzz::require(!name.empty() && name.find_first_of(std::string_view("\0\n\r", 3)) == std::string_view::npos);
      fuzz::require(names->find(name) == id);
    }
  }
}

/// All that is shown of it. Names are text: strict JSON takes them (paths of archives need not be).
void describe(const Inspection& inspection) {
  fuzz::require(!describeText(inspection).empty());
  const auto json = describeJson(inspection);
  fuzz::require(!json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).empty());
  (void)json["first_rows"].dump();
}

/// The size of blocks changes nothing, unless too many NUL bytes are told from what the first one holds.
void readWholeBlocks(const std::string& place, const Dataset& dataset, ImportOptions options) {
  options.limits.blockBytes = LineReader::kBlockBytes;
  const auto whole = importDataset(place, options);
  fuzz::require(!whole || whole->dataset.sha256 == dataset.sha256);
}

/// What was written is what was read.
void readAgain(const std::string& folder, const Dataset& dataset, const ImportLimits& limits) {
  ImportOptions options;
  options.limits.nameBytes = limits.nameBytes;
  options.limits.blockBytes = limits.blockBytes;
  const auto again = importDataset(folder, options);
  fuzz::require(again.has_value() && again->dataset.sha256 == dataset.sha256);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string scratch = fuzz::scratchFolder("dataset");
  const std::string out = scratch + "/out";
  fuzz::Bytes bytes(data, size);
  const auto flags = bytes.take<std::uint8_t>();
  const ImportOptions options = optionsOf(bytes, flags);
  const std::string in = lay(scratch + "/in", (flags & asFolder) != 0, bytes.rest());
  std::filesystem::remove_all(out);
  fuzz::largestNew = 0;
  const auto result = importToFolder(in, out, options);
  fuzz::require(fuzz::largestNew <= 4 * kUnpacked);
  if (!result) {
    const Error& error = result.error();
    fuzz::require((error.code == ErrorCode::input || error.code == ErrorCode::usage) && !error.message.empty());
    fuzz::require(!std::filesystem::exists(out));
    return 0;
  }
  checkDataset(result->dataset);
  describe(*result);
  if (options.limits.blockBytes % 4 == 0) readWholeBlocks(in, result->dataset, options);  // slow: not for all
  readAgain(out, result->dataset, options.limits);
  return 0;
}
