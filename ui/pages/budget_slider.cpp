// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/budget_slider.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <algorithm>

#include "ui/look/units.h"
#include "ui/run/hardware.h"

namespace dsa::ui {

namespace {

constexpr quint64 kLeast = 16ull << 20;
constexpr quint64 kUnknownMemory = 16ull << 30;
constexpr int kRestMs = 300;

}  // namespace

BudgetSlider::BudgetSlider(QWidget* parent) : QWidget(parent) {
  const quint64 memory = Hardware::memoryTotal().value_or(kUnknownMemory);
  for (quint64 size = kLeast; size <= memory; size *= 2) {
    m_sizes.append(size);
    if (size / 2 * 3 <= memory) m_sizes.append(size / 2 * 3);
  }
  auto* name = new QLabel(tr("Memory for rows"));
  m_slider = new QSlider(Qt::Horizontal);
  m_slider->setRange(0, static_cast<int>(m_sizes.size()));
  m_slider->setValue(m_slider->maximum());
  m_slider->setPageStep(2);
  m_slider->setFixedWidth(160);
  m_slider->setAccessibleName(name->text());
  m_slider->setToolTip(tr(
      "The trainer keeps the table's rows in memory within it, page cache or row cache; the result stays the same, bit "
      "for bit"));
  name->setBuddy(m_slider);
  m_value = new QLabel;
  // As wide as the widest of them, so that nothing moves while it is dragged.
  int width = m_value->fontMetrics().horizontalAdvance(tr("no budget"));
  for (const quint64 size : m_sizes)
    width = std::max(width, m_value->fontMetrics().horizontalAdvance(Units::bytes(static_cast<double>(size))));
  m_value->setFixedWidth(width + 4);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(name);
  row->addWidget(m_slider);
  row->addWidget(m_value);
  m_rest.setSingleShot(true);
  m_rest.setInterval(kRestMs);
  connect(&m_rest, &QTimer::timeout, this, [this] { emit chosen(budget()); });
  connect(m_slider, &QSlider::valueChanged, this, [this] {
    showValue();
    m_rest.start();
  });
  showValue();
}

quint64 BudgetSlider::budget() const {
  const int place = m_slider->value();
  return place < m_sizes.size() ? m_sizes[place] : 0;
}

bool BudgetSlider::rests() const { return !m_rest.isActive() && !m_slider->isSliderDown(); }

void BudgetSlider::setBudget(std::optional<quint64> bytes) {
  const QSignalBlocker block(m_slider);
  m_rest.stop();
  const auto at = bytes && *bytes > 0 ? std::lower_bound(m_sizes.cbegin(), m_sizes.cend(), *bytes) : m_sizes.cend();
  m_slider->setValue(static_cast<int>(at - m_sizes.cbegin()));
  showValue();
}

void BudgetSlider::showValue() {
  m_value->setText(budget() == 0 ? tr("no budget") : Units::bytes(static_cast<double>(budget())));
}

}  // namespace dsa::ui
