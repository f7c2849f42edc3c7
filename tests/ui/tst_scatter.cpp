// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of points: a round disk, names that do not lie on each other, the point under the mouse, search, zoom.
#include <QtTest>
#include <QtWidgets>
#include <random>

#include "ui/look/theme.h"
#include "ui/plots/scatter.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

EmbeddingFrame frameOf(const QVector<QPointF>& points, double k, const std::vector<std::string>& labels = {},
                       RunId run = 1) {
  EmbeddingFrame frame;
  auto of = std::make_shared<EmbeddingRows>();
  of->dim = 2;
  of->k = k;
  for (qsizetype i = 0; i < points.size(); ++i) of->rows.push_back(100 + static_cast<std::uint64_t>(i));
  of->totalRows = of->rows.size();
  of->labels = labels;
  frame.run = run;
  frame.of = of;
  frame.points = points;
  for (const QPointF& p : points) frame.norms << std::hypot(p.x(), p.y());
  return frame;
}

EmbeddingFrame manyNamed(int n, double k) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> at(-0.7, 0.7);
  QVector<QPointF> points;
  std::vector<std::string> labels;
  for (int i = 0; i < n; ++i) {
    points << QPointF(at(random), at(random));
    labels.push_back("a_long_name." + std::string(i % 2 == 0 ? "n.0" : "v.1") + std::to_string(i));
  }
  return frameOf(points, k, labels);
}

void moveMouse(Scatter& scatter, const QPointF& pixel, Qt::MouseButtons buttons = Qt::NoButton) {
  QMouseEvent event(QEvent::MouseMove, pixel, scatter.mapToGlobal(pixel), Qt::NoButton, buttons, Qt::NoModifier);
  QApplication::sendEvent(&scatter, &event);
}

void turnWheel(Scatter& scatter, const QPointF& pixel, int delta) {
  QWheelEvent event(pixel, scatter.mapToGlobal(pixel), {}, {0, delta}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                    false);
  QApplication::sendEvent(&scatter, &event);
}

bool near(const QPointF& a, const QPointF& b, double within = 1e-6) { return QLineF(a, b).length() < within; }

}  // namespace

class TestScatter : public QObject {
  Q_OBJECT
 private:
  std::unique_ptr<Scatter> m_scatter;

 private slots:
  void initTestCase() { applyTheme(*qApp, ThemeMode::light); }
  void init() {
    m_scatter = std::make_unique<Scatter>();
    m_scatter->resize(700, 400);
  }

  void theDiskIsRoundAndWhole_data() {
    QTest::addColumn<double>("k");
    QTest::addColumn<QSize>("size");
    QTest::newRow("wide") << 1.0 << QSize(700, 400);
    QTest::newRow("high") << 1.0 << QSize(300, 600);
    QTest::newRow("a small ball") << 25.0 << QSize(500, 500);
  }
  void theDiskIsRoundAndWhole() {
    QFETCH(double, k);
    QFETCH(QSize, size);
    m_scatter->resize(size);
    m_scatter->setFrame(frameOf({{0, 0}}, k));
    m_scatter->resize(size.width() + 20, size.height() + 20);
    m_scatter->grab();
    const double radius = 1 / std::sqrt(k);
    const QPointF centre = m_scatter->toPixel({0, 0});
    QVERIFY(near(centre, QPointF(m_scatter->width() / 2.0, m_scatter->height() / 2.0)));
    const double across = QLineF(centre, m_scatter->toPixel({radius, 0})).length();
    const double up = QLineF(centre, m_scatter->toPixel({0, radius})).length();
    QVERIFY(std::abs(across - up) < 1e-9);
    QVERIFY(m_scatter->toPixel({0, radius}).y() < centre.y());  // y goes up
    const double half = std::min(m_scatter->width(), m_scatter->height()) / 2.0;
    QVERIFY(across < half && across > 0.85 * half);
  }

  void theRimIsDrawn() {
    m_scatter->setFrame(frameOf({{0, 0}}, 1));
    const QImage image = m_scatter->grab().toImage();
    const QPointF rim = m_scatter->toPixel({std::cos(0.5), std::sin(0.5)});
    bool found = false;
    for (int dx = -2; dx <= 2; ++dx)
      for (int dy = -2; dy <= 2; ++dy) found |= image.pixelColor((rim + QPointF(dx, dy)).toPoint()).lightness() < 160;
    QVERIFY(found);
    QVERIFY(image.pixelColor(m_scatter->toPixel({0.55, 0.3}).toPoint()).lightness() > 240);
  }

  void namesDoNotLieOnEachOther_data() {
    QTest::addColumn<double>("k");
    QTest::newRow("ball") << 1.0;
    QTest::newRow("plane") << 0.0;
  }
  void namesDoNotLieOnEachOther() {
    QFETCH(double, k);
    m_scatter->setFrame(manyNamed(800, k));
    m_scatter->grab();
    const QVector<PlacedLabel> labels = m_scatter->labels();
    QVERIFY2(labels.size() >= 8 && labels.size() <= 20, qPrintable(QString::number(labels.size())));
    for (qsizetype i = 0; i < labels.size(); ++i) {
      QVERIFY(QRectF(m_scatter->rect()).contains(labels[i].box));
      for (qsizetype j = 0; j < i; ++j) QVERIFY(!labels[i].box.intersects(labels[j].box));
      for (qsizetype j = 0; j < labels.size(); ++j)
        QVERIFY(!labels[j].box.contains(m_scatter->toPixel(m_scatter->frame().points[labels[i].point])));
    }
  }

  void inTheBallTheMostGeneralIsNamed() {
    QVector<QPointF> points;
    std::vector<std::string> labels;
    for (int i = 0; i < 60; ++i) {
      const double radius = 0.95 - 0.015 * i;  // the last is the most general
      points << QPointF(radius * std::cos(i), radius * std::sin(i));
      labels.push_back("p" + std::to_string(i));
    }
    m_scatter->setFrame(frameOf(points, 1, labels));
    m_scatter->grab();
    QVERIFY(!m_scatter->labels().isEmpty());
    QCOMPARE(m_scatter->labels().constFirst().point, 59);
    for (const PlacedLabel& label : m_scatter->labels()) QVERIFY(label.point > 25);
    // Without names there is nothing to write.
    m_scatter->setFrame(frameOf(points, 1));
    m_scatter->grab();
    QVERIFY(m_scatter->labels().isEmpty());
  }

  void aNameStaysFromFrameToFrame() {
    // Two points so near that one name has room; their norms change places by a little, then by much.
    const std::vector<std::string> labels = {"first_name_here", "other_name_here"};
    const auto named = [&] { return m_scatter->labels().size() == 1 ? m_scatter->labels().constFirst().point : -1; };
    m_scatter->setFrame(frameOf({{0.100, 0}, {0.102, 0}}, 1, labels));
    m_scatter->grab();
    QCOMPARE(named(), 0);
    m_scatter->setFrame(frameOf({{0.102, 0}, {0.100, 0}}, 1, labels));
    m_scatter->grab();
    QCOMPARE(named(), 0);
    m_scatter->setFrame(frameOf({{0.010, 0}, {0.002, 0}}, 1, labels));
    m_scatter->grab();
    QCOMPARE(named(), 1);
  }

  void thePointUnderTheMouseIsTold() {
    m_scatter->setFrame(frameOf({{0.5, 0.25}, {-0.5, 0}}, 1, {"wolf.n.01", ""}));
    moveMouse(*m_scatter, m_scatter->toPixel({0.5, 0.25}) + QPointF(4, -3));
    QCOMPARE(m_scatter->pointed(), 0);
    const QString told = m_scatter->readout().join('|');
    QVERIFY2(told.contains("wolf.n.01") && told.contains("0.5000") && told.contains("0.2500"), qPrintable(told));
    // norm sqrt(0.3125) = 0.559; 2 atanh of it = 1.263
    QVERIFY2(told.contains("0.5590") && told.contains("1.263"), qPrintable(told));
    moveMouse(*m_scatter, m_scatter->toPixel({-0.5, 0}));
    QVERIFY(m_scatter->readout().constFirst().contains("101"));
    m_scatter->grab();
    moveMouse(*m_scatter, m_scatter->toPixel({0, -0.6}));
    QCOMPARE(m_scatter->pointed(), -1);
    QVERIFY(m_scatter->readout().isEmpty());
  }

  void theWheelZoomsWhereTheMouseIs() {
    m_scatter->setFrame(manyNamed(50, 1));
    const double before = m_scatter->scale();
    const QPointF pixel(500, 120);
    const QPointF under = m_scatter->fromPixel(pixel);
    turnWheel(*m_scatter, pixel, 240);
    QVERIFY(m_scatter->scale() > 1.3 * before);
    QVERIFY(near(m_scatter->fromPixel(pixel), under));
    // Neither without end nor to nothing.
    for (int i = 0; i < 200; ++i) turnWheel(*m_scatter, pixel, 1200);
    QVERIFY(m_scatter->scale() <= 400 * before * 1.0001);
    for (int i = 0; i < 400; ++i) turnWheel(*m_scatter, pixel, -1200);
    QVERIFY(m_scatter->scale() >= 0.5 * before * 0.9999);
    QTest::mouseDClick(m_scatter.get(), Qt::LeftButton, {}, {350, 200});
    QCOMPARE(m_scatter->scale(), before);
    QVERIFY(near(m_scatter->toPixel({0, 0}), QPointF(350, 200)));
  }

  void draggingMovesThePoints() {
    m_scatter->setFrame(manyNamed(50, 1));
    QTest::mousePress(m_scatter.get(), Qt::LeftButton, {}, {300, 200});
    moveMouse(*m_scatter, {340, 170}, Qt::LeftButton);
    QTest::mouseRelease(m_scatter.get(), Qt::LeftButton, {}, {340, 170});
    QVERIFY(near(m_scatter->toPixel({0, 0}), QPointF(390, 170)));
    moveMouse(*m_scatter, {100, 100});
    QVERIFY(near(m_scatter->toPixel({0, 0}), QPointF(390, 170)));
  }

  void theKeysDoTheSame() {
    QVERIFY(!m_scatter->accessibleName().isEmpty());
    QCOMPARE(m_scatter->focusPolicy(), Qt::StrongFocus);
    m_scatter->setFrame(manyNamed(50, 1));
    QVERIFY(m_scatter->accessibleDescription().contains("50"));
    const double before = m_scatter->scale();
    QTest::keyClick(m_scatter.get(), Qt::Key_Plus);
    QVERIFY(m_scatter->scale() > before);
    QTest::keyClick(m_scatter.get(), Qt::Key_Minus);
    QVERIFY(std::abs(m_scatter->scale() / before - 1) < 1e-9);
    const QPointF centre = m_scatter->toPixel({0, 0});
    QTest::keyClick(m_scatter.get(), Qt::Key_Right);
    QVERIFY(m_scatter->toPixel({0, 0}).x() < centre.x());
    QTest::keyClick(m_scatter.get(), Qt::Key_Left);
    QVERIFY(near(m_scatter->toPixel({0, 0}), centre));
    QTest::keyClick(m_scatter.get(), Qt::Key_Up);
    QVERIFY(m_scatter->toPixel({0, 0}).y() > centre.y());
    QTest::keyClick(m_scatter.get(), Qt::Key_Down);
    QTest::keyClick(m_scatter.get(), Qt::Key_Plus);
    QTest::keyClick(m_scatter.get(), Qt::Key_Home);
    QCOMPARE(m_scatter->scale(), before);
  }

  void aViewThatWasMovedStays() {
    m_scatter->setFrame(manyNamed(50, 1));
    turnWheel(*m_scatter, {100, 100}, 480);
    const double scale = m_scatter->scale();
    const QPointF corner = m_scatter->fromPixel({0, 0});
    m_scatter->setFrame(manyNamed(50, 1));
    QCOMPARE(m_scatter->scale(), scale);
    QVERIFY(near(m_scatter->fromPixel({0, 0}), corner));
    EmbeddingFrame another = manyNamed(50, 1);
    another.run = 2;
    m_scatter->setFrame(another);
    QVERIFY(m_scatter->scale() < scale);
  }

  void withoutABallTheCloudIsFitted() {
    m_scatter->setFrame(frameOf({{3, 5}, {13, 5}, {8, 7}}, 0));
    const double scale = m_scatter->scale();
    for (const QPointF& p : m_scatter->frame().points)
      QVERIFY(QRectF(m_scatter->rect()).contains(m_scatter->toPixel(p)));
    QVERIFY(std::abs(QLineF(m_scatter->toPixel({3, 5}), m_scatter->toPixel({13, 5})).length() - 660) < 1);
    // A cloud that grows and shrinks a little moves in the view, not the view with it.
    m_scatter->setFrame(frameOf({{4, 5}, {12, 5}, {8, 6.5}}, 0));
    QCOMPARE(m_scatter->scale(), scale);
    m_scatter->setFrame(frameOf({{7, 5}, {9, 5}, {8, 5.2}}, 0));
    QVERIFY(m_scatter->scale() > 3 * scale);
    m_scatter->setFrame(frameOf({{-100, 5}, {100, 5}}, 0));
    for (const QPointF& p : m_scatter->frame().points)
      QVERIFY(QRectF(m_scatter->rect()).contains(m_scatter->toPixel(p)));
    // One point, or many in one place, have no size to fit.
    m_scatter->setFrame(frameOf({{1, 1}, {1, 1}}, 0, {}, 3));
    m_scatter->grab();
    QVERIFY(near(m_scatter->toPixel({1, 1}), QPointF(350, 200)));
  }

  void aSearchLightsWhatItFinds() {
    m_scatter->setFrame(
        frameOf({{0, 0}, {0.1, 0.3}, {0.5, -0.5}, {-0.6, 0}}, 1, {"dog.n.01", "hunting_dog.n.01", "Cat", "owl"}));
    QCOMPARE(m_scatter->search("DOG"), 2);
    QCOMPARE(m_scatter->search("hunting dog"), 1);
    QCOMPARE(m_scatter->search(" cat "), 1);
    QCOMPARE(m_scatter->search("101"), 1);
    QCOMPARE(m_scatter->search("10"), 0);
    QCOMPARE(m_scatter->search("whale"), 0);
    m_scatter->showNextMatch();
    QCOMPARE(m_scatter->pointed(), -1);
    m_scatter->search("dog");
    m_scatter->showNextMatch();
    const int first = m_scatter->pointed();
    m_scatter->showNextMatch();
    QVERIFY(first != m_scatter->pointed());
    QVERIFY(m_scatter->accessibleDescription().contains("dog"));  // said, too
    m_scatter->showNextMatch();
    QCOMPARE(m_scatter->pointed(), first);
    // Only what was found is named, in another colour.
    const QImage image = m_scatter->grab().toImage();
    QCOMPARE(m_scatter->labels().size(), 2);
    QCOMPARE(image.pixelColor(m_scatter->toPixel({0.1, 0.3}).toPoint()), Theme::current().reference);
    QVERIFY(image.pixelColor(m_scatter->toPixel({-0.6, 0}).toPoint()).lightness() > 200);
    QCOMPARE(m_scatter->search(""), 0);
    QCOMPARE(m_scatter->pointed(), -1);
    m_scatter->grab();
    QCOMPARE(m_scatter->labels().size(), 4);
  }

  void aSearchGoesOnInTheNextFrame() {
    m_scatter->setFrame(frameOf({{0, 0}, {0.5, 0.5}}, 1, {"a", "b"}));
    QCOMPARE(m_scatter->search("b"), 1);
    m_scatter->setFrame(frameOf({{0, 0}, {0.6, 0.5}}, 1, {"a", "b"}));
    QCOMPARE(m_scatter->matches(), 1);
  }

  void whatIsNotFiniteIsNotThere() {
    m_scatter->setFrame(frameOf({{0, 0}, {std::nan(""), std::nan("")}}, 1, {"here", "gone"}));
    QCOMPARE(m_scatter->search("gone"), 0);
    m_scatter->search("");
    m_scatter->grab();
    QCOMPARE(m_scatter->labels().size(), 1);
    QVERIFY(m_scatter->accessibleDescription().contains('1'));
  }

  void withoutPointsItSaysWhy() {
    m_scatter->setEmptyText("nothing yet");
    const QImage with = m_scatter->grab().toImage();
    QCOMPARE(m_scatter->accessibleDescription(), QString("nothing yet"));
    m_scatter->setEmptyText(QString());
    QVERIFY(m_scatter->grab().toImage() != with);
    turnWheel(*m_scatter, {100, 100}, 240);  // nothing to move
    QTest::keyClick(m_scatter.get(), Qt::Key_Left);
    m_scatter->setFrame(frameOf({{0, 0}}, 1));
    QVERIFY(near(m_scatter->toPixel({0, 0}), QPointF(350, 200)));
    m_scatter->clear();
    QVERIFY(!m_scatter->frame().of);
  }

  void namesAreShortened_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("shown");
    QTest::newRow("WordNet") << "even-toed_ungulate.n.01"
                             << "even-toed ungulate";
    QTest::newRow("a verb") << "run.v.12"
                            << "run";
    QTest::newRow("plain") << "two_words"
                           << "two words";
    QTest::newRow("a number") << "3.14"
                              << "3.14";
    QTest::newRow("a file") << "a.n.b"
                            << "a.n.b";
    QTest::newRow("Russian") << "волк"
                             << "волк";
  }
  void namesAreShortened() {
    QFETCH(QString, name);
    QFETCH(QString, shown);
    QCOMPARE(shortName(name.toStdString()), shown);
  }
};

QTEST_MAIN(TestScatter)
#include "tst_scatter.moc"
