// SPDX-License-Identifier: Apache-2.0
// Small file systems of a test's own: mounted where nobody else sees them, gone with the test.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <cstdint>

namespace app {

/// Empty, or why this test cannot mount. The calling thread gets a mount namespace of its own; what it starts later
/// lives there, too, and its mounts end with the last of them.
inline QString ownMounts() {
  static const QString why = [] {
    if (::geteuid() != 0) return QString("mounting needs root");
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return QString("no right to mount (a container without CAP_SYS_ADMIN)");
    return QString();
  }();
  return why;
}

inline QString runTool(const QString& name, const QStringList& arguments) {
  QProcess tool;
  tool.start(name, arguments);
  if (!tool.waitForStarted()) return name + " is not there";
  tool.waitForFinished(60000);
  if (tool.exitStatus() != QProcess::NormalExit) return name + " died";
  return tool.exitCode() == 0 ? QString() : name + ": " + QString::fromUtf8(tool.readAllStandardError()).trimmed();
}

/// A mounted file system. `error` says why there is none.
class Mounted {
 public:
  enum class Kind { tmpfs, ext4 };
  Mounted(Kind kind, std::uint64_t mebibytes) : m_kind(kind) {
    error = ownMounts();
    if (!error.isEmpty()) return;
    const QString size = QString::number(mebibytes) + "M";
    if (kind == Kind::tmpfs) {
      error = runTool("mount", {"-t", "tmpfs", "-o", "size=" + size, "tmpfs", path()});
    } else {
      const QString image = m_image.filePath("image");
      error = runTool("truncate", {"-s", size, image});
      if (error.isEmpty()) error = runTool("mkfs.ext4", {"-q", "-F", "-m", "0", "-E", "lazy_itable_init=0", image});
      if (error.isEmpty()) error = runTool("mount", {"-o", "loop,errors=remount-ro", image, path()});
    }
    m_mounted = error.isEmpty();
  }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;
  ~Mounted() {
    if (m_mounted) ::umount2(path().toUtf8().constData(), MNT_DETACH);
  }

  [[nodiscard]] QString path() const { return m_point.path(); }
  [[nodiscard]] QString cache() const { return path() + "/cache"; }

  /// Leaves `mebibytes` free: by the size of a tmpfs, elsewhere by a file that fills the rest.
  void leave(std::uint64_t mebibytes) {
    if (m_kind == Kind::tmpfs) {
      error = runTool("mount", {"-o", QString("remount,size=%1M").arg(mebibytes), path()});
      return;
    }
    const QString filler = path() + "/filler";
    QFile::remove(filler);
    const std::uint64_t free = freeBytes(), keep = mebibytes << 20;
    if (free > keep) error = runTool("fallocate", {"-l", QString::number(free - keep), filler});
  }

  /// ext4: an error of the file system, as of a bad sector: it turns read-only under whoever writes.
  void turnReadOnly() {
    struct stat info {};
    ::stat(path().toUtf8().constData(), &info);
    const QString device =
        QFile::symLinkTarget(QString("/sys/dev/block/%1:%2").arg(major(info.st_dev)).arg(minor(info.st_dev)));
    QFile trigger("/sys/fs/ext4/" + device.section('/', -1) + "/trigger_fs_error");
    if (!trigger.open(QIODevice::WriteOnly | QIODevice::Unbuffered) || trigger.write("1") != 1)
      error = "this kernel's ext4 has no trigger_fs_error";
  }
  /// ext4: nothing is read or written any more, as with a disk that is gone.
  void fail() {
    const int fd = ::open(path().toUtf8().constData(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    std::uint32_t withoutTheLog = 2;
    constexpr unsigned long kShutdown = _IOR('X', 125, std::uint32_t);  // EXT4_IOC_SHUTDOWN
    if (fd < 0 || ::ioctl(fd, kShutdown, &withoutTheLog) != 0) error = "this kernel's ext4 cannot be shut down";
    if (fd >= 0) ::close(fd);
  }

  QString error;

 private:
  [[nodiscard]] std::uint64_t freeBytes() const {
    QProcess tool;
    tool.start("stat", {"-f", "-c", "%a %S", path()});
    tool.waitForFinished();
    const QList<QByteArray> words = tool.readAllStandardOutput().trimmed().split(' ');
    return words.size() == 2 ? words[0].toULongLong() * words[1].toULongLong() : 0;
  }
  Kind m_kind;
  QTemporaryDir m_image, m_point;
  bool m_mounted = false;
};

}  // namespace app
