// SPDX-License-Identifier: GPL-3.0-or-later
// No text is cut off, in English and Russian, at 1024 x 700; run again at scale 1.5.
#include "tests/ui/window_fixture.h"
#include "ui/look/theme.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/delete_table.h"
#include "ui/pages/embedding_page.h"
#include "ui/pages/live_page.h"
#include "ui/pages/main_window.h"
#include "ui/pages/new_run.h"
#include "ui/pages/runs_page.h"
#include "ui/plots/plot.h"
#include "ui/plots/scatter.h"
#include "ui/tools/made_records.h"
#include "ui/tools/wait.h"

using namespace dsa;
using namespace dsa::ui;

namespace {

/// Labels and buttons that show less than their text.
QStringList cutOff(const QWidget& root) {
  QStringList found;
  for (const QWidget* widget : root.findChildren<QWidget*>()) {
    if (!widget->isVisibleTo(&root) || widget->visibleRegion().isEmpty()) continue;
    QSize wanted;
    QString text;
    if (const auto* label = qobject_cast<const QLabel*>(widget)) {
      text = label->text();
      if (text.isEmpty() || label->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored) continue;
      wanted = label->wordWrap() ? QSize(0, label->heightForWidth(label->width())) : label->sizeHint();
    } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
      text = button->text();
      // Qt's own buttons inside a line edit carry a text that is never shown.
      if (text.isEmpty() || button->inherits("QLineEditIconButton")) continue;
      wanted = button->sizeHint();
    } else {
      continue;
    }
    if (wanted.width() > widget->width() + 1 || wanted.height() > widget->height() + 1)
      found << QString("%1: \"%2\" wants %3x%4, has %5x%6")
                   .arg(widget->metaObject()->className(), text)
                   .arg(wanted.width())
                   .arg(wanted.height())
                   .arg(widget->width())
                   .arg(widget->height());
  }
  return found;
}

}  // namespace

class TestLayout : public QObject {
  Q_OBJECT
 private:
  std::unique_ptr<test::WindowHome> m_home;

 private slots:
  void initTestCase() {
    m_home = std::make_unique<test::WindowHome>();
    QFont font("Noto Sans");
    font.setPointSize(10);
    QApplication::setFont(font);
    QDir().mkpath(QFileInfo(m_home->database()).absolutePath());
    const auto made = makeRecords(m_home->database(), MadeRecords{});
    QVERIFY2(made.has_value(), made ? "" : made.error().message.c_str());
  }

  void nothingIsCutOff_data() {
    QTest::addColumn<QString>("language");
    QTest::newRow("English") << "en";
    QTest::newRow("Russian") << "ru";
  }
  void nothingIsCutOff() {
    QFETCH(QString, language);
    applyTheme(*qApp, ThemeMode::light);
    QLocale::setDefault(QLocale(language));
    QTranslator translator;
    if (language != "en") {
      QVERIFY(translator.load(QLocale(language), "dsa-lab", "_", ":/translations"));
      QVERIFY(QApplication::installTranslator(&translator));
      QVERIFY(MainWindow::tr("Start") != "Start");
    }
    MainWindow window(m_home->database());
    window.resize(1024, 700);
    window.show();
    QTRY_VERIFY(window.model().rowCount() == 6);
    QVERIFY2(window.minimumSizeHint().width() <= 1024 && window.minimumSizeHint().height() <= 700,
             qPrintable(QString("%1x%2").arg(window.minimumSizeHint().width()).arg(window.minimumSizeHint().height())));
    window.openRun(2);
    window.compareRuns({1, 2});
    QTRY_VERIFY(window.comparePage().results().rowCount() > 0);
    window.openEmbedding(6);
    QTRY_VERIFY(window.embeddingPage().scatter().frame().of != nullptr);
    window.embeddingPage().search("raptor");
    for (const auto tab : {MainWindow::StartTab, MainWindow::RunsTab, MainWindow::LiveTab, MainWindow::CompareTab,
                           MainWindow::EmbeddingTab}) {
      window.showTab(tab);
      settle(300);
      if (window.size() != QSize(1024, 700)) {
        for (const QWidget* widget : window.findChildren<QWidget*>())
          if (widget->isVisibleTo(&window) && widget->minimumSizeHint().width() > 400)
            qWarning() << widget << widget->minimumSizeHint();
      }
      QCOMPARE(window.size(), QSize(1024, 700));
      const QStringList cut = cutOff(window);
      QVERIFY2(cut.isEmpty(), qPrintable(QString("tab %1\n").arg(tab) + cut.join('\n')));
    }
    NewRunDialog* form = window.openNewRun();
    settle(300);
    const QStringList cut = cutOff(*form);
    QVERIFY2(cut.isEmpty(), qPrintable(cut.join('\n')));
    form->reject();
    settle(50);
    RunRow run;
    run.name = "wordnet-nouns, Poincare, dim 8, the long one";
    run.cacheFolder = "/home/you/.local/share/dsa-lab/tables/run-8f7f6611-53d2-4b9c-9e35-c5e354ad9c01";
    DeleteTableDialog deletion(run);
    deletion.show();
    QTRY_VERIFY(deletion.measured());
    settle(50);
    const QStringList cutThere = cutOff(deletion);
    QVERIFY2(cutThere.isEmpty(), qPrintable(cutThere.join('\n')));
    QApplication::removeTranslator(&translator);
    QLocale::setDefault(QLocale("en"));
  }

  void emptyPagesAreNotCutOff_data() { nothingIsCutOff_data(); }
  void emptyPagesAreNotCutOff() {
    QFETCH(QString, language);
    QTranslator translator;
    if (language != "en") {
      QVERIFY(translator.load(QLocale(language), "dsa-lab", "_", ":/translations"));
      QVERIFY(QApplication::installTranslator(&translator));
    }
    for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
      applyTheme(*qApp, mode);
      MainWindow window(m_home->file("empty.sqlite"));
      window.resize(1024, 700);
      window.show();
      for (const auto tab :
           {MainWindow::RunsTab, MainWindow::LiveTab, MainWindow::CompareTab, MainWindow::EmbeddingTab}) {
        window.showTab(tab);
        settle(100);
        const QStringList cut = cutOff(window);
        QVERIFY2(cut.isEmpty(), qPrintable(QString("tab %1\n").arg(tab) + cut.join('\n')));
      }
    }
    applyTheme(*qApp, ThemeMode::light);
    QApplication::removeTranslator(&translator);
  }

  void linesAreToldApartWithoutColour() {
    MainWindow window(m_home->database());
    window.openRun(2);
    window.compareRuns({1, 2});
    for (const Plot* plot : window.livePage().plots() + window.comparePage().plots()) {
      for (int a = 0; a < plot->lineCount(); ++a) {
        for (int b = 0; b < a; ++b) {
          const LineStyle& x = plot->style(a);
          const LineStyle& y = plot->style(b);
          const bool filledOtherwise = x.fill.has_value() != y.fill.has_value() || x.hatched != y.hatched;
          QVERIFY2(x.dash != y.dash || x.width != y.width || filledOtherwise,
                   qPrintable(plot->title() + ": " + x.label + ", " + y.label));
        }
      }
    }
  }

  void everyControlHasAName() {
    MainWindow window(m_home->database());
    window.show();
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
      const bool control = qobject_cast<const QComboBox*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
                           qobject_cast<const QAbstractItemView*>(widget) ||
                           qobject_cast<const QAbstractButton*>(widget);
      if (!control || !widget->isVisibleTo(&window) || widget->objectName().startsWith("qt_")) continue;
      const auto* button = qobject_cast<const QAbstractButton*>(widget);
      const bool named = !widget->accessibleName().isEmpty() || (button != nullptr && !button->text().isEmpty()) ||
                         !widget->toolTip().isEmpty();
      // Parts that Qt makes itself: scroll buttons of the tab bar, corner buttons of tables.
      const QString parent = widget->parentWidget() ? widget->parentWidget()->metaObject()->className() : "";
      if (parent == "QTabBar" || parent.contains("TableView") || parent.contains("TableWidget") ||
          parent == "QToolBar" || parent == "QComboBox" || parent == "QLineEdit")
        continue;
      QVERIFY2(named, qPrintable(QString("%1 in %2").arg(widget->metaObject()->className(), parent)));
    }
  }
};

QTEST_MAIN(TestLayout)
#include "tst_layout.moc"
