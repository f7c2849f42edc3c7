// SPDX-License-Identifier: Apache-2.0
// Tests of core/model: losses and gradients against central differences of plain code in long double, and the same bits
// at every kernel level.
#include <QTest>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/model/model.h"

using namespace dsa;

namespace {

using Real = long double;
using Point = std::vector<float>;

constexpr double kEpsilon = 1.0 / 16777216.0;  // half an ulp of a float32 at 1
constexpr std::uint32_t kGuard = 19;           // values behind each row that nobody may read into a result or write

/// Where the points of a case lie; near and boundary are about the ball and its flat twin alike.
enum class Place { random, nearZero, nearBoundary, nearlyEqual, equal };

struct Setup {
  ModelKind model = ModelKind::poincare;
  double k = 0;
  std::uint32_t dim = 1;
  std::uint32_t negatives = 0;
  bool heads = false;
  Place place = Place::random;
};

/// One sample's rows, each in memory of its own with NaN behind it.
struct Sample {
  Setup setup;
  Point fixed, relation;
  std::vector<Point> candidates;

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(candidates.size()); }
};

/// What a kernel gave for a sample.
struct Outcome {
  double loss = 0;
  Point fixed, relation;
  std::vector<Point> candidates;
  std::vector<double> scores;
};

float noise(std::uint64_t seed, std::uint32_t slot) {
  return symmetricFrom(philox(seed, Stream::tests, slot / 4, 77).word[slot % 4], 1.0f);
}

Point guarded(std::uint32_t dim) {
  Point row(dim + kGuard, std::numeric_limits<float>::quiet_NaN());
  std::fill(row.begin(), row.begin() + dim, 0.0f);
  return row;
}

/// A random direction of Euclidean length `length`.
Point pointOfLength(std::uint64_t seed, std::uint32_t dim, double length) {
  Point row = guarded(dim);
  double square = 0;
  for (std::uint32_t i = 0; i < dim; ++i) square += static_cast<double>(noise(seed, i)) * noise(seed, i);
  for (std::uint32_t i = 0; i < dim; ++i) row[i] = static_cast<float>(noise(seed, i) * length / std::sqrt(square));
  return row;
}

double lengthAt(Place place, double k, std::uint64_t seed) {
  const double radius = k > 0 ? 1 / std::sqrt(k) : 1.0;
  const double u = 0.5 + 0.5 * static_cast<double>(noise(seed, 4001));
  switch (place) {
    case Place::nearZero:
      return radius * 1e-6 * (0.1 + u);
    case Place::nearBoundary:
      return radius * (1 - 1e-5 * (1 + 100 * u));
    default:
      return radius * (0.05 + 0.85 * u);
  }
}

Sample makeSample(const Setup& setup, std::uint64_t seed) {
  Sample s;
  s.setup = setup;
  const std::uint64_t base = seed * 1000;
  s.fixed = pointOfLength(base, setup.dim, lengthAt(setup.place, setup.k, base));
  s.relation =
      hasRelations(setup.model) ? pointOfLength(base + 1, setup.dim, lengthAt(setup.place, 0, base + 1)) : Point{};
  for (std::uint32_t c = 0; c <= setup.negatives; ++c) {
    Point row = pointOfLength(base + 2 + c, setup.dim, lengthAt(setup.place, setup.k, base + 2 + c));
    // Equal points: the true candidate and each third one coincide with the fixed side, moved by the relation where
    // there is one.
    const bool close = (setup.place == Place::equal || setup.place == Place::nearlyEqual) && c % 3 == 0;
    for (std::uint32_t i = 0; close && i < setup.dim; ++i) {
      row[i] = s.fixed[i];
      // Sixteenths: h + r and t - r are exact in float32, so that the points coincide exactly.
      if (hasRelations(setup.model)) {
        s.relation[i] = std::round(s.relation[i] * 16) / 16;
        s.fixed[i] = std::round(s.fixed[i] * 16) / 16;
        row[i] = setup.heads ? s.fixed[i] - s.relation[i] : s.fixed[i] + s.relation[i];
      }
      if (setup.place == Place::nearlyEqual) row[i] += 1e-4f * noise(base + 500 + c, i);
    }
    s.candidates.push_back(row);
  }
  return s;
}

Outcome evaluate(const Sample& s, KernelLevel level, double scale) {
  const ModelKernels kernels = modelKernels(s.setup.model, level);
  Outcome out;
  out.fixed.assign(s.fixed.size(), 99.0f);
  out.relation.assign(s.relation.size(), 99.0f);
  out.candidates.assign(s.count(), Point(s.fixed.size(), 99.0f));
  out.scores.assign(s.count() + 1, -77.0);
  std::vector<const float*> in;
  std::vector<float*> gradients;
  for (std::uint32_t c = 0; c < s.count(); ++c) {
    in.push_back(s.candidates[c].data());
    gradients.push_back(out.candidates[c].data());
  }
  SampleRows rows;
  rows.fixed = s.fixed.data();
  rows.relation = s.relation.empty() ? nullptr : s.relation.data();
  rows.candidates = in.data();
  rows.count = s.count();
  rows.dim = s.setup.dim;
  rows.k = s.setup.k;
  rows.candidatesAreHeads = s.setup.heads;
  SampleGradients to;
  to.fixed = out.fixed.data();
  to.relation = s.relation.empty() ? nullptr : out.relation.data();
  to.candidates = gradients.data();
  std::vector<double> scratch(4 * s.count() + 8, 55.0);
  out.loss = kernels.sample(rows, to, scale, scratch.data());
  kernels.score(rows, out.scores.data());
  for (std::size_t i = 4 * s.count(); i < scratch.size(); ++i) {
    if (scratch[i] != 55.0)
      out.loss = std::numeric_limits<double>::quiet_NaN();  // wrote behind the scratch: fail whatever is compared
  }
  return out;
}

// The reference: textbook formulas on whole vectors, nothing shared with the kernels.

using Vector = std::vector<Real>;

struct Exact {
  Vector fixed, relation;
  std::vector<Vector> candidates;
};

Exact exactOf(const Sample& s) {
  const auto widen = [&](const Point& p) { return p.empty() ? Vector{} : Vector(p.begin(), p.begin() + s.setup.dim); };
  Exact e{widen(s.fixed), widen(s.relation), {}};
  for (const Point& candidate : s.candidates) e.candidates.push_back(widen(candidate));
  return e;
}

Real squareOf(const Vector& x) {
  Real sum = 0;
  for (const Real v : x) sum += v * v;
  return sum;
}

Vector plus(const Vector& x, const Vector& y, Real factor) {
  Vector out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] + factor * y[i];
  return out;
}

Real exactScore(const Setup& setup, const Exact& e, std::size_t c) {
  const Vector& other = e.candidates[c];
  if (setup.model == ModelKind::distmult) {
    Real sum = 0;
    for (std::size_t i = 0; i < other.size(); ++i) sum += e.fixed[i] * e.relation[i] * other[i];
    return sum;
  }
  if (setup.model == ModelKind::transe) {
    const Vector& head = setup.heads ? other : e.fixed;
    const Vector& tail = setup.heads ? e.fixed : other;
    return -std::sqrt(squareOf(plus(plus(head, e.relation, 1), tail, -1)));
  }
  const Real apart = std::sqrt(squareOf(plus(e.fixed, other, -1)));
  if (!(setup.k > 0)) return -apart;
  const Real k = setup.k;
  const Real room = std::sqrt((1 - k * squareOf(e.fixed)) * (1 - k * squareOf(other)));
  return -2 / std::sqrt(k) * std::asinh(std::sqrt(k) * apart / room);
}

Real exactLoss(const Setup& setup, const Exact& e) {
  const Real first = exactScore(setup, e, 0);
  Real others = 0;
  for (std::size_t c = 1; c < e.candidates.size(); ++c) others += std::exp(exactScore(setup, e, c) - first);
  return std::log1p(others);
}

/// Central difference of f in one coordinate, of fourth order: near the boundary one of second order would need steps
/// so small that the loss's own rounding shows.
template <class F>
Real slope(Real& coordinate, Real step, F&& f) {
  const Real here = coordinate;
  const auto across = [&](Real h) {
    coordinate = here + h;
    const Real above = f();
    coordinate = here - h;
    const Real below = f();
    coordinate = here;
    return (above - below) / (2 * h);
  };
  return (4 * across(step) - across(2 * step)) / 3;
}

/// |dLoss/dScore| of each candidate.
std::vector<Real> pulls(const Setup& setup, const Exact& e) {
  std::vector<Real> p;
  Real sum = 0;
  const Real first = exactScore(setup, e, 0);
  for (std::size_t c = 0; c < e.candidates.size(); ++c) {
    p.push_back(std::exp(exactScore(setup, e, c) - first));
    sum += p.back();
  }
  // 1 - p_0 as the sum of the others: no cancellation where the true candidate is nearly certain.
  Real others = 0;
  for (std::size_t c = 0; c < p.size(); ++c) {
    p[c] /= sum;
    if (c > 0) others += p[c];
  }
  p[0] = others;
  return p;
}

Real largest(const Vector& x) {
  Real most = 0;
  for (const Real v : x) most = std::max(most, std::abs(v));
  return most;
}

/// Size of the float32 terms of which candidate c's part of a gradient is the sum, per unit of pull: what epsilon is
/// multiplied by.
Real termSize(const Setup& setup, const Exact& e, std::size_t c) {
  const Vector& other = e.candidates[c];
  const Real most = std::max({largest(e.fixed), largest(e.relation), largest(other)});
  if (setup.model == ModelKind::distmult) return most * most;
  if (setup.model == ModelKind::transe) {
    // h + r - t is taken in float32: its error is that of the largest term, over the distance that divides it.
    const Real distance = -exactScore(setup, e, c);
    return distance > 0 ? 1 + 3 * most / distance : 1;
  }
  if (!(setup.k > 0)) return 1;
  // dd/du = F (u-v)/(ab) + F k s u/(a^2 b): the first is 2/sqrt(ab + ks) long, the sum 2/a (a unit vector of the ball's
  // metric).
  const Real k = setup.k;
  const Real a = 1 - k * squareOf(e.fixed);
  const Real b = 1 - k * squareOf(other);
  return 4 / std::sqrt(a * b + k * squareOf(plus(e.fixed, other, -1))) + 2 / std::min(a, b);
}

/// What a score may be off by. Sums of squares in double, 9 roundings deep at most (32 partial sums, then a tree):
/// relative in a distance, also where it is 1e-6; on the ball it divides by 1 - k|x|^2, where 1e-15 of 1 is much more.
double scoreError(const Setup& setup, const Exact& e, std::size_t c) {
  const Real score = exactScore(setup, e, c);
  if (setup.model == ModelKind::distmult) {
    return static_cast<double>(1e-15L * largest(e.fixed) * largest(e.relation) * largest(e.candidates[c]) * setup.dim);
  }
  Real error = 4e-15L * std::abs(score);
  if (setup.model == ModelKind::transe)
    error += 1e-15L * (largest(e.fixed) + largest(e.relation) + largest(e.candidates[c]));
  if (setup.k > 0) {
    const Real k = setup.k;
    error += 1e-15L / std::sqrt(k) * std::tanh(std::sqrt(k) * std::abs(score)) *
             (1 / (1 - k * squareOf(e.fixed)) + 1 / (1 - k * squareOf(e.candidates[c])));
  }
  return static_cast<double>(error);
}

/// Length below which the loss is smooth: the distance to the nearest kink and to the boundary.
Real bend(const Setup& setup, const Exact& e) {
  if (setup.model == ModelKind::distmult) return 1e-2L;
  Real length = 1e-2L;
  for (std::size_t c = 0; c < e.candidates.size(); ++c) {
    Setup flat = setup;
    flat.k = 0;
    const Real distance = -exactScore(flat, e, c);
    if (distance > 0) length = std::min(length, distance);
    if (setup.k > 0) length = std::min(length, (1 - setup.k * squareOf(e.candidates[c])) / 2);
  }
  if (setup.k > 0) length = std::min(length, (1 - setup.k * squareOf(e.fixed)) / 2);
  return length;
}

std::string describe(const Setup& s) {
  return fmt::format("{} k {} dim {} negatives {} heads {} place {}", modelName(s.model), s.k, s.dim, s.negatives,
                     s.heads, static_cast<int>(s.place));
}

/// Empty when every gradient of the sample is its central difference, else the worst place.
std::string wrongGradient(const Sample& s, double scale) {
  const Outcome got = evaluate(s, KernelLevel::scalar, scale);
  Exact e = exactOf(s);
  const std::vector<Real> pull = pulls(s.setup, e);
  // The difference's own errors: about (step/bend)^4 = 1e-8 relative, and the loss's rounding over the step.
  const Real step = bend(s.setup, e) * 1e-2L;
  const Real rounding = 5e-19L * exactLoss(s.setup, e) / step;
  std::string wrong;
  const auto check = [&](const char* name, std::size_t c, std::uint32_t i, Real& coordinate, float value, Real size) {
    const Real want = slope(coordinate, step, [&] { return exactLoss(s.setup, e); }) * scale;
    // Each term carries at most 8 roundings (the inputs' difference, factors, products, the cast), the sum one a
    // candidate.
    const Real allowed = std::abs(scale) * (kEpsilon * (8 + s.count()) * size + rounding) + 1e-37L;
    if (wrong.empty() && !(std::abs(want - value) <= allowed)) {
      wrong = fmt::format("{}: {} {} coordinate {}: {} instead of {} +- {}", describe(s.setup), name, c, i, value,
                          static_cast<double>(want), static_cast<double>(allowed));
    }
  };
  Real sum = 0;
  for (std::size_t c = 0; c < s.count(); ++c) sum += pull[c] * termSize(s.setup, e, c);
  for (std::uint32_t i = 0; i < s.setup.dim; ++i) check("fixed", 0, i, e.fixed[i], got.fixed[i], sum);
  for (std::uint32_t i = 0; i < s.setup.dim && !s.relation.empty(); ++i)
    check("relation", 0, i, e.relation[i], got.relation[i], sum);
  for (std::size_t c = 0; c < s.count(); ++c) {
    for (std::uint32_t i = 0; i < s.setup.dim; ++i) {
      check("candidate", c, i, e.candidates[c][i], got.candidates[c][i], pull[c] * termSize(s.setup, e, c));
    }
  }
  return wrong;
}

bool sameBits(const Point& a, const Point& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

struct ModelCase {
  ModelKind model;
  double k;
};
constexpr ModelCase kCases[] = {{ModelKind::poincare, 1.0}, {ModelKind::poincare, 0.3},  {ModelKind::poincare, 2.5},
                                {ModelKind::poincare, 0.0}, {ModelKind::euclidean, 0.0}, {ModelKind::transe, 0.0},
                                {ModelKind::distmult, 0.0}};

void addCases() {
  QTest::addColumn<int>("model");
  QTest::addColumn<double>("k");
  QTest::addColumn<bool>("heads");
  for (const ModelCase& c : kCases) {
    for (const bool heads : {false, true}) {
      if (heads && !hasRelations(c.model)) continue;
      QTest::addRow("%s k %g%s", std::string(modelName(c.model)).c_str(), c.k, heads ? " heads" : "")
          << static_cast<int>(c.model) << c.k << heads;
    }
  }
}

}  // namespace

class TestModels : public QObject {
  Q_OBJECT

 private slots:
  void namesRoundTrip();
  void lossAndScoresAreTheTextbookOnes_data() { addCases(); }
  void lossAndScoresAreTheTextbookOnes();
  void gradientsAreCentralDifferences_data() { addCases(); }
  void gradientsAreCentralDifferences();
  void gradientsScaleAndLossDoesNot_data() { addCases(); }
  void gradientsScaleAndLossDoesNot();
  void equalPointsPullNowhere_data() { addCases(); }
  void equalPointsPullNowhere();
  void equalScoresLoseTheLogarithmOfTheCount_data() { addCases(); }
  void equalScoresLoseTheLogarithmOfTheCount();
  void withoutNegativesNothingIsLostOrPulled_data() { addCases(); }
  void withoutNegativesNothingIsLostOrPulled();
  void everyLevelGivesTheBitsOfTheScalarOne_data() { addCases(); }
  void everyLevelGivesTheBitsOfTheScalarOne();
  void extremeScoresStayFinite();
};

void TestModels::namesRoundTrip() {
  for (const ModelKind model : {ModelKind::poincare, ModelKind::euclidean, ModelKind::transe, ModelKind::distmult}) {
    QVERIFY(modelFromName(modelName(model)) == model);
  }
  QVERIFY(!modelFromName("rotate").has_value());
  QVERIFY(hasRelations(ModelKind::transe) && hasRelations(ModelKind::distmult));
  QVERIFY(!hasRelations(ModelKind::poincare) && !hasRelations(ModelKind::euclidean));
}

void TestModels::lossAndScoresAreTheTextbookOnes() {
  QFETCH(int, model);
  QFETCH(double, k);
  QFETCH(bool, heads);
  std::uint64_t seed = 1;
  for (const Place place : {Place::random, Place::nearZero, Place::nearBoundary, Place::nearlyEqual, Place::equal}) {
    for (const std::uint32_t dim : {1u, 2u, 5u, 17u, 33u, 128u}) {
      for (const std::uint32_t negatives : {0u, 1u, 8u, 50u}) {
        const Sample s = makeSample({static_cast<ModelKind>(model), k, dim, negatives, heads, place}, ++seed);
        const Exact e = exactOf(s);
        const Outcome got = evaluate(s, KernelLevel::scalar, 1.0);
        double allowed = 0;
        for (std::uint32_t c = 0; c < s.count(); ++c) {
          const double want = static_cast<double>(exactScore(s.setup, e, c));
          allowed = std::max(allowed, scoreError(s.setup, e, c));
          QVERIFY2(std::abs(got.scores[c] - want) <= scoreError(s.setup, e, c),
                   qPrintable(QString::fromStdString(
                       fmt::format("{}: score {} is {}, not {}", describe(s.setup), c, got.scores[c], want))));
        }
        QCOMPARE(got.scores[s.count()], -77.0);  // not written past the last
        const double want = static_cast<double>(exactLoss(s.setup, e));
        QVERIFY2(
            std::abs(got.loss - want) <= 2 * allowed + 2e-15 * (1 + want),
            qPrintable(QString::fromStdString(fmt::format("{}: loss {}, not {}", describe(s.setup), got.loss, want))));
      }
    }
  }
}

void TestModels::gradientsAreCentralDifferences() {
  QFETCH(int, model);
  QFETCH(double, k);
  QFETCH(bool, heads);
  std::uint64_t seed = 100;
  for (const Place place : {Place::random, Place::nearZero, Place::nearBoundary, Place::nearlyEqual}) {
    for (const std::uint32_t dim : {1u, 2u, 5u, 17u, 33u}) {
      for (const std::uint32_t negatives : {1u, 3u, 8u}) {
        for (int repeat = 0; repeat < 3; ++repeat) {
          const Sample s = makeSample({static_cast<ModelKind>(model), k, dim, negatives, heads, place}, ++seed);
          const std::string wrong = wrongGradient(s, 1.0);
          QVERIFY2(wrong.empty(), qPrintable(QString::fromStdString(fmt::format("seed {}: {}", seed, wrong))));
        }
      }
    }
  }
}

void TestModels::gradientsScaleAndLossDoesNot() {
  QFETCH(int, model);
  QFETCH(double, k);
  QFETCH(bool, heads);
  const Sample s = makeSample({static_cast<ModelKind>(model), k, 6, 5, heads, Place::random}, 7);
  QCOMPARE(evaluate(s, KernelLevel::scalar, 0.03125).loss, evaluate(s, KernelLevel::scalar, 1.0).loss);
  for (const double scale : {0.03125, 3.7}) {
    const std::string wrong = wrongGradient(s, scale);
    QVERIFY2(wrong.empty(), qPrintable(QString::fromStdString(wrong)));
  }
}

/// A distance has a kink at 0, where its central difference is 0 to first order: a pair of equal points gives no
/// gradient, the others theirs.
void TestModels::equalPointsPullNowhere() {
  QFETCH(int, model);
  QFETCH(double, k);
  QFETCH(bool, heads);
  if (model == static_cast<int>(ModelKind::distmult)) return;  // a product has no kink
  for (const std::uint32_t dim : {1u, 2u, 5u, 17u, 33u}) {
    const Sample s = makeSample({static_cast<ModelKind>(model), k, dim, 4, heads, Place::equal}, 31 + dim);
    const Outcome got = evaluate(s, KernelLevel::scalar, 1.0);
    QCOMPARE(got.scores[0], 0.0);
    QCOMPARE(got.scores[3], 0.0);
    for (const std::uint32_t c : {0u, 3u}) {
      for (std::uint32_t i = 0; i < dim; ++i) QCOMPARE(std::abs(got.candidates[c][i]), 0.0f);
    }
    // What is left on the fixed side comes from candidates 1, 2 and 4, each with its share of the softmax over all
    // five.
    Exact e = exactOf(s);
    const std::vector<Real> pull = pulls(s.setup, e);
    for (std::uint32_t i = 0; i < dim; ++i) {
      Real want = 0;
      Real size = 0;
      for (const std::size_t c : {1u, 2u, 4u}) {
        // Negatives push: dLoss/dScore is +pull.
        want += pull[c] * slope(e.fixed[i], bend(s.setup, e) * 1e-2L, [&] { return exactScore(s.setup, e, c); });
        size += pull[c] * termSize(s.setup, e, c);
      }
      QVERIFY2(std::abs(want - got.fixed[i]) <= kEpsilon * 13 * size,
               qPrintable(QString::fromStdString(
                   fmt::format("{}: {} instead of {}", describe(s.setup), got.fixed[i], static_cast<double>(want)))));
    }
  }
}

void TestModels::equalScoresLoseTheLogarithmOfTheCount() {
  QFETCH(int, model);
  QFETCH(double, k);
  QFETCH(bool, heads);
  for (const std::uint32_t negatives : {1u, 8u, 50u, 1000u}) {
    for (const std::uint32_t dim : {1u, 5u, 33u}) {
      Sample s = makeSample({static_cast<ModelKind>(model), k, dim, negatives, heads, Place::random}, 900 + negatives);
      for (Point& candidate : s.candidates) candidate = s.candidates[0];
      for (const KernelLevel level : availableLevels()) {
        const double loss = evaluate(s, level, 1.0).loss;
        QVERIFY2(std::abs(loss - std::log(negatives + 1.0)) <= 4e-16 * std::log(negatives + 1.0),
                 qPrintable(QString::number(loss, 'g', 17)));
      }
    }
  }
}

void TestModels::withoutNegativesNothingIsLostOrPulled() {
  QFETCH(int, model);
  QFETCH(double, k);
  QFETCH(bool, heads);
  for (const std::uint32_t dim : {1u, 16u, 33u}) {
    const Sample s = makeSample({static_cast<ModelKind>(model), k, dim, 0, heads, Place::random}, 60 + dim);
    const Outcome got = evaluate(s, KernelLevel::scalar, 1.0);
    QCOMPARE(got.loss, 0.0);
    for (std::uint32_t i = 0; i < dim; ++i) {
      QCOMPARE(std::abs(got.fixed[i]), 0.0f);
      QCOMPARE(std::abs(got.candidates[0][i]), 0.0f);
      if (!s.relation.empty()) QCOMPARE(std::abs(got.relation[i]), 0.0f);
    }
  }
}

void TestModels::everyLevelGivesTheBitsOfTheScalarOne() {
  QFETCH(int, model);
  QFETCH(double, k);
  QFETCH(bool, heads);
  std::uint64_t seed = 5000;
  for (const Place place : {Place::random, Place::nearZero, Place::nearBoundary, Place::equal}) {
    for (const std::uint32_t dim : {1u, 2u, 5u, 15u, 16u, 17u, 31u, 33u, 128u}) {
      for (const std::uint32_t negatives : {0u, 1u, 8u, 50u}) {
        const Sample s = makeSample({static_cast<ModelKind>(model), k, dim, negatives, heads, place}, ++seed);
        const Sample before = s;
        const Outcome want = evaluate(s, KernelLevel::scalar, 0.7);
        QVERIFY(std::isfinite(want.loss));
        for (std::uint32_t i = 0; i < dim; ++i) QVERIFY(std::isfinite(want.fixed[i]));
        for (const KernelLevel level : availableLevels()) {
          const Outcome got = evaluate(s, level, 0.7);
          const std::string where = fmt::format("{} at level {}, seed {}", describe(s.setup), levelName(level), seed);
          QVERIFY2(std::memcmp(&got.loss, &want.loss, sizeof got.loss) == 0, where.c_str());
          QVERIFY2(std::memcmp(got.scores.data(), want.scores.data(), want.scores.size() * sizeof(double)) == 0,
                   where.c_str());
          QVERIFY2(sameBits(got.fixed, want.fixed) && sameBits(got.relation, want.relation), where.c_str());
          for (std::uint32_t c = 0; c < s.count(); ++c)
            QVERIFY2(sameBits(got.candidates[c], want.candidates[c]), where.c_str());
          for (std::uint32_t i = 0; i < kGuard; ++i) {
            QVERIFY2(got.fixed[dim + i] == 99.0f && got.candidates[0][dim + i] == 99.0f, where.c_str());
            QVERIFY2(s.relation.empty() || got.relation[dim + i] == 99.0f, where.c_str());
          }
        }
        QVERIFY(sameBits(s.fixed, before.fixed) && sameBits(s.relation, before.relation) &&
                sameBits(s.candidates[0], before.candidates[0]));
      }
    }
  }
}

/// A softmax without its maximum taken out would overflow here, one with log(p) would give infinity.
void TestModels::extremeScoresStayFinite() {
  Sample s = makeSample({ModelKind::distmult, 0, 1, 1, false, Place::random}, 3);
  for (const float truth : {-1e4f, 1e4f}) {
    s.fixed[0] = 1;
    s.relation[0] = 1;
    s.candidates[0][0] = truth;
    s.candidates[1][0] = -truth;
    for (const KernelLevel level : availableLevels()) {
      const Outcome got = evaluate(s, level, 1.0);
      QCOMPARE(got.loss, truth < 0 ? 2e4 : 0.0);
      QCOMPARE(got.candidates[0][0], truth < 0 ? -1.0f : 0.0f);
      QCOMPARE(got.candidates[1][0], truth < 0 ? 1.0f : 0.0f);
    }
  }
}

QTEST_APPLESS_MAIN(TestModels)
#include "tst_models.moc"
