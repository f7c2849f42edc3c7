// SPDX-License-Identifier: Apache-2.0
#include "core/record/process_identity.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

namespace dsa {

namespace {

std::string firstLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

struct ProcStat {
  char state = '?';
  std::uint64_t startTicks = 0;
};

/// State and start time of /proc/PID/stat; nothing when the process is not there.
std::optional<ProcStat> readProcStat(std::int64_t pid) {
  const std::string line = firstLine(("/proc/" + std::to_string(pid) + "/stat").c_str());
  // The name in parentheses may hold spaces and parentheses itself: the fields begin after the last one.
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end + 1));
  ProcStat stat;
  fields >> stat.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> stat.startTicks;
  if (!fields) return std::nullopt;
  return stat;
}

std::string pidNamespaceOfSelf() {
  std::array<char, 64> target{};
  const ssize_t size = ::readlink("/proc/self/ns/pid", target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

ProcessIdentity ProcessIdentity::ofSelf() {
  ProcessIdentity self;
  self.pid = ::getpid();
  if (const auto stat = readProcStat(self.pid)) self.startTicks = stat->startTicks;
  self.bootId = firstLine("/proc/sys/kernel/random/boot_id");
  self.pidNamespace = pidNamespaceOfSelf();
  self.machineId = firstLine("/etc/machine-id");
  return self;
}

Liveness livenessOf(const ProcessIdentity& who) {
  const ProcessIdentity self = ProcessIdentity::ofSelf();
  if (who.bootId != self.bootId) {
    // Same machine, other boot: nothing survives a reboot. Another machine: not ours to say.
    const bool rebooted = !who.machineId.empty() && who.machineId == self.machineId;
    return rebooted ? Liveness::gone : Liveness::unknown;
  }
  if (who.pidNamespace != self.pidNamespace) return Liveness::unknown;
  const auto stat = readProcStat(who.pid);
  if (!stat || stat->startTicks != who.startTicks || stat->state == 'Z' || stat->state == 'X') return Liveness::gone;
  return Liveness::alive;
}

}  // namespace dsa
