// SPDX-License-Identifier: Apache-2.0
// What this machine is: processor, memory, kernel and what it can do; for `dsa doctor` and for the record of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dsa {

struct MachineInfo {
  std::string hostName;
  std::string system;    ///< PRETTY_NAME of /etc/os-release
  std::string kernel;    ///< "Linux 6.1.0-18-amd64"
  std::string cpuModel;  ///< empty where /proc/cpuinfo does not say
  unsigned cores = 0;    ///< that this process may run on (affinity)
  bool avx2 = false;
  bool avx512 = false;                           ///< F, DQ and VL: what the kernels need
  std::optional<std::uint64_t> memoryTotal;      ///< bytes, MemTotal
  std::optional<std::uint64_t> memoryAvailable;  ///< bytes, MemAvailable: without pushing anything out
  std::optional<std::uint64_t> memoryLimit;      ///< bytes, the control group's, where it is below the total
  std::optional<std::uint64_t> swapTotal;
  bool cachestat = false;
  bool ioUring = false;
  bool pressure = false;  ///< /proc/pressure
  std::string bootId;
};

[[nodiscard]] MachineInfo describeMachine();

/// Several lines for people, "cpu: AMD EPYC ..., 2 cores, AVX2", no line end after the last.
[[nodiscard]] std::string machineText(const MachineInfo& machine);

}  // namespace dsa
