// SPDX-License-Identifier: Apache-2.0
// Hostile and damaged input ends in a message: no crash, no hang, no memory beyond the content.
#include <sys/resource.h>
#include <sys/stat.h>

#include <QElapsedTimer>
#include <QtTest>

#include "core/base/random.h"
#include "data_test.h"

using namespace dsa;
using namespace dsa::test;

namespace {

Result<Imported> readBytes(std::string_view bytes, const ImportOptions& options = {}) {
  const Folder folder;
  return importDataset(folder.write("x", bytes), options);
}

/// 0 under AddressSanitizer, whose quarantine keeps what was freed.
std::uint64_t peakBytes() {
#if defined(__SANITIZE_ADDRESS__)
  return 0;
#endif
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

class TestHostileInput : public QObject {
  Q_OBJECT
 private slots:
  void missingAndStrangePaths();
  void nulBytes();
  void binaryIsNoText();
  void longLine();
  void longName();
  void bombOfZeros();
  void bombOfEdges();
  void unpackLimitIsNamed();
  void cutArchives_data();
  void cutArchives();
  void nestedArchives();
  void tooManyMembers();
  void badUtf8_data();
  void badUtf8();
  void quotesWithoutEnd();
  void randomBytesNeverCrash();
  void mutatedFilesNeverCrash();
};

void TestHostileInput::missingAndStrangePaths() {
  const Folder folder;
  const auto missing = importDataset(folder.path("nothing.tsv"), {});
  DSA_REFUSED(missing, "there is no such file or folder");
  QCOMPARE(missing.error().code, ErrorCode::input);
  QVERIFY(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  DSA_REFUSED(importDataset(folder.path("pipe"), {}), "not a regular file");
  DSA_REFUSED(importDataset("/dev/zero", {}), "not a regular file");
  const Folder empty;
  DSA_REFUSED(importDataset(empty.path(), {}), "the folder has no files");
  const Folder two;
  two.write("a.tsv", "a\tr\tb\n");
  two.write("b.tsv", "a\tr\tb\n");
  DSA_REFUSED(importDataset(two.path(), {}), "name the one to read");
}

void TestHostileInput::nulBytes() {
  ImportOptions options;
  options.badLines = BadLines::skip;
  std::string text = "a\tr\tb\n" + std::string("c\0d\tr\tb\n", 8);
  for (int i = 0; i < 20; ++i) text += "b\tr\tc\n";
  const auto result = readBytes(text, options);
  DSA_REQUIRE(result);
  QCOMPARE(linesOf(result->report.badLines), (std::vector<std::uint64_t>{2}));
  QCOMPARE(result->report.badLines.first[0].text, std::string("field 1 holds a NUL byte"));
}

void TestHostileInput::binaryIsNoText() {
  std::string bytes =
      "\x7F"
      "ELF";
  for (int i = 0; i < 4000; ++i) bytes += std::string("\x01\0\0\0\x90", 5);
  DSA_REFUSED(readBytes(bytes), "not a text");
  DSA_REFUSED(readBytes(std::string("\xFF\xFE\0\0a\0\0\0", 8)), "UTF-32");
  DSA_REFUSED(readBytes("\n\n  \n"), "only blank lines");
  DSA_REFUSED(readBytes("one\ntwo\n"), "no separator found");
  DSA_REFUSED(readBytes("# only\n# comments here\n"), "no edge to train on");
}

void TestHostileInput::longLine() {
  const std::uint64_t before = peakBytes();
  const std::string zeros = packed({{"x", std::string(64u << 20, 'a')}}, "raw", "gzip");
  ImportOptions options;
  options.limits.unpack.ratio = 1'000'000;
  DSA_REFUSED(readBytes("a\tr\tb\n" + std::string(20u << 20, 'x')), "line 2 is longer than 16.00 MiB");
  DSA_REFUSED(readBytes(zeros, options), "line 1 is longer than 16.00 MiB");
  QVERIFY2(peakBytes() - before < (200u << 20), "a long line must not be kept");
}

void TestHostileInput::longName() {
  DSA_REFUSED(readBytes("a\tr\t" + std::string(70'000, 'x') + "\n"), "field 3 has 70000 bytes, at most 65536");
  // Not cut: the cut would go through a letter.
  std::string term = "[Term]\nid: 1\nname: x";
  for (int i = 0; i < 40'000; ++i) term += "\xC3\xA9";
  term += "\nis_a: 2\n";
  DSA_REFUSED(readBytes(term), "line 3: a name of more than 65536 bytes");
  ImportOptions options;
  options.badLines = BadLines::skip;
  const auto result = readBytes(term, options);
  DSA_REQUIRE(result);
  QCOMPARE(edgeTexts(result->dataset, result->dataset.train), (std::vector<std::string>{"1|is_a|2"}));
}

void TestHostileInput::bombOfZeros() {
  const std::string bytes = packed({{"x", std::string(100u << 20, '\0')}}, "raw", "gzip");
  QVERIFY(bytes.size() < (1u << 20));
  DSA_REFUSED(readBytes(bytes), "empty, or holds only NUL bytes");
  const std::string zip = packed({{"a.tsv", std::string(100u << 20, ' ')}, {"b.tsv", "a\tr\tb\n"}}, "zip", "none");
  ImportOptions options;
  options.member = "b.tsv";
  DSA_REFUSED(readBytes(zip, options), "looks like a decompression bomb");
}

void TestHostileInput::bombOfEdges() {
  std::string text;
  while (text.size() < (80u << 20)) text += "a\tr\tb\n";
  const std::uint64_t before = peakBytes();
  const std::string bytes = packed({{"x", text}}, "raw", "zstd");
  const std::uint64_t packedPeak = peakBytes();
  DSA_REFUSED(readBytes(bytes), "looks like a decompression bomb");
  QVERIFY2(peakBytes() - std::max(before, packedPeak) < (64u << 20), "equal edges must not be kept");
}

void TestHostileInput::unpackLimitIsNamed() {
  ImportOptions options;
  options.limits.unpack.bytes = 1u << 20;
  std::string text;
  while (text.size() < (2u << 20)) text += fmt::format("a{}\tr\tb\n", text.size());
  DSA_REFUSED(readBytes(text, options), "more than 1.00 MiB once unpacked");
  DSA_REFUSED(readBytes(packed({{"x", text}}, "ustar", "gzip"), options), "more than 1.00 MiB once unpacked");
}

void TestHostileInput::cutArchives_data() {
  QTest::addColumn<QByteArray>("format");
  QTest::addColumn<QByteArray>("filter");
  QTest::newRow("gz") << QByteArray("raw") << QByteArray("gzip");
  QTest::newRow("xz") << QByteArray("raw") << QByteArray("xz");
  QTest::newRow("bz2") << QByteArray("raw") << QByteArray("bzip2");
  QTest::newRow("zstd") << QByteArray("raw") << QByteArray("zstd");
  QTest::newRow("zip") << QByteArray("zip") << QByteArray("none");
  QTest::newRow("tar") << QByteArray("ustar") << QByteArray("none");
  QTest::newRow("tar.gz") << QByteArray("ustar") << QByteArray("gzip");
}

void TestHostileInput::cutArchives() {
  QFETCH(QByteArray, format);
  QFETCH(QByteArray, filter);
  std::string text;
  for (unsigned i = 0; i < 30'000; ++i) text += fmt::format("n{}\tr\tm{}\n", philox(1, Stream::tests, i, 0).word[0], i);
  const std::string whole = packed({{"x.tsv", text}}, format.constData(), filter.constData());
  DSA_REQUIRE(readBytes(whole));
  // The tail of a tar is padding and of a zip the directory: cut inside the data.
  for (const double share : {0.9, 0.5, 0.1}) {
    const auto result = readBytes(std::string_view(whole).substr(0, std::size_t(double(whole.size()) * share)));
    DSA_REFUSED(result, "damaged or cut short");
    QCOMPARE(result.error().code, ErrorCode::input);
  }
}

void TestHostileInput::nestedArchives() {
  const std::string inner = packed({{"train.tsv", "a\tr\tb\n"}}, "ustar", "gzip");
  DSA_REFUSED(readBytes(packed({{"inner.tar.gz", inner}}, "zip", "none")), "an archive inside an archive is not read");
  std::string deep = "a\tr\tb\n";
  for (int i = 0; i < 40; ++i) deep = packed({{"x", deep}}, "raw", "gzip");
  QVERIFY(!readBytes(deep).has_value());  // libarchive undoes 25 at most; what is left is no text
}

void TestHostileInput::tooManyMembers() {
  std::vector<std::pair<std::string, std::string>> members;
  for (int i = 0; i < 200; ++i) members.emplace_back(fmt::format("f{}", i), "a\tr\tb\n");
  ImportOptions options;
  options.limits.unpack.members = 100;
  DSA_REFUSED(readBytes(packed(members, "ustar", "gzip"), options), "more than 100 entries");
}

void TestHostileInput::badUtf8_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::newRow("lone continuation") << QByteArray("\x80");
  QTest::newRow("overlong slash") << QByteArray("\xC0\xAF");
  QTest::newRow("overlong three") << QByteArray("\xE0\x80\xAF");
  QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80");
  QTest::newRow("past the end") << QByteArray("\xF4\x90\x80\x80");
  QTest::newRow("cut") << QByteArray("\xE5\x8C");
}

void TestHostileInput::badUtf8() {
  QFETCH(QByteArray, bytes);
  DSA_REFUSED(readBytes("a\tr\tb\nxy" + bytes.toStdString() + "\tr\tb\n"), "line 2, byte 3 (file offset 8)");
}

void TestHostileInput::quotesWithoutEnd() {
  std::string text = "a,r,b\n";
  for (int i = 0; i < 100'000; ++i) text += "\"" + std::string(i % 7, 'x') + "\"\",r,c\n";
  ImportOptions options;
  options.badLines = BadLines::skip;
  options.separator = Separator::comma;
  options.columns = {ColumnRole::head, ColumnRole::relation, ColumnRole::tail};
  QElapsedTimer timer;
  timer.start();
  const auto result = readBytes(text, options);
  DSA_REQUIRE(result);
  QVERIFY(result->report.badLines.total > 0);
  QVERIFY2(timer.elapsed() < 20'000, "quadratic in the number of open quotes");
}

void TestHostileInput::randomBytesNeverCrash() {
  const Folder folder;
  ImportOptions options;
  options.badLines = BadLines::skip;
  constexpr std::string_view kAlphabet = "ab\t,;\" #\n\r%1.\xC3\xA9\x00[T]:";
  for (unsigned round = 0; round < 2000; ++round) {
    std::string bytes;
    const unsigned size = philox(7, Stream::tests, round, 0).word[0] % 200;
    for (unsigned i = 0; i < size; ++i) {
      const Random4 random = philox(7, Stream::tests, round, i + 1);
      bytes.push_back(round % 4 == 0 ? static_cast<char>(random.word[0])
                                     : kAlphabet[random.word[0] % kAlphabet.size()]);
    }
    const auto result = importDataset(folder.write("x", bytes), options);
    if (result) {
      QVERIFY2(!result->dataset.train.empty(), fmt::format("round {}", round).c_str());
    } else {
      QVERIFY2(!result.error().message.empty() && result.error().code != ErrorCode::bug,
               fmt::format("round {}", round).c_str());
    }
  }
}

void TestHostileInput::mutatedFilesNeverCrash() {
  const Folder folder;
  ImportOptions options;
  options.badLines = BadLines::skip;
  const std::string text = "head,relation,tail\n\"a, b\",r,c\nc,r,d\n";
  const std::string sources[] = {text, packed({{"x", text}}, "raw", "gzip"), packed({{"x", text}}, "zip", "none"),
                                 packed({{"x", text}}, "ustar", "xz")};
  int failures = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    std::string bytes = sources[round % 4];
    for (unsigned flip = 0; flip <= round % 3; ++flip) {
      const Random4 random = philox(11, Stream::tests, round, flip);
      bytes[random.word[0] % bytes.size()] = static_cast<char>(random.word[1]);
    }
    const auto result = importDataset(folder.write("x", bytes), options);
    if (!result) {
      ++failures;
      QVERIFY2(result.error().code == ErrorCode::input, result.error().message.c_str());
    }
  }
  QVERIFY(failures > 100);
}

QTEST_APPLESS_MAIN(TestHostileInput)
#include "tst_hostile_input.moc"
