// SPDX-License-Identifier: Apache-2.0
// A warp on the host: 32 fibers in place of 32 threads, which run one after another from shuffle to shuffle.
//
// That order is the hardest one a warp may take: the first lane is a whole stretch ahead of the last, so a value of the
// row that is overwritten before all lanes have read it shows; lanes that branch apart show as well.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>

namespace dsa::test {

inline constexpr int kLanes = 32;
inline constexpr std::size_t kStackBytes = 256 * 1024;

/// Runs one function in 32 fibers that meet at each shuffle.
class Fibers {
 public:
  /// False: the lanes did not meet at the same place.
  bool run(const std::function<void()>& body, bool backwards) {
    m_body = &body;
    s_running = this;
    for (int lane = 0; lane < kLanes; ++lane) start(lane);
    for (;;) {
      for (int turn = 0; turn < kLanes; ++turn) {
        m_lane = backwards ? kLanes - 1 - turn : turn;
        swapcontext(&m_main, &m_lanes[index(m_lane)].context);
      }
      for (const Lane& lane : m_lanes) {
        if (lane.place != m_lanes[0].place) return false;
      }
      if (m_lanes[0].place == kDone) return true;
      for (std::size_t i = 0; i < kLanes; ++i) m_seen[i] = m_lanes[i].offered;
    }
  }
  static int lane() { return s_running->m_lane; }
  /// Waits until every lane has come to `place`, then gives what lane ^ place offered.
  static double exchange(double offered, int place) {
    Fibers& fibers = *s_running;
    const int lane = fibers.m_lane;
    fibers.m_lanes[index(lane)].offered = offered;
    fibers.m_lanes[index(lane)].place = place;
    swapcontext(&fibers.m_lanes[index(lane)].context, &fibers.m_main);
    return fibers.m_seen[index(lane ^ place)];
  }

 private:
  static constexpr int kDone = -1;
  struct Lane {
    ucontext_t context;
    std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStackBytes);
    double offered = 0;
    int place = kDone;
  };
  static std::size_t index(int lane) { return static_cast<std::size_t>(lane); }
  static void enter() {
    (*s_running->m_body)();
    s_running->m_lanes[index(s_running->m_lane)].place = kDone;
  }
  void start(int lane) {
    Lane& fiber = m_lanes[index(lane)];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = &m_main;
    makecontext(&fiber.context, enter, 0);
  }
  static inline Fibers* s_running = nullptr;
  const std::function<void()>* m_body = nullptr;
  ucontext_t m_main{};
  std::array<Lane, kLanes> m_lanes;
  std::array<double, kLanes> m_seen{};
  int m_lane = 0;
};

/// The warp that kernels are made with on the host.
struct FiberWarp {
  static int lane() { return Fibers::lane(); }
  static double shuffleXor(double x, int mask) { return Fibers::exchange(x, mask); }
  static void meet() { Fibers::exchange(0, 0); }
  static void least(std::uint64_t* at, std::uint64_t value) { *at = std::min(*at, value); }
  static void add(std::uint64_t* at, std::uint64_t value) { *at += value; }
};

}  // namespace dsa::test
