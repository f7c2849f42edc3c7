// SPDX-License-Identifier: GPL-3.0-or-later
// A user's home for tests of the window: data folder, runner and resources of this build.
#pragma once

#include <signal.h>

#include <QTemporaryDir>
#include <QtTest>
#include <QtWidgets>

namespace dsa::test {

/// Everything the window and its children write lies in a folder that goes with this.
class WindowHome {
 public:
  WindowHome() {
    QStandardPaths::setTestModeEnabled(false);
    qputenv("HOME", m_dir.filePath("home").toUtf8());
    qputenv("XDG_DATA_HOME", m_dir.filePath("data").toUtf8());
    qputenv("XDG_CONFIG_HOME", m_dir.filePath("config").toUtf8());
    qputenv("DSA_RESOURCES", DSA_RESOURCES);
    qputenv("DSA_RUNNER", DSA_BINARY);
    QDir().mkpath(m_dir.filePath("home"));
  }
  /// Trainers outlive their window, but not the test: one that failed half way would leave them running for hours.
  ~WindowHome() {
    const QByteArray home = m_dir.path().toUtf8();
    for (const QString& name : QDir("/proc").entryList(QDir::Dirs)) {
      const int pid = name.toInt();
      QFile commandLine("/proc/" + name + "/cmdline");
      if (pid <= 1 || !commandLine.open(QIODevice::ReadOnly) || !commandLine.readAll().contains(home)) continue;
      qWarning("still running at the end of the test, killed: %d", pid);
      ::kill(pid, SIGKILL);
    }
  }
  WindowHome(const WindowHome&) = delete;
  WindowHome& operator=(const WindowHome&) = delete;
  [[nodiscard]] QString database() const { return m_dir.filePath("data/dsa-lab/runs.sqlite"); }
  [[nodiscard]] QString file(const QString& name) const { return m_dir.filePath(name); }

 private:
  QTemporaryDir m_dir;
};

}  // namespace dsa::test
