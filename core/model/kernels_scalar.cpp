// SPDX-License-Identifier: Apache-2.0
// Model kernels, scalar level. Nothing here may have external linkage but the one entry: other levels must not pick up
// this code.
#include "core/rows/lanes_array.h"

#include "core/model/kernel_table.h"

namespace dsa::detail {

ModelKernels modelScalar(ModelKind model) { return modelTable<ArrayLanes<float, 4>>(model); }

}  // namespace dsa::detail
