// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/machine.h"

#include <fmt/format.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "core/base/file.h"
#include "core/base/residency.h"
#include "core/metrics/proc_text.h"
#include "core/metrics/process_sampler.h"

namespace dsa {

namespace {

unsigned coresOfThisProcess() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::thread::hardware_concurrency();
}

bool hasIoUring() {
  struct io_uring_params params {};
  const long fd = ::syscall(__NR_io_uring_setup, 1u, &params);
  if (fd < 0) return false;  // not built in, switched off (kernel.io_uring_disabled), or filtered in a container
  ::close(static_cast<int>(fd));
  return true;
}

std::optional<std::uint64_t> plainNumber(const std::string& path) {
  const auto text = readProcFile(path);
  if (!text) return std::nullopt;
  return numberAfter(*text, "");  // "max" is no number: no limit
}

/// The smallest limit on the way from this process's control group to the root: version 2, else version 1.
std::optional<std::uint64_t> controlGroupLimit() {
  const auto groups = readProcFile("/proc/self/cgroup");
  if (!groups) return std::nullopt;
  std::optional<std::uint64_t> limit;
  std::istringstream lines(*groups);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool isVersion2 = controllers.empty();
    if (!isVersion2 && ("," + controllers + ",").find(",memory,") == std::string::npos) continue;
    const std::string base = isVersion2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* file = isVersion2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (std::string group = line.substr(second + 1);; group.erase(group.rfind('/'))) {
      if (group == "/") group.clear();
      if (const auto one = plainNumber(base + group + file)) limit = std::min(limit.value_or(*one), *one);
      if (group.empty()) break;
    }
  }
  return limit;
}

void readCpu(MachineInfo& machine) {
  const auto text = readProcFile("/proc/cpuinfo");
  if (!text) return;
  const auto valueOf = [&](const char* key) {
    const std::string rest = textAfter(*text, key).value_or("");
    const std::size_t colon = rest.find(':');
    return colon == std::string::npos ? std::string() : trimmed(rest.substr(colon + 1));
  };
  machine.cpuModel = valueOf("model name");
  const std::string flags = " " + valueOf("flags") + " ";
  const auto has = [&](const char* flag) { return flags.find(fmt::format(" {} ", flag)) != std::string::npos; };
  machine.avx2 = has("avx2");
  machine.avx512 = has("avx512f") && has("avx512dq") && has("avx512vl");
}

void readMemory(MachineInfo& machine) {
  const auto text = readProcFile("/proc/meminfo");
  if (!text) return;
  const auto bytes = [&](const char* key) -> std::optional<std::uint64_t> {
    const auto kib = numberAfter(*text, key);
    if (!kib) return std::nullopt;
    return *kib * 1024;
  };
  machine.memoryTotal = bytes("MemTotal:");
  machine.memoryAvailable = bytes("MemAvailable:");
  machine.swapTotal = bytes("SwapTotal:");
  const auto limit = controlGroupLimit();
  if (limit && machine.memoryTotal && *limit < *machine.memoryTotal) machine.memoryLimit = limit;
}

std::string orNotReported(const std::optional<std::uint64_t>& bytes) {
  return bytes ? formatBytes(*bytes) : "not reported";
}

const char* yesNo(bool yes) { return yes ? "yes" : "no"; }

}  // namespace

MachineInfo describeMachine() {
  MachineInfo machine;
  struct utsname names {};
  if (::uname(&names) == 0) {
    machine.hostName = names.nodename;
    machine.kernel = fmt::format("{} {}", names.sysname, names.release);
  }
  const std::string release = readProcFile("/etc/os-release").value_or("");
  machine.system = textAfter(release, "PRETTY_NAME=").value_or("");
  std::erase(machine.system, '"');
  machine.cores = coresOfThisProcess();
  readCpu(machine);
  readMemory(machine);
  machine.cachestat = hasCachestat();
  machine.ioUring = hasIoUring();
  machine.pressure = memoryPressure().has_value();
  machine.bootId = trimmed(readProcFile("/proc/sys/kernel/random/boot_id").value_or(""));
  return machine;
}

std::string machineText(const MachineInfo& machine) {
  std::string text =
      fmt::format("system: {}, {}\n", machine.system.empty() ? "not reported" : machine.system, machine.kernel);
  text += fmt::format("cpu: {}, {} cores{}{}\n", machine.cpuModel.empty() ? "not reported" : machine.cpuModel,
                      machine.cores, machine.avx2 ? ", AVX2" : "", machine.avx512 ? ", AVX-512" : "");
  text += fmt::format("memory: {} in all, {} available", orNotReported(machine.memoryTotal),
                      orNotReported(machine.memoryAvailable));
  if (machine.memoryLimit) text += fmt::format(", limited to {} by a control group", formatBytes(*machine.memoryLimit));
  if (machine.swapTotal && *machine.swapTotal > 0) text += fmt::format(", {} of swap", formatBytes(*machine.swapTotal));
  text += fmt::format("\nkernel features: cachestat {}, io_uring {}, pressure stall information {}",
                      yesNo(machine.cachestat), yesNo(machine.ioUring), yesNo(machine.pressure));
  return text;
}

}  // namespace dsa
