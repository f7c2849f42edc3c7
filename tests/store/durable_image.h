// SPDX-License-Identifier: Apache-2.0
// A folder's files as the disk holds them for sure, and as a power loss might leave them.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>

#include "core/store/content_file.h"

/// What the disk holds for sure, file by file: the content at the last sync.
class DurableImage {
 public:
  explicit DurableImage(std::string folder) : m_folder(std::move(folder)) {
    dsa::setSyncObserver([this](const std::string& path) {
      std::unique_lock lock(m_mutex);
      const std::string final =
          path.ends_with(dsa::kUnfinished) ? path.substr(0, path.size() - std::strlen(dsa::kUnfinished)) : path;
      m_durable[std::filesystem::path(final).filename()] = *dsa::readTextFile(path);
      lock.unlock();
      if (m_onSync) m_onSync(path);
    });
  }
  ~DurableImage() { dsa::setSyncObserver({}); }
  DurableImage(const DurableImage&) = delete;
  DurableImage& operator=(const DurableImage&) = delete;

  /// Called after each sync, when what it made durable is known.
  void onSync(std::function<void(const std::string& path)> call) { m_onSync = std::move(call); }

  /// A folder as a power loss might leave it: each 512-byte sector old or new by a coin of bias `p`.
  void tear(const std::string& to, std::mt19937& random, double p) {
    const std::lock_guard lock(m_mutex);
    std::filesystem::create_directories(to);
    std::bernoulli_distribution coin(p);
    for (const auto& [name, durable] : m_durable) {
      std::string image = *dsa::readTextFile(m_folder + "/" + name);
      const std::size_t common = std::min(image.size(), durable.size());
      for (std::size_t at = 0; at < common; at += 512) {
        const std::size_t n = std::min<std::size_t>(512, common - at);
        if (!coin(random)) image.replace(at, n, durable, at, n);
      }
      if (!coin(random) && durable.size() < image.size()) image.resize(durable.size());
      std::ofstream(to + "/" + name, std::ios::binary) << image;
    }
  }

 private:
  std::string m_folder;
  std::function<void(const std::string&)> m_onSync;
  std::mutex m_mutex;
  std::map<std::string, std::string> m_durable;
};
