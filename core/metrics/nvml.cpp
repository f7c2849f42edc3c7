// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

namespace dsa {

namespace {

// NVML's own values and structures, as its documentation gives them; nothing of its header is needed.
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr unsigned long long kNotAvailable = std::numeric_limits<unsigned long long>::max();
constexpr unsigned kMostProcesses = 4096;

std::optional<std::uint64_t> reported(unsigned long long value) {
  if (value == kNotAvailable) return std::nullopt;
  return value;
}

}  // namespace

struct Nvml::Library {
  using Device = void*;
  struct MemoryInfo {
    unsigned long long total, free, used;
  };
  struct ProcessInfo {
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId, computeInstanceId;
  };
  struct Utilisation {
    unsigned gpu, memory;
  };
  void* handle = nullptr;
  bool begun = false;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*byIndex)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*memory)(Device, MemoryInfo*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
  int (*utilisation)(Device, Utilisation*) = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (begun) shutdown();
    if (handle != nullptr) ::dlclose(handle);
  }

  template <class F>
  bool find(F*& function, const char* symbol) {
    function = reinterpret_cast<F*>(::dlsym(handle, symbol));
    return function != nullptr;
  }
};

Nvml::Nvml(std::unique_ptr<Library> library) : m_library(std::move(library)) {}
Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;
Nvml::~Nvml() = default;

Result<Nvml> Nvml::load(const std::string& path) {
  auto library = std::make_unique<Library>();
  library->handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    return fail(ErrorCode::machine, "{}: not there; GPU memory is not reported. NVIDIA's driver brings it", path);
  }
  const bool complete =
      library->find(library->init, "nvmlInit_v2") && library->find(library->shutdown, "nvmlShutdown") &&
      library->find(library->count, "nvmlDeviceGetCount_v2") &&
      library->find(library->byIndex, "nvmlDeviceGetHandleByIndex_v2") &&
      library->find(library->name, "nvmlDeviceGetName") && library->find(library->memory, "nvmlDeviceGetMemoryInfo") &&
      library->find(library->utilisation, "nvmlDeviceGetUtilizationRates");
  if (!complete) {
    return fail(ErrorCode::machine,
                "{}: is too old for what is asked of it; GPU memory is not reported. Update NVIDIA's driver", path);
  }
  // Newer drivers only; without it the processes are not reported, the rest is.
  library->find(library->processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (const int code = library->init(); code != kSuccess) {
    return fail(ErrorCode::machine,
                "{}: will not begin (NVML error {}); GPU memory is not reported. Is the driver loaded?", path, code);
  }
  library->begun = true;
  return Nvml(std::move(library));
}

std::vector<GpuReading> Nvml::read(pid_t process) const {
  std::vector<GpuReading> readings;
  unsigned count = 0;
  if (m_library->count(&count) != kSuccess) return readings;
  for (unsigned index = 0; index < count; ++index) {
    GpuReading& reading = readings.emplace_back();
    Library::Device device = nullptr;
    if (m_library->byIndex(index, &device) != kSuccess) continue;
    std::array<char, 96> name{};
    if (m_library->name(device, name.data(), static_cast<unsigned>(name.size() - 1)) == kSuccess)
      reading.name = name.data();
    if (Library::MemoryInfo memory{}; m_library->memory(device, &memory) == kSuccess) {
      reading.total = reported(memory.total);
      reading.used = reported(memory.used);
    }
    if (Library::Utilisation utilisation{}; m_library->utilisation(device, &utilisation) == kSuccess)
      reading.utilisation = utilisation.gpu;
    if (m_library->processes == nullptr) continue;
    unsigned listed = 0;
    int code = m_library->processes(device, &listed, nullptr);
    if (code != kSuccess && code != kInsufficientSize) continue;
    std::vector<Library::ProcessInfo> infos(
        std::min(listed + 16, kMostProcesses));  // some may come between the two calls
    listed = static_cast<unsigned>(infos.size());
    if (m_library->processes(device, &listed, infos.data()) != kSuccess) continue;
    bool foreign = listed > 0;
    for (unsigned i = 0; i < listed && i < infos.size(); ++i) {
      if (static_cast<pid_t>(infos[i].pid) == process) reading.processUsed = reported(infos[i].usedGpuMemory);
      std::error_code error;
      foreign = foreign && !std::filesystem::exists("/proc/" + std::to_string(infos[i].pid), error);
    }
    reading.foreignProcesses = foreign;
  }
  return readings;
}

}  // namespace dsa
