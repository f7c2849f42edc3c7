// SPDX-License-Identifier: Apache-2.0
// `dsa doctor`: what this machine has, and what kind of disk the tables would lie on.
#include <filesystem>
#include <memory>

#include "app/commands.h"
#include "core/device/cuda_device.h"
#include "core/metrics/block_device.h"
#include "core/metrics/disk_verdict.h"
#include "core/metrics/machine.h"
#include "core/rows/kernels.h"

namespace dsa {

namespace {

using nlohmann::ordered_json;

std::string nearestFolder(const std::string& path) {
  std::filesystem::path folder = std::filesystem::absolute(path);
  while (!folder.empty() && !std::filesystem::exists(folder) && folder != folder.root_path())
    folder = folder.parent_path();
  return folder.string();
}

/// Flash wears by what is written to it; memory, the network and spinning disks have no such figure: null.
ordered_json enduranceJson(DiskKind kind, const WriteAssumptions& assumed, const WriteEstimate& estimate,
                           const std::optional<std::string>& wear) {
  if (kind == DiskKind::memory || kind == DiskKind::network || kind == DiskKind::rotational) return nullptr;
  ordered_json json;
  json["estimate"] = true;
  json["assumed"] = {{"rows_per_s", assumed.rowsPerSecond},
                     {"record", assumed.recordBytes},
                     {"page", assumed.pageBytes},
                     {"pages_per_row", estimate.pagesPerRow},
                     {"rewritten_share", assumed.rewrittenShare},
                     {"drive_writes_per_day", kDriveWritesPerDay},
                     {"years", kRatedYears}};
  json["bytes_per_hour"] = static_cast<std::uint64_t>(estimate.bytesPerHour);
  json["rated_bytes"] =
      estimate.ratedBytes ? ordered_json(static_cast<std::uint64_t>(*estimate.ratedBytes)) : ordered_json(nullptr);
  json["hours"] = estimate.hours ? ordered_json(*estimate.hours) : ordered_json(nullptr);
  json["reported_wear"] = wear ? ordered_json(*wear) : ordered_json(nullptr);
  return json;
}

ordered_json diskJson(const std::string& cache, const WriteAssumptions& assumed) {
  ordered_json json;
  json["cache"] = cache;
  const std::string folder = nearestFolder(cache);
  const auto system = fileSystemOf(folder);
  json["file_system"] = system ? ordered_json(system->type) : ordered_json(nullptr);
  json["memory_file_system"] = system && system->isMemory;
  json["network"] = system && system->isNetwork;
  json["free"] = system ? ordered_json(system->freeBytes) : ordered_json(nullptr);
  const auto device = BlockDevice::of(folder);
  json["disk"] = device ? ordered_json(device->name()) : ordered_json(nullptr);
  json["rotational"] = device && device->rotational() ? ordered_json(*device->rotational()) : ordered_json(nullptr);
  json["model"] = device && device->model() ? ordered_json(*device->model()) : ordered_json(nullptr);
  json["read_ahead"] =
      device && device->readAheadBytes() ? ordered_json(*device->readAheadBytes()) : ordered_json(nullptr);
  const auto bytes = device ? device->sizeBytes() : std::nullopt;
  json["size"] = bytes ? ordered_json(*bytes) : ordered_json(nullptr);
  const DiskKind kind = diskKindOf(system && system->isMemory, system && system->isNetwork,
                                   device ? device->name() : "", device ? device->rotational() : std::nullopt);
  json["kind"] = diskKindName(kind);
  const WriteEstimate estimate = estimateWrites(assumed, bytes);
  json["endurance"] = enduranceJson(kind, assumed, estimate, device ? device->reportedWear() : std::nullopt);
  json["verdict"] = diskVerdict(kind, estimate.hours);
  return json;
}

/// {"devices": [...]}, or no devices and the reason.
ordered_json cudaJson() {
  ordered_json json;
  json["devices"] = ordered_json::array();
  const auto devices = cudaDevices();
  if (!devices) {
    json["reason"] = devices.error().message;
    return json;
  }
  for (const CudaDevice& device : *devices) {
    ordered_json one;
    one["device"] = fmt::format("cuda:{}", device.index);
    one["name"] = device.name;
    one["memory_total"] = device.memoryTotal;
    one["memory_free"] = device.memoryFree ? ordered_json(*device.memoryFree) : ordered_json(nullptr);
    one["compute_capability"] = fmt::format("{}.{}", device.major, device.minor);
    json["devices"].push_back(one);
  }
  return json;
}

void printCuda(const ordered_json& cuda) {
  if (cuda["devices"].empty()) fmt::print("cuda: {}\n", cuda["reason"].get<std::string>());
  for (const ordered_json& one : cuda["devices"]) {
    const ordered_json& free = one["memory_free"];
    fmt::print("cuda: {} {}, {}, {} free, compute capability {}\n", one["device"].get<std::string>(),
               one["name"].get<std::string>(), formatBytes(one["memory_total"].get<std::uint64_t>()),
               free.is_number() ? formatBytes(free.get<std::uint64_t>()) : "unknown",
               one["compute_capability"].get<std::string>());
  }
  fmt::print("  runs do not use a card in this version of dsa; sim:SIZE shows what one would hold\n");
}

void printDisk(const ordered_json& disk) {
  if (disk["disk"].is_string()) {
    fmt::print("  disk {}{}, {}, {}{}\n", disk["disk"].get<std::string>(),
               disk["model"].is_string() ? " (" + disk["model"].get<std::string>() + ")" : "",
               disk["kind"].get<std::string>(),
               disk["size"].is_number() ? formatBytes(disk["size"].get<std::uint64_t>()) : "size not reported",
               disk["rotational"] == true ? ", reported as rotational (virtual disks often are)" : "");
  }
  const ordered_json& endurance = disk["endurance"];
  if (!endurance.is_null()) {
    const ordered_json& assumed = endurance["assumed"];
    fmt::print(
        "  writes, an estimate: {} an hour = {} rows/s x 3600 x {:.2f} pages a row x {} B x {} not rewritten first\n",
        formatBytes(endurance["bytes_per_hour"].get<std::uint64_t>()), assumed["rows_per_s"].get<double>(),
        assumed["pages_per_row"].get<double>(), assumed["page"].get<std::uint64_t>(),
        1 - assumed["rewritten_share"].get<double>());
    fmt::print(
        "    assumed: cold rows at that rate (--rows-per-s; dsa bench disk measures it), records of {} B, half of "
        "them changed again before the kernel writes their page\n",
        assumed["record"].get<std::uint64_t>());
    fmt::print(
        "  endurance: the drive's own wear {}; typical are {} drive writes a day for {} years{}\n",
        endurance["reported_wear"].is_string() ? endurance["reported_wear"].get<std::string>() : "not reported",
        kDriveWritesPerDay, kRatedYears,
        endurance["rated_bytes"].is_number()
            ? fmt::format(": {}, or {:.0f} hours of such training",
                          formatBytes(endurance["rated_bytes"].get<std::uint64_t>()), endurance["hours"].get<double>())
            : "");
  }
  fmt::print("  verdict: {}\n", disk["verdict"].get<std::string>());
}

int doctor(const std::string& cache, const WriteAssumptions& assumed, bool json) {
  const MachineInfo machine = describeMachine();
  const auto level = chooseLevel();
  if (!level) return reportError(level.error());
  ordered_json object;
  object["version"] = DSA_VERSION;
  object["kernels"] = levelName(*level);
  object["cores"] = machine.cores;
  object["memory_total"] = machine.memoryTotal ? ordered_json(*machine.memoryTotal) : ordered_json(nullptr);
  object["memory_available"] = machine.memoryAvailable ? ordered_json(*machine.memoryAvailable) : ordered_json(nullptr);
  object["cachestat"] = machine.cachestat;
  object["cuda"] = cudaJson();
  object["machine"] = machineText(machine);
  object["disk"] = diskJson(cache, assumed);
  if (json) {
    printJson(object);
    return 0;
  }
  fmt::print("{}\nkernels: {}\n", machineText(machine), levelName(*level));
  printCuda(object["cuda"]);
  const ordered_json& disk = object["disk"];
  fmt::print("cache folder: {}\n  file system {}, {} free\n", cache,
             disk["file_system"].is_string() ? disk["file_system"].get<std::string>() : "unknown",
             disk["free"].is_number() ? formatBytes(disk["free"].get<std::uint64_t>()) : "unknown");
  printDisk(disk);
  return 0;
}

}  // namespace

void addDoctorCommand(CLI::App& app, Chosen& chosen) {
  auto cache = std::make_shared<std::string>();
  auto assumed = std::make_shared<WriteAssumptions>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "What this machine has: processor, memory, kernel, disk");
  command->add_option("--cache", *cache, "Folder for tables; default the user's data folder");
  command->add_option("--rows-per-s", assumed->rowsPerSecond, "Cold rows a second, for the estimate of what is written")
      ->capture_default_str();
  command->add_flag("--json", *json, "One JSON object on stdout");
  command->callback([cache, assumed, json, &chosen] {
    chosen = [cache, assumed, json] {
      if (!(assumed->rowsPerSecond > 0 && assumed->rowsPerSecond <= 1e9))
        return reportError(Error{ErrorCode::usage, fmt::format("--rows-per-s: {} is not above 0 and up to 1000000000",
                                                               assumed->rowsPerSecond)});
      return doctor(cache->empty() ? defaultCacheFolder() : *cache, *assumed, *json);
    };
  });
}

}  // namespace dsa
