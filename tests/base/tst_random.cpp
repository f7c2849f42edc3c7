// SPDX-License-Identifier: Apache-2.0
// Tests of core/base/random.h: the published Philox vectors, the ranges of every conversion, and plain uniformity.
#include <QTest>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "core/base/random.h"

using namespace dsa;

namespace {

constexpr std::uint32_t kAllOnes = 0xFFFFFFFFu;

/// Counter words c0..c3 and key words k0, k1 in the order of the Random123 distribution.
constexpr Random4 philoxWords(const std::array<std::uint32_t, 4>& c, const std::array<std::uint32_t, 2>& k) {
  const std::uint64_t seed = (std::uint64_t{k[1]} << 32) | k[0];
  const std::uint64_t step = (std::uint64_t{c[1]} << 32) | c[0];
  return philox(seed, static_cast<Stream>(c[3]), step, c[2]);
}

constexpr bool same(const Random4& a, const std::array<std::uint32_t, 4>& b) {
  return a.word[0] == b[0] && a.word[1] == b[1] && a.word[2] == b[2] && a.word[3] == b[3];
}

// The vectors hold in constant expressions too: tables of tests and of kernels may be computed by the compiler.
static_assert(same(philoxWords({0, 0, 0, 0}, {0, 0}), {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));

int differingBits(const Random4& a, const Random4& b) {
  int bits = 0;
  for (int i = 0; i < 4; ++i) bits += std::popcount(a.word[i] ^ b.word[i]);
  return bits;
}

}  // namespace

class TestRandom : public QObject {
  Q_OBJECT

 private slots:
  void philoxGivesThePublishedVectors_data();
  void philoxGivesThePublishedVectors();
  void everyArgumentChangesHalfTheBits_data();
  void everyArgumentChangesHalfTheBits();
  void streamsShareNoNumbers();
  void belowStaysBelow_data();
  void belowStaysBelow();
  void belowReachesBothEnds();
  void belowIsUniform();
  void unitStaysInItsInterval();
  void unitIsUniform();
  void symmetricStaysInItsInterval();
  void symmetricHasZeroMeanAndTheRightSpread();
};

void TestRandom::philoxGivesThePublishedVectors_data() {
  QTest::addColumn<std::array<std::uint32_t, 4>>("counter");
  QTest::addColumn<std::array<std::uint32_t, 2>>("key");
  QTest::addColumn<std::array<std::uint32_t, 4>>("expected");
  using Four = std::array<std::uint32_t, 4>;
  using Two = std::array<std::uint32_t, 2>;
  // Random123 1.14, tests/kat_vectors, "philox4x32 10".
  QTest::newRow("zeros") << Four{0, 0, 0, 0} << Two{0, 0} << Four{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  QTest::newRow("ones") << Four{kAllOnes, kAllOnes, kAllOnes, kAllOnes} << Two{kAllOnes, kAllOnes}
                        << Four{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu};
  QTest::newRow("pi") << Four{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u} << Two{0xa4093822u, 0x299f31d0u}
                      << Four{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u};
}

void TestRandom::philoxGivesThePublishedVectors() {
  using Four = std::array<std::uint32_t, 4>;
  using Two = std::array<std::uint32_t, 2>;
  QFETCH(Four, counter);
  QFETCH(Two, key);
  QFETCH(Four, expected);
  const Random4 got = philoxWords(counter, key);
  for (std::size_t i = 0; i < 4; ++i) QCOMPARE(got.word[i], expected[i]);
}

void TestRandom::everyArgumentChangesHalfTheBits_data() {
  QTest::addColumn<int>("argument");
  QTest::newRow("seed, low word") << 0;
  QTest::newRow("seed, high word") << 1;
  QTest::newRow("stream") << 2;
  QTest::newRow("step, low word") << 3;
  QTest::newRow("step, high word") << 4;
  QTest::newRow("slot") << 5;
}

void TestRandom::everyArgumentChangesHalfTheBits() {
  QFETCH(int, argument);
  constexpr int kTrials = 2000;
  double sum = 0;
  for (std::uint32_t t = 0; t < kTrials; ++t) {
    const std::uint64_t high = std::uint64_t{1} << 32;
    const std::uint64_t seed = 7 + (argument == 0 ? 1 : 0) + (argument == 1 ? high : 0);
    const Stream stream = argument == 2 ? Stream::negatives : Stream::shuffle;
    const std::uint64_t step = 2 * std::uint64_t{t} + (argument == 3 ? 1 : 0) + (argument == 4 ? high : 0);
    const std::uint32_t slot = 2 * t + (argument == 5 ? 1 : 0);
    sum += differingBits(philox(7, Stream::shuffle, 2 * std::uint64_t{t}, 2 * t), philox(seed, stream, step, slot));
  }
  // 128 fair bits: mean 64, sd sqrt(32); the mean of 2,000 has sd 0.126; six of them.
  QVERIFY2(std::abs(sum / kTrials - 64.0) < 6 * std::sqrt(32.0 / kTrials), qPrintable(QString::number(sum / kTrials)));
}

void TestRandom::streamsShareNoNumbers() {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  for (const Stream stream : {Stream::rowInit, Stream::shuffle, Stream::negatives, Stream::pairs, Stream::side}) {
    for (std::uint64_t step = 0; step < 40; ++step) {
      for (std::uint32_t slot = 0; slot < 40; ++slot) {
        const Random4 r = philox(1, stream, step, slot);
        seen.insert((std::uint64_t{r.word[0]} << 32) | r.word[1]);
        ++drawn;
      }
    }
  }
  // 8,000 values of 64 bits: a chance collision has probability 2e-12.
  QCOMPARE(seen.size(), drawn);
}

void TestRandom::belowStaysBelow_data() {
  QTest::addColumn<quint64>("n");
  for (const quint64 n : {quint64{1}, quint64{2}, quint64{3}, quint64{1000003}, quint64{1} << 32, ~quint64{0}}) {
    QTest::addRow("n = %llu", n) << n;
  }
}

void TestRandom::belowStaysBelow() {
  QFETCH(quint64, n);
  QCOMPARE(belowFrom(0, 0, n), std::uint64_t{0});
  QCOMPARE(belowFrom(kAllOnes, kAllOnes, n), std::uint64_t{n - 1});
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Random4 r = philox(3, Stream::tests, i, 0);
    QVERIFY(belowFrom(r.word[0], r.word[1], n) < n);
    QVERIFY(belowFrom(r.word[2], r.word[3], n) < n);
  }
}

void TestRandom::belowReachesBothEnds() {
  std::set<std::uint64_t> seen;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Random4 r = philox(4, Stream::tests, i, 0);
    seen.insert(belowFrom(r.word[0], r.word[1], 10));
  }
  // Each of ten values is missed by 1,000 draws with probability 0.9^1000 = 2e-46.
  QCOMPARE(seen.size(), std::size_t{10});
}

void TestRandom::belowIsUniform() {
  constexpr std::uint64_t kCells = 100;
  constexpr std::uint32_t kDraws = 200000;
  std::vector<double> count(kCells);
  for (std::uint32_t i = 0; i < kDraws / 2; ++i) {
    const Random4 r = philox(1, Stream::negatives, 5, i);
    count[belowFrom(r.word[0], r.word[1], kCells)] += 1;
    count[belowFrom(r.word[2], r.word[3], kCells)] += 1;
  }
  double chiSquare = 0;
  const double expected = double{kDraws} / kCells;
  for (const double c : count) chiSquare += (c - expected) * (c - expected) / expected;
  // 99 degrees of freedom: mean 99, sd 14.1. Both tails: too even is as suspect as too uneven.
  QVERIFY2(chiSquare > 99 - 4.5 * 14.1 && chiSquare < 99 + 6 * 14.1, qPrintable(QString::number(chiSquare)));
}

void TestRandom::unitStaysInItsInterval() {
  QCOMPARE(unitFrom(0, 0), 0.0);
  QVERIFY(unitFrom(kAllOnes, kAllOnes) < 1.0);
  // All 53 bits are used: the largest value is the double just below 1.
  QCOMPARE(unitFrom(kAllOnes, kAllOnes), std::nextafter(1.0, 0.0));
  QCOMPARE(unitFrom(0, 0x80000000u), 0.5);
}

void TestRandom::unitIsUniform() {
  constexpr std::uint32_t kDraws = 100000;
  double sum = 0;
  double squares = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const Random4 r = philox(9, Stream::pairs, i, 0);
    const double u = unitFrom(r.word[0], r.word[1]);
    sum += u;
    squares += u * u;
  }
  // Moments 1/2 and 1/3, variances 1/12 and 4/45; six standard deviations of a mean of 100,000.
  QVERIFY(std::abs(sum / kDraws - 1.0 / 2) < 6 * std::sqrt(1.0 / 12 / kDraws));
  QVERIFY(std::abs(squares / kDraws - 1.0 / 3) < 6 * std::sqrt(4.0 / 45 / kDraws));
}

void TestRandom::symmetricStaysInItsInterval() {
  QCOMPARE(symmetricFrom(0, 0.25f), -0.25f);
  QVERIFY(symmetricFrom(kAllOnes, 0.25f) < 0.25f);
  QCOMPARE(symmetricFrom(0x80000000u, 0.25f), 0.0f);
  QCOMPARE(symmetricFrom(kAllOnes, 1.0f), 1.0f - 1.0f / 8388608.0f);
}

void TestRandom::symmetricHasZeroMeanAndTheRightSpread() {
  constexpr std::uint32_t kDraws = 100000;
  constexpr float kScale = 1e-3f;
  double sum = 0;
  double squares = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const double x = double{symmetricFrom(philox(2, Stream::rowInit, i, 0).word[3], kScale)} / double{kScale};
    sum += x;
    squares += x * x;
  }
  QVERIFY(std::abs(sum / kDraws) < 6 * std::sqrt(1.0 / 3 / kDraws));
  QVERIFY(std::abs(squares / kDraws - 1.0 / 3) < 6 * std::sqrt(4.0 / 45 / kDraws));
}

QTEST_APPLESS_MAIN(TestRandom)
#include "tst_random.moc"
