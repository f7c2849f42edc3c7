// SPDX-License-Identifier: Apache-2.0
// The accounts of a device: what is held for what, the peak, what is given back, and how a full card refuses.
#include <QTest>
#include <vector>

#include "core/device/device.h"

using namespace dsa;

namespace {

constexpr std::uint64_t kMiB = 1ull << 20;

DeviceBuffer take(const std::shared_ptr<Device>& device, std::uint64_t bytes, Purpose purpose) {
  auto buffer = device->allocate(bytes, purpose);
  if (!buffer) qFatal("%s", buffer.error().message.c_str());
  return std::move(*buffer);
}

}  // namespace

class TestDevice : public QObject {
  Q_OBJECT
 private slots:
  void countsByPurposeAndGivesBack();
  void peakStaysWhenMemoryIsGivenBack();
  void movedBuffersAreCountedOnce();
  void refusalNamesNeedUseAndCard();
  void fullToTheLastByte();
  void buffersOutliveTheirHandle();
  void processorHasNoMemoryOfItsOwn();
  void memoryIsZeroAndWritable();
};

void TestDevice::countsByPurposeAndGivesBack() {
  const auto card = Device::simulated(16 * kMiB);
  DeviceBuffer weights = take(card, 3 * kMiB, Purpose::weights);
  {
    const DeviceBuffer batch = take(card, 1000, Purpose::batch);
    const DeviceBuffer more = take(card, 24, Purpose::batch);
    QCOMPARE(card->used(), 3 * kMiB + 1024);
    QCOMPARE(card->usedFor(Purpose::weights), 3 * kMiB);
    QCOMPARE(card->usedFor(Purpose::batch), std::uint64_t{1024});
    QCOMPARE(card->usedFor(Purpose::moments), std::uint64_t{0});
    QCOMPARE(batch.size(), std::uint64_t{1000});
  }
  QCOMPARE(card->used(), 3 * kMiB);
  QCOMPARE(card->usedFor(Purpose::batch), std::uint64_t{0});
  QCOMPARE(card->usedFor(Purpose::weights), 3 * kMiB);
}

void TestDevice::peakStaysWhenMemoryIsGivenBack() {
  const auto card = Device::simulated(16 * kMiB);
  { const DeviceBuffer large = take(card, 10 * kMiB, Purpose::workspace); }
  const DeviceBuffer small = take(card, kMiB, Purpose::model);
  QCOMPARE(card->used(), kMiB);
  QCOMPARE(card->peak(), 10 * kMiB);
  // Given back is there again: 15 MiB fit beside the one.
  const DeviceBuffer rest = take(card, 15 * kMiB, Purpose::weights);
  QCOMPARE(card->peak(), 16 * kMiB);
}

void TestDevice::movedBuffersAreCountedOnce() {
  const auto card = Device::simulated(16 * kMiB);
  {
    DeviceBuffer a = take(card, 2 * kMiB, Purpose::weights);
    DeviceBuffer b = std::move(a);
    QCOMPARE(card->used(), 2 * kMiB);
    b = take(card, kMiB, Purpose::moments);
    // The old one may live until the temporary goes, not longer.
    QCOMPARE(card->used(), kMiB);
    QCOMPARE(card->usedFor(Purpose::weights), std::uint64_t{0});
    std::vector<DeviceBuffer> many;
    for (int i = 0; i < 5; ++i) many.push_back(take(card, 4096, Purpose::batch));
    QCOMPARE(card->usedFor(Purpose::batch), std::uint64_t{5 * 4096});
  }
  QCOMPARE(card->used(), std::uint64_t{0});
}

void TestDevice::refusalNamesNeedUseAndCard() {
  const auto card = Device::simulated(12 * kMiB);
  const DeviceBuffer held = take(card, 5 * kMiB, Purpose::batch);
  const auto refused = card->allocate(8 * kMiB, Purpose::weights);
  QVERIFY(!refused);
  QCOMPARE(exitCode(refused.error()), 4);
  const std::string& text = refused.error().message;
  for (const char* part :
       {"simulated card of 12.00 MiB", "out of memory", "8.00 MiB for weights", "5.00 MiB in use", "has 12.00 MiB"}) {
    QVERIFY2(text.find(part) != std::string::npos, text.c_str());
  }
  QCOMPARE(card->used(), 5 * kMiB);
  QCOMPARE(card->peak(), 5 * kMiB);
  QCOMPARE(card->usedFor(Purpose::weights), std::uint64_t{0});
}

void TestDevice::fullToTheLastByte() {
  const auto card = Device::simulated(kMiB);
  const DeviceBuffer all = take(card, kMiB, Purpose::weights);
  QVERIFY(!card->allocate(1, Purpose::batch));
  // A size near 2^64 must not wrap around to "fits".
  QVERIFY(!Device::simulated(kMiB)->allocate(UINT64_MAX, Purpose::batch));
}

void TestDevice::buffersOutliveTheirHandle() {
  auto card = Device::simulated(kMiB);
  const std::weak_ptr<Device> watched = card;
  {
    const DeviceBuffer held = take(card, 4096, Purpose::batch);
    card.reset();
    QVERIFY(!watched.expired());
  }
  QVERIFY(watched.expired());
}

void TestDevice::processorHasNoMemoryOfItsOwn() {
  const auto cpu = Device::cpu();
  QVERIFY(!cpu->hasOwnMemory());
  QCOMPARE(cpu->capacity(), std::uint64_t{0});
  QCOMPARE(cpu->name(), std::string("cpu"));
  const DeviceBuffer rows = take(cpu, 64 * kMiB, Purpose::weights);
  QCOMPARE(rows.size(), 64 * kMiB);
  QVERIFY(Device::simulated(kMiB)->hasOwnMemory());
}

void TestDevice::memoryIsZeroAndWritable() {
  const auto card = Device::simulated(kMiB);
  const DeviceBuffer buffer = take(card, 10000, Purpose::batch);
  QCOMPARE(reinterpret_cast<std::uintptr_t>(buffer.data()) % 4096, std::uintptr_t{0});
  for (std::uint64_t i = 0; i < buffer.size(); ++i) {
    QCOMPARE(std::to_integer<int>(buffer.data()[i]), 0);
    buffer.data()[i] = std::byte{7};
  }
  QCOMPARE(std::to_integer<int>(buffer.data()[9999]), 7);
}

QTEST_APPLESS_MAIN(TestDevice)
#include "tst_device.moc"
