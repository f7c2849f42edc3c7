// SPDX-License-Identifier: GPL-3.0-or-later
// A user's home for tests of the window: data folder, runner and resources of this build.
#pragma once

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
  [[nodiscard]] QString database() const { return m_dir.filePath("data/dsa-lab/runs.sqlite"); }
  [[nodiscard]] QString file(const QString& name) const { return m_dir.filePath(name); }

 private:
  QTemporaryDir m_dir;
};

}  // namespace dsa::test
