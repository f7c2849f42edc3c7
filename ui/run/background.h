// SPDX-License-Identifier: GPL-3.0-or-later
// Work that may take a while, off the window's thread.
#pragma once

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>
#include <utility>

namespace dsa::ui {

/// `work()` on a thread of the pool, then `then(result)` on the window's thread, unless `receiver` is gone by then.
/// `work` must not touch the receiver. Thread: the window's.
template <class Receiver, class Work, class Then>
void inBackground(Receiver* receiver, Work work, Then then) {
  QThreadPool::globalInstance()->start(
      [self = QPointer<Receiver>(receiver), work = std::move(work), then = std::move(then)] {
        // Through the application, which waits for the pool before it goes; the receiver may go at any instant.
        QMetaObject::invokeMethod(qApp, [self, then, result = work()] {
          if (self) then(result);
        });
      });
}

}  // namespace dsa::ui
