// SPDX-License-Identifier: Apache-2.0
// Vocabularies and what the importer knows of Unicode, the latter against Qt's own tables.
#include <QtTest>
#include <map>

#include "core/base/random.h"
#include "core/data/unicode.h"
#include "core/data/vocabulary.h"
#include "data_test.h"

using namespace dsa;

class TestNames : public QObject {
  Q_OBJECT
 private slots:
  void idsAreInOrderOfFirstAppearance();
  void manyNamesStayApart();
  void numberedNamesTakeNoMemory();
  void normalFormsEqualQts();
  void marksAreReordered();
  void nearKeys_data();
  void nearKeys();
  void everyCodePointIsValidUtf8();
  void windows1252();
};

void TestNames::idsAreInOrderOfFirstAppearance() {
  Vocabulary vocabulary;
  QCOMPARE(vocabulary.add("b"), 0u);
  QCOMPARE(vocabulary.add("a"), 1u);
  QCOMPARE(vocabulary.add("b"), 0u);
  QCOMPARE(vocabulary.size(), std::uint64_t(2));
  QCOMPARE(vocabulary.name(1), std::string("a"));
  QVERIFY(!vocabulary.find("c"));
  QVERIFY(!Vocabulary().find("c"));
}

void TestNames::manyNamesStayApart() {
  Vocabulary vocabulary;
  std::map<std::string, std::uint32_t> reference;
  for (unsigned i = 0; i < 200'000; ++i) {
    const std::string name = std::to_string(philox(5, Stream::tests, i, 0).word[0] % 60'000);
    const auto [at, isNew] = reference.emplace(name, std::uint32_t(reference.size()));
    QCOMPARE(vocabulary.add(name), at->second);
  }
  QCOMPARE(vocabulary.size(), std::uint64_t(reference.size()));
  for (const auto& [name, id] : reference) {
    QCOMPARE(vocabulary.find(name), std::optional<std::uint64_t>(id));
    QCOMPARE(vocabulary.name(id), name);
  }
  QVERIFY2(vocabulary.memoryBytes() < reference.size() * 40, "no string object a name");
}

void TestNames::numberedNamesTakeNoMemory() {
  const Vocabulary vocabulary = Vocabulary::numbered(1'000'000'000'000);
  QCOMPARE(vocabulary.memoryBytes() < 64, true);
  QCOMPARE(vocabulary.name(999'999'999'999), std::string("999999999999"));
  QCOMPARE(vocabulary.find("42"), std::optional<std::uint64_t>(42));
  QCOMPARE(vocabulary.find("0"), std::optional<std::uint64_t>(0));
  for (const char* none : {"", "042", "-1", "1000000000000", "4x", " 4"}) QVERIFY(!vocabulary.find(none));
}

void TestNames::normalFormsEqualQts() {
  int different = 0;
  for (std::uint32_t point = 1; point < 0x30000; ++point) {
    if (point >= 0xD800 && point < 0xE000) continue;
    // Unassigned in one table and assigned in the other is no difference of the algorithm.
    if (QChar::category(point) == QChar::Other_NotAssigned) continue;
    std::string text = "e";
    appendUtf8(text, point);
    appendUtf8(text, 0x0323);
    appendUtf8(text, 0x0301);
    const QString wide = QString::fromStdString(text);
    const bool same = toNfc(text) == wide.normalized(QString::NormalizationForm_C).toStdString() &&
                      toNfd(text) == wide.normalized(QString::NormalizationForm_D).toStdString();
    different += !same;
    if (!same && different < 5) qWarning("U+%04X", point);
  }
  QCOMPARE(different, 0);
}

void TestNames::marksAreReordered() {
  QCOMPARE(toNfc("e\u0301\u0323"), toNfc("e\u0323\u0301"));
  QCOMPARE(toNfc("e\u0301\u0323"), std::string("\u1EB9\u0301"));
  QCOMPARE(toNfc("\u1112\u1161\u11AB"), std::string("한"));
  QCOMPARE(toNfd("한"), std::string("\u1112\u1161\u11AB"));
  QCOMPARE(toNfc("\u212B"), std::string("Å"));
}

void TestNames::nearKeys_data() {
  QTest::addColumn<QByteArray>("a");
  QTest::addColumn<QByteArray>("b");
  QTest::addColumn<bool>("near");
  QTest::newRow("case") << QByteArray("Ärger") << QByteArray("ÄRGER") << true;
  QTest::newRow("cyrillic case") << QByteArray("москва") << QByteArray("Москва") << true;
  QTest::newRow("forms") << QByteArray("café") << QByteArray("cafe\u0301") << true;
  QTest::newRow("nbsp") << QByteArray("red fox") << QByteArray("red\u00A0fox") << true;
  QTest::newRow("two blanks") << QByteArray("red fox") << QByteArray("red  fox") << true;
  QTest::newRow("zero width") << QByteArray("red") << QByteArray("re\u200Bd") << true;
  QTest::newRow("accent") << QByteArray("cafe") << QByteArray("café") << false;
  QTest::newRow("blank") << QByteArray("redfox") << QByteArray("red fox") << false;
  QTest::newRow("alphabet") << QByteArray("a") << QByteArray("а") << false;
}

void TestNames::nearKeys() {
  QFETCH(QByteArray, a);
  QFETCH(QByteArray, b);
  QFETCH(bool, near);
  QCOMPARE(nearKey(a.toStdString()) == nearKey(b.toStdString()), near);
}

void TestNames::everyCodePointIsValidUtf8() {
  for (std::uint32_t point = 0; point < 0x110000; ++point) {
    std::string text;
    appendUtf8(text, point);
    const bool surrogate = point >= 0xD800 && point < 0xE000;
    QCOMPARE(firstInvalidUtf8(text) == std::string::npos, !surrogate);
    if (point > 0x7F) QCOMPARE(firstInvalidUtf8("ab" + text.substr(0, text.size() - 1)), std::size_t(2));
  }
}

void TestNames::windows1252() {
  QCOMPARE(fromWindows1252(0x80), 0x20ACu);
  QCOMPARE(fromWindows1252(0x9F), 0x178u);
  QCOMPARE(fromWindows1252(0xE9), 0xE9u);
  QCOMPARE(fromWindows1252('a'), std::uint32_t('a'));
}

QTEST_APPLESS_MAIN(TestNames)
#include "tst_names.moc"
