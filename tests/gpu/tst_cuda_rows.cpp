// SPDX-License-Identifier: Apache-2.0
// The kernel on a card gives the bits of the emulated warp; without a card every call says why.
#include <QtTest>

#include "core/device/cuda_device.h"
#include "tests/gpu/row_cases.h"

#if defined(DSA_WITH_CUDA)
#include <cuda_runtime_api.h>
#endif

using dsa::test::RowCase;

namespace {

#if defined(DSA_WITH_CUDA)
/// Values copied to the card; freed with it.
template <class T>
class OnCard {
 public:
  explicit OnCard(const std::vector<T>& values) : m_count(values.size()) {
    m_worked = cudaMalloc(&m_memory, m_count * sizeof(T)) == cudaSuccess &&
               cudaMemcpy(m_memory, values.data(), m_count * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess;
  }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;
  ~OnCard() { cudaFree(m_memory); }
  [[nodiscard]] bool worked() const { return m_worked; }
  [[nodiscard]] T* data() const { return static_cast<T*>(m_memory); }
  [[nodiscard]] std::vector<T> back() const {
    std::vector<T> values(m_count);
    if (cudaMemcpy(values.data(), m_memory, m_count * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) values.clear();
    return values;
  }

 private:
  void* m_memory = nullptr;
  std::size_t m_count = 0;
  bool m_worked = false;
};

/// The table after `steps` steps on the card; empty where a call failed.
std::vector<float> onCard(const RowCase& c, std::uint64_t steps) {
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return {};
  const OnCard<float> table(c.table);
  const OnCard<float> grads(c.grads);
  const OnCard<std::uint64_t> ids(c.ids);
  bool worked = table.worked() && grads.worked() && ids.worked();
  const dsa::CudaRows rows{table.data(), c.width, ids.data(), grads.data(), c.params.dim, c.ids.size()};
  for (std::uint64_t t = 1; worked && t <= steps; ++t)
    worked = dsa::cudaUpdateRows(c.step(t), rows, stream).has_value();
  worked = cudaStreamSynchronize(stream) == cudaSuccess && worked;
  cudaStreamDestroy(stream);
  return worked ? table.back() : std::vector<float>{};
}
#else
std::vector<float> onCard(const RowCase&, std::uint64_t) { return {}; }
#endif

}  // namespace

class tst_cuda_rows : public QObject {
  Q_OBJECT
 private slots:
  void devicesAreDescribedOrTheReasonIsGiven() {
    const auto devices = dsa::cudaDevices();
    if (devices) {
      QVERIFY(!devices->empty());
      for (const dsa::CudaDevice& device : *devices) {
        QVERIFY(!device.name.empty() && device.memoryTotal > 0 && device.major > 0);
        QVERIFY(!device.memoryFree || *device.memoryFree <= device.memoryTotal);
      }
      return;
    }
    const std::string& message = devices.error().message;
    QCOMPARE(dsa::exitCode(devices.error()), 4);
#if defined(DSA_WITH_CUDA)
    QVERIFY2(message.find("CUDA driver") != std::string::npos || message.find("no CUDA device") != std::string::npos,
             message.c_str());
#else
    QVERIFY2(message.find("built without CUDA") != std::string::npos, message.c_str());
#endif
  }

  void withoutADeviceALaunchIsAnErrorNotACrash() {
    if (dsa::cudaDevices()) QSKIP("there is a CUDA device: its absence is not proved");
    const RowCase c(dsa::Rule::sparseAdam, dsa::BallMap::retraction, 0, 4, 3);
    std::vector<float> table = c.table;
    const auto update = dsa::cudaUpdateRows(c.step(1), {table.data(), c.width, nullptr, c.grads.data(), 4, 1}, nullptr);
    QVERIFY(!update);
    QCOMPARE(dsa::exitCode(update.error()), 4);
    QVERIFY(table == c.table);
  }

  void theCardGivesTheBitsOfTheEmulatedWarp_data() {
    dsa::test::addRules();
    const auto devices = dsa::cudaDevices();
    if (!devices)
      QSKIP(("no CUDA device: the kernel's bits are not proved on a card (" + devices.error().message + ")").c_str());
  }
  void theCardGivesTheBitsOfTheEmulatedWarp() {
    QFETCH(int, rule);
    QFETCH(int, map);
    QFETCH(double, k);
    for (const std::uint32_t dim : {1u, 2u, 5u, 15u, 16u, 17u, 31u, 32u, 33u, 64u, 100u, 128u, 131u, 512u}) {
      for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{33}, std::uint64_t{2049}}) {
        const RowCase c(static_cast<dsa::Rule>(rule), static_cast<dsa::BallMap>(map), k, dim, count);
        const std::vector<float> want = c.expected(5);
        const std::vector<float> got = onCard(c, 5);
        QVERIFY2(got.size() == want.size(), "a CUDA call failed");
        QVERIFY2(dsa::test::sameBits(got, want), qPrintable(QString("dim %1, %2 rows").arg(dim).arg(count)));
      }
    }
  }
};

QTEST_APPLESS_MAIN(tst_cuda_rows)
#include "tst_cuda_rows.moc"
