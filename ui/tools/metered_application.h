// SPDX-License-Identifier: GPL-3.0-or-later
// A QApplication that can tell how long the window's thread was ever busy with one event.
#pragma once

#include <QApplication>
#include <algorithm>
#include <ctime>
#include <utility>

namespace dsa::ui {

/// CPU time, so that other processes do not count; nested events count for the outermost. Thread: the window's.
class MeteredApplication : public QApplication {
 public:
  using QApplication::QApplication;

  static void meter(bool on) { s_metered = on; }
  /// Milliseconds of the longest event since the last call.
  static double takeLongest() { return std::exchange(s_longest, 0); }
  /// For work outside of any event: the constructor of a window, say.
  static double cpuMs() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  }

  bool notify(QObject* receiver, QEvent* event) override {
    if (!s_metered || s_depth > 0) return QApplication::notify(receiver, event);
    ++s_depth;
    const double before = cpuMs();
    const bool done = QApplication::notify(receiver, event);
    s_longest = std::max(s_longest, cpuMs() - before);
    --s_depth;
    return done;
  }

 private:
  static inline bool s_metered = false;
  static inline int s_depth = 0;
  static inline double s_longest = 0;
};

}  // namespace dsa::ui
