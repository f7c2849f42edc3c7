// SPDX-License-Identifier: GPL-3.0-or-later
// A message inside the page: what happened, what is safe, one action; never a dialog in the way.
#pragma once

#include <QFrame>
#include <functional>

class QLabel;
class QPushButton;
class QToolButton;

namespace dsa::ui {

class Banner : public QFrame {
  Q_OBJECT
 public:
  enum class Kind { info, warning, error };
  explicit Banner(QWidget* parent = nullptr);
  void say(Kind kind, const QString& text, const QString& action = {}, std::function<void()> act = {});
  [[nodiscard]] QString text() const;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void applyLook();
  Kind m_kind = Kind::info;
  QLabel* m_icon;
  QLabel* m_text;
  QPushButton* m_button;
  QToolButton* m_close;
  std::function<void()> m_act;
};

}  // namespace dsa::ui
