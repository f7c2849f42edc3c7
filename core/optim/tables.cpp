// SPDX-License-Identifier: Apache-2.0
#include "core/optim/tables.h"

namespace dsa {

std::uint64_t Tables::tableBytes() const {
  std::uint64_t bytes = 0;
  for (const TableShape& table : shape().tables) bytes += table.rows * table.recordFloats() * sizeof(float);
  return bytes;
}

BadGradient findBadGradient(Tables& tables, std::span<const std::uint64_t> counts) {
  for (std::uint32_t t = 0; t < counts.size(); ++t) {
    const std::uint32_t dim = tables.shape().tables[t].dim;
    const std::int64_t place = firstNotFinite(tables.grads(t), counts[t], dim, dim);
    if (place >= 0) return BadGradient{t, static_cast<std::uint64_t>(place), true};
  }
  return {};
}

}  // namespace dsa
