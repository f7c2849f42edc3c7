// SPDX-License-Identifier: Apache-2.0
// What goes wrong outside: each a clear sentence with its exit code, and nothing overwritten.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QScopeGuard>

#include "app_fixture.h"

using namespace app;

namespace {

constexpr const char* kSmall = "--dataset tree:3,4 --dim 4 --epochs 2 --seed 1 --threads 1";

// Long enough that its first progress, a second after the start, is told before it ends.
const QString kKilled = "train --dataset wordnet-mammals --dim 8 --k 1 --epochs 60 --batch 50 --seed 1 --threads 1";

void write(const QString& path, const QByteArray& bytes, qint64 at = -1) {
  QFile file(path);
  if (!file.open(at < 0 ? QIODevice::WriteOnly : QIODevice::ReadWrite) || (at >= 0 && !file.seek(at)) ||
      file.write(bytes) != bytes.size())
    qFatal("%s cannot be written", qPrintable(path));
}

/// A run that was killed in its middle: a table with steps in it, to be resumed. Gives the table's folder.
QString interruptedRun(const Home& home) {
  const auto process = home.start(kKilled, {"--cache", home.cache()});
  for (int i = 0; i < 500; ++i) {
    const Json run = home.newestRun();
    if (!run.is_null() && run["step"].is_number() && run["step"].get<int>() > 0) break;
    QTest::qSleep(20);
  }
  ::kill(static_cast<pid_t>(process->processId()), SIGKILL);
  Home::end(*process);
  // Readers refuse a table that was killed in the middle of a step: once more, until it stands between two.
  for (int i = 0; i < 50 && home.run("store info 1").code != 0; ++i) {
    const auto again = home.start("resume 1");
    QTest::qSleep(100 + i);
    ::kill(static_cast<pid_t>(again->processId()), SIGKILL);
    Home::end(*again);
  }
  return home.tableOf(1);
}

}  // namespace

class TestErrors : public QObject {
  Q_OBJECT
 private slots:
  void wrongUsageAndBadInput_data();
  void wrongUsageAndBadInput();
  void runsThatAreNotThere();
  void unwritableCacheFolders_data();
  void unwritableCacheFolders();
  void aTableInUseNamesItsHolder();
  void damagedTablesAreRefusedAndLeftAlone_data();
  void damagedTablesAreRefusedAndLeftAlone();
  void theMendedTableEndsAsIfNothingHadBeen();
  void tablesLargerThanTheMachineAreRefusedBeforeAnythingIsTouched_data();
  void tablesLargerThanTheMachineAreRefusedBeforeAnythingIsTouched();
  void littleFreeSpaceIsAWarning();
  void aFileInTheWayIsNotOverwritten();
  void aChangedDatasetIsNotTrainedOn();
  void badGradientsEndTheRun();

 private:
  Home m_killed;  ///< with the table that is damaged and mended again
  QString m_table;
};

void TestErrors::wrongUsageAndBadInput_data() {
  QTest::addColumn<QString>("line");
  QTest::addColumn<int>("code");
  QTest::addColumn<QStringList>("says");
  const auto row = [](const char* name, const QString& line, int code, const QStringList& says) {
    QTest::newRow(name) << line << code << says;
  };
  row("no command", "", 2, {"dsa"});
  row("unknown command", "trian", 2, {"trian"});
  row("unknown flag", QString("train --colour red ") + kSmall, 2, {"--colour"});
  row("no dataset", "train", 2, {"--dataset"});
  row("unknown dataset", "train --dataset wordnet-mamals", 3, {"wordnet-mamals", "wordnet-mammals"});
  row("missing file", "train --dataset no/such/file.tsv", 3, {"no/such/file.tsv"});
  row("missing spec", "train --spec none.json", 3, {"none.json"});
  row("unknown recipe", "train --recipe none", 2, {"none", "wordnet-mammals"});
  row("dimension 0", "train --dataset tree:3,4 --dim 0", 2, {"--dim", "0"});
  row("dimension of letters", "train --dataset tree:3,4 --dim five", 2, {"--dim", "five"});
  row("negative k", "train --dataset tree:3,4 --k -1", 2, {"--k", "-1"});
  row("sparse_adam on the ball", "train --dataset tree:3,4 --k 1 --rule sparse_adam", 2,
      {"sparse_adam", "radam", "rsgd", "dsa"});
  row("row_adagrad on the ball", "train --dataset tree:3,4 --k 1 --rule row_adagrad", 2, {"row_adagrad", "radam"});
  row("unknown rule", "train --dataset tree:3,4 --rule adam", 2, {"adam", "sparse_adam"});
  row("unknown device", "train --dataset tree:3,4 --device gpu", 2, {"gpu", "sim:"});
  row("no CUDA here", "train --dataset tree:3,4 --device cuda:0 --placement gpu", 4, {"cuda:0"});
  row("arms of nothing", QString("compare --arms shelf:radam ") + kSmall, 2, {"shelf", "ram, disk, gpu"});
  row("arms without a rule", QString("compare --arms ram ") + kSmall, 2, {"PLACE:RULE"});
  row("no database", "resume 99", 3, {"runs.sqlite"});
  row("no such table", "store info nowhere", 3, {"nowhere"});
  row("inspect a missing file", "data inspect none.tsv", 3, {"none.tsv"});
  row("plan without rows", "plan --dim 8", 2, {"--rows"});
}

void TestErrors::wrongUsageAndBadInput() {
  QFETCH(QString, line);
  QFETCH(int, code);
  QFETCH(QStringList, says);
  const Home home;
  const bool trains = line.startsWith("train") || line.startsWith("compare");
  const Ended ended = home.run(line, trains && line != "train" ? QStringList{"--cache", home.cache()} : QStringList());
  COMPARE_EXIT(ended, code);
  for (const QString& part : says) VERIFY_SAYS(ended, part);
  QVERIFY2(ended.out.isEmpty() || code == 2, qPrintable(ended.out));
  QVERIFY2(!QDir(home.cache()).exists() || QDir(home.cache()).isEmpty(), "a table was made");
}

void TestErrors::runsThatAreNotThere() {
  const Home home;
  COMPARE_EXIT(home.run(QString("train --name alpha ") + kSmall, {"--cache", home.cache()}), 0);
  COMPARE_EXIT(home.run(QString("train --name alpha ") + kSmall, {"--cache", home.cache()}), 0);
  for (const char* line : {"resume 99", "eval 99", "runs show 99", "runs rm 99", "store info 99"}) {
    const Ended missing = home.run(line);
    COMPARE_EXIT(missing, 3);
    VERIFY_SAYS(missing, "99");
  }
  const Ended both = home.run("resume alpha");
  COMPARE_EXIT(both, 3);
  VERIFY_SAYS(both, "1");
  VERIFY_SAYS(both, "2");
}

void TestErrors::unwritableCacheFolders_data() {
  QTest::addColumn<QString>("cache");
  QTest::newRow("proc") << "/proc/dsa-cache";
  QTest::newRow("sys") << "/sys/dsa-cache";
  QTest::newRow("below a file") << "HOME/file/cache";
  QTest::newRow("a file") << "HOME/file";
  QTest::newRow("no permission") << "HOME/closed/cache";
}

void TestErrors::unwritableCacheFolders() {
  QFETCH(QString, cache);
  const Home home;
  write(home.path("file"), "mine");
  QDir().mkpath(home.path("closed"));
  QFile::setPermissions(home.path("closed"), QFileDevice::ReadOwner | QFileDevice::ExeOwner);
  if (cache.contains("closed") && ::geteuid() == 0) QSKIP("root may write everywhere");
  cache.replace("HOME", home.path(""));
  const Ended ended = home.run(QString("train ") + kSmall, {"--cache", cache});
  COMPARE_EXIT(ended, 4);
  VERIFY_SAYS(ended, QDir::cleanPath(cache));
  QCOMPARE(sha256OfFile(home.path("file")), [] {
    dsa::Sha256 hash;
    hash.add("mine", 4);
    return hash.hex();
  }());
  QFile::setPermissions(home.path("closed"), QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
}

void TestErrors::aTableInUseNamesItsHolder() {
  const Home home;
  const QString table = interruptedRun(home);
  QVERIFY(!table.isEmpty());
  // Another program that holds the table, as a run of another database would.
  const QByteArray lock = (table + "/lock").toUtf8();
  const int fd = ::open(lock.constData(), O_RDWR);
  QVERIFY(fd >= 0);
  QCOMPARE(::flock(fd, LOCK_EX | LOCK_NB), 0);
  write(table + "/lock", "424242");
  const auto before = contentsOf(table);
  const Ended refused = home.run("resume 1 --json");
  COMPARE_EXIT(refused, 4);
  VERIFY_SAYS(refused, "in use by process 424242");
  QVERIFY(contentsOf(table) == before);
  ::close(fd);
  const auto stopped = home.start("resume 1 --json");
  QTest::qSleep(300);
  ::kill(static_cast<pid_t>(stopped->processId()), SIGINT);
  const Ended ended = Home::end(*stopped);
  QVERIFY2(ended.code == 5 || ended.code == 0, qPrintable(ended.err));
}

void TestErrors::damagedTablesAreRefusedAndLeftAlone_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<QString>("damage");
  for (const char* file : {"store.dsa", "entities.rows", "entities.touched", "losses.f64", "intent.dsa"}) {
    for (const char* damage : {"cut", "foreign", "newer", "gone"})
      QTest::addRow("%s %s", file, damage) << file << damage;
  }
}

void TestErrors::damagedTablesAreRefusedAndLeftAlone() {
  QFETCH(QString, file);
  QFETCH(QString, damage);
  const Home& home = m_killed;
  if (m_table.isEmpty()) m_table = interruptedRun(home);
  const QString table = m_table;
  QVERIFY(QDir(table).exists());
  const QString path = table + "/" + file;
  const QString kept = home.path("kept");
  QFile::remove(kept);
  QVERIFY(QFile::copy(path, kept));
  const auto whole = qScopeGuard([&] {
    QFile::remove(path);
    QFile::rename(kept, path);
  });
  QFile target(path);
  if (damage == "cut") {
    QVERIFY(target.resize(target.size() - 100));
  } else if (damage == "foreign") {
    write(path, "NOTATABLE!", 0);
  } else if (damage == "newer") {
    write(path, QByteArray("\x63\0\0\0", 4), 8);
  } else {
    QVERIFY(target.remove());
  }
  const auto before = contentsOf(table);
  for (const char* line : {"resume 1 --json", "store verify 1 --json", "eval 1 --json"}) {
    // A reader does not need the armed step, which is the writer's.
    if (file == "intent.dsa" && !QString(line).startsWith("resume")) continue;
    const Ended refused = home.run(line);
    COMPARE_EXIT(refused, 3);
    VERIFY_SAYS(refused, file);
    QVERIFY2(contentsOf(table) == before, line);
  }
  QVERIFY(home.newestRun()["status"] == "failed");
}

void TestErrors::theMendedTableEndsAsIfNothingHadBeen() {
  if (m_table.isEmpty()) QSKIP("after damagedTablesAreRefusedAndLeftAlone");
  COMPARE_EXIT(m_killed.run("store verify 1 --json"), 0);
  const Ended resumed = m_killed.run("resume 1 --hash --json");
  COMPARE_EXIT(resumed, 0);
  const Home calm;
  const Ended whole = calm.run(kKilled + " --hash --json", {"--cache", calm.cache()});
  COMPARE_EXIT(whole, 0);
  QVERIFY(resumed.json()["losses"] == whole.json()["losses"]);
  QVERIFY(resumed.json()["table_sha256"] == whole.json()["table_sha256"]);
}

void TestErrors::tablesLargerThanTheMachineAreRefusedBeforeAnythingIsTouched_data() {
  QTest::addColumn<QStringList>("place");
  QTest::addColumn<QString>("says");
  QTest::newRow("ram") << QStringList{"--placement", "ram", "--dataset", "zipf:100000000", "--dim", "4096"}
                       << "needs 4.47 TiB, machine's memory has ";
  QTest::newRow("card of 1 GiB") << QStringList{"--placement", "gpu",          "--device", "sim:1 GiB",
                                                "--dataset",   "zipf:1000000", "--dim",    "128"}
                                 << "needs 1.43 GiB, card has 1.00 GiB; nothing was run";
  QTest::newRow("card of 12 GiB") << QStringList{"--placement", "gpu",           "--device", "sim:12 GiB",
                                                 "--dataset",   "zipf:10000000", "--dim",    "128"}
                                  << "needs 14.31 GiB, card has 12.00 GiB; nothing was run";
  QTest::newRow("card larger than the machine")
      << QStringList{"--placement", "gpu", "--device", "sim:100 TiB", "--dataset", "zipf:100000000", "--dim", "4096"}
      << "needs 4.47 TiB, machine's memory has ";
}

void TestErrors::tablesLargerThanTheMachineAreRefusedBeforeAnythingIsTouched() {
  QFETCH(QStringList, place);
  QFETCH(QString, says);
  const Home home;
  const Ended ended = home.run("train --steps 3 --json", place);
  COMPARE_EXIT(ended, 4);
  VERIFY_SAYS(ended, says);
  VERIFY_SAYS(ended, "nothing was run");
  const Json object = ended.json();
  QCOMPARE(object["status"].get<std::string>(), std::string("refused"));
  QVERIFY(QString::fromStdString(object["reason"].get<std::string>()).contains(says));
  QVERIFY(home.newestRun()["status"] == "refused");
}

void TestErrors::littleFreeSpaceIsAWarning() {
  const Home home;
  // 1.9 PiB of sparse file: more than any disk here, and no reason to refuse.
  const Ended ended = home.run("train --dataset zipf:10000000000 --dim 16 --batch 100 --negatives 2 --steps 2 --json",
                               {"--cache", home.cache()});
  if (ended.code == 4) QSKIP(qPrintable("this file system has no files so large: " + ended.err));
  COMPARE_EXIT(ended, 0);
  VERIFY_SAYS(ended, "sparse");
}

void TestErrors::aFileInTheWayIsNotOverwritten() {
  const Home home;
  COMPARE_EXIT(home.run(QString("train ") + kSmall, {"--cache", home.cache()}), 0);
  write(home.path("export.json"), "mine");
  const Ended exported = home.run("runs export 1 --out", {home.path("export.json")});
  QVERIFY2(exported.code == 3 || exported.code == 4, qPrintable(exported.err));
  VERIFY_SAYS(exported, "export.json");
  QFile file(home.path("export.json"));
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(file.readAll(), QByteArray("mine"));
  write(home.path("data.tsv"), "a\tb\nb\tc\n");
  QDir().mkpath(home.path("there"));
  write(home.path("there/notes.txt"), "mine");
  const Ended imported = home.run("data import", {home.path("data.tsv"), "--out", home.path("there")});
  QVERIFY2(imported.code == 3 || imported.code == 4, qPrintable(imported.err));
  QVERIFY(contentsOf(home.path("there")).size() == 1);
  // A database that is none.
  write(home.path("notes.db"), QByteArray(5000, 'x'));
  const std::string before = sha256OfFile(home.path("notes.db"));
  const Ended foreign = home.run(QString("train ") + kSmall, {"--cache", home.cache(), "--db", home.path("notes.db")});
  COMPARE_EXIT(foreign, 3);
  VERIFY_SAYS(foreign, "notes.db");
  QCOMPARE(sha256OfFile(home.path("notes.db")), before);
}

void TestErrors::aChangedDatasetIsNotTrainedOn() {
  const Home home;
  QByteArray edges;
  for (int i = 1; i < 40; ++i) edges += QByteArray::number(i) + "\tr\t" + QByteArray::number(i / 2) + "\n";
  write(home.path("edges.tsv"), edges);
  const auto process = home.start("train --model transe --dim 8 --epochs 200000 --threads 1 --dataset",
                                  {home.path("edges.tsv"), "--cache", home.cache()});
  QTRY_VERIFY_WITH_TIMEOUT(home.newestRun().is_object() && home.newestRun()["status"] == "running", 20000);
  ::kill(static_cast<pid_t>(process->processId()), SIGINT);
  COMPARE_EXIT(Home::end(*process), 5);
  write(home.path("edges.tsv"), edges + "100\tr\t1\n");
  const auto before = contentsOf(home.cache());
  const Ended refused = home.run("resume 1 --json");
  COMPARE_EXIT(refused, 3);
  VERIFY_SAYS(refused, "changed");
  QVERIFY(contentsOf(home.cache()) == before);
}

void TestErrors::badGradientsEndTheRun() {
  const Home home;
  const Ended ended = home.run(
      "train --dataset umls --model distmult --rule rsgd --lr 1e6 --gradient-cap 0 --dim 8 --batch 64 --epochs 3 "
      "--json",
      {"--cache", home.cache()});
  COMPARE_EXIT(ended, 3);
  VERIFY_SAYS(ended, "not finite");
  const Json object = ended.json();
  QCOMPARE(object["status"].get<std::string>(), std::string("failed"));
  const Json info = home.run("store info 1 --json").json();
  QVERIFY(info["step"] == object["steps"]);
  QVERIFY(home.newestRun()["status"] == "failed");
}

QTEST_GUILESS_MAIN(TestErrors)
#include "tst_errors.moc"
