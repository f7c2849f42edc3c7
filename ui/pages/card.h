// SPDX-License-Identifier: GPL-3.0-or-later
// A large button with an icon, a title and a sentence that may take several lines.
#pragma once

#include <QPushButton>

class QLabel;

namespace dsa::ui {

class Card : public QPushButton {
  Q_OBJECT
 public:
  Card(const QString& iconName, const QString& title, const QString& sentence, QWidget* parent = nullptr);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void applyLook();
  QString m_iconName;
  QLabel* m_icon;
  QLabel* m_title;
  QLabel* m_sentence;
};

}  // namespace dsa::ui
