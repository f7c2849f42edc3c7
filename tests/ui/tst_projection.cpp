// SPDX-License-Identifier: GPL-3.0-or-later
// The plane in which rows are drawn: known axes are found, turned clouds look alike, pictures neither flip nor turn.
#include <QtTest>
#include <random>

#include "ui/run/projection.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

// A round stops when it turns the plane by less than 1e-6; of what is then left the gap of the spectrum (at most 0.9
// here) leaves ten times as much.
constexpr double kTolerance = 2e-5;

using Matrix = std::vector<std::vector<double>>;

/// The mirror image in the plane across `v`: orthogonal, no axis stays.
Matrix householder(const std::vector<double>& v) {
  double squares = 0;
  for (const double x : v) squares += x * x;
  Matrix m(v.size(), std::vector<double>(v.size()));
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) m[i][j] = (i == j ? 1 : 0) - 2 * v[i] * v[j] / squares;
  return m;
}

std::vector<float> turned(const std::vector<float>& rows, const Matrix& by) {
  const std::size_t dim = by.size();
  std::vector<float> out(rows.size());
  for (std::size_t i = 0; i < rows.size(); i += dim)
    for (std::size_t j = 0; j < dim; ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < dim; ++l) sum += by[j][l] * rows[i + l];
      out[i + j] = static_cast<float>(sum);
    }
  return out;
}

/// Two rows an axis, +size and -size along it: their squares' matrix is diagonal, 2 size^2 each; their mean is zero.
std::vector<float> cross(const std::vector<double>& sizes) {
  const std::size_t dim = sizes.size();
  std::vector<float> rows(2 * dim * dim, 0);
  for (std::size_t axis = 0; axis < dim; ++axis) {
    rows[2 * axis * dim + axis] = static_cast<float>(sizes[axis]);
    rows[(2 * axis + 1) * dim + axis] = static_cast<float>(-sizes[axis]);
  }
  return rows;
}

std::vector<float> cloud(std::size_t n, const std::vector<double>& sizes, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<float> rows;
  for (std::size_t i = 0; i < n; ++i)
    for (const double size : sizes) rows.push_back(static_cast<float>(size * normal(random)));
  return rows;
}

double dot(const Plane& a, int axisA, const Plane& b, int axisB) {
  const std::size_t dim = a.axes.size() / 2;
  double sum = 0;
  for (std::size_t j = 0; j < dim; ++j) sum += a.axes[axisA * dim + j] * b.axes[axisB * dim + j];
  return sum;
}

EmbeddingSample sample(std::vector<float> weights, std::uint64_t dim, double k) {
  auto of = std::make_shared<EmbeddingRows>();
  of->dim = dim;
  of->k = k;
  of->rows.resize(weights.size() / dim);
  for (std::size_t i = 0; i < of->rows.size(); ++i) of->rows[i] = i;
  of->totalRows = of->rows.size();
  return EmbeddingSample{3, 0, of, std::move(weights)};
}

}  // namespace

class TestProjection : public QObject {
  Q_OBJECT
 private slots:
  void knownAxesAreFound_data() {
    QTest::addColumn<int>("dim");
    for (const int dim : {3, 5, 16, 33, 128}) QTest::addRow("dim %d", dim) << dim;
  }
  void knownAxesAreFound() {
    QFETCH(int, dim);
    std::vector<double> sizes(dim, 0.5), across(dim);
    sizes[dim - 1] = 3;
    sizes[1] = 2;
    for (int i = 0; i < dim; ++i) across[i] = 1 + i % 3;
    const Matrix turn = householder(across);
    const Plane plane = leadingPlane(turned(cross(sizes), turn), dim, false, Plane());
    // Column dim-1 of the turn is where the longest axis has gone, column 1 the next.
    for (const auto& [axis, column] : {std::pair(0, dim - 1), std::pair(1, 1)}) {
      double along = 0;
      for (int j = 0; j < dim; ++j) along += plane.axes[axis * dim + j] * turn[j][column];
      QVERIFY2(std::abs(std::abs(along) - 1) < kTolerance, qPrintable(QString::number(along)));
    }
    QVERIFY(std::abs(dot(plane, 0, plane, 1)) < 1e-12);
    QVERIFY(std::abs(dot(plane, 1, plane, 1) - 1) < 1e-12);
    const double share = 13 / (13 + 0.25 * (dim - 2));
    QVERIFY2(std::abs(plane.share - share) < kTolerance, qPrintable(QString::number(plane.share)));
  }

  void theMeanIsTakenOffOnlyWhereAsked() {
    std::vector<float> rows = cross({1, 2, 3, 0.5});
    for (std::size_t i = 0; i < rows.size(); i += 4) rows[i + 3] += 10;  // far away along the least axis
    const Plane centred = leadingPlane(rows, 4, true, Plane());
    QVERIFY(std::abs(centred.axes[2]) > 1 - kTolerance && std::abs(centred.axes[4 + 1]) > 1 - kTolerance);
    QVERIFY(std::abs(centred.mean[3] - 10) < 1e-6);
    const Plane throughOrigin = leadingPlane(rows, 4, false, Plane());
    QVERIFY(std::abs(throughOrigin.axes[3]) > 1 - kTolerance && std::abs(throughOrigin.axes[4 + 2]) > 1 - kTolerance);
    QCOMPARE(throughOrigin.mean, std::vector<double>(4, 0.0));
  }

  void aTurnedCloudLooksTheSame() {
    const std::vector<float> rows = cloud(400, {3, 2, 1, 0.5, 0.25, 0.1}, 7);
    Projector plain, after;
    const EmbeddingFrame a = plain.frame(1, sample(rows, 6, 0));
    const EmbeddingFrame b = after.frame(1, sample(turned(rows, householder({1, 2, 3, 4, 5, 6})), 6, 0));
    QCOMPARE(a.kind, ProjectionKind::pca);
    QVERIFY(std::abs(a.share - b.share) < 1e-5);
    for (int i = 0; i < 400; ++i) {
      QVERIFY(std::abs(std::abs(a.points[i].x()) - std::abs(b.points[i].x())) < 20 * kTolerance);
      QVERIFY(std::abs(std::abs(a.points[i].y()) - std::abs(b.points[i].y())) < 20 * kTolerance);
    }
  }

  void aPictureNeitherFlipsNorTurns() {
    // The longest axis becomes the second one: principal axes by themselves would change places half way.
    Plane before;
    Plane first;
    bool coldChanges = false;
    for (int t = 0; t <= 20; ++t) {
      const std::vector<float> rows = cross({3 - 0.1 * t, 0.3, 1 + 0.1 * t, 0.2});
      const Plane cold = leadingPlane(rows, 4, false, Plane());
      const Plane warm = leadingPlane(rows, 4, false, before);
      if (t == 0) {
        first = warm;
      } else {
        for (const int axis : {0, 1}) QVERIFY(dot(warm, axis, before, axis) > 1 - kTolerance);
        coldChanges = coldChanges || std::abs(dot(cold, 0, first, 0)) < 0.5;
      }
      before = warm;
    }
    QVERIFY(coldChanges);
    for (const int axis : {0, 1}) QVERIFY(dot(before, axis, first, axis) > 0.999);
  }

  void anOrientationIsKept_data() {
    QTest::addColumn<double>("angle");
    QTest::addColumn<bool>("mirrored");
    for (const bool mirrored : {false, true})
      for (const double angle : {0.0, 0.7, 2.0, 3.1, -1.5})
        QTest::addRow("%.1f%s", angle, mirrored ? ", mirrored" : "") << angle << mirrored;
  }
  void anOrientationIsKept() {
    QFETCH(double, angle);
    QFETCH(bool, mirrored);
    const std::vector<float> rows = cross({3, 0.3, 2, 0.2});
    Plane before = leadingPlane(rows, 4, false, Plane());
    // The same plane in other axes: a frame later it is drawn in those still.
    Plane turnedPlane = before;
    for (int j = 0; j < 4; ++j) {
      turnedPlane.axes[j] = std::cos(angle) * before.axes[j] + std::sin(angle) * before.axes[4 + j];
      turnedPlane.axes[4 + j] =
          (mirrored ? -1 : 1) * (-std::sin(angle) * before.axes[j] + std::cos(angle) * before.axes[4 + j]);
    }
    const Plane after = leadingPlane(rows, 4, false, turnedPlane);
    for (const int axis : {0, 1}) QVERIFY(dot(after, axis, turnedPlane, axis) > 1 - kTolerance);
  }

  void nothingLeavesTheBall() {
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    std::vector<float> rows;
    for (int i = 0; i < 300; ++i) {
      double parts[6], squares = 0;
      for (double& part : parts) {
        part = normal(random);
        squares += part * part;
      }
      for (const double part : parts) rows.push_back(static_cast<float>(0.999 * part / std::sqrt(squares)));
    }
    Projector projector;
    const EmbeddingFrame frame = projector.frame(9, sample(rows, 6, 1));
    QCOMPARE(frame.kind, ProjectionKind::directions);
    QCOMPARE(frame.run, RunId{9});
    QCOMPARE(frame.step, std::uint64_t{3});
    for (int i = 0; i < 300; ++i) {
      QVERIFY(std::hypot(frame.points[i].x(), frame.points[i].y()) <= frame.norms[i] + 1e-12);
      QVERIFY(std::abs(frame.norms[i] - 0.999) < 1e-6);
    }
  }

  void twoCoordinatesAreShownAsTheyAre() {
    Projector projector;
    const EmbeddingFrame flat = projector.frame(1, sample({0.5F, -0.25F, 3, 4}, 2, 1));
    QCOMPARE(flat.kind, ProjectionKind::coordinates);
    QCOMPARE(flat.points, (QVector<QPointF>{{0.5, -0.25}, {3, 4}}));
    QCOMPARE(flat.norms[1], 5.0);
    QCOMPARE(flat.share, 1.0);
    const EmbeddingFrame line = projector.frame(1, sample({0.5F, -2}, 1, 0));
    QCOMPARE(line.kind, ProjectionKind::coordinates);
    QCOMPARE(line.points, (QVector<QPointF>{{0.5, 0}, {-2, 0}}));
  }

  void whatIsNotFiniteIsLeftOut() {
    std::vector<float> rows = cloud(50, {3, 2, 1}, 3);
    Projector without;
    const EmbeddingFrame clean = without.frame(1, sample(rows, 3, 0));
    std::vector<float> more = rows;
    for (const float bad : {std::numeric_limits<float>::infinity(), 1.0F, std::nanf("")}) more.push_back(bad);
    Projector with;
    const EmbeddingFrame frame = with.frame(1, sample(more, 3, 0));
    QCOMPARE(frame.points.size(), 51);
    QVERIFY(std::isnan(frame.points[50].x()));
    for (int i = 0; i < 50; ++i) QCOMPARE(frame.points[i], clean.points[i]);
  }

  void rowsThatDoNotSpanAPlaneAreDrawnToo_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("all zero") << 0;
    QTest::newRow("all on one line") << 1;
    QTest::newRow("one row") << 2;
    QTest::newRow("very small") << 3;
  }
  void rowsThatDoNotSpanAPlaneAreDrawnToo() {
    QFETCH(int, kind);
    std::vector<float> rows(40, 0.0F);
    if (kind == 1)
      for (int i = 0; i < 10; ++i) rows[4 * i] = static_cast<float>(i + 1);
    if (kind == 2) rows = {1, 2, 3, 4};
    if (kind == 3) rows = cloud(10, {1e-20, 1e-20, 1e-20, 1e-20}, 1);
    for (const double k : {0.0, 1.0}) {
      Projector projector;
      for (int frames = 0; frames < 3; ++frames) {
        const EmbeddingFrame frame = projector.frame(1, sample(rows, 4, k));
        QVERIFY(frame.share >= 0 && frame.share <= 1);
        for (const QPointF& point : frame.points) QVERIFY(std::isfinite(point.x()) && std::isfinite(point.y()));
        if (kind == 1 && k > 0) QVERIFY(std::abs(std::abs(frame.points[9].x()) - 10) < 1e-4);
      }
    }
  }
};

QTEST_MAIN(TestProjection)
#include "tst_projection.moc"
