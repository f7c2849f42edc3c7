// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/tools/lab.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QFontDatabase>
#include <QLibraryInfo>
#include <QLocale>
#include <QSettings>
#include <QTextStream>
#include <QTranslator>

#include "core/base/error.h"
#include "core/record/database.h"
#include "ui/look/theme.h"
#include "ui/pages/main_window.h"
#include "ui/tools/metered_application.h"
#include "ui/tools/selftest.h"
#include "ui/tools/shots.h"

namespace dsa::ui {

namespace {

/// The value of a flag, before Qt reads the line: scale and platform must be known when QApplication is made.
QByteArray early(int argc, char** argv, const QByteArray& flag) {
  for (int i = 1; i < argc; ++i) {
    const QByteArray word(argv[i]);
    if (word == flag) return i + 1 < argc ? QByteArray(argv[i + 1]) : QByteArray("");
    if (word.startsWith(flag + '=')) return word.mid(flag.size() + 1);
  }
  return {};
}

bool has(int argc, char** argv, const QByteArray& flag) {
  for (int i = 1; i < argc; ++i)
    if (QByteArray(argv[i]).split('=').constFirst() == flag) return true;
  return false;
}

int usage(const QString& text) {
  QTextStream(stderr) << "dsa-lab: " << text << "\ndsa-lab: see dsa-lab --help\n";
  return static_cast<int>(ErrorCode::usage);
}

void speak(QApplication& app, const QString& language) {
  const QLocale locale(language);
  QLocale::setDefault(locale);
  auto* ours = new QTranslator(&app);
  if (ours->load(locale, "dsa-lab", "_", ":/translations")) QApplication::installTranslator(ours);
  auto* qts = new QTranslator(&app);
  if (qts->load(locale, "qtbase", "_", QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
    QApplication::installTranslator(qts);
}

/// The offscreen platform says at each window what it cannot do; nobody who asked for pictures wants to know.
void quietMessages(QtMsgType type, const QMessageLogContext& context, const QString& text) {
  Q_UNUSED(context)
  if (text.startsWith("This plugin does not support") || text.startsWith("QStandardPaths: XDG_RUNTIME_DIR")) return;
  QTextStream(stderr) << text << "\n";
  if (type == QtFatalMsg) ::abort();
}

}  // namespace

int runLab(int argc, char** argv) {
  const bool headless = has(argc, argv, "--shots") || has(argc, argv, "--selftest");
  if (headless && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  if (headless) qInstallMessageHandler(quietMessages);
  const QByteArray scale = early(argc, argv, "--scale");
  if (!scale.isEmpty()) {
    bool fine = false;
    const double factor = scale.toDouble(&fine);
    if (!fine || factor < 0.5 || factor > 4)
      return usage(QString("--scale: \"%1\"; a number from 0.5 to 4").arg(QString(scale)));
    qputenv("QT_SCALE_FACTOR", scale);
  }
  QCoreApplication::setOrganizationName("dsa-lab");
  QCoreApplication::setApplicationName("dsa-lab");
  QCoreApplication::setApplicationVersion(DSA_VERSION);
  QGuiApplication::setDesktopFileName("org.dsalab.DsaLab");
  MeteredApplication app(argc, argv);

  QCommandLineParser parser;
  parser.setApplicationDescription("DSA Lab: embedding tables on disk, and what they cost");
  const QCommandLineOption database("db", "database of runs [in the user's data folder]", "FILE");
  const QCommandLineOption dark("dark", "dark colours [like the system]");
  const QCommandLineOption light("light", "light colours [like the system]");
  const QCommandLineOption language("lang", "language: en, ru [of the system]", "LANG");
  const QCommandLineOption factor("scale", "scale of everything, 1.5 for example", "FACTOR");
  const QCommandLineOption run("run", "shows this run live", "NUMBER");
  const QCommandLineOption shots("shots", "draws every screen to PNG files in DIR, without a display, and ends", "DIR");
  const QCommandLineOption selftest("selftest", "works through a made database and prints the longest stalls");
  parser.addOptions({database, run, dark, light, language, factor, shots, selftest});
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("file", "an exported run, a database or a dataset to open", "[FILE]");
  parser.process(app);

  QSettings settings;
  // Pictures and tests must not depend on what somebody chose once.
  const QString chosen = headless ? QString("light") : settings.value("appearance", "system").toString();
  ThemeMode mode = chosen == "dark" ? ThemeMode::dark : chosen == "light" ? ThemeMode::light : ThemeMode::system;
  if (parser.isSet(dark)) mode = ThemeMode::dark;
  if (parser.isSet(light)) mode = ThemeMode::light;
  if (headless) {
    QFont font("Noto Sans");
    font.setPointSize(10);
    QApplication::setFont(font);
  }
  const QString spoken = parser.isSet(language) ? parser.value(language) : headless ? QString("en") : QLocale().name();
  if (parser.isSet(language) && spoken != "en" && spoken != "ru")
    return usage(QString("--lang: \"%1\"; en or ru").arg(spoken));
  speak(app, spoken);
  applyTheme(app, mode);

  const QString path = parser.isSet(database) ? QFileInfo(parser.value(database)).absoluteFilePath()
                                              : QString::fromStdString(Database::defaultPath());
  if (parser.isSet(shots)) return drawShots(parser.value(shots), parser.isSet(database) ? path : QString());
  if (parser.isSet(selftest)) return runSelftest();
  MainWindow window(path);
  QObject::connect(&window, &MainWindow::themeWanted, &app, [&app](ThemeMode wanted) {
    applyTheme(app, wanted);
    QSettings().setValue("appearance", wanted == ThemeMode::dark    ? "dark"
                                       : wanted == ThemeMode::light ? "light"
                                                                    : "system");
  });
  if (parser.isSet(run)) {
    bool fine = false;
    const RunId wanted = parser.value(run).toLongLong(&fine);
    if (!fine) return usage(QString("--run: \"%1\"; the number of a run").arg(parser.value(run)));
    window.openRun(wanted);
  }
  window.show();
  if (!parser.positionalArguments().isEmpty())
    window.openFile(QFileInfo(parser.positionalArguments().constFirst()).absoluteFilePath());
  return QApplication::exec();
}

}  // namespace dsa::ui
