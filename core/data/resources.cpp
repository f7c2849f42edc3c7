// SPDX-License-Identifier: Apache-2.0
#include "core/data/resources.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/file.h"

namespace dsa {

namespace {

std::filesystem::path programFolder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : program.parent_path();
}

bool holdsDatasets(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::is_regular_file(folder / "datasets" / "SHA256SUMS", error);
}

/// The checksum that a line "HEX  NAME" of the list gives for `relative`.
std::optional<std::string> listedSum(const std::string& list, const std::string& relative) {
  constexpr std::size_t kHexDigits = 64;
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t end = list.find('\n', begin);
    if (end == std::string::npos) end = list.size();
    const std::string line = list.substr(begin, end - begin);
    if (line.size() > kHexDigits + 2 && line.substr(kHexDigits + 2) == relative) return line.substr(0, kHexDigits);
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> resourceFolder() {
  if (const char* chosen = std::getenv("DSA_RESOURCES"); chosen != nullptr && *chosen != '\0') {
    if (holdsDatasets(chosen)) return std::string(chosen);
    return fail(ErrorCode::input,
                "DSA_RESOURCES={}: no datasets/SHA256SUMS in it; unset it or point it at the resources folder", chosen);
  }
  const std::filesystem::path program = programFolder();
  const std::array<std::filesystem::path, 3> places = {
      (program / ".." / "share" / "dsa-lab").lexically_normal(),
      (program / ".." / ".." / ".." / "resources").lexically_normal(),
      "/usr/share/dsa-lab",
  };
  for (const auto& place : places) {
    if (holdsDatasets(place)) return place.string();
  }
  return fail(ErrorCode::input,
              "the bundled datasets are missing: looked in {}, {} and {}. Install the package whole, or set "
              "DSA_RESOURCES to the "
              "resources folder",
              places[0].string(), places[1].string(), places[2].string());
}

Result<std::string> verifiedDatasetFile(const std::string& relative) {
  DSA_ASSIGN(const std::string folder, resourceFolder());
  const std::string listPath = folder + "/datasets/SHA256SUMS";
  DSA_ASSIGN(const std::string list, readTextFile(listPath, 1u << 20));
  const auto expected = listedSum(list, relative);
  if (!expected)
    return fail(ErrorCode::input, "{} is not listed in {}; the installation is damaged", relative, listPath);
  std::string path = folder + "/datasets/" + relative;
  DSA_ASSIGN(const std::string bytes, readTextFile(path, 1u << 26));
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  if (const std::string found = hash.hex(); found != *expected) {
    return fail(ErrorCode::input, "{}: sha256 is {}, expected {}; the file is damaged, install the package again", path,
                found, *expected);
  }
  return path;
}

}  // namespace dsa
