// SPDX-License-Identifier: Apache-2.0
// Reads and writes of one size kept in flight at a depth: io_uring, or one at a time by pread and pwrite.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"

struct io_uring;

namespace dsa {

struct DiskRequest {
  std::uint64_t offset = 0;
  bool write = false;
};

/// What a loop of requests came to.
struct RequestFigures {
  std::uint64_t reads = 0, writes = 0;
  double seconds = 0;
  std::vector<float> latenciesUs;  ///< of each request, from its submission until its completion was seen; sorted
};

/// Thread: one at a time.
class RequestQueue {
 public:
  /// Gives the next request; nothing ends the loop once what is in flight has come back.
  using Next = std::function<std::optional<DiskRequest>()>;

  /// depth >= 1; requestBytes a multiple of what the file's O_DIRECT asks for. Depth 1 needs no ring. Error machine:
  /// the kernel refuses io_uring (containers often do), or no memory.
  static Result<std::unique_ptr<RequestQueue>> make(unsigned depth, std::uint32_t requestBytes);
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  /// Requests of the file until `next` gives none. What is written is noise, so that no disk can compress it. Error
  /// machine: a request failed or came back short; nothing is in flight any more.
  Result<RequestFigures> run(const File& file, const Next& next);

 private:
  RequestQueue(unsigned depth, std::uint32_t requestBytes);
  Result<RequestFigures> runInTurn(const File& file, const Next& next);
  Result<RequestFigures> runRing(const File& file, const Next& next);
  [[nodiscard]] std::byte* buffer(unsigned slot) const;

  unsigned m_depth;
  std::uint32_t m_bytes;
  Mapping m_buffers;
  std::unique_ptr<io_uring> m_ring;  // none at depth 1
};

}  // namespace dsa
