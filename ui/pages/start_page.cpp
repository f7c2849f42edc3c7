// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/start_page.h"

#include <QLabel>
#include <QVBoxLayout>

#include "ui/pages/banner.h"
#include "ui/pages/card.h"
#include "ui/run/demo.h"
#include "ui/run/hardware.h"

namespace dsa::ui {

StartPage::StartPage(Hardware& hardware, QWidget* parent) : QWidget(parent), m_hardware(hardware) {
  auto* title = new QLabel(tr("DSA Lab"));
  QFont font = title->font();
  font.setPointSize(28);
  font.setWeight(QFont::Light);
  title->setFont(font);
  auto* sentence =
      new QLabel(tr("Adam keeps two moments for every weight, yet a batch touches a sliver of a large embedding table. "
                    "Here the table "
                    "lies on disk, and you watch what that saves and what it costs."));
  sentence->setWordWrap(true);
  QFont reading = sentence->font();
  reading.setPointSize(12);
  sentence->setFont(reading);
  const DemoPlan plan = planDemo(Hardware::memoryAvailable());
  m_demo = new Card("demo", tr("Try the one-minute demo"), plan.description());
  auto* fresh =
      new Card("new", tr("New run"),
               tr("Pick a dataset, a dimension, a geometry and where the table lies; see at once whether it fits."));
  auto* open = new Card("open", tr("Open"),
                        tr("An exported run, or another database of runs. You can drop it on this window, too."));
  connect(m_demo, &QPushButton::clicked, this, &StartPage::demoWanted);
  connect(fresh, &QPushButton::clicked, this, &StartPage::newRunWanted);
  connect(open, &QPushButton::clicked, this, &StartPage::openWanted);
  auto* cards = new QHBoxLayout;
  cards->setSpacing(16);
  for (Card* card : {m_demo, fresh, open}) cards->addWidget(card, 1);
  m_hardwareLine = new QLabel;
  m_hardwareLine->setForegroundRole(QPalette::PlaceholderText);
  m_hardwareLine->setWordWrap(true);
  m_hardwareLine->setAccessibleName(tr("This machine"));
  const auto showHardware = [this] { m_hardwareLine->setText(tr("This machine: %1").arg(m_hardware.line())); };
  connect(&m_hardware, &Hardware::changed, this, showHardware);
  showHardware();
  m_banner = new Banner;
  auto* inner = new QWidget;
  inner->setMaximumWidth(900);
  auto* column = new QVBoxLayout(inner);
  column->setContentsMargins(24, 24, 24, 24);
  column->setSpacing(16);
  column->addStretch(2);
  column->addWidget(title);
  column->addWidget(sentence);
  column->addSpacing(8);
  column->addWidget(m_banner);
  column->addLayout(cards);
  column->addSpacing(8);
  column->addWidget(m_hardwareLine);
  column->addStretch(3);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addStretch(1);
  row->addWidget(inner, 100);
  row->addStretch(1);
}

void StartPage::setInterrupted(int runs) {
  if (runs == 0) {
    m_banner->hide();
    return;
  }
  m_banner->say(Banner::Kind::warning, tr("%n run(s) were interrupted. What they had recorded is safe.", nullptr, runs),
                tr("Show"), [this] { emit interruptedWanted(); });
}

}  // namespace dsa::ui
