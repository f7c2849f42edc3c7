// SPDX-License-Identifier: Apache-2.0
// The importer's neighbours of the messy samples: encodings, separators, headers, archives, options.
#include <QtTest>
#include <algorithm>

#include "core/data/unicode.h"
#include "data_test.h"

using namespace dsa;
using namespace dsa::test;
using Strings = std::vector<std::string>;

namespace {

const std::string kTriples = "oak\tis_a\ttree\npine\tis_a\ttree\ncafé\tsells\t茶\n";

std::string utf16(const std::u16string& text, bool bigEndian, bool mark) {
  std::string bytes;
  for (const char16_t unit : (mark ? u"\xFEFF" + text : text)) {
    const char low = static_cast<char>(unit & 0xFF), high = static_cast<char>(unit >> 8);
    bytes += bigEndian ? std::string{high, low} : std::string{low, high};
  }
  return bytes;
}

Result<Imported> readText(std::string_view text, const ImportOptions& options = {}, const std::string& name = "x.txt") {
  const Folder folder;
  return importDataset(folder.write(name, text), options);
}

}  // namespace

class TestImporter : public QObject {
  Q_OBJECT
 private slots:
  void lineEndsChangeNothing_data();
  void lineEndsChangeNothing();
  void utf16IsRead_data();
  void utf16IsRead();
  void utf16WithoutMarkIsNamed();
  void brokenUtf16IsRefused();
  void separators_data();
  void separators();
  void headers_data();
  void headers();
  void kinds_data();
  void kinds();
  void quotedFieldsAsInTheRfc();
  void unclosedQuoteCostsOneLine();
  void nbspIsNotTrimmed();
  void badWeightsAreBadLines();
  void selfLoops();
  void packings_data();
  void packings();
  void archivesAreFolders();
  void archiveWithSeveralFilesAsks();
  void sixColumnsNeedNames();
  void conflictingWeightsAreTold();
  void minWeightNeedsWeights();
  void optionWords();
  void oboOddities();
  void openKeTables_data();
  void openKeTables();
  void splitPairs();
};

void TestImporter::lineEndsChangeNothing_data() {
  QTest::addColumn<QByteArray>("end");
  QTest::newRow("LF") << QByteArray("\n");
  QTest::newRow("CRLF") << QByteArray("\r\n");
  QTest::newRow("CR") << QByteArray("\r");
}

void TestImporter::lineEndsChangeNothing() {
  QFETCH(QByteArray, end);
  // Longer than a block of the reader, so that line ends fall on its border.
  for (const std::size_t pad : {0u, 1u, 2u, 3u}) {
    std::string text = "a" + std::string(pad, 'x') + "\tr\tb" + end.toStdString();
    for (int i = 0; i < 60000; ++i) text += fmt::format("n{}\tr\tb{}", i, end.toStdString());
    text += end.toStdString() + "bad" + end.toStdString();
    ImportOptions options;
    options.badLines = BadLines::skip;
    const auto result = readText(text, options);
    DSA_REQUIRE(result);
    QCOMPARE(result->dataset.train.size(), std::size_t(60001));
    QCOMPARE(result->dataset.entityCount, std::uint64_t(60002));
    QCOMPARE(result->report.badLines.first.front().line, std::uint64_t(60003));
    QCOMPARE(result->report.blankLines, std::uint64_t(1));
  }
}

void TestImporter::utf16IsRead_data() {
  QTest::addColumn<bool>("bigEndian");
  QTest::newRow("little") << false;
  QTest::newRow("big") << true;
}

void TestImporter::utf16IsRead() {
  QFETCH(bool, bigEndian);
  // A pair of surrogates at every place round the border of a block.
  for (int pad = 0; pad < 4; ++pad) {
    std::u16string text = std::u16string(static_cast<std::size_t>(pad), u'p') + u"\tr\tb\n";
    if (pad == 0) text = u"p\tr\tb\n";
    for (int i = 0; i < 40000; ++i) text += u"\U0001F332\tr\t\u5317\n";
    text += u"\U0001F332\ts\tcaf\u00E9\n";
    const auto result = readText(utf16(text, bigEndian, true));
    DSA_REQUIRE(result);
    QCOMPARE(result->report.encoding, bigEndian ? Encoding::utf16be : Encoding::utf16le);
    QVERIFY(result->dataset.entities.find("🌲") && result->dataset.entities.find("北") &&
            result->dataset.entities.find("café"));
    QCOMPARE(result->dataset.entityCount, std::uint64_t(5));
    QCOMPARE(result->report.duplicates.total, std::uint64_t(39999));
  }
}

void TestImporter::utf16WithoutMarkIsNamed() {
  const std::string bytes = utf16(u"oak\tis_a\ttree\npine\tis_a\ttree\n", false, false);
  DSA_REFUSED(readText(bytes), "choose the encoding utf-16le");
  ImportOptions chosen;
  chosen.encoding = Encoding::utf16le;
  const auto result = readText(bytes, chosen);
  DSA_REQUIRE(result);
  QCOMPARE(result->dataset.entityCount, std::uint64_t(3));
}

void TestImporter::brokenUtf16IsRefused() {
  DSA_REFUSED(readText(utf16(u"a\tr\tb\n", false, true) + std::string("\x00\xD8"
                                                                      "a\x00",
                                                                      4)),
              "file offset 14: half a surrogate pair");
  DSA_REFUSED(readText(utf16(u"a\tr\tb\n", false, true) + "x"), "ends in half a character at file offset 14");
}

void TestImporter::separators_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<int>("separator");
  QTest::newRow("tab") << QByteArray("a b\tr s\tc, d\nc, d\tr s\te;f\n") << int(Separator::tab);
  QTest::newRow("comma") << QByteArray("a b,r s,c d\nc d,r s,e f\n") << int(Separator::comma);
  QTest::newRow("semicolon") << QByteArray("a b;r;c\nc;r;d\n") << int(Separator::semicolon);
  QTest::newRow("semicolon with decimal commas") << QByteArray("a;b;0,5\nb;c;1,5\n") << int(Separator::semicolon);
  QTest::newRow("comma with semicolons in quotes") << QByteArray("\"a;b\",r,c\nc,r,\"d;e\"\n") << int(Separator::comma);
  QTest::newRow("blanks") << QByteArray("a   r  b\n b r c \n") << int(Separator::blanks);
}

void TestImporter::separators() {
  QFETCH(QByteArray, text);
  QFETCH(int, separator);
  const auto result = readText(text.toStdString());
  DSA_REQUIRE(result);
  QCOMPARE(int(result->report.separator), separator);
  QCOMPARE(result->dataset.entityCount, std::uint64_t(3));
  QCOMPARE(result->dataset.train.size(), std::size_t(2));
  if (QByteArray(QTest::currentDataTag()).contains("decimal"))
    QCOMPARE(result->dataset.trainWeights, (std::vector<double>{0.5, 1.5}));
}

void TestImporter::headers_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<bool>("header");
  QTest::addColumn<QByteArray>("firstEdge");
  QTest::addColumn<bool>("asked");
  QTest::newRow("words") << QByteArray("Source\tEdge_Type\tTarget\na\tr\tb\n") << true << QByteArray("a|r|b") << false;
  QTest::newRow("other order") << QByteArray("relation,tail,head\nr,b,a\n") << true << QByteArray("a|r|b") << false;
  QTest::newRow("parent before child") << QByteArray("parent,child\nb,a\n") << true << QByteArray("a|is_below|b")
                                       << false;
  QTest::newRow("further columns") << QByteArray("id,from,to,note\n1,a,b,\n") << true << QByteArray("a|is_below|b")
                                   << false;
  QTest::newRow("letters") << QByteArray("h\tr\tt\na\tr\tb\n") << true << QByteArray("a|r|b") << true;
  QTest::newRow("letters that are names") << QByteArray("c\ts\ta\na\tr\tb\n") << false << QByteArray("c|s|a") << false;
  QTest::newRow("doubt") << QByteArray("source\tflows_into\tsea\na\tr\tb\n") << false
                         << QByteArray("source|flows_into|sea") << true;
}

void TestImporter::headers() {
  QFETCH(QByteArray, text);
  QFETCH(bool, header);
  QFETCH(QByteArray, firstEdge);
  QFETCH(bool, asked);
  const auto result = readText(text.toStdString());
  DSA_REQUIRE(result);
  QCOMPARE(result->report.header, header);
  QCOMPARE(edgeTexts(result->dataset, result->dataset.train).front(), firstEdge.toStdString());
  QCOMPARE(!result->report.questions.empty(), asked);
}

void TestImporter::kinds_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<int>("asHierarchy");
  QTest::addColumn<int>("kind");
  QTest::addColumn<QByteArray>("relation");
  QTest::newRow("two columns") << QByteArray("a\tb\n") << int(Choice::automatic) << int(DatasetKind::hierarchy)
                               << QByteArray("is_below");
  QTest::newRow("two columns, a graph") << QByteArray("a\tb\n") << int(Choice::no) << int(DatasetKind::graph)
                                        << QByteArray("linked_to");
  QTest::newRow("triples") << QByteArray("a\tr\tb\n") << int(Choice::automatic) << int(DatasetKind::graph)
                           << QByteArray("r");
  QTest::newRow("triples, a hierarchy") << QByteArray("a\tr\tb\n") << int(Choice::yes) << int(DatasetKind::hierarchy)
                                        << QByteArray("is_below");
  QTest::newRow("weights") << QByteArray("a\tb\t0.5\n") << int(Choice::automatic) << int(DatasetKind::graph)
                           << QByteArray("linked_to");
  QTest::newRow("ids only") << QByteArray("1\t2\t3\n4\t2\t1\n") << int(Choice::automatic) << int(DatasetKind::graph)
                            << QByteArray("2");
  QTest::newRow("u.data") << QByteArray("1\t7\t3\t881250949\n") << int(Choice::automatic) << int(DatasetKind::graph)
                          << QByteArray("rated");
}

void TestImporter::kinds() {
  QFETCH(QByteArray, text);
  QFETCH(int, asHierarchy);
  QFETCH(int, kind);
  QFETCH(QByteArray, relation);
  ImportOptions options;
  options.asHierarchy = static_cast<Choice>(asHierarchy);
  const auto result = readText(text.toStdString(), options);
  DSA_REQUIRE(result);
  QCOMPARE(int(result->dataset.kind), kind);
  QCOMPARE(names(result->dataset.relations), (Strings{relation.toStdString()}));
}

void TestImporter::quotedFieldsAsInTheRfc() {
  const auto result = readText("\"a\"\"b\",r,\" c \"\r\n \"two\r\nlines\" ,r,\"\"\"\"\r\n");
  DSA_REQUIRE(result);
  QCOMPARE(names(result->dataset.entities), (Strings{"a\"b", " c ", "two lines", "\""}));
  QVERIFY(anyContains(result->dataset.warnings, "line ends"));
  // In a tab-separated file quotes are letters, unless asked for.
  const std::string tabs = "\"a\"\tr\tb\n";
  const auto letters = readText(tabs);
  DSA_REQUIRE(letters);
  QCOMPARE(letters->dataset.entities.name(0), std::string("\"a\""));
  ImportOptions quotes;
  quotes.quotes = Choice::yes;
  const auto asked = readText(tabs, quotes);
  DSA_REQUIRE(asked);
  QCOMPARE(asked->dataset.entities.name(0), std::string("a"));
}

void TestImporter::unclosedQuoteCostsOneLine() {
  ImportOptions options;
  options.badLines = BadLines::skip;
  const auto result = readText("a,r,b\nb,r,\"c\nc,r,d\nd,r,e\n\"x\"y,r,z\n", options);
  DSA_REQUIRE(result);
  QCOMPARE(linesOf(result->report.badLines), (std::vector<std::uint64_t>{2, 5}));
  QVERIFY(result->report.badLines.first[0].text.find("text follows") != std::string::npos ||
          result->report.badLines.first[0].text.find("never closed") != std::string::npos);
  QCOMPARE(result->report.badLines.first[1].text, std::string("text follows a closing quote"));
  QCOMPARE(edgeTexts(result->dataset, result->dataset.train), (Strings{"a|r|b", "c|r|d", "d|r|e"}));
}

void TestImporter::nbspIsNotTrimmed() {
  const auto result = readText("\u00A0a\tr\tb\na\tr\tb\n");
  DSA_REQUIRE(result);
  QCOMPARE(result->dataset.entityCount, std::uint64_t(3));
  QCOMPARE(result->report.nearNames.total, std::uint64_t(1));
}

void TestImporter::badWeightsAreBadLines() {
  ImportOptions options;
  options.badLines = BadLines::skip;
  options.columns = {ColumnRole::head, ColumnRole::tail, ColumnRole::weight};
  const auto result = readText("a b 1\na c nan\nb c inf\nc d 1e999\nd a +2\ne f 0x10\n", options);
  DSA_REQUIRE(result);
  QCOMPARE(linesOf(result->report.badLines), (std::vector<std::uint64_t>{2, 3, 4, 6}));
  QCOMPARE(result->dataset.trainWeights, (std::vector<double>{1, 2}));
  QVERIFY(result->report.badLines.first[0].text.find("field 3: the weight `nan`") != std::string::npos);
}

void TestImporter::selfLoops() {
  const auto tree = readText("a\ta\na\tb\n");
  DSA_REQUIRE(tree);
  QCOMPARE(tree->dataset.train.size(), std::size_t(1));
  QVERIFY(tree->report.cycle.empty());
  QVERIFY(anyContains(tree->dataset.warnings, "1 self-loops dropped"));
  const auto graph = readText("a\tr\ta\na\tr\tb\n");
  DSA_REQUIRE(graph);
  QCOMPARE(graph->dataset.train.size(), std::size_t(2));
  QCOMPARE(linesOf(graph->report.selfLoops), (std::vector<std::uint64_t>{1}));
}

void TestImporter::packings_data() {
  QTest::addColumn<QByteArray>("format");
  QTest::addColumn<QByteArray>("filter");
  for (const char* filter : {"gzip", "xz", "bzip2", "zstd", "lz4", "lzma"})
    QTest::newRow(filter) << QByteArray("raw") << QByteArray(filter);
  QTest::newRow("zip") << QByteArray("zip") << QByteArray("none");
  QTest::newRow("tar") << QByteArray("ustar") << QByteArray("none");
  QTest::newRow("tar.gz") << QByteArray("ustar") << QByteArray("gzip");
  QTest::newRow("tar.xz") << QByteArray("ustar") << QByteArray("xz");
}

void TestImporter::packings() {
  QFETCH(QByteArray, format);
  QFETCH(QByteArray, filter);
  const auto plain = readText(kTriples);
  DSA_REQUIRE(plain);
  const std::string bytes = packed({{"x.tsv", kTriples}}, format.constData(), filter.constData());
  const auto result = readText(bytes, {}, "misleading.csv");
  DSA_REQUIRE(result);
  QCOMPARE(result->dataset.sha256, plain->dataset.sha256);
  QCOMPARE(result->dataset.entityCount, std::uint64_t(5));
}

void TestImporter::archivesAreFolders() {
  const std::string valid = packed({{"v", "oak\tsells\ttree\n"}}, "raw", "gzip");
  const std::string bytes = packed({{"set/test.txt", "pine\tis_a\toak\n"},
                                    {"__MACOSX/._train.txt", "junk"},
                                    {"set/README", "hello"},
                                    {"set/valid.txt.gz", valid},
                                    {"set/train.txt", kTriples}},
                                   "ustar", "gzip");
  const auto result = readText(bytes, {}, "set.tar.gz");
  DSA_REQUIRE(result);
  QCOMPARE(result->dataset.name, std::string("set"));
  QCOMPARE(result->dataset.train.size(), std::size_t(3));
  QCOMPARE(edgeTexts(result->dataset, result->dataset.valid), (Strings{"oak|sells|tree"}));
  QCOMPARE(edgeTexts(result->dataset, result->dataset.test), (Strings{"pine|is_a|oak"}));
  QCOMPARE(result->report.ignored, (Strings{"set/README"}));
}

void TestImporter::archiveWithSeveralFilesAsks() {
  const std::string bytes = packed({{"one.tsv", kTriples}, {"two.tsv", "a\tr\tb\n"}}, "zip", "none");
  DSA_REFUSED(readText(bytes), "name the one to read: one.tsv, two.tsv");
  ImportOptions second;
  second.member = "two.tsv";
  const auto result = readText(bytes, second);
  DSA_REQUIRE(result);
  QCOMPARE(result->dataset.entityCount, std::uint64_t(2));
  second.member = "three.tsv";
  DSA_REFUSED(readText(bytes, second), "no file `three.tsv`");
}

void TestImporter::sixColumnsNeedNames() {
  const std::string text = "1,a,x,r,y,b\n2,b,x,r,y,c\n";
  DSA_REFUSED(readText(text), "6 columns and no header");
  ImportOptions options;
  options.columns = parseColumns("-,head,-,relation,-,tail").value();
  const auto result = readText(text, options);
  DSA_REQUIRE(result);
  QCOMPARE(edgeTexts(result->dataset, result->dataset.train), (Strings{"a|r|b", "b|r|c"}));
}

void TestImporter::conflictingWeightsAreTold() {
  const auto result = readText("a b 1.5\na b 2.5\n");
  DSA_REQUIRE(result);
  QCOMPARE(result->dataset.trainWeights, (std::vector<double>{1.5}));
  QVERIFY(anyContains(result->dataset.warnings, "had another weight"));
}

void TestImporter::minWeightNeedsWeights() {
  ImportOptions options;
  options.minWeight = 4;
  const auto result = readText(kTriples, options);
  DSA_REFUSED(result, "no weight column");
  QCOMPARE(result.error().code, ErrorCode::usage);
  DSA_REFUSED(readText("a b 1.5\n", options), "below the least weight");
}

void TestImporter::optionWords() {
  QCOMPARE(parseSeparator("blanks").value(), Separator::blanks);
  DSA_REFUSED(parseSeparator("pipe"), "must be auto, tab");
  QCOMPARE(parseEncoding("windows-1252").value(), Encoding::windows1252);
  DSA_REFUSED(parseEncoding("latin"), "must be auto, utf-8");
  DSA_REFUSED(parseColumns("head,,tail"), "\"\" must be head");
  ImportOptions twice;
  twice.columns = {ColumnRole::head, ColumnRole::head, ColumnRole::tail};
  DSA_REFUSED(readText(kTriples, twice), "each once");
  ImportOptions closure;
  closure.closure = true;
  DSA_REFUSED(readText(kTriples, closure), "hierarchies only");
}

void TestImporter::oboOddities() {
  const std::string text =
      "format-version: 1.4\n\n[Term]\nid: A:1\nname: cell\n\n[Term]\nid: A:2\nname: cell\nis_a: A:1\nis_a: A:9 ! "
      "unknown\nis_a: A:5\n\n"
      "[Term]\nid: A:3\nis_a: A:2\nrelationship: part_of\nwhat\n\n[Term]\nid: A:5\nname: old\nis_obsolete: true\nis_a: "
      "A:1\n";
  ImportOptions options;
  options.badLines = BadLines::skip;
  const auto result = readText(text, options);
  DSA_REQUIRE(result);
  QCOMPARE(edgeTexts(result->dataset, result->dataset.train),
           (Strings{"cell [A:2]|is_a|cell [A:1]", "cell [A:2]|is_a|A:9", "A:3|is_a|cell [A:2]"}));
  QCOMPARE(linesOf(result->report.badLines), (std::vector<std::uint64_t>{17, 18}));
  QVERIFY(anyContains(result->dataset.warnings, "1 edges to obsolete terms dropped"));
  QVERIFY(anyContains(result->dataset.warnings, "the file does not define"));
}

void TestImporter::openKeTables_data() {
  QTest::addColumn<QByteArray>("entities");
  QTest::addColumn<QByteArray>("train");
  QTest::addColumn<QByteArray>("message");
  const QByteArray good("2\na\t0\nb\t1\n");
  QTest::newRow("double id") << QByteArray("2\na\t0\nb\t0\n") << QByteArray("1\n0 1 0\n")
                             << QByteArray("id 0 of `b` stands twice");
  QTest::newRow("gap") << QByteArray("2\na\t0\nb\t7\n") << QByteArray("1\n0 1 0\n")
                       << QByteArray("id 7 of `b` is too large");
  QTest::newRow("short table") << QByteArray("9\na\t0\nb\t1\n") << QByteArray("1\n0 1 0\n")
                               << QByteArray("promises 9 names, there are 2");
  QTest::newRow("double name") << QByteArray("2\na\t0\na\t1\n") << QByteArray("1\n0 1 0\n")
                               << QByteArray("`a` stands for two ids");
  QTest::newRow("no count") << QByteArray("a\t0\nb\t1\n") << QByteArray("1\n0 1 0\n") << QByteArray("is not a count");
  QTest::newRow("unknown entity") << good << QByteArray("1\n0 5 0\n")
                                  << QByteArray("line 2: the entity id 5 is not in the table of 2");
  QTest::newRow("unknown relation") << good << QByteArray("1\n0 1 3\n")
                                    << QByteArray("line 2: the relation id 3 is not in the table of 1");
  QTest::newRow("short file") << good << QByteArray("3\n0 1 0\n") << QByteArray("3 edges are promised, there are 1");
}

void TestImporter::openKeTables() {
  QFETCH(QByteArray, entities);
  QFETCH(QByteArray, train);
  QFETCH(QByteArray, message);
  const Folder folder;
  folder.write("entity2id.txt", entities.toStdString());
  folder.write("relation2id.txt", "1\nr\t0\n");
  folder.write("train2id.txt", train.toStdString());
  DSA_REFUSED(importDataset(folder.path(), {}), message.constData());
}

void TestImporter::splitPairs() {
  const Folder folder;
  folder.write("train.csv", "head,relation,tail\na,r,b\n");
  folder.write("test.csv", "head,relation,tail\nb,r,a\n");
  const auto result = importDataset(folder.path(), {});
  DSA_REQUIRE(result);
  QCOMPARE(edgeTexts(result->dataset, result->dataset.test), (Strings{"b|r|a"}));
  folder.write("train.tsv", "a\tr\tb\n");
  DSA_REFUSED(importDataset(folder.path(), {}), "`train.csv` and `train.tsv` are both for one split");
}

QTEST_APPLESS_MAIN(TestImporter)
#include "tst_importer.moc"
