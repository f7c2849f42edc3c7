// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/memory_strip.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>

#include "ui/look/theme.h"

namespace dsa::ui {

namespace {

struct MemoryText {
  Q_DECLARE_TR_FUNCTIONS(MemoryText)
};

// In the order in which they are drawn.
constexpr std::array kMetrics = {"memory.page_cache", "memory.private", "memory.device", "memory.device.simulated"};

}  // namespace

void addMemoryLines(Plot& plot) {
  const Theme& theme = Theme::current();
  plot.addLine({MemoryText::tr("page cache"), faded(theme.ram, 0.7F), Qt::SolidLine, 1, faded(theme.ram, 0.35F), true});
  plot.addLine({MemoryText::tr("private"), theme.dark ? theme.ram.lighter(115) : theme.ram.darker(130), Qt::SolidLine,
                1, faded(theme.ram, 0.55F), false});
  plot.addLine({MemoryText::tr("GPU, own allocations"), theme.gpu, Qt::DashDotLine, 1, faded(theme.gpu, 0.3F), false});
  plot.addLine({MemoryText::tr("simulated card"), theme.gpu, Qt::DashLine, 1, faded(theme.gpu, 0.3F), true});
}

bool feedMemory(Plot& plot, const RunSeries& series) {
  for (std::size_t i = 0; i < kMetrics.size(); ++i) {
    const Series& one = series.of(kMetrics[i]);
    plot.setLine(static_cast<int>(i), one.seconds, one.value);
  }
  return !series.of(kMetrics.back()).isEmpty();
}

double memoryTop(const RunSeries& series) {
  double top = 0;
  for (const char* metric : kMetrics) top = std::max(top, series.of(metric).peak().value_or(0));
  return top;
}

QString memorySources(const RunSeries& series) {
  QString text = MemoryText::tr("Private: %1. Page cache: %2.")
                     .arg(series.sourceOf("memory.private"), series.sourceOf("memory.page_cache"));
  if (!series.of("memory.device").isEmpty())
    text += ' ' + MemoryText::tr("GPU: %1.").arg(series.sourceOf("memory.device"));
  if (!series.of("memory.device.simulated").isEmpty())
    text += ' ' + MemoryText::tr("Simulated card: %1; it is part of the private memory, too.")
                      .arg(series.sourceOf("memory.device.simulated"));
  return text;
}

}  // namespace dsa::ui
