// SPDX-License-Identifier: Apache-2.0
#include "core/rows/touch_rows.h"

namespace dsa {

void touchRows(float* const* records, std::uint64_t recordFloats, const float* grads, std::uint64_t dim,
               std::uint64_t n) noexcept {
  constexpr std::uint64_t kAhead = 6, kLineFloats = 16;
  std::uint32_t sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    if (i + kAhead < n) {
      for (std::uint64_t at = 0; at < recordFloats; at += kLineFloats)
        __builtin_prefetch(records[i + kAhead] + at, 1, 3);
    }
    const auto* const gradient = reinterpret_cast<const std::uint32_t*>(grads + i * dim);
    for (std::uint64_t w = 0; w < dim; ++w) sum += gradient[w];
    auto* const record = reinterpret_cast<std::uint32_t*>(records[i]);
    // The empty asm makes the compiler believe that the value may have changed: every word is stored.
    std::uint32_t zero = 0;
    asm volatile("" : "+r"(zero));
    for (std::uint64_t w = 0; w < recordFloats; ++w) record[w] ^= zero;
  }
  asm volatile("" : : "r"(sum));
}

}  // namespace dsa
