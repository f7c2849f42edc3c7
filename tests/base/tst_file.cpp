// SPDX-License-Identifier: Apache-2.0
// Tests of core/base/file.h: every error names the thing, the value and the limit, and says whose fault it is.
#include <fcntl.h>
#include <unistd.h>

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/file.h"

using namespace dsa;

namespace {

std::span<const std::byte> bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

/// True if every part occurs in the message; prints the message if not.
bool names(const Error& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (error.message.find(part) == std::string::npos) {
      std::fprintf(stderr, "no \"%s\" in: %s\n", part.c_str(), error.message.c_str());
      return false;
    }
  }
  return true;
}

/// Run inside a namespace of its own, where FOLDER is a tmpfs of 64 KiB: fills it, and says on stdout what happened.
int fillFolder(const std::string& folder) {
  const auto file = File::open(folder + "/table", File::Mode::createNew);
  if (!file) return 10;
  const std::string big(1 << 20, 'x');
  const auto refused = file->writeAt(bytesOf(big), 0);
  if (refused) return 11;
  std::printf("code %d\n%s\n", exitCode(refused.error()), refused.error().message.c_str());
  const auto report = writeTextFileAtomically(folder + "/note", big);
  if (report) return 12;
  if (std::filesystem::exists(folder + "/note")) return 13;
  // Space comes back, and the same descriptor works on.
  if (!file->resize(0)) return 14;
  std::filesystem::remove(folder + "/note.tmp");
  if (!file->writeAt(bytesOf(std::string(4096, 'y')), 0)) return 15;
  return 0;
}

}  // namespace

class TestFile : public QObject {
  Q_OBJECT

 private slots:
  void init();
  void cleanup();
  void missingFileIsBadInput();
  void createNewNeverTouchesAnExistingFile();
  void writesAndReadsAtOffsets();
  void holesOccupyNothing();
  void readPastTheEndSaysExpectedAndFound();
  void writeToReadOnlyIsTheMachine();
  void fullDeviceIsTheMachine();
  void fullDiskIsNamedAndRecoverable();
  void descriptorsCloseOnceAndMove();
  void onlySyncsThatSucceededAreObserved();
  void mappingSeesTheFileAndTheFileSeesTheMapping();
  void mappingNothingIsAnError();
  void anonymousMappingIsZeroAndMoves();
  void makeFolderMakesParentsAndNamesTheObstacle();
  void textLongerThanTheLimitIsRefused();
  void atomicWriteReplacesWholeTexts();
  void atomicWriteSurvivesALeftover();
  void readersNeverSeeAPart();
  void sha256KnownVectors_data();
  void sha256KnownVectors();
  void sha256InPieces();
  void formatBytesTable_data();
  void formatBytesTable();
  void parseBytesTable_data();
  void parseBytesTable();
  void parseBytesRefuses_data();
  void parseBytesRefuses();

 private:
  std::string path(const char* name) const { return m_dir->filePath(name).toStdString(); }

  std::unique_ptr<QTemporaryDir> m_dir;
};

void TestFile::init() {
  m_dir = std::make_unique<QTemporaryDir>();
  QVERIFY(m_dir->isValid());
}

void TestFile::cleanup() {
  setSyncObserver(nullptr);
  m_dir.reset();
}

void TestFile::missingFileIsBadInput() {
  const auto file = File::open(path("none"), File::Mode::readOnly);
  QVERIFY(!file);
  QCOMPARE(file.error().code, ErrorCode::input);
  QVERIFY(names(file.error(), {path("none"), "cannot open", "No such file"}));
  const auto text = readTextFile(path("none"));
  QVERIFY(!text);
  QCOMPARE(exitCode(text.error()), 3);
}

void TestFile::createNewNeverTouchesAnExistingFile() {
  QVERIFY(writeTextFileAtomically(path("a"), "precious"));
  const auto file = File::open(path("a"), File::Mode::createNew);
  QVERIFY(!file);
  QCOMPARE(file.error().code, ErrorCode::machine);
  QVERIFY(names(file.error(), {path("a"), "cannot create", "exists"}));
  QCOMPARE(readTextFile(path("a")).value(), std::string("precious"));
}

void TestFile::writesAndReadsAtOffsets() {
  const auto file = File::open(path("a"), File::Mode::createNew).value();
  QVERIFY(file.writeAt(bytesOf("tail"), 4));
  QVERIFY(file.writeAt(bytesOf("head"), 0));
  QCOMPARE(file.size().value(), std::uint64_t{8});
  std::string got(4, ' ');
  QVERIFY(file.readAt(std::as_writable_bytes(std::span(got)), 2));
  QCOMPARE(got, std::string("adta"));
  QVERIFY(file.resize(3));
  QCOMPARE(readTextFile(path("a")).value(), std::string("hea"));
}

void TestFile::holesOccupyNothing() {
  const auto file = File::open(path("a"), File::Mode::createNew).value();
  QVERIFY(file.resize(64ull << 20));
  QVERIFY(file.writeAt(bytesOf("x"), 32ull << 20));
  QVERIFY(file.sync());
  QCOMPARE(file.size().value(), std::uint64_t{64ull << 20});
  const std::uint64_t occupied = file.occupied().value();
  QVERIFY2(occupied > 0 && occupied <= (1u << 20), qPrintable(QString::number(occupied)));
}

void TestFile::readPastTheEndSaysExpectedAndFound() {
  const auto file = File::open(path("a"), File::Mode::createNew).value();
  QVERIFY(file.writeAt(bytesOf("0123456789"), 0));
  std::string got(8, ' ');
  const auto result = file.readAt(std::as_writable_bytes(std::span(got)), 5);
  QVERIFY(!result);
  QCOMPARE(result.error().code, ErrorCode::input);
  QVERIFY(names(result.error(), {path("a"), "byte 10", "at least 13"}));
}

void TestFile::writeToReadOnlyIsTheMachine() {
  QVERIFY(writeTextFileAtomically(path("a"), "text"));
  const auto file = File::open(path("a"), File::Mode::readOnly).value();
  const auto result = file.writeAt(bytesOf("more"), 0);
  QVERIFY(!result);
  QCOMPARE(exitCode(result.error()), 4);
  QVERIFY(names(result.error(), {path("a"), "cannot write"}));
}

void TestFile::fullDeviceIsTheMachine() {
  const auto file = File::open("/dev/full", File::Mode::readWrite).value();
  const auto result = file.writeAt(bytesOf("x"), 0);
  QVERIFY(!result);
  QCOMPARE(result.error().code, ErrorCode::machine);
  QVERIFY(names(result.error(), {"/dev/full", "cannot write", "No space left"}));
}

void TestFile::fullDiskIsNamedAndRecoverable() {
  const QString unshare = QStandardPaths::findExecutable("unshare");
  if (unshare.isEmpty()) QSKIP("no unshare command: cannot mount a small disk");
  const QString script = "mount -t tmpfs -o size=64k none \"$1\" || exit 77; exec \"$0\" --fill \"$1\"";
  QProcess child;
  child.start(unshare, {"-rm", "sh", "-c", script, QCoreApplication::applicationFilePath(), m_dir->path()});
  QVERIFY(child.waitForFinished(60000));
  const QString said = QString::fromUtf8(child.readAllStandardOutput());
  const QString complained = QString::fromUtf8(child.readAllStandardError());
  if (child.exitCode() == 77 || complained.startsWith("unshare:")) QSKIP("no right to mount a small disk");
  QVERIFY2(child.exitStatus() == QProcess::NormalExit && child.exitCode() == 0,
           qPrintable(QString("exit %1: %2").arg(child.exitCode()).arg(complained)));
  QVERIFY2(said.startsWith("code 4\n"), qPrintable(said));
  QVERIFY2(said.contains(m_dir->filePath("table")) && said.contains("No space left"), qPrintable(said));
}

void TestFile::descriptorsCloseOnceAndMove() {
  int fd = -1;
  {
    auto first = File::open(path("a"), File::Mode::createNew).value();
    fd = first.fd();
    QVERIFY((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    File second = std::move(first);
    QVERIFY(!first.isOpen());  // NOLINT(bugprone-use-after-move): the claim is about the moved-from state
    QCOMPARE(second.fd(), fd);
    QCOMPARE(second.path(), path("a"));
    auto third = File::open(path("b"), File::Mode::createNew).value();
    const int closing = third.fd();
    third = std::move(second);
    QCOMPARE(third.fd(), fd);
    QCOMPARE(::fcntl(closing, F_GETFD), -1);
  }
  QCOMPARE(::fcntl(fd, F_GETFD), -1);
}

void TestFile::onlySyncsThatSucceededAreObserved() {
  std::vector<std::string> seen;
  setSyncObserver([&](const std::string& synced) { seen.push_back(synced); });
  const auto file = File::open(path("a"), File::Mode::createNew).value();
  QVERIFY(file.resize(4096));
  QVERIFY(seen.empty());
  QVERIFY(file.sync());
  const auto mapping = Mapping::map(file, 4096, Mapping::Kind::sharedReadWrite).value();
  QVERIFY(mapping.sync("map of a"));
  const auto device = File::open("/dev/full", File::Mode::readWrite).value();
  const auto refused = device.sync();
  QVERIFY(!refused);
  QCOMPARE(refused.error().code, ErrorCode::machine);
  QCOMPARE(seen, (std::vector<std::string>{path("a"), "map of a"}));
}

void TestFile::mappingSeesTheFileAndTheFileSeesTheMapping() {
  const auto file = File::open(path("a"), File::Mode::createNew).value();
  QVERIFY(file.writeAt(bytesOf("0123"), 0));
  const auto mapping = Mapping::map(file, 4, Mapping::Kind::sharedReadWrite).value();
  const auto reader = Mapping::map(file, 4, Mapping::Kind::sharedReadOnly).value();
  QCOMPARE(mapping.size(), std::uint64_t{4});
  QCOMPARE(std::string(reinterpret_cast<const char*>(mapping.data()), 4), std::string("0123"));
  mapping.data()[1] = std::byte{'X'};
  QCOMPARE(static_cast<char>(reader.data()[1]), 'X');
  QCOMPARE(readTextFile(path("a")).value(), std::string("0X23"));
}

void TestFile::mappingNothingIsAnError() {
  const auto file = File::open(path("a"), File::Mode::createNew).value();
  const auto mapping = Mapping::map(file, 0, Mapping::Kind::sharedReadOnly);
  QVERIFY(!mapping);
  QVERIFY(names(mapping.error(), {path("a"), "cannot map"}));
}

void TestFile::anonymousMappingIsZeroAndMoves() {
  auto first = Mapping::anonymous(1 << 16).value();
  for (std::uint64_t i = 0; i < first.size(); ++i) QVERIFY(first.data()[i] == std::byte{0});
  std::byte* data = first.data();
  data[77] = std::byte{5};
  Mapping second;
  second = std::move(first);
  QVERIFY(first.data() == nullptr);  // NOLINT(bugprone-use-after-move): the claim is about the moved-from state
  QCOMPARE(second.data(), data);
  QVERIFY(second.data()[77] == std::byte{5});
  const auto tooMuch = Mapping::anonymous(1ull << 62);
  QVERIFY(!tooMuch);
  QCOMPARE(tooMuch.error().code, ErrorCode::machine);
  QVERIFY(names(tooMuch.error(), {"4.00 EiB"}));
}

void TestFile::makeFolderMakesParentsAndNamesTheObstacle() {
  QVERIFY(makeFolder(path("x/y/z")));
  QVERIFY(std::filesystem::is_directory(path("x/y/z")));
  QVERIFY(makeFolder(path("x/y/z")));
  QVERIFY(syncFolder(path("x/y/z")));
  QVERIFY(writeTextFileAtomically(path("file"), ""));
  const auto obstacle = makeFolder(path("file/below"));
  QVERIFY(!obstacle);
  QCOMPARE(obstacle.error().code, ErrorCode::machine);
  QVERIFY(names(obstacle.error(), {path("file/below"), "folder"}));
  QVERIFY(!syncFolder(path("none")));
}

void TestFile::textLongerThanTheLimitIsRefused() {
  QVERIFY(writeTextFileAtomically(path("a"), std::string(2048, 'x')));
  QCOMPARE(readTextFile(path("a"), 2048).value().size(), std::size_t{2048});
  const auto text = readTextFile(path("a"), 1024);
  QVERIFY(!text);
  QCOMPARE(text.error().code, ErrorCode::input);
  QVERIFY(names(text.error(), {path("a"), "2.00 KiB", "1.00 KiB"}));
}

void TestFile::atomicWriteReplacesWholeTexts() {
  QVERIFY(writeTextFileAtomically(path("a"), "a long first text"));
  const auto old = File::open(path("a"), File::Mode::readOnly).value();
  QVERIFY(writeTextFileAtomically(path("a"), "short"));
  QCOMPARE(readTextFile(path("a")).value(), std::string("short"));
  // Who had the old file open still reads it whole: it was replaced, not rewritten.
  std::string got(17, ' ');
  QVERIFY(old.readAt(std::as_writable_bytes(std::span(got)), 0));
  QCOMPARE(got, std::string("a long first text"));
  QVERIFY(!std::filesystem::exists(path("a.tmp")));
  const auto nowhere = writeTextFileAtomically(path("none/a"), "text");
  QVERIFY(!nowhere);
  QVERIFY(names(nowhere.error(), {path("none/a")}));
}

void TestFile::atomicWriteSurvivesALeftover() {
  const auto leftover = File::open(path("a.tmp"), File::Mode::createNew).value();
  QVERIFY(leftover.writeAt(bytesOf("of a killed process, longer than what follows"), 0));
  QVERIFY(writeTextFileAtomically(path("a"), "text"));
  QCOMPARE(readTextFile(path("a")).value(), std::string("text"));
}

void TestFile::readersNeverSeeAPart() {
  const std::string one(30000, '1');
  const std::string two(50000, '2');
  QVERIFY(writeTextFileAtomically(path("a"), one));
  std::atomic<bool> stop{false};
  std::atomic<int> parts{0};
  std::atomic<int> reads{0};
  std::thread reader([&] {
    while (!stop.load()) {
      const auto text = readTextFile(path("a"));
      if (!text || (*text != one && *text != two)) ++parts;
      ++reads;
    }
  });
  bool written = true;
  for (int i = 0; i < 100 || reads.load() < 100; ++i) {
    written = writeTextFileAtomically(path("a"), i % 2 == 0 ? two : one).has_value() && written;
  }
  stop = true;
  reader.join();
  QVERIFY(written);
  QCOMPARE(parts.load(), 0);
}

void TestFile::sha256KnownVectors_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("expected");
  // FIPS 180-4 examples.
  QTest::newRow("empty") << QByteArray() << "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  QTest::newRow("abc") << QByteArray("abc") << "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  QTest::newRow("two blocks") << QByteArray("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                              << "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
  QTest::newRow("a million a") << QByteArray(1000000, 'a')
                               << "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
}

void TestFile::sha256KnownVectors() {
  QFETCH(QByteArray, text);
  QFETCH(QString, expected);
  Sha256 hash;
  hash.add(text.constData(), static_cast<std::size_t>(text.size()));
  QCOMPARE(QString::fromStdString(hash.hex()), expected);
}

void TestFile::sha256InPieces() {
  Sha256 hash;
  hash.add("a", 1);
  hash.add("", 0);
  hash.add("bc", 2);
  QCOMPARE(hash.hex(), std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

void TestFile::formatBytesTable_data() {
  QTest::addColumn<quint64>("bytes");
  QTest::addColumn<QString>("text");
  QTest::newRow("none") << quint64{0} << "0 B";
  QTest::newRow("below KiB") << quint64{1023} << "1023 B";
  QTest::newRow("KiB") << quint64{1024} << "1.00 KiB";
  QTest::newRow("rounds into MiB") << quint64{1048575} << "1.00 MiB";
  QTest::newRow("stays in KiB") << quint64{1048570} << "1023.99 KiB";
  QTest::newRow("demo table") << quint64{1536000000} << "1.43 GiB";
  QTest::newRow("the article's table") << quint64{15360000000} << "14.31 GiB";
  QTest::newRow("TiB") << (quint64{3} << 40) << "3.00 TiB";
  QTest::newRow("largest") << ~quint64{0} << "16.00 EiB";
}

void TestFile::formatBytesTable() {
  QFETCH(quint64, bytes);
  QFETCH(QString, text);
  QCOMPARE(QString::fromStdString(formatBytes(bytes)), text);
}

void TestFile::parseBytesTable_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<quint64>("bytes");
  QTest::newRow("plain") << "4096" << quint64{4096};
  QTest::newRow("zero") << "0" << quint64{0};
  QTest::newRow("with B") << "17 B" << quint64{17};
  QTest::newRow("MiB") << "256 MiB" << quint64{256} * 1024 * 1024;
  QTest::newRow("GiB") << "12 GiB" << quint64{12} * 1024 * 1024 * 1024;
  QTest::newRow("fraction, no space") << "1.5GiB" << quint64{1610612736};
  QTest::newRow("lower case") << "64mib" << quint64{64} * 1024 * 1024;
  QTest::newRow("k") << "4k" << quint64{4096};
  QTest::newRow("M") << "2M" << quint64{2097152};
  QTest::newRow("G") << "3 G" << quint64{3221225472};
  QTest::newRow("T") << "1T" << (quint64{1} << 40);
}

void TestFile::parseBytesTable() {
  QFETCH(QString, text);
  QFETCH(quint64, bytes);
  const auto parsed = parseBytes(text.toStdString());
  QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
  QCOMPARE(quint64{*parsed}, bytes);
}

void TestFile::parseBytesRefuses_data() {
  QTest::addColumn<QString>("text");
  for (const char* text : {"", " ", "GiB", "-1", "-5 MiB", "12 XiB", "12 GiBs", "1 2 GiB", "nan", "inf", "1e30",
                           "12 iB", "9000000000 GiB", "256 MiB/s"}) {
    QTest::addRow("\"%s\"", text) << text;
  }
}

void TestFile::parseBytesRefuses() {
  QFETCH(QString, text);
  const auto parsed = parseBytes(text.toStdString());
  QVERIFY2(!parsed, parsed ? qPrintable(QString::number(*parsed)) : "");
  QCOMPARE(parsed.error().code, ErrorCode::usage);
  QVERIFY(names(parsed.error(), {'"' + text.toStdString() + '"'}));
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--fill") return fillFolder(argv[2]);
  const QCoreApplication app(argc, argv);
  TestFile test;
  return QTest::qExec(&test, argc, argv);
}

#include "tst_file.moc"
