// SPDX-License-Identifier: Apache-2.0
// One level's kernels of every model, made from a lane policy.
#pragma once

#include "core/model/distance_model.h"
#include "core/model/model.h"
#include "core/model/product_model.h"
#include "core/model/translation_model.h"

namespace dsa {

template <class Model>
static ModelKernels kernelsOf() {
  ModelKernels kernels;
  kernels.sample = [](const SampleRows& rows, const SampleGradients& out, double scale, double* scratch) noexcept {
    return Model::sample(rows, out, scale, scratch);
  };
  kernels.score = [](const SampleRows& rows, double* scores) noexcept { Model::score(rows, scores); };
  return kernels;
}

template <class L>
static ModelKernels modelTable(ModelKind model) {
  switch (model) {
    case ModelKind::poincare:
    case ModelKind::euclidean:
      return kernelsOf<DistanceModel<L>>();
    case ModelKind::transe:
      return kernelsOf<TranslationModel<L>>();
    case ModelKind::distmult:
      return kernelsOf<ProductModel<L>>();
  }
  return {};
}

namespace detail {
ModelKernels modelScalar(ModelKind model);
ModelKernels modelAvx2(ModelKind model);
ModelKernels modelAvx512(ModelKind model);
ModelKernels modelWarp(ModelKind model);
ModelKernels modelLanes16(ModelKind model);
}  // namespace detail

}  // namespace dsa
