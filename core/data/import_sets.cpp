// SPDX-License-Identifier: Apache-2.0
#include "core/data/import_sets.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace dsa {

namespace {

std::optional<Split> splitOf(const std::string& memberName) {
  std::string stem = fileStem(memberName);
  std::transform(stem.begin(), stem.end(), stem.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (stem == "train" || stem == "training") return Split::train;
  if (stem == "valid" || stem == "validation" || stem == "dev" || stem == "val") return Split::valid;
  if (stem == "test" || stem == "testing") return Split::test;
  return std::nullopt;
}

std::string listNames(const Container& container) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(container.members().size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + container.members()[i].name;
  }
  if (container.members().size() > kShown) text += fmt::format(", ... ({} in all)", container.members().size());
  return text;
}

}  // namespace

Result<std::vector<SetFile>> chooseFiles(const Container& container, const std::string& member) {
  const auto& members = container.members();
  if (!member.empty()) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].name == member) return std::vector<SetFile>{{Split::train, i}};
    }
    return fail(ErrorCode::input, "{}: no file `{}` in it; it has {}", container.path(), member, listNames(container));
  }
  if (container.kind() == Container::Kind::file) return std::vector<SetFile>{{Split::train, 0}};
  std::array<std::optional<std::size_t>, 3> found;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto split = splitOf(members[i].name);
    if (!split) continue;
    auto& place = found[static_cast<std::size_t>(*split)];
    if (place) {
      return fail(ErrorCode::input,
                  "{}: `{}` and `{}` are both for one split; keep one of them, or name the file to read",
                  container.path(), members[*place].name, members[i].name);
    }
    place = i;
  }
  if (found[0]) {
    std::vector<SetFile> files;
    for (const Split split : {Split::train, Split::valid, Split::test}) {
      if (const auto place = found[static_cast<std::size_t>(split)]) files.push_back({split, *place});
    }
    return files;
  }
  if (members.size() == 1) return std::vector<SetFile>{{Split::train, 0}};
  return fail(ErrorCode::input, "{}: {} files and no train file among them; name the one to read: {}", container.path(),
              members.size(), listNames(container));
}

}  // namespace dsa
