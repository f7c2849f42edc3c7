// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers in the window: bytes IEC, NaN by name, durations and signs.
#include "ui/look/units.h"

using namespace dsa::ui;

class TestUnits : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() { QLocale::setDefault(QLocale::English); }

  void bytesAreIec_data() {
    QTest::addColumn<double>("bytes");
    QTest::addColumn<QString>("text");
    QTest::newRow("a GiB") << 1073741824.0 << "1.00 GiB";
    QTest::newRow("bytes") << 1023.0 << "1,023 B";
    QTest::newRow("never 1024.00") << 1048575.0 << "1.00 MiB";
    QTest::newRow("demo") << 1536000000.0 << "1.43 GiB";
    QTest::newRow("none") << 0.0 << "0 B";
    QTest::newRow("less") << -1536000000.0 << QString(QChar(0x2212)) + "1.43 GiB";
  }
  void bytesAreIec() {
    QFETCH(double, bytes);
    QFETCH(QString, text);
    QCOMPARE(Units::bytes(bytes), QString(text).replace(' ', QChar(0xA0)));
  }

  void numbersKeepTheirMeaning() {
    QCOMPARE(Units::number(std::nan("")), QString("NaN"));
    QCOMPARE(Units::number(0.8684), QString("0.8684"));
    QCOMPARE(Units::number(-0.5), QString(QChar(0x2212)) + "0.5000");
    QCOMPARE(Units::number(0), QString("0.0000"));
    QCOMPARE(Units::count(82115), QString("82,115"));
    QCOMPARE(Units::number(std::numeric_limits<double>::infinity()), QString(QChar(0x221E)));
  }

  void durationsAreReadable() {
    QCOMPARE(Units::duration(4.2), QString("4.2 s"));
    QCOMPARE(Units::duration(42), QString("0:42"));
    QCOMPARE(Units::duration(3800), QString("1:03:20"));
    QCOMPARE(Units::duration(-1), QString(QChar(0x2013)));
  }

  void russianHasItsOwnSeparators() {
    QLocale::setDefault(QLocale::Russian);
    QCOMPARE(Units::bytes(1536000000.0).left(4), QString("1,43"));
    QLocale::setDefault(QLocale::English);
  }
};

QTEST_MAIN(TestUnits)
#include "tst_units.moc"
