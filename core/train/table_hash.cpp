// SPDX-License-Identifier: Apache-2.0
#include "core/train/table_hash.h"

namespace dsa {

Result<std::string> tableSha256(const Tables& tables, const std::string& canonicalSpec) {
  Sha256 hash;
  hash.add(canonicalSpec.data(), canonicalSpec.size());
  const std::vector<TableShape>& shapes = tables.shape().tables;
  for (std::uint32_t t = 0; t < shapes.size(); ++t) {
    const std::uint64_t bytes = shapes[t].recordFloats() * sizeof(float);
    DSA_TRY(tables.scanTouched(t, [&](std::uint64_t row, const float* record) {
      hash.add(&row, sizeof row);
      hash.add(record, bytes);
    }));
  }
  return hash.hex();
}

}  // namespace dsa
