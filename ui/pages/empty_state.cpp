// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/empty_state.h"

#include <QEvent>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/look/icons.h"
#include "ui/look/theme.h"

namespace dsa::ui {

EmptyState::EmptyState(const QString& iconName, const QString& sentence, const QString& action, QWidget* parent)
    : QWidget(parent),
      m_iconName(iconName),
      m_icon(new QLabel),
      m_text(new QLabel(sentence)),
      m_button(new QPushButton(action)) {
  m_text->setWordWrap(true);
  m_text->setAlignment(Qt::AlignCenter);
  m_icon->setAlignment(Qt::AlignCenter);
  auto* column = new QVBoxLayout(this);
  column->setSpacing(16);
  column->addStretch(2);
  column->addWidget(m_icon, 0, Qt::AlignHCenter);
  column->addWidget(m_text, 0, Qt::AlignHCenter);
  column->addWidget(m_button, 0, Qt::AlignHCenter);
  column->addStretch(3);
  connect(m_button, &QPushButton::clicked, this, &EmptyState::clicked);
  applyLook();
}

void EmptyState::applyLook() {
  // A wrapping label that is aligned, not stretched, gets the height of its first guess: it is given its size.
  constexpr int kWidth = 420;
  m_text->ensurePolished();
  m_text->setFixedSize(kWidth, m_text->heightForWidth(kWidth));
  m_icon->setPixmap(iconPixmap(m_iconName, 48, Theme::current().muted, devicePixelRatioF()));
}

void EmptyState::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) applyLook();
}

QStackedWidget* stackOf(QWidget& whole, EmptyState* empty, QWidget* page) {
  auto* stack = new QStackedWidget;
  stack->addWidget(empty);
  stack->addWidget(page);
  auto* column = new QVBoxLayout(&whole);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(stack);
  return stack;
}

}  // namespace dsa::ui
