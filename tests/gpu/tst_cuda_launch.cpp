// SPDX-License-Identifier: Apache-2.0
// The launch's arithmetic covers each row exactly once; what is asked of CUDA without it, and with something plugged
// in.
#include <QtTest>
#include <vector>

#include "core/device/cuda_device.h"
#include "core/device/cuda_launch.h"

namespace {

/// What the grid does, warp after warp: how often each row was named.
std::vector<std::uint8_t> launchOnHost(const dsa::LaunchShape& shape) {
  std::vector<std::uint8_t> times(shape.rows, 0);
  for (std::uint32_t block = 0; block < shape.blocks; ++block) {
    for (std::uint32_t warp = 0; warp < dsa::kWarpsPerBlock; ++warp) {
      dsa::rowsOfWarp(shape, block, warp, [&](std::uint64_t row) { ++times.at(row); });
    }
  }
  return times;
}

std::uint32_t seenIndex = 0;
dsa::Result<std::shared_ptr<dsa::Card>> remember(const dsa::CudaDevice& device) {
  seenIndex = static_cast<std::uint32_t>(device.index);
  return std::shared_ptr<dsa::Card>();
}
dsa::Result<std::vector<dsa::CudaDevice>> oneDevice() {
  dsa::CudaDevice device;
  device.index = 3;
  return std::vector{device};
}

}  // namespace

class tst_cuda_launch : public QObject {
  Q_OBJECT
 private slots:
  void everyRowIsOneWarpsOnce() {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t n = 1; n <= 257; ++n) sizes.push_back(n);
    const std::uint64_t whole = std::uint64_t{dsa::kMostBlocks} * dsa::kWarpsPerBlock;
    for (const std::uint64_t n : {whole - 1, whole, whole + 1, 2 * whole + 5}) sizes.push_back(n);
    for (const std::uint64_t n : sizes) {
      const dsa::LaunchShape shape = dsa::launchShape(n);
      QVERIFY(shape.blocks > 0 && shape.blocks <= dsa::kMostBlocks);
      QVERIFY2(std::uint64_t{shape.blocks - 1} * dsa::kWarpsPerBlock < n,
               qPrintable(QString("%1 rows: a block has nothing to do").arg(n)));
      const std::vector<std::uint8_t> times = launchOnHost(shape);
      QVERIFY2(times == std::vector<std::uint8_t>(n, 1), qPrintable(QString("%1 rows").arg(n)));
    }
  }

  void aBatchOfTenThousandRowsKeepsEveryWarpToOneRow() {
    QVERIFY(std::uint64_t{dsa::launchShape(10000).blocks} * dsa::kWarpsPerBlock >= 10000);
  }

  void hugeCountsDoNotOverflowTheGrid() {
    QCOMPARE(dsa::launchShape(0).blocks, 0u);
    QCOMPARE(dsa::launchShape(UINT64_MAX).blocks, dsa::kMostBlocks);
    QCOMPARE(dsa::launchShape(std::uint64_t{1} << 34).blocks, dsa::kMostBlocks);
  }

  void withoutCudaBothCallsSaySo() {
    const auto* before = dsa::setCudaBackend(nullptr);
    QVERIFY(before == nullptr);  // this test does not link dsa_cuda
    const auto devices = dsa::cudaDevices();
    QVERIFY(!devices);
    QCOMPARE(dsa::exitCode(devices.error()), 4);
    QVERIFY(devices.error().message.find("built without CUDA") != std::string::npos);
    const auto card = dsa::openCudaCard(0);
    QVERIFY(!card);
    QCOMPARE(card.error().message, devices.error().message);
  }

  void aPluggedBackendIsAsked() {
    constexpr dsa::CudaBackend backend{oneDevice, remember};
    QVERIFY(dsa::setCudaBackend(&backend) == nullptr);
    QVERIFY(dsa::openCudaCard(3).has_value());
    QCOMPARE(seenIndex, 3u);
    const auto other = dsa::openCudaCard(0);
    QVERIFY(!other);
    QCOMPARE(dsa::exitCode(other.error()), 4);
    QVERIFY2(other.error().message.find("the last one is 3") != std::string::npos, other.error().message.c_str());
    QCOMPARE(dsa::cudaDevices()->size(), std::size_t{1});
    QVERIFY(dsa::setCudaBackend(nullptr) == &backend);
  }
};

QTEST_APPLESS_MAIN(tst_cuda_launch)
#include "tst_cuda_launch.moc"
