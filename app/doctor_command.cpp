// SPDX-License-Identifier: Apache-2.0
// `dsa doctor`: what this machine has, and what kind of disk the tables would lie on.
#include <filesystem>
#include <memory>

#include "app/commands.h"
#include "core/device/cuda_device.h"
#include "core/metrics/block_device.h"
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

ordered_json diskJson(const std::string& cache) {
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

int doctor(const std::string& cache, bool json) {
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
  object["disk"] = diskJson(cache);
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
  if (disk["disk"].is_string()) {
    fmt::print("  disk {}{}{}\n", disk["disk"].get<std::string>(),
               disk["model"].is_string() ? " (" + disk["model"].get<std::string>() + ")" : "",
               disk["rotational"] == true ? ", reported as rotational (virtual disks often are): on a real spinning "
                                            "disk random rows are slow, choose an SSD with --cache"
                                          : "");
  }
  if (disk["memory_file_system"] == true)
    fmt::print("  this is memory, not a disk: choose a folder on a disk with --cache\n");
  if (disk["network"] == true)
    fmt::print("  this is on the network: rows will be slow; choose a local disk with --cache\n");
  return 0;
}

}  // namespace

void addDoctorCommand(CLI::App& app, Chosen& chosen) {
  auto cache = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "What this machine has: processor, memory, kernel, disk");
  command->add_option("--cache", *cache, "Folder for tables; default the user's data folder");
  command->add_flag("--json", *json, "One JSON object on stdout");
  command->callback([cache, json, &chosen] {
    chosen = [cache, json] { return doctor(cache->empty() ? defaultCacheFolder() : *cache, *json); };
  });
}

}  // namespace dsa
