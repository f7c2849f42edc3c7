// SPDX-License-Identifier: Apache-2.0
// Row updates, avx512 level. Nothing here may have external linkage but the one entry: other levels must not pick up
// this code.
#include "core/rows/kernels.h"
#include "core/rows/lanes_avx512.h"
#include "core/rows/row_math.h"

namespace dsa::detail {

void updateAvx512(const StepParams& p, float* const* rows, const float* grads, std::uint64_t gradStride,
                  std::uint64_t n) noexcept {
  updateRows<Avx512Lanes>(p, rows, grads, gradStride, n);
}

}  // namespace dsa::detail
