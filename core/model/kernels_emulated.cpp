// SPDX-License-Identifier: Apache-2.0
// Model kernels with a CUDA warp's and AVX-512's orders of additions emulated by arrays.
#include "core/model/kernel_table.h"
#include "core/rows/lanes_array.h"

namespace dsa::detail {

ModelKernels modelWarp(ModelKind model) { return modelTable<ArrayLanes<float, 32>>(model); }
ModelKernels modelLanes16(ModelKind model) { return modelTable<ArrayLanes<float, 16>>(model); }

}  // namespace dsa::detail
