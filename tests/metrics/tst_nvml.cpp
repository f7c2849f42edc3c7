// SPDX-License-Identifier: Apache-2.0
// GPU figures as a stand-in for NVIDIA's library gives them: what is not available is absent, never 0, never huge.
#include <unistd.h>

#include "core/metrics/nvml.h"

using namespace dsa;

namespace {

Result<Nvml> fake(const char* mode, const char* library = DSA_FAKE_NVML) {
  qputenv("FAKE_NVML", mode);
  qputenv("FAKE_NVML_PID", QByteArray::number(::getpid()));
  return Nvml::load(library);
}

}  // namespace

class TestNvml : public QObject {
  Q_OBJECT
 private slots:
  void threeNumbersOfOneGpu() {
    const auto nvml = fake("fine");
    QVERIFY2(nvml.has_value(), nvml ? "" : nvml.error().message.c_str());
    const auto gpus = nvml->read(::getpid());
    QCOMPARE(gpus.size(), std::size_t{1});
    QCOMPARE(gpus[0].name, std::string("Fake 8000"));
    QCOMPARE(gpus[0].total.value(), std::uint64_t{8} << 30);
    QCOMPARE(gpus[0].used.value(), std::uint64_t{2} << 30);
    QCOMPARE(gpus[0].processUsed.value(), std::uint64_t{1} << 30);
    QCOMPARE(gpus[0].utilisation.value(), 42u);
    QVERIFY(!gpus[0].foreignProcesses);
  }

  void whatIsNotAvailableIsAbsent() {
    const auto nvml = fake("not-available");
    QVERIFY(nvml.has_value());
    const auto gpus = nvml->read(::getpid());
    QCOMPARE(gpus.size(), std::size_t{1});
    QVERIFY(!gpus[0].total && !gpus[0].used && !gpus[0].processUsed && !gpus[0].utilisation);
  }

  void processesOfAnotherNamespaceAreRecognised() {
    const auto nvml = fake("foreign");
    QVERIFY(nvml.has_value());
    const auto gpus = nvml->read(::getpid());
    QVERIFY(gpus[0].foreignProcesses);
    QVERIFY(!gpus[0].processUsed);
    QVERIFY(gpus[0].used.has_value());
  }

  void twoGpus() {
    const auto nvml = fake("two");
    const auto gpus = nvml->read(::getpid());
    QCOMPARE(gpus.size(), std::size_t{2});
    QCOMPARE(gpus[1].name, std::string("Fake 9000"));
    QCOMPARE(gpus[1].total.value(), std::uint64_t{16} << 30);
    QVERIFY(!gpus[1].processUsed);
  }

  void aMissingLibraryIsSaid() {
    const auto nvml = fake("fine", "libno-such-nvml.so.1");
    QVERIFY(!nvml.has_value());
    QCOMPARE(nvml.error().code, ErrorCode::machine);
    QVERIFY(nvml.error().message.find("not reported") != std::string::npos);
  }

  void anOldDriverStillTellsTheRest() {
    const auto nvml = fake("fine", DSA_FAKE_NVML_OLD);
    QVERIFY(nvml.has_value());
    const auto gpus = nvml->read(::getpid());
    QVERIFY(gpus[0].used.has_value());
    QVERIFY(!gpus[0].processUsed && !gpus[0].foreignProcesses);
  }

  void aLibraryWithoutTheFunctionsIsRefused() {
    // Some library that is surely there.
    const auto nvml = fake("fine", "libm.so.6");
    QVERIFY(!nvml.has_value());
    QVERIFY(nvml.error().message.find("too old") != std::string::npos);
  }

  void aDriverThatWillNotBeginIsSaid() {
    const auto nvml = fake("no-init");
    QVERIFY(!nvml.has_value());
    QVERIFY(nvml.error().message.find("error 9") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(TestNvml)
#include "tst_nvml.moc"
