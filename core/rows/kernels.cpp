// SPDX-License-Identifier: Apache-2.0
#include "core/rows/kernels.h"

#include <cstdlib>
#include <cstring>

namespace dsa {

namespace {

struct LevelEntry {
  KernelLevel level;
  std::string_view name;
  UpdateRows update;
};

constexpr LevelEntry kLevels[] = {
    {KernelLevel::scalar, "scalar", detail::updateScalar},
#if defined(__x86_64__)
    {KernelLevel::avx2, "avx2", detail::updateAvx2},       {KernelLevel::avx512, "avx512", detail::updateAvx512},
#endif
    {KernelLevel::warp, "warp", detail::updateWarp},       {KernelLevel::lanes16, "lanes16", detail::updateLanes16},
};

bool machineHas(KernelLevel level) {
#if defined(__x86_64__)
  if (level == KernelLevel::avx2) return __builtin_cpu_supports("avx2");
  if (level == KernelLevel::avx512) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }
#endif
  return true;
}

}  // namespace

std::string_view levelName(KernelLevel level) {
  for (const LevelEntry& entry : kLevels) {
    if (entry.level == level) return entry.name;
  }
  return "?";
}

std::vector<KernelLevel> availableLevels() {
  std::vector<KernelLevel> levels;
  for (const LevelEntry& entry : kLevels) {
    if (machineHas(entry.level)) levels.push_back(entry.level);
  }
  return levels;
}

Result<KernelLevel> chooseLevel() {
  const char* wanted = std::getenv("DSA_KERNELS");
  if (wanted == nullptr || *wanted == '\0') {
    KernelLevel best = KernelLevel::scalar;
    for (const KernelLevel level : availableLevels()) {
      if (level == KernelLevel::avx2 || level == KernelLevel::avx512) best = level;
    }
    return best;
  }
  std::string names;
  for (const LevelEntry& entry : kLevels) {
    if (entry.name == wanted) {
      if (machineHas(entry.level)) return entry.level;
      return fail(ErrorCode::machine,
                  "DSA_KERNELS={}: this machine's processor does not have it; unset it to take the best one", wanted);
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  return fail(ErrorCode::usage, "DSA_KERNELS={}: unknown; it can be {}", wanted, names);
}

RowKernels rowKernels(KernelLevel level) {
  for (const LevelEntry& entry : kLevels) {
    if (entry.level == level) return RowKernels{level, entry.update};
  }
  DSA_CHECK(false && "level of this build");
  return {};
}

void stepRows(const RowKernels& kernels, const StepParams& p, float* const* rows, const float* grads,
              const float* stepped, std::uint64_t begin, std::uint64_t n) noexcept {
  if (stepped == nullptr) return kernels.update(p, rows, grads + begin * p.dim, p.dim, n);
  const std::uint64_t width = rowFloats(p.rule, p.dim);
  for (std::uint64_t i = 0; i < n; ++i) std::memcpy(rows[i], stepped + (begin + i) * width, width * sizeof(float));
}

std::int64_t firstNotFinite(const float* values, std::uint64_t n, std::uint64_t stride, std::uint32_t dim) {
  for (std::uint64_t row = 0; row < n; ++row) {
    const float* const p = values + row * stride;
    std::uint32_t bad = 0;
    for (std::uint32_t i = 0; i < dim; ++i) {
      std::uint32_t bits;
      std::memcpy(&bits, p + i, sizeof bits);
      bad |= static_cast<std::uint32_t>((bits & 0x7f800000u) == 0x7f800000u);
    }
    if (bad != 0) return static_cast<std::int64_t>(row);
  }
  return -1;
}

}  // namespace dsa
