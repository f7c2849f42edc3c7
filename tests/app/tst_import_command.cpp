// SPDX-License-Identifier: Apache-2.0
// `dsa store import` as a user meets it: what export wrote comes back, little memory, and nothing left by Ctrl-C.
#include "app_fixture.h"

using namespace app;

class TestImportCommand : public QObject {
  Q_OBJECT
 private slots:
  void exportImportExportGivesTheSameBytes();
  void refusalsAreAnswered();
  void aLargeTableTakesLittleMemory();
  void controlCLeavesNothing();
  void afterAKillItCanBeDoneAgain();
};

namespace {

QByteArray contentOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("cannot be read: ") + path.toUtf8();
}

/// 8 million lines of the projector's text, 96 MB: seconds to import.
void writeLargeTsv(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write");
  const QByteArray lines = QByteArray("0.125\t-0.25\n").repeated(100000);
  for (int i = 0; i < 80; ++i) {
    if (file.write(lines) != lines.size()) qFatal("cannot write");
  }
}

/// Waits until the import has begun to write rows.
bool waitForRows(const QString& folder, const QProcess& process) {
  QElapsedTimer timer;
  for (timer.start(); timer.elapsed() < 120000 && process.state() == QProcess::Running; QTest::qSleep(5)) {
    if (QFile::exists(folder + "/entities.rows.creating")) return true;
  }
  return false;
}

}  // namespace

void TestImportCommand::exportImportExportGivesTheSameBytes() {
  const Home home;
  COMPARE_EXIT(
      home.run("train --dataset tree:3,4 --dim 6 --k 0 --rule sparse_adam --epochs 2 --placement disk --cache ",
               {home.cache()}),
      0);
  const std::map<QString, QStringList> files = {{"npy", {"", "-m", "-v"}},
                                                {"word2vec", {""}},
                                                {"tsv", {"", ".metadata.tsv"}},
                                                {"raw", {"_w.dat", "_m.dat", "_v.dat"}}};
  for (const auto& [format, endings] : files) {
    const QString state = format == "npy" ? " --state" : "";
    const QString first = home.path("first-" + format), second = home.path("second-" + format);
    const QString ending = format == "npy" ? ".npy" : "", folder = home.path("folder-" + format);
    COMPARE_EXIT(home.run("store export 1 --format " + format + state + " --out", {first + ending}), 0);
    const Ended imported = home.run("store import --json --format " + format + (format == "raw" ? " --dim 6" : ""),
                                    {first + ending, "--out", folder});
    COMPARE_EXIT(imported, 0);
    QCOMPARE(imported.json()["rows"].get<int>(), 121);
    QCOMPARE(imported.json()["format"].get<std::string>(), format.toStdString());
    const Ended verified = home.run("store verify --json", {folder});
    COMPARE_EXIT(verified, 0);
    QCOMPARE(verified.json()["verified_rows"].get<int>(), 121);
    QCOMPARE(verified.json()["step"].get<int>(), 0);
    COMPARE_EXIT(home.run("store export --format " + format + state, {folder, "--out", second + ending}), 0);
    for (const QString& part : endings)
      QVERIFY2(contentOf(first + part + ending) == contentOf(second + part + ending), qPrintable(format + part));
  }
  // The folder gives its names to the other text format, too.
  const QStringList across = {home.path("folder-tsv"), "--out", home.path("across.txt")};
  COMPARE_EXIT(home.run("store export --format word2vec", across), 0);
  QCOMPARE(contentOf(home.path("across.txt")), contentOf(home.path("first-word2vec")));
}

void TestImportCommand::refusalsAreAnswered() {
  const Home home;
  QFile file(home.path("w.txt"));
  QVERIFY(file.open(QIODevice::WriteOnly) && file.write("2 2\na 1 2\nb 3 four\n") > 0);
  file.close();
  const Ended word = home.run("store import w.txt --out t");
  COMPARE_EXIT(word, 3);
  VERIFY_SAYS(word, "line 3, number 2: \"four\", expected a number");
  for (const auto& [line, code, says] : std::initializer_list<std::tuple<const char*, int, const char*>>{
           {"store import w.txt --out t --format parquet", 2, "word2vec"},
           {"store import w.txt --out t --rule adam", 2, "sparse_adam"},
           {"store import w.txt --out t --dim 3", 2, "--dim"},
           {"store import w.bin --out t", 2, "--format"},
           {"store import nowhere.npy --out t", 3, "nowhere.npy"},
           {"store import w.txt", 2, "--out"}}) {
    const Ended ended = home.run(line);
    COMPARE_EXIT(ended, code);
    VERIFY_SAYS(ended, says);
  }
  QVERIFY(!QFile::exists(home.path("t")));
}

void TestImportCommand::aLargeTableTakesLittleMemory() {
  if (kSanitized) QSKIP("memory of a sanitizer is its own");
  const Home home;
  writeLargeTsv(home.path("w.tsv"));
  const auto process = home.start("store import w.tsv --out t --rule rsgd");
  const std::uint64_t peak = privatePeakOf(*process);
  COMPARE_EXIT(Home::end(*process), 0);
  // Seen at work at all, and far below the 64 MB of rows.
  QVERIFY2(peak > (1u << 20) && peak < (32ull << 20), fmt::format("{} bytes", peak).c_str());
  const Ended verified = home.run("store verify --json t");
  QCOMPARE(verified.json()["verified_rows"].get<int>(), 8000000);
}

void TestImportCommand::controlCLeavesNothing() {
  const Home home;
  writeLargeTsv(home.path("w.tsv"));
  const auto process = home.start("store import w.tsv --out new/t");
  QVERIFY(waitForRows(home.path("new/t"), *process));
  ::kill(static_cast<pid_t>(process->processId()), SIGINT);
  const Ended stopped = Home::end(*process);
  COMPARE_EXIT(stopped, 5);
  VERIFY_SAYS(stopped, "nothing of it is left");
  QVERIFY(!QFile::exists(home.path("new")));
}

void TestImportCommand::afterAKillItCanBeDoneAgain() {
  const Home home;
  writeLargeTsv(home.path("w.tsv"));
  const auto process = home.start("store import w.tsv --out t");
  QVERIFY(waitForRows(home.path("t"), *process));
  process->kill();
  process->waitForFinished();
  // Not a table yet, and no hindrance.
  COMPARE_EXIT(home.run("store info t"), 3);
  QFile file(home.path("w.txt"));
  QVERIFY(file.open(QIODevice::WriteOnly) && file.write("2 2\na 1 2\nb 3 4\n") > 0);
  file.close();
  COMPARE_EXIT(home.run("store import w.txt --out t"), 0);
  QCOMPARE(home.run("store verify --json t").json()["verified_rows"].get<int>(), 2);
  QCOMPARE(QDir(home.path("t")).entryList({"*.creating"}), QStringList());
}

QTEST_GUILESS_MAIN(TestImportCommand)
#include "tst_import_command.moc"
