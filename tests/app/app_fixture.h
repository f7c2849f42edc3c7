// SPDX-License-Identifier: Apache-2.0
// Starts the program `dsa` in folders of its own and keeps what it said.
#pragma once

#include <signal.h>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/file.h"

namespace app {

using Json = nlohmann::ordered_json;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

struct Ended {
  int code = -1;
  bool crashed = false;  ///< ended by a signal
  QString out, err;
  [[nodiscard]] Json json() const {
    const std::string text = out.toStdString();
    Json object = Json::parse(text, nullptr, false);
    return object.is_discarded() ? Json::object() : object;
  }
};

/// One user's home: data folder, cache folder. The program sees nothing else of this machine's users.
class Home {
 public:
  Home() {
    m_environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DSA_KERNELS", "XDG_DATA_HOME", "XDG_CONFIG_HOME"}) m_environment.remove(name);
    m_environment.insert("XDG_DATA_HOME", path("data"));
    m_environment.insert("HOME", path("home"));
    m_environment.insert("DSA_RESOURCES", DSA_RESOURCES);
  }
  [[nodiscard]] QString path(const QString& name) const { return m_dir.filePath(name); }
  [[nodiscard]] QString cache() const { return path("cache"); }
  void set(const QString& name, const QString& value) { m_environment.insert(name, value); }

  /// "train --dim 5" -> started. Words are split at blanks; `more` are words as they are.
  [[nodiscard]] std::unique_ptr<QProcess> start(const QString& line, const QStringList& more = {}) const {
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(m_environment);
    process->setWorkingDirectory(m_dir.path());
    process->start(DSA_BINARY, line.split(' ', Qt::SkipEmptyParts) + more);
    if (!process->waitForStarted()) qFatal("%s does not start", DSA_BINARY);
    return process;
  }
  static Ended end(QProcess& process) {
    // Already ended: waiting would say no.
    if (process.state() != QProcess::NotRunning && !process.waitForFinished(240000)) {
      process.kill();
      process.waitForFinished();
      qWarning("the program did not end in time");
    }
    Ended ended;
    ended.crashed = process.exitStatus() == QProcess::CrashExit;
    ended.code = process.exitCode();
    ended.out = QString::fromUtf8(process.readAllStandardOutput());
    ended.err = QString::fromUtf8(process.readAllStandardError());
    return ended;
  }
  [[nodiscard]] Ended run(const QString& line, const QStringList& more = {}) const { return end(*start(line, more)); }

  /// The newest run of `runs list`, or null.
  [[nodiscard]] Json newestRun() const {
    const Json list = run("runs list --json").json();
    return list.contains("runs") && !list["runs"].empty() ? list["runs"].back() : Json();
  }
  /// The table's folder of a run.
  [[nodiscard]] QString tableOf(int number) const {
    return QString::fromStdString(run(QString("runs show %1 --json").arg(number)).json().value("cache_folder", ""));
  }

 private:
  QTemporaryDir m_dir;
  QProcessEnvironment m_environment;
};

inline std::string sha256OfFile(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return "cannot be read";
  dsa::Sha256 hash;
  const QByteArray bytes = file.readAll();
  hash.add(bytes.constData(), static_cast<std::size_t>(bytes.size()));
  return hash.hex();
}

/// The one folder in a cache folder; empty while there is none.
inline QString onlyFolderIn(const QString& cache) {
  const QStringList names = QDir(cache).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
  return names.size() == 1 ? cache + "/" + names.front() : QString();
}

/// Steps applied, as the live page has them (FORMAT.md); 0 while there is none.
inline std::uint64_t stepsIn(const QString& cache) {
  QFile file(onlyFolderIn(cache) + "/store.dsa");
  std::uint64_t step = 0;
  if (!file.open(QIODevice::ReadOnly) || !file.seek(3 * 4096 + 40) ||
      file.read(reinterpret_cast<char*>(&step), sizeof step) != sizeof step)
    return 0;
  return step;
}

/// Largest RssAnon seen while it runs, in bytes; asked every two milliseconds.
inline std::uint64_t privatePeakOf(QProcess& process) {
  std::uint64_t peak = 0;
  while (process.state() == QProcess::Running) {
    QFile status(QString("/proc/%1/status").arg(process.processId()));
    if (status.open(QIODevice::ReadOnly)) {
      for (const QByteArray& line : status.readAll().split('\n')) {
        if (line.startsWith("RssAnon:"))
          peak = std::max<std::uint64_t>(peak, line.mid(8).simplified().split(' ')[0].toULongLong() * 1024);
      }
    }
    process.waitForFinished(2);
  }
  return peak;
}

/// Every file below a folder with its checksum, but for locks.
inline std::map<QString, std::string> contentsOf(const QString& folder) {
  std::map<QString, std::string> files;
  for (const QString& name : QDir(folder).entryList(QDir::Files | QDir::Hidden)) {
    // Holds the pid of whoever tried last.
    if (name != "lock") files[name] = sha256OfFile(folder + "/" + name);
  }
  for (const QString& name : QDir(folder).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    for (const auto& [inner, sum] : contentsOf(folder + "/" + name)) files[name + "/" + inner] = sum;
  }
  return files;
}

}  // namespace app

/// The exit code, with what the program said where it is another.
#define COMPARE_EXIT(ended, expected)                                                                              \
  QVERIFY2((ended).code == (expected) && !(ended).crashed, qPrintable(QString("exit %1%2, expected %3\n%4%5")      \
                                                                          .arg((ended).code)                       \
                                                                          .arg((ended).crashed ? " (signal)" : "") \
                                                                          .arg(expected)                           \
                                                                          .arg((ended).out, (ended).err)))

#define VERIFY_SAYS(ended, part) \
  QVERIFY2((ended).err.contains(part), qPrintable(QString("\"%1\" is not in: %2").arg(part, (ended).err)))
