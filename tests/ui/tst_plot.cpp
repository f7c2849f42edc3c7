// SPDX-License-Identifier: GPL-3.0-or-later
// Plots: quick pens, few points, marks for NaN, colours and pixel ratio that follow the window.
#include "ui/look/theme.h"
#include "ui/plots/plot.h"

using namespace dsa::ui;

namespace {

LineStyle plain(const QString& label) {
  LineStyle style;
  style.label = label;
  style.colour = Theme::current().dsa;
  return style;
}

QVector<double> rising(int n) {
  QVector<double> x(n);
  std::iota(x.begin(), x.end(), 0.0);
  return x;
}

/// Until the queued refresh and replot have happened.
void settle() { QTest::qWait(50); }

}  // namespace

class TestPlot : public QObject {
  Q_OBJECT
 private slots:
  void init() { applyTheme(*qApp, ThemeMode::light); }

  void rawLinesAreQuickToDraw() {
    Plot plot("Loss", PlotUnit::plain);
    plot.addLine(plain("a"));
    QVERIFY(plot.plottingHints().testFlag(QCP::phFastPolylines));
    for (int i = 0; i < plot.graphCount(); ++i) {
      QVERIFY(plot.graph(i)->pen().widthF() <= 1);
      QVERIFY(!plot.graph(i)->antialiased());
    }
  }

  void aMillionPointsBecomeFew() {
    Plot plot("Loss", PlotUnit::plain);
    plot.resize(600, 200);
    plot.show();
    const int line = plot.addLine(plain("a"));
    QVector<double> y(1'000'000, 1.0);
    y[500'000] = 9;
    plot.setLine(line, rising(1'000'000), y);
    settle();
    const Points& drawn = plot.drawn(line);
    QVERIFY(!drawn.x.isEmpty());
    QVERIFY(drawn.x.size() <= 4 * (600 + 2));
    QCOMPARE(*std::max_element(drawn.y.begin(), drawn.y.end()), 9.0);
    QVERIFY(plot.yAxis->range().upper >= 9);
  }

  void nanIsMarked() {
    Plot plot("Loss", PlotUnit::plain);
    plot.resize(600, 200);
    plot.show();
    const int line = plot.addLine(plain("a"));
    QVector<double> y(100, 1.0);
    y[37] = std::nan("");
    plot.setLine(line, rising(100), y);
    settle();
    QCOMPARE(plot.gaps(), QVector<double>{37});
    // The marks are the plot's first graph.
    QCOMPARE(plot.graph(0)->data()->size(), 1);
    QCOMPARE(plot.graph(0)->data()->constBegin()->key, 37.0);
    QVERIFY(plot.graph(0)->scatterStyle().shape() != QCPScatterStyle::ssNone);
  }

  void memoryStartsAtZeroAndNeverShrinks() {
    Plot plot("Memory", PlotUnit::bytes);
    plot.keepZero(true);
    plot.resize(600, 200);
    plot.show();
    const int line = plot.addLine(plain("private"));
    plot.setLine(line, {0, 1}, {1e9, 2e9});
    settle();
    QCOMPARE(plot.yAxis->range().lower, 0.0);
    const double top = plot.yAxis->range().upper;
    plot.setLine(line, {0, 1}, {1e6, 2e6});
    settle();
    QCOMPARE(plot.yAxis->range().upper, top);
  }

  void darkPlotsAreReadable() {
    Plot plot("Loss", PlotUnit::plain);
    plot.resize(400, 200);
    plot.show();
    applyTheme(*qApp, ThemeMode::dark);
    settle();
    const QColor paper = plot.grab().toImage().pixelColor(390, 100);
    QCOMPARE(paper, Theme::darkOne().plot);
    QVERIFY(contrast(plot.xAxis->tickLabelColor(), paper) >= 4.5);
    QVERIFY(contrast(plot.yAxis->labelColor(), paper) >= 4.5);
    QVERIFY(contrast(plot.graph(0)->scatterStyle().pen().color(), paper) >= 4.5);
  }

  void pixelRatioFollowsTheScreen() {
    Plot plot("Loss", PlotUnit::plain);
    plot.resize(400, 200);
    plot.show();
    settle();
    // As if the window had come from a screen of another ratio.
    plot.setBufferDevicePixelRatio(plot.devicePixelRatioF() + 1);
    QEvent moved(QEvent::ScreenChangeInternal);
    QCoreApplication::sendEvent(&plot, &moved);
    QCOMPARE(plot.bufferDevicePixelRatio(), plot.devicePixelRatioF());
  }

  void logarithmicIsLogarithmic() {
    Plot plot("Loss", PlotUnit::plain);
    plot.resize(600, 400);
    plot.show();
    const int line = plot.addLine(plain("a"));
    plot.setLine(line, {0, 1, 2, 3, 4, 5, 6, 7}, {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 0});
    plot.setLogarithmic(true);
    settle();
    // Equal pixels per decade, the zero counted.
    const double decade = plot.yAxis->coordToPixel(1e-1) - plot.yAxis->coordToPixel(1);
    QVERIFY(decade > 10);
    for (double v = 1e-6; v < 0.5; v *= 10)
      QVERIFY(std::abs(plot.yAxis->coordToPixel(v) - plot.yAxis->coordToPixel(v * 10) - decade) < 0.01);
    QVERIFY2(plot.note().contains("1 value"), qPrintable(plot.note()));
    QCOMPARE(plot.drawn(line).y.size(), 7);
    plot.setLogarithmic(false);
    settle();
    QVERIFY(plot.note().isEmpty());
    QCOMPARE(plot.drawn(line).y.size(), 8);
  }

  void memoryIsInBytesAndTheCapacityIsTheMachines() {
    Plot plot("Memory", PlotUnit::bytes);
    plot.keepZero(true);
    plot.resize(600, 400);
    plot.show();
    const int line = plot.addLine(plain("private"));
    const double gib = 1024.0 * 1024 * 1024;
    plot.setCapacity(8 * gib, "memory of the machine");
    plot.setLine(line, {0, 1}, {5 * gib, 6 * gib});
    settle();
    for (const QString& label : plot.yAxis->tickVectorLabels())
      QVERIFY2(label == "0" || label.endsWith("GiB"), qPrintable(label));
    bool drawn = false;
    for (int i = 0; i < plot.itemCount(); ++i) {
      const auto* capacity = qobject_cast<QCPItemStraightLine*>(plot.item(i));
      drawn = drawn || (capacity != nullptr && capacity->visible() && capacity->point1->coords().y() == 8 * gib &&
                        capacity->point2->coords().y() == 8 * gib);
    }
    QVERIFY(drawn);
    QVERIFY(plot.yAxis->range().upper >= 8 * gib);
  }

  void axesAreLeftAndBottom() {
    Plot plot("Loss", PlotUnit::plain);
    QVERIFY(plot.xAxis->visible() && plot.yAxis->visible());
    QVERIFY(!plot.xAxis2->visible() && !plot.yAxis2->visible());
  }

  void emptyPlotSaysSo() {
    Plot plot("Loss", PlotUnit::plain);
    plot.setEmptyText("no samples yet");
    plot.resize(400, 200);
    plot.show();
    settle();
    bool said = false;
    for (int i = 0; i < plot.itemCount(); ++i)
      if (auto* text = qobject_cast<QCPItemText*>(plot.item(i)))
        said = said || (text->visible() && text->text() == "no samples yet");
    QVERIFY(said);
    QCOMPARE(plot.accessibleName(), QString("Loss"));
  }
};

QTEST_MAIN(TestPlot)
#include "tst_plot.moc"
