// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine has, for the window: memory and disk at once, cards through `dsa doctor`, which alone speaks CUDA.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <optional>

#include "core/metrics/nvml.h"
#include "core/spec/planner.h"

namespace dsa::ui {

struct CacheFolderState {
  QString folder;
  bool writable = false;
  QString fileSystem;
  bool inMemory = false;
  bool onNetwork = false;
  std::optional<bool> rotational;
  std::optional<std::uint64_t> freeBytes;
};

/// Looks at a folder, or at the nearest parent that is there (it will be made). Milliseconds; never writes.
[[nodiscard]] CacheFolderState lookAtCacheFolder(const QString& folder);
/// Where tables lie unless another folder is named.
[[nodiscard]] QString defaultTablesFolder();

/// "NVIDIA X: 2.00 GiB of 8.00 GiB used, this process: not reported". What is absent is said, never shown as 0.
[[nodiscard]] QString gpuText(const GpuReading& gpu);

class Hardware : public QObject {
  Q_OBJECT
 public:
  explicit Hardware(QObject* parent = nullptr);
  /// Asks `dsa doctor` for cards that dsa can use and the driver for their memory; changed() follows.
  void refresh();

  [[nodiscard]] const QStringList& cards() const { return m_cards; }
  [[nodiscard]] std::optional<std::uint64_t> cardBytes() const { return m_cardBytes; }
  /// MemTotal, or what the control group allows.
  [[nodiscard]] static std::optional<std::uint64_t> memoryTotal();
  /// MemAvailable now.
  [[nodiscard]] static std::optional<std::uint64_t> memoryAvailable();
  /// "no CUDA device · 23.5 GiB memory, 22.1 GiB available · ext4 on vda, 71 GiB free"
  [[nodiscard]] QString line() const;

 signals:
  void changed();

 private:
  void readDriver();

  QStringList m_cards;
  QStringList m_gpus;  ///< as the driver tells them, empty where it tells nothing
  std::optional<std::uint64_t> m_cardBytes;
};

}  // namespace dsa::ui
