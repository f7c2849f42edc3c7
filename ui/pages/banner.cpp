// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/banner.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include "ui/look/icons.h"
#include "ui/look/theme.h"

namespace dsa::ui {

Banner::Banner(QWidget* parent) : QFrame(parent) {
  m_icon = new QLabel;
  m_text = new QLabel;
  m_text->setWordWrap(true);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_button = new QPushButton;
  m_close = new QToolButton;
  m_close->setText(QChar(0x00D7));
  m_close->setAutoRaise(true);
  m_close->setAccessibleName(tr("Dismiss the message"));
  m_close->setToolTip(tr("Dismiss the message"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 8, 8, 8);
  row->setSpacing(8);
  row->addWidget(m_icon, 0, Qt::AlignTop);
  row->addWidget(m_text, 1);
  row->addWidget(m_button, 0, Qt::AlignVCenter);
  row->addWidget(m_close, 0, Qt::AlignTop);
  connect(m_close, &QToolButton::clicked, this, &QWidget::hide);
  connect(m_button, &QPushButton::clicked, this, [this] {
    hide();
    if (m_act) m_act();
  });
  hide();
}

void Banner::say(Kind kind, const QString& text, const QString& action, std::function<void()> act) {
  m_kind = kind;
  m_text->setText(text);
  m_button->setText(action);
  m_button->setVisible(!action.isEmpty());
  m_act = std::move(act);
  setAccessibleName(text);
  applyLook();
  show();
}

QString Banner::text() const { return m_text->text(); }

void Banner::applyLook() {
  const Theme& theme = Theme::current();
  const QColor colour = m_kind == Kind::error ? theme.error : m_kind == Kind::warning ? theme.warning : theme.ram;
  m_icon->setPixmap(iconPixmap(m_kind == Kind::info ? "info" : "warning", 20, colour, devicePixelRatioF()));
  setSheet(*this, QString("dsa--ui--Banner { background: %1; border: 1px solid %2; border-radius: 6px; }")
                      .arg(theme.plot.name(), colour.name()));
}

void Banner::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) applyLook();
}

}  // namespace dsa::ui
