// SPDX-License-Identifier: Apache-2.0
// A stand-in for libnvidia-ml.so.1; FAKE_NVML says how it behaves: fine, not-available, foreign, two, no-init.
#include <cstdlib>
#include <cstring>

namespace {

bool is(const char* what) {
  const char* mode = std::getenv("FAKE_NVML");
  return mode != nullptr && std::strcmp(mode, what) == 0;
}

struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpuInstance, computeInstance;
};
struct Utilisation {
  unsigned gpu, memory;
};

constexpr unsigned long long kGiB = 1ull << 30;
char g_devices[2];

}  // namespace

extern "C" {

int nvmlInit_v2() { return is("no-init") ? 9 : 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = is("two") ? 2 : 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &g_devices[index];
  return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  std::strncpy(name, device == g_devices ? "Fake 8000" : "Fake 9000", size);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  if (is("not-available")) return 3;  // not supported
  *memory = device == g_devices ? Memory{8 * kGiB, 6 * kGiB, 2 * kGiB} : Memory{16 * kGiB, 15 * kGiB, kGiB};
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, Utilisation* utilisation) {
  if (is("not-available")) return 3;
  *utilisation = {42, 10};
  return 0;
}
#ifndef FAKE_NVML_OLD
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* processes) {
  const unsigned pid = is("foreign") ? 4'000'000'000u : static_cast<unsigned>(std::atoi(std::getenv("FAKE_NVML_PID")));
  if (device != g_devices) {
    *count = 0;
    return 0;
  }
  if (processes == nullptr || *count < 1) {
    *count = 1;
    return 7;  // insufficient size
  }
  *count = 1;
  // WDDM and containers: "not available" is the largest number.
  processes[0] = Process{pid, is("not-available") ? ~0ull : kGiB, 0, 0};
  return 0;
}
#endif
}
