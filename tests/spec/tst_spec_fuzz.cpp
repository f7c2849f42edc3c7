// SPDX-License-Identifier: Apache-2.0
// Any text is read or refused in words: random JSON, damaged specs, random specs; what is read survives a round trip.
#include <QtTest>

#include "core/base/random.h"
#include "tests/spec/spec_samples.h"

using namespace dsa;

namespace {

struct Dice {
  std::uint64_t seed;
  std::uint64_t step = 0;
  std::uint64_t below(std::uint64_t n) {
    const Random4 r = philox(seed, Stream::tests, ++step, 0);
    return belowFrom(r.word[0], r.word[1], n);
  }
};

std::string randomJson(Dice& dice, int depth) {
  static const std::vector<std::string> leaves = {"0",
                                                  "-1",
                                                  "1",
                                                  "5",
                                                  "0.5",
                                                  "1e-8",
                                                  "1e300",
                                                  "-0.0",
                                                  "18446744073709551615",
                                                  "18446744073709551616",
                                                  "1e400",
                                                  "null",
                                                  "true",
                                                  "\"\"",
                                                  "\"disk\"",
                                                  "\"radam\"",
                                                  "\"sim:1 GiB\"",
                                                  "\"cuda:-1\"",
                                                  "\"256 MiB\"",
                                                  "\"\\u0000\"",
                                                  "\"\xd1\x84\"",
                                                  "[]",
                                                  "[[1]]",
                                                  "{}",
                                                  "\"exp\"",
                                                  "\"linear\"",
                                                  "65536",
                                                  "65537",
                                                  "\"poincare\"",
                                                  "NaN"};
  if (depth == 0 || dice.below(3) == 0) return leaves[dice.below(leaves.size())];
  std::string object = "{";
  const auto& table = specTable();
  for (std::uint64_t i = dice.below(5) + 1; i > 0; --i) {
    std::string name = table[dice.below(table.size())].path;
    const auto dot = name.find('.');
    if (dot != std::string::npos) name = depth == 2 && dice.below(4) > 0 ? name.substr(0, dot) : name.substr(dot + 1);
    object += "\"" + name + "\":" + randomJson(dice, depth - 1) + (i > 1 ? "," : "");
  }
  return object + "}";
}

/// A spec with about a third of the keys set, each to a value that is allowed alone.
std::string randomSpec(Dice& dice, const ResolvedSpec& base) {
  RunSpec spec;
  for (const SpecKey& key : specTable()) {
    if (dice.below(3) > 0) continue;
    const auto values = otherValues(key, key.getResolved(base));
    const SpecValue& value = values[dice.below(values.size())];
    if (checkValue(key, value, key.path)) key.set(spec, value);
  }
  return specToJson(spec);
}

std::string mutated(Dice& dice, std::string text) {
  for (std::uint64_t i = dice.below(4) + 1; i > 0; --i) {
    const std::size_t at = dice.below(text.size());
    if (dice.below(2) == 0) {
      text[at] = static_cast<char>(dice.below(256));
    } else {
      text.erase(at, dice.below(8) + 1);
    }
    if (text.empty()) return " ";
  }
  return text;
}

}  // namespace

class TestSpecFuzz : public QObject {
  Q_OBJECT
 private slots:
  void anyTextIsReadOrRefused();
};

void TestSpecFuzz::anyTextIsReadOrRefused() {
  const ResolvedSpec base = baseSpec();
  const std::string whole = specToJson(base);
  int read = 0;
  int resolved = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Dice dice{seed};
    const std::string text = seed % 3 == 0   ? randomJson(dice, 2)
                             : seed % 3 == 1 ? mutated(dice, whole)
                                             : randomSpec(dice, base);
    const auto spec = parseSpec(text);
    if (!spec) {
      QVERIFY2(!spec.error().message.empty() && spec.error().code != ErrorCode::bug, text.c_str());
      continue;
    }
    ++read;
    const auto back = parseSpec(specToJson(*spec));
    QVERIFY2(back && *back == *spec, qPrintable(QString("seed %1: %2").arg(seed).arg(text.c_str())));
    RunSpec named = *spec;
    if (!named.dataset) named.dataset = "x";
    if (const auto done = resolve(named, kGraph)) {
      ++resolved;
      const auto again = resolve(asRunSpec(*done), kGraph);
      QVERIFY2(again && *again == *done, qPrintable(QString("seed %1: %2").arg(seed).arg(text.c_str())));
    }
  }
  // The test would prove nothing if the texts were all refused at once.
  QVERIFY2(read > 6000 && resolved > 500, qPrintable(QString("%1 read, %2 resolved").arg(read).arg(resolved)));
  parseSpec(std::string(100'000, '['));  // deep nesting must not exhaust the stack
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += "{\"a\":";
  QVERIFY(!parseSpec(deep + "1" + std::string(50'000, '}')));
}

QTEST_APPLESS_MAIN(TestSpecFuzz)
#include "tst_spec_fuzz.moc"
