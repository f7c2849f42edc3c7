// SPDX-License-Identifier: Apache-2.0
// The fingerprint: every bit of the logical state and of the spec counts, the place and untouched rows do not.
#include "train_samples.h"

#include <bit>

using namespace dsa;

namespace {

StoreShape shape() {
  StoreShape s;
  s.seed = 5;
  s.tables.push_back({"entities", 200, 7, Rule::radam, 0.1f, 100});
  s.tables.push_back({"relations", 20, 7, Rule::radam, 0.1f, 9});
  return s;
}

Result<void> step(Tables& tables, ThreadPool& pool, std::uint64_t salt) {
  std::vector<std::uint64_t> counts = {40, 3};
  std::vector<StepParams> params;
  for (std::uint32_t t = 0; t < 2; ++t) {
    StepParams p;
    p.rule = Rule::radam;
    p.dim = 7;
    p.k = 1;
    params.push_back(makeStep(p, tables.step() + 1, 0.05));
    for (std::uint64_t i = 0; i < counts[t]; ++i) tables.ids(t)[i] = i * 2 + t + salt;
    for (std::uint64_t i = 0; i < counts[t] * 7; ++i)
      tables.grads(t)[i] = static_cast<float>((i * 37 + salt) % 19) * 0.1f - 0.9f;
  }
  return tables.apply(counts, params, StateBlob{}, 0, {}, pool);
}

std::unique_ptr<Tables> inMemory(const std::shared_ptr<Device>& device, ThreadPool& pool) {
  auto made = makeMemoryTables(shape(), device, rowKernels(KernelLevel::scalar), pool);
  if (!made) qFatal("%s", made.error().message.c_str());
  return std::move(*made);
}

}  // namespace

class TestTableHash : public QObject {
  Q_OBJECT
 private slots:
  void ignoresThePlace();
  void changesWithOneBitAnywhere();
  void changesWithTheSpecAndWithATouchedRow();
  void isTheStatedBytes();
};

void TestTableHash::ignoresThePlace() {
  ThreadPool pool(2);
  QTemporaryDir dir;
  const std::string folder = dir.filePath("run").toStdString();
  VERIFY_OK(RowStore::create(folder, shape()));
  auto disk = openDiskTables(folder, {.durability = Durability::power}, rowKernels(KernelLevel::scalar));
  VERIFY_OK(disk);
  const auto ram = inMemory(Device::cpu(), pool);
  const auto card = inMemory(Device::simulated(1 << 20), pool);
  const std::string empty = *tableSha256(*ram, "spec");
  QCOMPARE(*tableSha256(**disk, "spec"), empty);
  for (std::uint64_t s = 0; s < 5; ++s) {
    for (Tables* tables : {disk->get(), ram.get(), card.get()}) VERIFY_OK(step(*tables, pool, s));
    QCOMPARE(*tableSha256(**disk, "spec"), *tableSha256(*ram, "spec"));
    QCOMPARE(*tableSha256(*card, "spec"), *tableSha256(*ram, "spec"));
    QVERIFY(*tableSha256(*ram, "spec") != empty);
  }
}

void TestTableHash::changesWithOneBitAnywhere() {
  ThreadPool pool(1);
  const auto tables = inMemory(Device::cpu(), pool);
  VERIFY_OK(step(*tables, pool, 0));
  const std::string before = *tableSha256(*tables, "spec");
  for (std::uint32_t t = 0; t < 2; ++t) {
    const std::uint64_t row = 2 + t;
    for (const std::uint64_t value : {0, 6, 7, 13, 14}) {  // weights, first moment, the scalar
      auto* const word = reinterpret_cast<std::uint32_t*>(const_cast<float*>(tables->record(t, row))) + value;
      for (const int bit : {0, 31}) {
        *word ^= 1u << bit;
        QVERIFY2(*tableSha256(*tables, "spec") != before,
                 fmt::format("table {}, value {}, bit {}", t, value, bit).c_str());
        *word ^= 1u << bit;
      }
    }
  }
  QCOMPARE(*tableSha256(*tables, "spec"), before);
  // What no step touched is not part of it.
  const_cast<float*>(tables->record(0, 199))[0] += 1;
  QCOMPARE(*tableSha256(*tables, "spec"), before);
}

void TestTableHash::changesWithTheSpecAndWithATouchedRow() {
  ThreadPool pool(1);
  const auto tables = inMemory(Device::cpu(), pool);
  VERIFY_OK(step(*tables, pool, 0));
  const std::string before = *tableSha256(*tables, "spec");
  QVERIFY(*tableSha256(*tables, "specs") != before);
  tables->touchedBits(0).set(150);
  QVERIFY(*tableSha256(*tables, "spec") != before);
}

void TestTableHash::isTheStatedBytes() {
  ThreadPool pool(1);
  const auto tables = inMemory(Device::cpu(), pool);
  VERIFY_OK(step(*tables, pool, 0));
  Sha256 hash;
  hash.add("spec", 4);
  for (std::uint32_t t = 0; t < 2; ++t) {
    for (std::uint64_t i = 0; i < (t == 0 ? 40u : 3u); ++i) {
      const std::uint64_t row = i * 2 + t;
      unsigned char id[8];
      for (int b = 0; b < 8; ++b) id[b] = static_cast<unsigned char>(row >> (8 * b));
      hash.add(id, 8);
      for (std::uint64_t v = 0; v < 15; ++v) {
        const auto bits = std::bit_cast<std::uint32_t>(tables->record(t, row)[v]);
        unsigned char bytes[4];
        for (int b = 0; b < 4; ++b) bytes[b] = static_cast<unsigned char>(bits >> (8 * b));
        hash.add(bytes, 4);
      }
    }
  }
  QCOMPARE(*tableSha256(*tables, "spec"), hash.hex());
}

QTEST_APPLESS_MAIN(TestTableHash)
#include "tst_table_hash.moc"
