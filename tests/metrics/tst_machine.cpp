// SPDX-License-Identifier: Apache-2.0
// The description of the machine agrees with what other interfaces say.
#include <sys/sysinfo.h>
#include <unistd.h>

#include <QObject>
#include <QTest>
#include <cmath>

#include "core/base/residency.h"
#include "core/metrics/machine.h"

using namespace dsa;

class TestMachine : public QObject {
  Q_OBJECT
 private slots:
  void itAgreesWithOtherInterfaces() {
    const MachineInfo machine = describeMachine();
    struct sysinfo info {};
    QCOMPARE(::sysinfo(&info), 0);
    const double total = static_cast<double>(info.totalram) * info.mem_unit;
    QVERIFY(std::abs(static_cast<double>(machine.memoryTotal.value()) - total) < 1e6);
    QVERIFY(*machine.memoryAvailable > 0 && *machine.memoryAvailable <= *machine.memoryTotal);
    QVERIFY(machine.cores >= 1 && machine.cores <= static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_CONF)));
    QCOMPARE(machine.cachestat, hasCachestat());
    QCOMPARE(machine.bootId.size(), std::size_t{36});
    QVERIFY(machine.kernel.starts_with("Linux "));
    QVERIFY(!machine.memoryLimit || *machine.memoryLimit < *machine.memoryTotal);
#if defined(__x86_64__)
    QCOMPARE(machine.avx2, __builtin_cpu_supports("avx2") != 0);
    QCOMPARE(machine.avx512, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                 __builtin_cpu_supports("avx512vl"));
#endif
  }

  void theTextSaysWhatIsKnownAndWhatIsNot() {
    MachineInfo machine;
    machine.system = "Debian";
    machine.kernel = "Linux 6.1";
    machine.cores = 2;
    machine.avx2 = true;
    machine.memoryTotal = 16ull << 30;
    machine.memoryLimit = 8ull << 30;
    const std::string text = machineText(machine);
    QCOMPARE(text,
             std::string("system: Debian, Linux 6.1\n"
                         "cpu: not reported, 2 cores, AVX2\n"
                         "memory: 16.00 GiB in all, not reported available, limited to 8.00 GiB by a control group\n"
                         "kernel features: cachestat no, io_uring no, pressure stall information no"));
  }
};

QTEST_GUILESS_MAIN(TestMachine)
#include "tst_machine.moc"
