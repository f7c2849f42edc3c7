// SPDX-License-Identifier: Apache-2.0
// The database file: what is created, what is refused untouched, how an older one is lifted and a newer one kept.
#include <sys/stat.h>

#include <QObject>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/base/file.h"
#include "core/record/database.h"
#include "tests/record/record_fixture.h"

using namespace dsa;

namespace {

std::string bytesOf(const std::string& path) { return readTextFile(path).value(); }

void writeBytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// A file of the first format with one run, made without the library.
void makeFirstFormat(const std::string& path) {
  SQLite::Database db = test::raw(path);
  db.exec(bytesOf(DSA_TEST_DATA "/record/schema_v1.sql"));
  db.exec("INSERT INTO run (uuid, name, spec, status, created_ms) VALUES ('u-1', 'old', '{}', 'finished', 7)");
}

/// Today's steps and one more that adds a column.
std::vector<Migration> withOneMore(const char* sql) {
  std::vector<Migration> steps(builtInMigrations().begin(), builtInMigrations().end());
  steps.push_back(Migration{steps.back().version + 1, sql});
  return steps;
}

std::string tablesOf(const std::string& path) {
  SQLite::Database db = test::raw(path);
  return db.execAndGet("SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY name)").getString();
}

}  // namespace

class TestDatabase : public QObject {
  Q_OBJECT
 private slots:
  void createsItsFolderAndAWalDatabase() {
    const test::Folder folder;
    const std::string path = folder.file("a/b/runs.sqlite");
    auto database = Database::open(path);
    MUST(database);
    QVERIFY(!database->readOnly());
    MUST(database->check());
    QCOMPARE(test::raw(path).execAndGet("PRAGMA journal_mode").getString(), std::string("wal"));
    QCOMPARE(test::number(path, "PRAGMA application_id"), std::int64_t{kApplicationId});
    QCOMPARE(test::number(path, "PRAGMA user_version"), std::int64_t{builtInMigrations().back().version});
    MUST(Database::open(path));
  }

  /// Two runs started at once, none before them: SQLite refuses the change to WAL at once while another connection
  /// makes it.
  void severalMayMakeItAtOnce() {
    const test::Folder folder;
    const std::string path = folder.file("runs.sqlite");
    SQLite::Database other = test::raw(path);
    other.exec("BEGIN IMMEDIATE");
    std::thread ending([&] {
      QTest::qSleep(300);
      other.exec("COMMIT");
    });
    const auto database = Database::open(path);
    ending.join();
    MUST(database);
    MUST(database->check());
  }

  void defaultPathFollowsXdg() {
    qputenv("XDG_DATA_HOME", "/data/home");
    QCOMPARE(Database::defaultPath(), std::string("/data/home/dsa-lab/runs.sqlite"));
    qputenv("XDG_DATA_HOME", "relative");
    qputenv("HOME", "/home/x");
    QCOMPARE(Database::defaultPath(), std::string("/home/x/.local/share/dsa-lab/runs.sqlite"));
  }

  void refusesWhatIsNoDatabaseOfOurs_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("five bytes") << QByteArray("hello");
    QTest::newRow("a text") << QByteArray(20000, 'x');
    QTest::newRow("a damaged database") << QByteArray("SQLite format 3\0", 16) + QByteArray(8000, '\x5a');
  }

  void refusesWhatIsNoDatabaseOfOurs() {
    QFETCH(QByteArray, bytes);
    const test::Folder folder;
    const std::string path = folder.database();
    writeBytes(path, bytes.toStdString());
    const auto database = Database::open(path);
    QVERIFY(!database);
    QCOMPARE(database.error().code, ErrorCode::input);
    QVERIFY(database.error().message.find(path) != std::string::npos);
    QCOMPARE(bytesOf(path), bytes.toStdString());
  }

  void refusesADatabaseOfAnotherProgram() {
    const test::Folder folder;
    const std::string path = folder.database();
    test::raw(path).exec("CREATE TABLE bookmarks (id INTEGER)");
    const std::string before = bytesOf(path);
    const auto database = Database::open(path);
    QVERIFY(!database);
    QVERIFY(database.error().message.find("another program") != std::string::npos);
    QCOMPARE(bytesOf(path), before);
  }

  void refusesAFolderAndAMissingFileToRead() {
    const test::Folder folder;
    QCOMPARE(Database::open(folder.file("")).error().code, ErrorCode::input);
    DatabaseOptions reading;
    reading.access = Access::readOnly;
    QCOMPARE(Database::open(folder.database(), reading).error().code, ErrorCode::input);
    QVERIFY(!std::filesystem::exists(folder.database()));
  }

  void refusesANetworkFileSystemBeforeAnythingIsMade() {
    const test::Folder folder;
    DatabaseOptions options;
    options.networkFileSystem = [](const std::string&) { return "nfs"; };
    const auto database = Database::open(folder.database(), options);
    QVERIFY(!database);
    QCOMPARE(database.error().code, ErrorCode::machine);
    QVERIFY(database.error().message.find("nfs") != std::string::npos);
    QVERIFY(!std::filesystem::exists(folder.database()));
    QVERIFY(!networkFileSystem(folder.file("")).has_value());
  }

  void aFileThatMayNotBeWrittenOpensReadOnly() {
    if (::geteuid() != 0) QSKIP("SKIP: needs root to become another user");
    const test::Folder folder;
    std::filesystem::permissions(folder.file(""), std::filesystem::perms(0755));
    const std::string path = folder.file("data/runs.sqlite");
    MUST(Database::open(path));
    std::filesystem::permissions(path, std::filesystem::perms(0444));
    std::filesystem::permissions(folder.file("data"), std::filesystem::perms(0555));
    const pid_t child = test::inChild([&] {
      if (::setuid(65534) != 0) return 1;
      auto database = Database::open(path);
      if (!database || !database->readOnly()) return 2;
      if (database->write("x", [](SQLite::Database&) -> Result<void> { return {}; })) return 3;
      if (!Reader::open(path) || !Reader::open(path)->runs()) return 4;
      const auto elsewhere = Database::open(folder.file("data/other.sqlite"));
      return !elsewhere && elsewhere.error().code == ErrorCode::machine ? 0 : 5;
    });
    QCOMPARE(test::exitStatusOf(child), 0);
  }

  void theFirstFormatIsNeverEdited() {
    const test::Folder folder;
    makeFirstFormat(folder.file("frozen.sqlite"));
    const std::array first = {builtInMigrations().front()};
    DatabaseOptions options;
    options.migrations = first;
    MUST(Database::open(folder.database(), options));
    QCOMPARE(tablesOf(folder.database()), tablesOf(folder.file("frozen.sqlite")));
  }

  void anOlderFileIsBackedUpAndLifted() {
    const test::Folder folder;
    const std::string path = folder.database();
    makeFirstFormat(path);
    const auto steps = withOneMore("ALTER TABLE run ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'");
    DatabaseOptions options;
    options.migrations = steps;
    auto database = Database::open(path, options);
    MUST(database);
    const std::string backup = path + ".v1.backup";
    QVERIFY(database->notice().find(backup) != std::string::npos);
    QCOMPARE(test::raw(path).execAndGet("SELECT name || mood FROM run").getString(), std::string("oldcalm"));
    QCOMPARE(test::number(path, "PRAGMA user_version"), std::int64_t{steps.back().version});
    QCOMPARE(test::number(backup, "PRAGMA user_version"), std::int64_t{1});
    QCOMPARE(test::raw(backup).execAndGet("SELECT name FROM run").getString(), std::string("old"));
    QVERIFY(Database::open(path, options)->notice().empty());
  }

  void anOldRunTakesAnEmbedding() {
    const test::Folder folder;
    makeFirstFormat(folder.database());
    auto recorder = Recorder::open(folder.database());
    MUST(recorder);
    const auto reader = Reader::open(folder.database());
    QVERIFY(!reader->embedding(1)->has_value());
    MUST((*recorder)->attachRun(1));
    (*recorder)->embedding(test::embedding(2));
    MUST((*recorder)->flush());
    QCOMPARE((*reader->embedding(1))->step, std::uint64_t{2});
    MUST(reader->database().check());
  }

  void aFailedMigrationLeavesTheFileAsItWas() {
    const test::Folder folder;
    const std::string path = folder.database();
    makeFirstFormat(path);
    const auto steps = withOneMore("CREATE TABLE half (id INTEGER); INSERT INTO nowhere VALUES (1)");
    DatabaseOptions options;
    options.migrations = steps;
    QVERIFY(!Database::open(path, options));
    QCOMPARE(test::number(path, "PRAGMA user_version"), std::int64_t{1});
    QCOMPARE(test::number(path, "SELECT count(*) FROM sqlite_master WHERE name = 'half'"), std::int64_t{0});
    MUST(Database::open(path));
  }

  // A descriptor of our own, opened and closed beside SQLite's, would drop this process's locks: the child would take
  // itself for the last user, remove the log, and what it wrote later would never be seen here.
  void openingTwiceKeepsTheLocks() {
    const test::Folder folder;
    const std::string path = folder.database();
    MUST(Database::open(path));
    auto first = Database::open(path);
    MUST(first);
    DatabaseOptions reading;
    reading.access = Access::readOnly;
    auto reader = Database::open(path, reading);
    MUST(reader);
    for (int round = 1; round <= 3; ++round) {
      MUST(Database::open(path));
      const pid_t child = ::fork();
      if (child == 0) {
        // A process of its own: nothing of the parent's connections is touched.
        ::execlp("/bin/sh", "sh", "-c", "exec \"$0\" --write \"$1\" \"$2\"",
                 QCoreApplication::applicationFilePath().toStdString().c_str(), path.c_str(),
                 std::to_string(round).c_str(), nullptr);
        ::_exit(127);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      std::int64_t seen = 0;
      MUST(reader->read("count", [&](SQLite::Database& db) -> Result<void> {
        seen = db.execAndGet("SELECT count(*) FROM run").getInt64();
        return {};
      }));
      QCOMPARE(seen, std::int64_t{round});
    }
  }

  void aNewerFileOpensReadOnlyWithANotice() {
    const test::Folder folder;
    const std::string path = folder.database();
    makeFirstFormat(path);
    MUST(Database::open(path));  // a later format has at least today's columns
    test::raw(path).exec("PRAGMA user_version = 99");
    auto database = Database::open(path);
    MUST(database);
    QVERIFY(database->readOnly());
    QVERIFY(database->notice().find("99") != std::string::npos);
    const auto written = database->write("rename", [](SQLite::Database& db) -> Result<void> {
      db.exec("UPDATE run SET name = 'new'");
      return {};
    });
    QVERIFY(!written);
    QCOMPARE(written.error().code, ErrorCode::machine);
    const auto reader = Reader::open(path);
    MUST(reader);
    QCOMPARE(reader->runs()->size(), std::size_t{1});
    QVERIFY(!Recorder::open(path));
    QCOMPARE(test::raw(path).execAndGet("SELECT name FROM run").getString(), std::string("old"));
  }

  void aFailedWriteLeavesNothing() {
    const test::Folder folder;
    auto database = Database::open(folder.database());
    MUST(database);
    const char* insert = "INSERT INTO metric (name, unit, source, axis) VALUES ('a', '', '', 'step')";
    const auto refused = database->write("try", [&](SQLite::Database& db) -> Result<void> {
      db.exec(insert);
      return fail(ErrorCode::input, "no");
    });
    QCOMPARE(refused.error().message, std::string("no"));
    const auto thrown = database->write("try", [&](SQLite::Database& db) -> Result<void> {
      db.exec(insert);
      db.exec(insert);  // the name is unique
      return {};
    });
    QCOMPARE(thrown.error().code, ErrorCode::bug);
    QCOMPARE(test::number(folder.database(), "SELECT count(*) FROM metric"), std::int64_t{0});
  }

  void aHeldLockIsSaidAsSuch() {
    const test::Folder folder;
    DatabaseOptions options;
    options.lockPatienceMs = 10;
    auto database = Database::open(folder.database(), options);
    MUST(database);
    SQLite::Database holder = test::raw(folder.database());
    holder.exec("BEGIN IMMEDIATE");
    const auto nothing = [](SQLite::Database&) -> Result<void> { return {}; };
    const auto refused = database->write("store", nothing);
    QVERIFY(!refused);
    QVERIFY(database->lockedOut());
    QVERIFY(refused.error().message.find("lock") != std::string::npos);
    holder.exec("COMMIT");
    MUST(database->write("store", nothing));
    QVERIFY(!database->lockedOut());
  }
};

/// With --write PATH NUMBER: another program, which adds a run and ends.
int main(int argc, char** argv) {
  QCoreApplication app(argc, argv);
  if (argc == 4 && std::string(argv[1]) == "--write") {
    auto database = Database::open(argv[2]);
    if (!database) return 1;
    const auto written = database->write("add a run", [&](SQLite::Database& db) -> Result<void> {
      db.exec(std::string("INSERT INTO run (uuid, name, spec, status, created_ms) VALUES ('") + argv[3] +
              "', 'x', '{}', 'finished', 1)");
      return {};
    });
    return written ? 0 : 1;
  }
  TestDatabase test;
  return QTest::qExec(&test, argc, argv);
}
#include "tst_database.moc"
