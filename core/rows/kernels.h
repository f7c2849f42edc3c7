// SPDX-License-Identifier: Apache-2.0
// The row updates compiled for each instruction set, and the choice among them at run time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/rows/rule.h"

namespace dsa {

/// Instruction sets. warp and lanes16 are a CUDA warp's and AVX-512's orders of additions, emulated by arrays.
enum class KernelLevel { scalar, avx2, avx512, warp, lanes16 };

[[nodiscard]] std::string_view levelName(KernelLevel level);
/// Levels that this machine can run, scalar first, the emulated ones last.
[[nodiscard]] std::vector<KernelLevel> availableLevels();
/// DSA_KERNELS=scalar|avx2|avx512|warp|lanes16 where set, else the widest set that the machine has.
/// Error usage: unknown name; machine: known, but not on this machine.
[[nodiscard]] Result<KernelLevel> chooseLevel();

/// Updates n rows in place by one step of p.rule.
/// rows [n] pointers to distinct rows of rowFloats(p.rule, p.dim) float32; grads [n x gradStride] float32, finite, one
/// a row. noexcept, thread-safe on disjoint rows; the same bits at every level.
using UpdateRows = void (*)(const StepParams& p, float* const* rows, const float* grads, std::uint64_t gradStride,
                            std::uint64_t n) noexcept;

struct RowKernels {
  KernelLevel level = KernelLevel::scalar;
  UpdateRows update = nullptr;
};

/// One step of rows [begin, begin + n) of those that grads [.. x dim] belong to: by the kernels or, where `stepped`
/// [.. x rowFloats] is given, by putting the records there that somebody else has stepped. rows [n] as for UpdateRows.
void stepRows(const RowKernels& kernels, const StepParams& p, float* const* rows, const float* grads,
              const float* stepped, std::uint64_t begin, std::uint64_t n) noexcept;

/// The kernels of a level that availableLevels() names.
[[nodiscard]] RowKernels rowKernels(KernelLevel level);

/// The double reference: the same source with T = double.
void updateRowsReference(const StepParams& p, double* const* rows, const double* grads, std::uint64_t gradStride,
                         std::uint64_t n) noexcept;

/// Index of the first value among n x stride that is NaN or infinite, or -1. dim of each stride are looked at.
[[nodiscard]] std::int64_t firstNotFinite(const float* values, std::uint64_t n, std::uint64_t stride,
                                          std::uint32_t dim);

namespace detail {
void updateScalar(const StepParams&, float* const*, const float*, std::uint64_t, std::uint64_t) noexcept;
void updateAvx2(const StepParams&, float* const*, const float*, std::uint64_t, std::uint64_t) noexcept;
void updateAvx512(const StepParams&, float* const*, const float*, std::uint64_t, std::uint64_t) noexcept;
void updateWarp(const StepParams&, float* const*, const float*, std::uint64_t, std::uint64_t) noexcept;
void updateLanes16(const StepParams&, float* const*, const float*, std::uint64_t, std::uint64_t) noexcept;
}  // namespace detail

}  // namespace dsa
