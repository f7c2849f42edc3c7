// SPDX-License-Identifier: Apache-2.0
// Which files of a folder or archive make up a dataset.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/data/byte_source.h"
#include "core/data/edge_collector.h"

namespace dsa {

/// One file to read, and as which split.
struct SetFile {
  Split split = Split::train;
  std::size_t member = 0;
};

/// The files to read, train first. `member` picks one by name.
/// Errors input: two files for one split; several files and none of them a train file (all are listed).
Result<std::vector<SetFile>> chooseFiles(const Container& container, const std::string& member);

}  // namespace dsa
