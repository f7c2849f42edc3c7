// SPDX-License-Identifier: Apache-2.0
// What a model computes: scores, the softmax loss of a sample against its negatives, and the gradients of its rows.
#pragma once

#include <cstdint>

#include "core/model/model_kind.h"
#include "core/rows/kernels.h"

namespace dsa {

/// One training sample. All rows are [dim] float32 and stay unchanged.
/// Candidate 0 is the true one, 1 .. candidates-1 are negatives. fixed and relation are the query: of (h, r, t) the
/// fixed side is h when tails are corrupted, t when heads are.
struct SampleRows {
  const float* fixed = nullptr;
  const float* relation = nullptr;           ///< null for pair models
  const float* const* candidates = nullptr;  ///< [count]
  std::uint32_t count = 0;                   ///< 1 + negatives
  std::uint32_t dim = 0;
  double k = 0;
  bool candidatesAreHeads = false;
  [[nodiscard]] const float* candidate(std::uint32_t c) const { return candidates[c]; }
};

/// Where the gradients go, each [dim], overwritten. The pointers are distinct rows of memory.
struct SampleGradients {
  float* fixed = nullptr;
  float* relation = nullptr;
  float* const* candidates = nullptr;  ///< [count]
  [[nodiscard]] float* candidate(std::uint32_t c) const { return candidates[c]; }
};

/// The kernels of one model at one level. loss = -log softmax(score)[0]; score = -distance, or the product for
/// distmult.
struct ModelKernels {
  /// Returns the loss; gradients are scaled by `scale`. scratch: [4 x count] doubles.
  double (*sample)(const SampleRows& rows, const SampleGradients& out, double scale,
                   double* scratch) noexcept = nullptr;
  /// scores[i] for candidates i = 0 .. count-1, higher is better.
  void (*score)(const SampleRows& rows, double* scores) noexcept = nullptr;
};

/// The same bits at every level. Thread-safe.
[[nodiscard]] ModelKernels modelKernels(ModelKind model, KernelLevel level);

}  // namespace dsa
