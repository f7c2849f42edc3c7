// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/request_queue.h"

#include <liburing.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/base/random.h"

namespace dsa {

namespace {

using RequestClock = std::chrono::steady_clock;

float microsecondsSince(RequestClock::time_point begin) {
  return std::chrono::duration<float, std::micro>(RequestClock::now() - begin).count();
}

/// Buffers begin at pages: every O_DIRECT takes that.
std::uint64_t bufferStride(std::uint32_t bytes) { return (std::uint64_t{bytes} + 4095) / 4096 * 4096; }

/// The sentence of a request that failed (result < 0) or came back short.
tl::unexpected<Error> failRequest(const File& file, const DiskRequest& request, int result, std::uint32_t expected) {
  if (result < 0) return failErrno(file.path(), request.write ? "write" : "read", -result);
  return fail(ErrorCode::machine, "{}: {} of {} bytes {} at {}", file.path(), result, expected,
              request.write ? "written" : "read", request.offset);
}

void count(RequestFigures& figures, const DiskRequest& request, RequestClock::time_point begin) {
  ++(request.write ? figures.writes : figures.reads);
  figures.latenciesUs.push_back(microsecondsSince(begin));
}

}  // namespace

RequestQueue::RequestQueue(unsigned depth, std::uint32_t requestBytes) : m_depth(depth), m_bytes(requestBytes) {}

Result<std::unique_ptr<RequestQueue>> RequestQueue::make(unsigned depth, std::uint32_t requestBytes) {
  DSA_CHECK(depth >= 1 && requestBytes >= 1);
  std::unique_ptr<RequestQueue> queue(new RequestQueue(depth, requestBytes));
  DSA_ASSIGN(queue->m_buffers, Mapping::anonymous(depth * bufferStride(requestBytes)));
  auto* const words = reinterpret_cast<std::uint32_t*>(queue->m_buffers.data());
  for (std::uint64_t i = 0; i < queue->m_buffers.size() / 16; ++i) {
    const Random4 noise = philox(i, Stream::tests, 0, 0);
    std::memcpy(words + 4 * i, noise.word, sizeof noise.word);
  }
  if (depth == 1) return queue;
  auto ring = std::make_unique<io_uring>();
  const int refused = ::io_uring_queue_init(depth, ring.get(), 0);
  if (refused < 0) return failErrno("io_uring", "begin", -refused);
  queue->m_ring = std::move(ring);
  return queue;
}

RequestQueue::~RequestQueue() {
  if (m_ring) ::io_uring_queue_exit(m_ring.get());
}

std::byte* RequestQueue::buffer(unsigned slot) const { return m_buffers.data() + slot * bufferStride(m_bytes); }

Result<RequestFigures> RequestQueue::run(const File& file, const Next& next) {
  const RequestClock::time_point begin = RequestClock::now();
  auto figures = m_ring ? runRing(file, next) : runInTurn(file, next);
  if (!figures) return figures;
  figures->seconds = std::chrono::duration<double>(RequestClock::now() - begin).count();
  std::sort(figures->latenciesUs.begin(), figures->latenciesUs.end());
  return figures;
}

Result<RequestFigures> RequestQueue::runInTurn(const File& file, const Next& next) {
  RequestFigures figures;
  while (const auto request = next()) {
    const RequestClock::time_point begin = RequestClock::now();
    const auto offset = static_cast<off_t>(request->offset);
    const ssize_t done = request->write ? ::pwrite(file.fd(), buffer(0), m_bytes, offset)
                                        : ::pread(file.fd(), buffer(0), m_bytes, offset);
    const int result = done < 0 ? -errno : static_cast<int>(done);
    if (result != static_cast<int>(m_bytes)) return failRequest(file, *request, result, m_bytes);
    count(figures, *request, begin);
  }
  return figures;
}

Result<RequestFigures> RequestQueue::runRing(const File& file, const Next& next) {
  struct Slot {
    DiskRequest request;
    RequestClock::time_point begin;
  };
  std::vector<Slot> slots(m_depth);
  RequestFigures figures;
  std::optional<Error> failed;
  unsigned inFlight = 0;
  const auto begin = [&](unsigned slot) {
    const auto request = failed ? std::nullopt : next();
    if (!request) return;
    slots[slot] = {*request, RequestClock::now()};
    io_uring_sqe* const entry = ::io_uring_get_sqe(m_ring.get());  // one of the depth: there always is one
    if (request->write)
      ::io_uring_prep_write(entry, file.fd(), buffer(slot), m_bytes, request->offset);
    else
      ::io_uring_prep_read(entry, file.fd(), buffer(slot), m_bytes, request->offset);
    ::io_uring_sqe_set_data64(entry, slot);
    ++inFlight;
  };
  for (unsigned slot = 0; slot < m_depth; ++slot) begin(slot);
  while (inFlight > 0) {
    const int submitted = ::io_uring_submit_and_wait(m_ring.get(), 1);
    if (submitted < 0 && submitted != -EINTR && submitted != -EAGAIN) {
      // The buffers may still be written to: only the ring's end waits for that.
      ::io_uring_queue_exit(m_ring.get());
      m_ring.reset();
      return failErrno(file.path(), "ask for pages of", -submitted);
    }
    io_uring_cqe* done = nullptr;
    while (::io_uring_peek_cqe(m_ring.get(), &done) == 0) {
      const auto slot = static_cast<unsigned>(::io_uring_cqe_get_data64(done));
      const int result = done->res;
      ::io_uring_cqe_seen(m_ring.get(), done);
      --inFlight;
      if (result == static_cast<int>(m_bytes))
        count(figures, slots[slot].request, slots[slot].begin);
      else if (!failed)
        failed = failRequest(file, slots[slot].request, result, m_bytes).value();
      begin(slot);
    }
  }
  if (failed) return tl::unexpected(*failed);
  return figures;
}

}  // namespace dsa
