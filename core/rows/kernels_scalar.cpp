// SPDX-License-Identifier: Apache-2.0
// Row updates, scalar level. Nothing here may have external linkage but the one entry: other levels must not pick up
// this code.
#include "core/rows/kernels.h"
#include "core/rows/lanes_array.h"
#include "core/rows/row_math.h"

namespace dsa::detail {

void updateScalar(const StepParams& p, float* const* rows, const float* grads, std::uint64_t gradStride,
                  std::uint64_t n) noexcept {
  updateRows<ArrayLanes<float, 4>>(p, rows, grads, gradStride, n);
}

}  // namespace dsa::detail
