// SPDX-License-Identifier: Apache-2.0
// What the driver says of each GPU, through NVIDIA's management library, which is looked for at run time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace dsa {

/// One GPU now. Absent means "not reported", never 0. Bytes; utilisation in percent.
struct GpuReading {
  std::string name;
  std::optional<std::uint64_t> total;
  std::optional<std::uint64_t> used;         ///< of the whole device, by all processes and the driver itself
  std::optional<std::uint64_t> processUsed;  ///< of the process asked for
  /// The driver lists processes, but none of them is of this pid namespace: in a container their numbers mean nothing.
  bool foreignProcesses = false;
  std::optional<unsigned> utilisation;
};

/// Source: libnvidia-ml.so.1. Thread: one at a time.
class Nvml {
 public:
  /// Errors machine: the library is missing, lacks a function (driver too old), or will not begin.
  static Result<Nvml> load(const std::string& library = "libnvidia-ml.so.1");
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;
  ~Nvml();

  /// All GPUs, in the driver's order. One that answers nothing is there all the same.
  [[nodiscard]] std::vector<GpuReading> read(pid_t process) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> m_library;
};

}  // namespace dsa
