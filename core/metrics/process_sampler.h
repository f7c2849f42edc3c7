// SPDX-License-Identifier: Apache-2.0
// What a process has in memory, how often it faults and what it reads and writes, from /proc; what cannot be read is
// absent, never 0.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace dsa {

/// Source: /proc/PID/status. Bytes.
struct ProcessMemory {
  std::uint64_t rssAnon = 0;   ///< RssAnon: resident private pages
  std::uint64_t rssFile = 0;   ///< RssFile: resident pages of mapped files; reclaimable, never private
  std::uint64_t rssShmem = 0;  ///< RssShmem: resident shared memory and tmpfs
  std::uint64_t vmPte = 0;     ///< VmPTE: page tables
  std::uint64_t vmSwap = 0;    ///< VmSwap: private pages in swap

  /// "Private memory": RssAnon + VmPTE + VmSwap.
  [[nodiscard]] std::uint64_t privateBytes() const { return rssAnon + vmPte + vmSwap; }
};

/// Since the process (or thread) began.
struct FaultCounts {
  std::uint64_t minor = 0;  ///< served without the disk
  std::uint64_t major = 0;  ///< waited for the disk
};

/// Source: /proc/PID/io. Bytes since the process began.
struct ProcessIo {
  std::uint64_t readBytes = 0;   ///< fetched from the storage layer
  std::uint64_t writeBytes = 0;  ///< dirtied, whether or not it has reached the disk
};

/// Source: /proc/pressure/*: the share of time in which some task waited, of the whole machine.
struct Pressure {
  double someAvg10 = 0;           ///< percent, mean of the last 10 s
  std::uint64_t someTotalUs = 0;  ///< microseconds since boot
};

[[nodiscard]] std::optional<ProcessMemory> processMemory(pid_t pid);
/// Of the own process by getrusage, of another by /proc/PID/stat; without its children.
[[nodiscard]] std::optional<FaultCounts> processFaults(pid_t pid);
/// Of one thread of the own process, by /proc/self/task/TID/stat.
[[nodiscard]] std::optional<FaultCounts> threadFaults(pid_t tid);
/// Of the calling thread, by getrusage(RUSAGE_THREAD): the "demand faults" of a step.
[[nodiscard]] FaultCounts callingThreadFaults();
/// Absent for a process of another user.
[[nodiscard]] std::optional<ProcessIo> processIo(pid_t pid);
[[nodiscard]] std::optional<Pressure> memoryPressure();
[[nodiscard]] std::optional<Pressure> ioPressure();
/// All living descendants, children first. Empty also where the kernel does not tell (no CONFIG_PROC_CHILDREN).
[[nodiscard]] std::vector<pid_t> processDescendants(pid_t pid);

enum class ProcessScope {
  processOnly,
  withChildren,  ///< the process and all its living descendants, summed
};

struct ProcessSample {
  std::optional<ProcessMemory> memory;
  std::optional<FaultCounts> faults;
  std::optional<ProcessIo> io;
  int processes = 0;  ///< how many were summed; 0 = the process is gone
};

/// Reads one process, or a tree, time and again and keeps the peaks. Thread: one at a time.
class ProcessSampler {
 public:
  /// pid 0 is the own process.
  explicit ProcessSampler(pid_t pid = 0, ProcessScope scope = ProcessScope::processOnly);

  /// About 0.05 ms a process.
  ProcessSample sample();
  /// Largest sums seen by sample(); absent when memory could never be read.
  [[nodiscard]] std::optional<std::uint64_t> privatePeak() const { return m_privatePeak; }
  [[nodiscard]] std::optional<std::uint64_t> filePeak() const { return m_filePeak; }

 private:
  pid_t m_pid;
  ProcessScope m_scope;
  std::optional<std::uint64_t> m_privatePeak;
  std::optional<std::uint64_t> m_filePeak;
};

}  // namespace dsa
