// SPDX-License-Identifier: Apache-2.0
// Row updates, avx2 level. Nothing here may have external linkage but the one entry: other levels must not pick up this
// code.
#include "core/rows/kernels.h"
#include "core/rows/lanes_avx2.h"
#include "core/rows/row_math.h"

namespace dsa::detail {

void updateAvx2(const StepParams& p, float* const* rows, const float* grads, std::uint64_t gradStride,
                std::uint64_t n) noexcept {
  updateRows<Avx2Lanes>(p, rows, grads, gradStride, n);
}

}  // namespace dsa::detail
