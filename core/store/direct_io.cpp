// SPDX-License-Identifier: Apache-2.0
#include "core/store/direct_io.h"

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "core/base/thread_pool.h"

namespace dsa {

namespace {

constexpr unsigned kThreads = 16;

tl::unexpected<Error> endsEarly(const DirectRequest& request) {
  return fail(ErrorCode::input, "{}: ends at byte {}, expected {}; the file is cut short", request.file->path(),
              request.offset, request.offset + request.bytes);
}

/// What is left of it after `done` bytes.
void shorten(DirectRequest& request, std::uint64_t done) {
  request.offset += done;
  request.data += done;
  request.bytes -= done;
}

tl::unexpected<Error> failRequest(const DirectRequest& request, int errnoValue) {
  return failErrno(request.file->path(), request.kind == DirectRequest::Kind::read ? "read" : "write", errnoValue);
}

class RingIo final : public DirectIo {
 public:
  static std::unique_ptr<DirectIo> make() {
    auto io = std::make_unique<RingIo>();
    if (::io_uring_queue_init(kDepth, &io->m_ring, 0) != 0) return nullptr;
    io->m_made = true;
    return io;
  }
  ~RingIo() override {
    if (m_made) ::io_uring_queue_exit(&m_ring);
  }
  RingIo() = default;
  RingIo(const RingIo&) = delete;
  RingIo& operator=(const RingIo&) = delete;

  Result<void> run(std::span<DirectRequest> requests) override {
    Result<void> outcome;
    std::size_t next = 0;
    unsigned underWay = 0;
    while (underWay > 0 || (outcome && next < requests.size())) {
      while (outcome && next < requests.size() && underWay < kDepth) {
        queue(requests[next++]);
        ++underWay;
      }
      const int submitted = ::io_uring_submit_and_wait(&m_ring, 1);
      if (submitted < 0 && submitted != -EINTR && submitted != -EAGAIN && submitted != -EBUSY)
        return fail(ErrorCode::machine, "io_uring took no more requests: {}",
                    std::generic_category().message(-submitted));
      io_uring_cqe* done = nullptr;
      while (::io_uring_peek_cqe(&m_ring, &done) == 0) {
        --underWay;
        auto& request = *static_cast<DirectRequest*>(::io_uring_cqe_get_data(done));
        const int result = done->res;
        ::io_uring_cqe_seen(&m_ring, done);
        if (!outcome) continue;
        if (result == -EINTR || result == -EAGAIN ||
            (result > 0 && static_cast<std::uint64_t>(result) < request.bytes)) {
          if (result > 0) shorten(request, static_cast<std::uint64_t>(result));
          queue(request);
          ++underWay;
        } else if (result < 0) {
          outcome = failRequest(request, -result);
        } else if (result == 0) {
          outcome = endsEarly(request);
        }
      }
    }
    return outcome;
  }
  bool usesRing() const override { return true; }

 private:
  void queue(DirectRequest& request) {
    io_uring_sqe* entry = ::io_uring_get_sqe(&m_ring);
    DSA_CHECK(entry != nullptr);  // as many as the ring's depth at most are under way
    const auto bytes = static_cast<unsigned>(request.bytes);
    if (request.kind == DirectRequest::Kind::read)
      ::io_uring_prep_read(entry, request.file->fd(), request.data, bytes, request.offset);
    else
      ::io_uring_prep_write(entry, request.file->fd(), request.data, bytes, request.offset);
    ::io_uring_sqe_set_data(entry, &request);
  }

  io_uring m_ring{};
  bool m_made = false;
};

class ThreadedIo final : public DirectIo {
 public:
  Result<void> run(std::span<DirectRequest> requests) override {
    Result<void> outcome;
    std::mutex mutex;
    m_pool.parallelFor(requests.size(), 1, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) {
        Result<void> done = carryOut(requests[i]);
        if (done) continue;
        const std::lock_guard lock(mutex);
        if (outcome) outcome = std::move(done);
      }
    });
    return outcome;
  }
  bool usesRing() const override { return false; }

 private:
  static Result<void> carryOut(DirectRequest& request) {
    while (request.bytes > 0) {
      const auto offset = static_cast<off_t>(request.offset);
      const ssize_t done = request.kind == DirectRequest::Kind::read
                               ? ::pread(request.file->fd(), request.data, request.bytes, offset)
                               : ::pwrite(request.file->fd(), request.data, request.bytes, offset);
      if (done < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (done < 0) return failRequest(request, errno);
      if (done == 0) return endsEarly(request);
      shorten(request, static_cast<std::uint64_t>(done));
    }
    return {};
  }

  ThreadPool m_pool{kThreads};
};

/// Whether one sector can be read: 4 KiB disks and some file systems take O_DIRECT and refuse such requests.
bool takesSectors(const File& file) {
  alignas(kSector) std::byte sector[kSector];
  return ::pread(file.fd(), sector, kSector, 0) >= 0 || errno != EINVAL;
}

}  // namespace

std::unique_ptr<DirectIo> DirectIo::make(Engine engine) {
  if (engine == Engine::best) {
    if (auto ring = RingIo::make()) return ring;
  }
  return std::make_unique<ThreadedIo>();
}

Result<File> openDirect(const std::string& path, File::Mode mode, bool& direct) {
  auto file = File::open(path, mode, O_DIRECT);
  direct = file && takesSectors(*file);
  if (direct) return file;
  DSA_ASSIGN(File plain, File::open(path, mode));
  ::posix_fadvise(plain.fd(), 0, 0, POSIX_FADV_RANDOM);
  return plain;
}

}  // namespace dsa
