// SPDX-License-Identifier: Apache-2.0
#include "core/exchange/table_format.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dsa {

namespace {

constexpr std::array<std::pair<TableFormat, std::string_view>, 4> kTableFormats = {{
    {TableFormat::npy, "npy"},
    {TableFormat::word2vec, "word2vec"},
    {TableFormat::tsv, "tsv"},
    {TableFormat::raw, "raw"},
}};

}  // namespace

std::string_view tableFormatName(TableFormat format) {
  return std::find_if(kTableFormats.begin(), kTableFormats.end(), [&](const auto& f) { return f.first == format; })
      ->second;
}

std::optional<TableFormat> tableFormatFromName(std::string_view name) {
  for (const auto& [format, text] : kTableFormats) {
    if (text == name) return format;
  }
  if (name == "projector") return TableFormat::tsv;  // who reads it
  return std::nullopt;
}

Segment weightsOf(const TableShape& table) { return {"w", 0, table.dim, false, false}; }

std::vector<Segment> stateOf(const TableShape& table) {
  const std::uint64_t d = table.dim;
  switch (table.rule) {
    case Rule::sparseAdam:
    case Rule::dsa:
      return {{"m", d, d, false, false}, {"v", 2 * d, d, false, true}};
    case Rule::radam:
      return {{"m", d, d, false, false}, {"v", 2 * d, 1, true, true}};
    case Rule::rowAdagrad:
      return {{"accumulator", d, 1, true, true}};
    case Rule::rsgd:
      break;
  }
  return {};
}

bool rawHolds(const std::vector<Segment>& state) { return state.size() == 2 && !state[1].perRow; }

std::string npyStateFile(const std::string& file, const std::string& segment) {
  const bool ending = file.ends_with(".npy");
  return (ending ? file.substr(0, file.size() - 4) : file) + "-" + segment + ".npy";
}

std::string rawFile(const std::string& name, const std::string& segment) { return name + "_" + segment + ".dat"; }

std::string metadataFile(const std::string& file) { return file + ".metadata.tsv"; }

}  // namespace dsa
