// SPDX-License-Identifier: Apache-2.0
// Who runs a run: a process named so that a reused pid, a reboot, a container or another machine is never taken for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dsa {

/// pid + start time name a process within one boot and one pid namespace; the machine id tells a reboot from another
/// machine.
struct ProcessIdentity {
  std::int64_t pid = 0;
  std::uint64_t startTicks = 0;  ///< field 22 of /proc/PID/stat, clock ticks since boot
  std::string bootId;            ///< /proc/sys/kernel/random/boot_id
  std::string pidNamespace;      ///< target of /proc/self/ns/pid
  std::string machineId;         ///< /etc/machine-id, empty where there is none

  static ProcessIdentity ofSelf();
};

enum class Liveness {
  alive,    ///< the very process is there
  gone,     ///< it is certain that it is not (a zombie is gone)
  unknown,  ///< another machine or container: only its heartbeat can tell
};

[[nodiscard]] Liveness livenessOf(const ProcessIdentity& who);

}  // namespace dsa
