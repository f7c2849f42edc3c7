// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/card.h"

#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/look/icons.h"
#include "ui/look/theme.h"

namespace dsa::ui {

Card::Card(const QString& iconName, const QString& title, const QString& sentence, QWidget* parent)
    : QPushButton(parent),
      m_iconName(iconName),
      m_icon(new QLabel),
      m_title(new QLabel(title)),
      m_sentence(new QLabel(sentence)) {
  setAccessibleName(title);
  setAccessibleDescription(sentence);
  QFont font = m_title->font();
  font.setPointSize(13);
  font.setWeight(QFont::DemiBold);
  m_title->setFont(font);
  m_title->setWordWrap(true);
  m_sentence->setWordWrap(true);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 16, 16, 16);
  column->setSpacing(8);
  column->addWidget(m_icon);
  column->addWidget(m_title);
  column->addWidget(m_sentence);
  column->addStretch(1);
  for (QLabel* label : {m_icon, m_title, m_sentence}) label->setAttribute(Qt::WA_TransparentForMouseEvents);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::MinimumExpanding);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  applyLook();
}

QSize Card::sizeHint() const { return {260, heightForWidth(260)}; }
QSize Card::minimumSizeHint() const { return {200, heightForWidth(260)}; }
int Card::heightForWidth(int width) const { return layout()->totalHeightForWidth(width); }

void Card::applyLook() {
  const Theme& theme = Theme::current();
  m_icon->setPixmap(iconPixmap(m_iconName, 28, theme.ram, devicePixelRatioF()));
  setSheet(*this,
           QString("dsa--ui--Card { background: %1; border: 1px solid %2; border-radius: 6px; text-align: left; }"
                   "dsa--ui--Card:hover, dsa--ui--Card:focus { border: 1px solid %3; }"
                   "dsa--ui--Card:pressed { background: %4; }")
               .arg(theme.plot.name(), theme.grid.name(), theme.ram.name(), theme.selection.name()));
}

void Card::changeEvent(QEvent* event) {
  QPushButton::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) applyLook();
}

}  // namespace dsa::ui
