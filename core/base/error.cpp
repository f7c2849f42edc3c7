// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

#include <cstdio>
#include <cstdlib>

namespace dsa {

void bugAt(const char* file, int line, const char* claim) {
  std::fprintf(stderr, "dsa: bug at %s:%d: not true: %s\n", file, line, claim);
  std::abort();
}

}  // namespace dsa
