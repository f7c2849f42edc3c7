// SPDX-License-Identifier: Apache-2.0
#include "core/rows/rule.h"

#include "core/rows/lanes_array.h"

namespace dsa {

namespace {

struct RuleEntry {
  Rule rule;
  std::string_view name;
  bool curved;
};

constexpr RuleEntry kRules[] = {
    {Rule::sparseAdam, "sparse_adam", false},
    {Rule::dsa, "dsa", true},
    {Rule::radam, "radam", true},
    {Rule::rsgd, "rsgd", true},
    {Rule::rowAdagrad, "row_adagrad", false},
};

/// 1 - beta^t by squaring in double-double: the same on every machine, and the nearest double to the exact value but
/// for ties.
double oneMinusPower(double beta, std::uint64_t t) {
  double high = 1;
  double low = 0;
  double squareHigh = beta;
  double squareLow = 0;
  const auto multiply = [](double& h, double& l, double bh, double bl) {
    const TwoProduct product(h, bh);
    const double e = product.e + (h * bl + l * bh);
    const TwoSum sum(product.p, e);
    h = sum.s;
    l = sum.e;
  };
  for (std::uint64_t left = t; left != 0; left >>= 1) {
    if ((left & 1) != 0) multiply(high, low, squareHigh, squareLow);
    multiply(squareHigh, squareLow, squareHigh, squareLow);
  }
  // As PyTorch has it: the power rounded to double first, then the difference.
  return 1.0 - (high + low);
}

}  // namespace

std::string_view ruleName(Rule rule) {
  for (const RuleEntry& entry : kRules) {
    if (entry.rule == rule) return entry.name;
  }
  return "unknown";
}

std::optional<Rule> ruleFromName(std::string_view name) {
  for (const RuleEntry& entry : kRules) {
    if (entry.name == name) return entry.rule;
  }
  return std::nullopt;
}

std::string allRuleNames() {
  std::string names;
  for (const RuleEntry& entry : kRules) {
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  return names;
}

bool ruleAllows(Rule rule, double k) {
  for (const RuleEntry& entry : kRules) {
    if (entry.rule == rule) return entry.curved || !(k > 0);
  }
  return false;
}

StepParams makeStep(const StepParams& base, std::uint64_t t, double lr) {
  StepParams step = base;
  step.t = t;
  step.lr = lr;
  step.bias1 = oneMinusPower(base.beta1, t);
  step.bias2 = oneMinusPower(base.beta2, t);
  return step;
}

}  // namespace dsa
