// SPDX-License-Identifier: GPL-3.0-or-later
// The first page: one sentence, three ways on, and what this machine has.
#pragma once

#include <QWidget>

class QLabel;

namespace dsa::ui {

class Hardware;
class Card;

class StartPage : public QWidget {
  Q_OBJECT
 public:
  explicit StartPage(Hardware& hardware, QWidget* parent = nullptr);
  /// "2 runs were interrupted." with a way there; none hides it.
  void setInterrupted(int runs);

 signals:
  void demoWanted();
  void newRunWanted();
  void openWanted();
  void interruptedWanted();

 private:
  Hardware& m_hardware;
  QLabel* m_hardwareLine;
  class Banner* m_banner;
  Card* m_demo;
};

}  // namespace dsa::ui
