// SPDX-License-Identifier: GPL-3.0-or-later
// Lets the window's thread work until something is true.
#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <functional>

namespace dsa::ui {

/// Gives whether it came true within the time.
inline bool waitUntil(const std::function<bool()>& condition, int milliseconds = 30000) {
  QElapsedTimer clock;
  clock.start();
  while (!condition()) {
    if (clock.elapsed() > milliseconds) return false;
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  }
  return true;
}

/// Lets events that are already due happen.
inline void settle(int milliseconds) {
  QElapsedTimer clock;
  clock.start();
  while (clock.elapsed() < milliseconds) QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
}

}  // namespace dsa::ui
