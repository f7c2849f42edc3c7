// SPDX-License-Identifier: GPL-3.0-or-later
// A panel with nothing to show says why and offers one button.
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;
class QStackedWidget;

namespace dsa::ui {

class EmptyState : public QWidget {
  Q_OBJECT
 public:
  EmptyState(const QString& iconName, const QString& sentence, const QString& action, QWidget* parent = nullptr);

 signals:
  void clicked();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void applyLook();
  QString m_iconName;
  QLabel* m_icon;
  QLabel* m_text;
  QPushButton* m_button;
};

/// Fills `whole` with a stack: index 0 the empty state, index 1 the page.
QStackedWidget* stackOf(QWidget& whole, EmptyState* empty, QWidget* page);

}  // namespace dsa::ui
