// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/hardware.h"

#include <unistd.h>

#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTimer>

#include "core/metrics/block_device.h"
#include "core/metrics/machine.h"
#include "core/record/database.h"
#include "ui/look/units.h"
#include "ui/run/background.h"
#include "ui/run/launcher.h"

namespace dsa::ui {

QString defaultTablesFolder() {
  return QFileInfo(QString::fromStdString(Database::defaultPath())).absolutePath() + "/tables";
}

CacheFolderState lookAtCacheFolder(const QString& folder) {
  CacheFolderState state;
  state.folder = folder;
  QString there = QFileInfo(folder).absoluteFilePath();
  while (!QFileInfo::exists(there) && there != "/") there = QFileInfo(there).absolutePath();
  const std::string path = there.toStdString();
  state.writable = QFileInfo(there).isDir() && ::access(path.c_str(), W_OK | X_OK) == 0;
  if (const auto system = fileSystemOf(path)) {
    state.fileSystem = QString::fromStdString(system->type);
    state.inMemory = system->isMemory;
    state.onNetwork = system->isNetwork;
    state.freeBytes = system->freeBytes;
  }
  if (const auto disk = BlockDevice::of(path)) state.rotational = disk->rotational();
  return state;
}

Hardware::Hardware(QObject* parent) : QObject(parent) {}

std::optional<std::uint64_t> Hardware::memoryAvailable() { return describeMachine().memoryAvailable; }

std::optional<std::uint64_t> Hardware::memoryTotal() {
  const MachineInfo machine = describeMachine();
  return machine.memoryLimit ? machine.memoryLimit : machine.memoryTotal;
}

QString gpuText(const GpuReading& gpu) {
  const auto bytes = [](const std::optional<std::uint64_t>& value) {
    return value ? Units::bytes(static_cast<double>(*value)) : Hardware::tr("not reported");
  };
  const QString name = gpu.name.empty() ? Hardware::tr("GPU") : QString::fromStdString(gpu.name);
  QString text = gpu.total && gpu.used ? Hardware::tr("%1: %2 of %3 used").arg(name, bytes(gpu.used), bytes(gpu.total))
                                       : Hardware::tr("%1: memory not reported").arg(name);
  text += ", " + Hardware::tr("this process: %1").arg(bytes(gpu.processUsed));
  if (gpu.foreignProcesses) text += " " + Hardware::tr("(in a container: its processes have other numbers)");
  return text;
}

/// On a thread of the pool: a driver may take its time to wake.
void Hardware::readDriver() {
  const auto read = [] {
    QStringList gpus;
    if (const auto nvml = Nvml::load()) {
      for (const GpuReading& gpu : nvml->read(::getpid())) gpus << gpuText(gpu);
    }
    return gpus;
  };
  inBackground(this, read, [this](const QStringList& gpus) {
    if (m_gpus == gpus) return;
    m_gpus = gpus;
    emit changed();
  });
}

void Hardware::refresh() {
  readDriver();
  const QString program = Launcher::runner();
  if (program.isEmpty()) return;
  auto* doctor = new QProcess(this);
  connect(doctor, &QProcess::finished, this, [this, doctor] {
    const QJsonObject cuda = QJsonDocument::fromJson(doctor->readAllStandardOutput()).object()["cuda"].toObject();
    m_cards.clear();
    m_cardBytes.reset();
    for (const auto& card : cuda["devices"].toArray()) {
      const QJsonObject device = card.toObject();
      const double bytes = device["memory_total"].toDouble();
      m_cards << tr("%1, %2").arg(device["name"].toString(), Units::bytes(bytes));
      if (!m_cardBytes) m_cardBytes = static_cast<std::uint64_t>(bytes);
    }
    doctor->deleteLater();
    emit changed();
  });
  connect(doctor, &QProcess::errorOccurred, doctor, &QObject::deleteLater);
  doctor->start(program, {"doctor", "--json"});
  // A driver that hangs must not leave a process behind.
  QTimer::singleShot(20000, doctor, &QProcess::kill);
}

QString Hardware::line() const {
  QStringList parts;
  parts << (!m_gpus.isEmpty() ? m_gpus.join(", ") : m_cards.isEmpty() ? tr("no CUDA device") : m_cards.join(", "));
  const MachineInfo machine = describeMachine();
  if (machine.memoryTotal && machine.memoryAvailable) {
    parts << tr("%1 memory, %2 available")
                 .arg(Units::bytes(static_cast<double>(*machine.memoryTotal)),
                      Units::bytes(static_cast<double>(*machine.memoryAvailable)));
  }
  const CacheFolderState disk = lookAtCacheFolder(defaultTablesFolder());
  if (disk.freeBytes) {
    const QString kind = disk.rotational ? (*disk.rotational ? tr("rotational, says the kernel") : tr("solid state"))
                                         : tr("kind not told");
    parts << tr("tables on %1 (%2), %3 free")
                 .arg(disk.fileSystem, kind, Units::bytes(static_cast<double>(*disk.freeBytes)));
  }
  return parts.join(QString("  ") + QChar(0x00B7) + "  ");
}

}  // namespace dsa::ui
