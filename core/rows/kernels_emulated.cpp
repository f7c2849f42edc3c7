// SPDX-License-Identifier: Apache-2.0
// Row updates with a CUDA warp's and AVX-512's orders of additions emulated by arrays, and the double reference.
#include "core/rows/kernels.h"
#include "core/rows/lanes_array.h"
#include "core/rows/row_math.h"

namespace dsa {

namespace detail {

void updateWarp(const StepParams& p, float* const* rows, const float* grads, std::uint64_t gradStride,
                std::uint64_t n) noexcept {
  updateRows<ArrayLanes<float, 32>>(p, rows, grads, gradStride, n);
}

void updateLanes16(const StepParams& p, float* const* rows, const float* grads, std::uint64_t gradStride,
                   std::uint64_t n) noexcept {
  updateRows<ArrayLanes<float, 16>>(p, rows, grads, gradStride, n);
}

}  // namespace detail

void updateRowsReference(const StepParams& p, double* const* rows, const double* grads, std::uint64_t gradStride,
                         std::uint64_t n) noexcept {
  updateRows<ArrayLanes<double, 1>>(p, rows, grads, gradStride, n);
}

}  // namespace dsa
