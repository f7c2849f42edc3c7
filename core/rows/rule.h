// SPDX-License-Identifier: Apache-2.0
// The named update rules, what one row of each keeps, and the numbers one step of one rule needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dsa {

/// Named update rules (design.md section 4; formulas in ARCHITECTURE.md). Values are stored in files: never renumber.
enum class Rule : std::uint32_t {
  sparseAdam = 1,  ///< torch.optim.SparseAdam; k = 0 only
  dsa = 2,         ///< the original disk-sparse-adam rule
  radam = 3,       ///< Riemannian Adam on the Poincare ball
  rsgd = 4,        ///< Nickel and Kiela 2017
  rowAdagrad = 5,  ///< PyTorch-BigGraph, DGL-KE: one accumulator a row; k = 0 only
};

/// How radam and rsgd move on the ball. Values are stored in files.
enum class BallMap : std::uint32_t { retraction = 1, exponential = 2 };

[[nodiscard]] std::string_view ruleName(Rule rule);
[[nodiscard]] std::optional<Rule> ruleFromName(std::string_view name);
/// "sparse_adam, dsa, radam, rsgd, row_adagrad", for messages.
[[nodiscard]] std::string allRuleNames();
/// Whether the rule is defined for this curvature magnitude; sparse_adam and row_adagrad are Euclidean only.
[[nodiscard]] bool ruleAllows(Rule rule, double k);

/// float32 values that a row of `dim` coordinates keeps: 3d, 3d, 2d+1, d, d+1.
[[nodiscard]] constexpr std::uint64_t rowFloats(Rule rule, std::uint64_t dim) {
  switch (rule) {
    case Rule::sparseAdam:
    case Rule::dsa:
      return 3 * dim;
    case Rule::radam:
      return 2 * dim + 1;
    case Rule::rsgd:
      return dim;
    case Rule::rowAdagrad:
      return dim + 1;
  }
  return 0;
}

/// Everything that one step of one rule needs; plain data, stored verbatim in the store's intent (FORMAT.md).
/// Thread: a value. bias1 and bias2 are 1 - beta^t, computed once a step by makeStep.
struct StepParams {
  Rule rule = Rule::sparseAdam;
  BallMap map = BallMap::retraction;
  std::uint32_t dim = 0;
  std::uint32_t reserved = 0;
  std::uint64_t t = 0;  ///< counts from 1
  double lr = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weightDecay = 0;  ///< dsa only
  double k = 0;            ///< curvature magnitude, 0 = Euclidean
  double ballMargin = 1e-5;
  double gradientCap = 5;  ///< rsgd only: longest Riemannian gradient of a row, 0 = none
  double bias1 = 1;
  double bias2 = 1;
};

/// Fills t, lr and the bias corrections; the rest is copied from `base`. beta^t by exact squaring, the same on every
/// machine.
[[nodiscard]] StepParams makeStep(const StepParams& base, std::uint64_t t, double lr);

}  // namespace dsa
