// SPDX-License-Identifier: Apache-2.0
#include "core/model/model.h"

namespace dsa {

namespace detail {
ModelKernels modelScalar(ModelKind model);
ModelKernels modelAvx2(ModelKind model);
ModelKernels modelAvx512(ModelKind model);
ModelKernels modelWarp(ModelKind model);
ModelKernels modelLanes16(ModelKind model);
}  // namespace detail

namespace {

struct ModelEntry {
  ModelKind model;
  std::string_view name;
};

constexpr ModelEntry kModels[] = {{ModelKind::poincare, "poincare"},
                                  {ModelKind::euclidean, "euclidean"},
                                  {ModelKind::transe, "transe"},
                                  {ModelKind::distmult, "distmult"}};

}  // namespace

std::string_view modelName(ModelKind model) {
  for (const ModelEntry& entry : kModels) {
    if (entry.model == model) return entry.name;
  }
  return "unknown";
}

std::optional<ModelKind> modelFromName(std::string_view name) {
  for (const ModelEntry& entry : kModels) {
    if (entry.name == name) return entry.model;
  }
  return std::nullopt;
}

ModelKernels modelKernels(ModelKind model, KernelLevel level) {
  switch (level) {
#if defined(__x86_64__)
    case KernelLevel::avx2:
      return detail::modelAvx2(model);
    case KernelLevel::avx512:
      return detail::modelAvx512(model);
#else
    case KernelLevel::avx2:
    case KernelLevel::avx512:
#endif
    case KernelLevel::scalar:
      return detail::modelScalar(model);
    case KernelLevel::warp:
      return detail::modelWarp(model);
    case KernelLevel::lanes16:
      return detail::modelLanes16(model);
  }
  DSA_CHECK(false && "a kernel level");
  return {};
}

}  // namespace dsa
