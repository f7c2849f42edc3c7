// SPDX-License-Identifier: Apache-2.0
// Model kernels, avx512 level. Nothing here may have external linkage but the one entry: other levels must not pick up
// this code.
#include "core/rows/lanes_avx512.h"

#include "core/model/kernel_table.h"

namespace dsa::detail {

ModelKernels modelAvx512(ModelKind model) { return modelTable<Avx512Lanes>(model); }

}  // namespace dsa::detail
