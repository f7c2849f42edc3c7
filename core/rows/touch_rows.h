// SPDX-License-Identifier: Apache-2.0
// The yardstick of the row updates: what the memory takes for the same bytes without arithmetic.
#pragma once

#include <cstdint>

namespace dsa {

/// Reads and writes back all of n records, which keep their bits, and reads n gradients [n x dim] (none where dim is
/// 0), each record asked for a few ahead. Here, not beside the benches: their library is compiled with little
/// optimisation. Thread: any, on distinct records.
void touchRows(float* const* records, std::uint64_t recordFloats, const float* grads, std::uint64_t dim,
               std::uint64_t n) noexcept;

}  // namespace dsa
