// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/process_sampler.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>

#include "core/metrics/proc_text.h"

namespace dsa {

namespace {

FaultCounts faultsByRusage(int who) {
  struct rusage usage {};
  ::getrusage(who, &usage);
  return FaultCounts{static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
}

/// Fields 10 (minflt) and 12 (majflt) of a stat file; the name in field 2 may hold anything, so count from its last
/// ')'.
std::optional<FaultCounts> faultsByStat(const std::string& path) {
  const auto text = readProcFile(path);
  if (!text) return std::nullopt;
  const std::size_t end = text->rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(end + 1));
  std::string skipped;
  for (int field = 3; field < 10; ++field) fields >> skipped;
  FaultCounts faults;
  std::uint64_t childMinor = 0;
  fields >> faults.minor >> childMinor >> faults.major;
  if (!fields) return std::nullopt;
  return faults;
}

std::optional<Pressure> pressureOf(const char* path) {
  const auto text = readProcFile(path);
  if (!text) return std::nullopt;
  const auto some = textAfter(*text, "some ");
  if (!some) return std::nullopt;
  const std::size_t average = some->find("avg10=");
  const std::size_t total = some->find("total=");
  if (average == std::string::npos || total == std::string::npos) return std::nullopt;
  return Pressure{std::strtod(some->c_str() + average + 6, nullptr),
                  std::strtoull(some->c_str() + total + 6, nullptr, 10)};
}

template <class T, class Add>
void addTo(std::optional<T>& sum, const std::optional<T>& value, Add add) {
  if (!value) return;
  if (!sum) sum.emplace();
  add(*sum, *value);
}

void addProcess(pid_t pid, ProcessSample& sum) {
  const auto memory = processMemory(pid);
  const auto faults = processFaults(pid);
  if (!memory && !faults) return;  // gone since it was listed
  ++sum.processes;
  addTo(sum.memory, memory, [](ProcessMemory& a, const ProcessMemory& b) {
    a.rssAnon += b.rssAnon;
    a.rssFile += b.rssFile;
    a.rssShmem += b.rssShmem;
    a.vmPte += b.vmPte;
    a.vmSwap += b.vmSwap;
  });
  addTo(sum.faults, faults, [](FaultCounts& a, const FaultCounts& b) {
    a.minor += b.minor;
    a.major += b.major;
  });
  addTo(sum.io, processIo(pid), [](ProcessIo& a, const ProcessIo& b) {
    a.readBytes += b.readBytes;
    a.writeBytes += b.writeBytes;
  });
}

void appendChildren(pid_t pid, std::vector<pid_t>& found) {
  std::error_code error;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  // Each thread has its own children.
  for (auto task = std::filesystem::directory_iterator(tasks, error);
       !error && task != std::filesystem::directory_iterator(); task.increment(error)) {
    const auto text = readProcFile((task->path() / "children").string());
    if (!text) continue;
    std::istringstream children(*text);
    for (pid_t child = 0; children >> child;) found.push_back(child);
  }
}

}  // namespace

std::optional<ProcessMemory> processMemory(pid_t pid) {
  const auto text = readProcFile(fmt::format("/proc/{}/status", pid));
  if (!text) return std::nullopt;
  const auto bytes = [&](const char* key) { return numberAfter(*text, key); };
  const auto anon = bytes("RssAnon:");
  const auto file = bytes("RssFile:");
  const auto pte = bytes("VmPTE:");
  // A kernel thread and a zombie have none of them.
  if (!anon || !file || !pte) return std::nullopt;
  return ProcessMemory{*anon * 1024, *file * 1024, bytes("RssShmem:").value_or(0) * 1024, *pte * 1024,
                       bytes("VmSwap:").value_or(0) * 1024};
}

std::optional<FaultCounts> processFaults(pid_t pid) {
  if (pid == ::getpid()) return faultsByRusage(RUSAGE_SELF);
  return faultsByStat(fmt::format("/proc/{}/stat", pid));
}

std::optional<FaultCounts> threadFaults(pid_t tid) { return faultsByStat(fmt::format("/proc/self/task/{}/stat", tid)); }

FaultCounts callingThreadFaults() { return faultsByRusage(RUSAGE_THREAD); }

std::optional<ProcessIo> processIo(pid_t pid) {
  const auto text = readProcFile(fmt::format("/proc/{}/io", pid));
  if (!text) return std::nullopt;
  const auto read = numberAfter(*text, "read_bytes:");
  const auto written = numberAfter(*text, "write_bytes:");
  if (!read || !written) return std::nullopt;
  return ProcessIo{*read, *written};
}

std::optional<Pressure> memoryPressure() { return pressureOf("/proc/pressure/memory"); }
std::optional<Pressure> ioPressure() { return pressureOf("/proc/pressure/io"); }

std::vector<pid_t> processDescendants(pid_t pid) {
  std::vector<pid_t> found;
  appendChildren(pid, found);
  for (std::size_t i = 0; i < found.size(); ++i) appendChildren(found[i], found);
  return found;
}

ProcessSampler::ProcessSampler(pid_t pid, ProcessScope scope) : m_pid(pid == 0 ? ::getpid() : pid), m_scope(scope) {}

ProcessSample ProcessSampler::sample() {
  ProcessSample sum;
  addProcess(m_pid, sum);
  if (m_scope == ProcessScope::withChildren) {
    for (const pid_t child : processDescendants(m_pid)) addProcess(child, sum);
  }
  if (sum.memory) {
    m_privatePeak = std::max(m_privatePeak.value_or(0), sum.memory->privateBytes());
    m_filePeak = std::max(m_filePeak.value_or(0), sum.memory->rssFile);
  }
  return sum;
}

}  // namespace dsa
