// SPDX-License-Identifier: Apache-2.0
// Rules, rows and gradients that the tests of the warp share: the whole ball, odd sizes, every rule.
#pragma once

#include <QtTest>
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "core/rows/kernels.h"

namespace dsa::test {

inline float random(std::uint64_t i, std::uint32_t slot, float scale) {
  return symmetricFrom(philox(23, Stream::tests, i, slot).word[0], scale);
}

/// Unlike ==, tells -0 from 0 and knows a NaN again.
inline bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

/// Columns rule, map and k: all that ruleAllows.
inline void addRules() {
  QTest::addColumn<int>("rule");
  QTest::addColumn<int>("map");
  QTest::addColumn<double>("k");
  for (const Rule rule : {Rule::sparseAdam, Rule::dsa, Rule::radam, Rule::rsgd, Rule::rowAdagrad}) {
    for (const int map : {1, 2}) {
      for (const double k : {0.0, 1.0, 0.3}) {
        if (!ruleAllows(rule, k)) continue;
        QTest::addRow("%s map %d k %g", std::string(ruleName(rule)).c_str(), map, k)
            << static_cast<int>(rule) << map << k;
      }
    }
  }
}

/// A table of `rows` rows, and the gradients of its even rows, one each.
struct RowCase {
  StepParams params;
  std::uint64_t rows = 0;
  std::uint64_t width = 0;
  std::vector<float> table;
  std::vector<std::uint64_t> ids;
  std::vector<float> grads;

  RowCase(Rule rule, BallMap map, double k, std::uint32_t dim, std::uint64_t count) : rows(count) {
    params.rule = rule;
    params.map = map;
    params.k = k;
    params.dim = dim;
    params.weightDecay = rule == Rule::dsa ? 0.01 : 0;
    width = rowFloats(rule, dim);
    table.assign(rows * width, 0);
    for (std::uint64_t r = 0; r < rows; ++r) {
      const auto part = static_cast<double>(r + 1) / static_cast<double>(rows);  // from the middle to the boundary
      const auto scale = static_cast<float>(0.999 * part / std::sqrt(static_cast<double>(dim)));
      for (std::uint32_t i = 0; i < dim; ++i) table[r * width + i] = random(r, i, scale);
    }
    for (std::uint64_t r = 0; r < rows; r += 2) {
      ids.push_back(r);
      for (std::uint32_t i = 0; i < dim; ++i) grads.push_back(random(1000 + r, i, 2.0f));
    }
  }
  /// Step t counts from 1.
  [[nodiscard]] StepParams step(std::uint64_t t) const { return makeStep(params, t, 0.02); }
  /// The table after `steps` steps at the emulated level, whose bits tst_levels compares with every other level's.
  [[nodiscard]] std::vector<float> expected(std::uint64_t steps) const {
    std::vector<float> result = table;
    std::vector<float*> pointers;
    for (const std::uint64_t id : ids) pointers.push_back(result.data() + id * width);
    for (std::uint64_t t = 1; t <= steps; ++t) {
      rowKernels(KernelLevel::warp).update(step(t), pointers.data(), grads.data(), params.dim, pointers.size());
    }
    return result;
  }
};

}  // namespace dsa::test
