// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/fit_bars.h"

#include <QPainter>
#include <algorithm>

#include "ui/look/theme.h"
#include "ui/look/units.h"

namespace dsa::ui {

namespace {

constexpr int kBarHeight = 22;
constexpr int kRow = 74;

QString placeTitle(PlacementChoice place, bool simulated) {
  switch (place) {
    case PlacementChoice::gpu:
      return simulated ? FitBars::tr("Table on the simulated card") : FitBars::tr("Table on the GPU");
    case PlacementChoice::ram:
      return FitBars::tr("Table in RAM");
    case PlacementChoice::disk:
      break;
  }
  return FitBars::tr("Table on disk");
}

QString verdictText(const Verdict& verdict) {
  switch (verdict.fit) {
    case Fit::fits:
      return FitBars::tr("fits");
    case Fit::tight:
      return FitBars::tr("tight: less than 15 % to spare");
    case Fit::doesNotFit:
      break;
  }
  return FitBars::tr("does not fit: needs %1, there is %2")
      .arg(Units::bytes(static_cast<double>(verdict.needs)), Units::bytes(static_cast<double>(verdict.capacity)));
}

}  // namespace

QVector<FitBar> fitBars(const PlanInput& input, const PlanCapacity& capacity, bool simulated) {
  QVector<FitBar> bars;
  const Theme& theme = Theme::current();
  for (const PlacementChoice place : {PlacementChoice::gpu, PlacementChoice::ram, PlacementChoice::disk}) {
    if (place == PlacementChoice::gpu && !capacity.card) continue;
    PlanInput asked = input;
    asked.placement = place;
    asked.capacity = capacity;
    const auto planned = plan(asked);
    if (!planned) continue;
    FitBar bar;
    bar.title = placeTitle(place, simulated);
    const QColor colour = place == PlacementChoice::gpu ? theme.gpu : theme.ram;
    const bool onCard = place == PlacementChoice::gpu;
    const auto add = [&](const QString& name, std::uint64_t bytes, const QColor& of, bool hatched) {
      if (bytes > 0) bar.segments.push_back(FitSegment{name, static_cast<double>(bytes), of, hatched});
    };
    if (place == PlacementChoice::disk) {
      add(FitBars::tr("batch"), planned->batch, colour, false);
      const std::uint64_t rowCache = planned->memory - planned->batch;
      add(FitBars::tr("row cache (the budget)"), rowCache, partColour(colour, 1), false);
      add(FitBars::tr("table on disk (sparse file, page cache as there is room)"), planned->total - rowCache,
          theme.disk, true);
      bar.verdict = rowCache == 0 ? FitBars::tr("private memory does not grow with the table")
                                  : FitBars::tr("private memory stays within the budget");
      if (planned->placement) {
        bar.fit = planned->placement->fit;
        if (bar.fit == Fit::doesNotFit) bar.verdict = FitBars::tr("larger than the disk; only touched rows take room");
      }
    } else {
      add(FitBars::tr("weights"), planned->weights, colour, onCard && simulated);
      add(FitBars::tr("moments"), planned->moments, partColour(colour, 1), onCard && simulated);
      add(FitBars::tr("batch"), onCard ? planned->cardBesides : planned->batch, theme.muted, false);
      if (planned->placement) {
        bar.fit = planned->placement->fit;
        bar.verdict = verdictText(*planned->placement);
      }
    }
    const auto& limit = onCard ? capacity.card : capacity.memory;
    if (limit) bar.capacity = static_cast<double>(*limit);
    bar.capacityName =
        onCard ? (simulated ? FitBars::tr("simulated card") : FitBars::tr("card")) : FitBars::tr("memory available");
    bar.chosen = place == input.placement;
    bars.push_back(bar);
  }
  return bars;
}

FitBars::FitBars(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Will it fit?"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void FitBars::setBars(const QVector<FitBar>& bars) {
  m_bars = bars;
  m_message.clear();
  QStringList spoken;
  for (const FitBar& bar : bars) spoken << bar.title + ": " + bar.verdict;
  setAccessibleDescription(spoken.join("; "));
  updateGeometry();
  update();
}

void FitBars::setMessage(const QString& message) {
  m_bars.clear();
  m_message = message;
  setAccessibleDescription(message);
  update();
}

QSize FitBars::sizeHint() const { return {420, std::max(180, static_cast<int>(m_bars.size()) * kRow + 44)}; }

void FitBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Theme& theme = Theme::current();
  if (m_bars.isEmpty()) {
    painter.setPen(theme.muted);
    painter.drawText(rect().adjusted(16, 16, -16, -16), Qt::AlignCenter | Qt::TextWordWrap, m_message);
    return;
  }
  double most = 0;
  for (const FitBar& bar : m_bars) {
    double sum = 0;
    for (const FitSegment& segment : bar.segments) sum += segment.bytes;
    most = std::max({most, sum, bar.capacity.value_or(0)});
  }
  // A capacity far beyond the table would leave a sliver of it: the axis then ends a little after the table.
  double tables = 0;
  for (const FitBar& bar : m_bars) {
    double sum = 0;
    for (const FitSegment& segment : bar.segments) sum += segment.bytes;
    tables = std::max(tables, sum);
  }
  const bool beyond = most > 4 * tables;
  const double axis = (beyond ? tables * 1.5 : most) * 1.02;
  const double width = this->width() - 2;
  const double scale = width / std::max(1.0, axis);
  QFont strong = font();
  strong.setWeight(QFont::DemiBold);
  QFont small = font();
  small.setPointSizeF(9);
  int y = 0;
  for (const FitBar& bar : m_bars) {
    painter.setFont(bar.chosen ? strong : font());
    painter.setPen(theme.text);
    painter.drawText(QRectF(0, y, width, 20), Qt::AlignLeft | Qt::AlignVCenter,
                     bar.chosen ? QString(QChar(0x25B8)) + " " + bar.title : bar.title);
    double sum = 0;
    for (const FitSegment& segment : bar.segments) sum += segment.bytes;
    painter.setFont(font());
    painter.drawText(QRectF(0, y, width, 20), Qt::AlignRight | Qt::AlignVCenter, Units::bytes(sum));
    const QRectF track(0, y + 22, width, kBarHeight);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.grid);
    painter.drawRoundedRect(track, 3, 3);
    double x = 0;
    for (const FitSegment& segment : bar.segments) {
      const QRectF box(x, y + 22, std::max(3.0, segment.bytes * scale), kBarHeight);
      painter.setBrush(segment.hatched ? faded(segment.colour, 0.35F) : segment.colour);
      painter.setPen(QPen(segment.colour, 1));
      painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
      if (segment.hatched) {
        painter.setBrush(QBrush(segment.colour, Qt::BDiagPattern));
        painter.setPen(Qt::NoPen);
        painter.drawRect(box);
      }
      x = box.right();
    }
    if (bar.capacity && *bar.capacity * scale <= width) {
      const double at = *bar.capacity * scale;
      painter.setPen(QPen(theme.text, 1.5, Qt::DashLine));
      painter.drawLine(QPointF(at, y + 18), QPointF(at, y + 26 + kBarHeight));
    }
    painter.setFont(small);
    painter.setPen(bar.fit == Fit::fits ? theme.muted : bar.fit == Fit::tight ? theme.warning : theme.error);
    QString below = bar.verdict;
    if (bar.capacity)
      below += QString(" ") + QChar(0x00B7) + " " + tr("%1 %2").arg(bar.capacityName, Units::bytes(*bar.capacity));
    painter.drawText(QRectF(0, y + 24 + kBarHeight, width, 20), Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(below, Qt::ElideRight, static_cast<int>(width)));
    y += kRow;
  }
  painter.setFont(small);
  painter.setPen(theme.muted);
  QString legend = tr("Predicted by the plan. Dark: weights; paler: moments; hatched: reclaimable or simulated.");
  if (!beyond) legend += " " + tr("Dashed line: what there is.");
  painter.drawText(QRectF(0, y, width, height() - y), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, legend);
}

}  // namespace dsa::ui
