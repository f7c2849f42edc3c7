// SPDX-License-Identifier: Apache-2.0
#include "core/record/records.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <chrono>

#include "core/base/error.h"

namespace dsa {

namespace {

constexpr std::array<std::string_view, 8> kStatusNames = {"queued",  "running",     "paused", "finished",
                                                          "stopped", "interrupted", "failed", "refused"};
constexpr std::array<std::string_view, 7> kCommandNames = {"stop",  "pause",          "resume",  "checkpoint",
                                                           "evict", "set_ram_budget", "step_one"};

}  // namespace

std::string_view runStatusName(RunStatus status) { return kStatusNames.at(static_cast<std::size_t>(status)); }

std::optional<RunStatus> runStatusFromName(std::string_view name) {
  for (std::size_t i = 0; i < kStatusNames.size(); ++i) {
    if (kStatusNames[i] == name) return static_cast<RunStatus>(i);
  }
  return std::nullopt;
}

bool runStatusIsActive(RunStatus status) {
  return status == RunStatus::queued || status == RunStatus::running || status == RunStatus::paused;
}

std::string_view commandKindName(CommandKind kind) { return kCommandNames.at(static_cast<std::size_t>(kind)); }

std::optional<CommandKind> commandKindFromName(std::string_view name) {
  for (std::size_t i = 0; i < kCommandNames.size(); ++i) {
    if (kCommandNames[i] == name) return static_cast<CommandKind>(i);
  }
  return std::nullopt;
}

void RunProgress::merge(const RunProgress& newer) {
  const auto take = [](auto& kept, const auto& value) {
    if (value) kept = value;
  };
  take(step, newer.step);
  take(epoch, newer.epoch);
  take(lossLast, newer.lossLast);
  take(privatePeak, newer.privatePeak);
  take(devicePeak, newer.devicePeak);
  take(cachePeak, newer.cachePeak);
  take(seconds, newer.seconds);
}

std::int64_t steadyClockMs() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

std::int64_t wallClockMs() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string newUuid() {
  std::array<unsigned char, 16> bytes{};
  DSA_CHECK(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace dsa
