// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/series.h"

#include <algorithm>
#include <cmath>

namespace dsa::ui {

std::optional<double> Series::peak() const {
  std::optional<double> peak;
  for (const double v : value)
    if (std::isfinite(v) && (!peak || v > *peak)) peak = v;
  return peak;
}

std::optional<double> Series::last() const {
  if (value.isEmpty()) return std::nullopt;
  return value.back();
}

Points decimate(const QVector<double>& x, const QVector<double>& y, double from, double to, int columns) {
  Points points;
  const qsizetype n = std::min(x.size(), y.size());
  if (n == 0 || columns < 1 || !(to >= from)) return points;
  qsizetype begin = std::lower_bound(x.begin(), x.begin() + n, from) - x.begin();
  qsizetype end = std::upper_bound(x.begin(), x.begin() + n, to) - x.begin();
  begin = std::max<qsizetype>(0, begin - 1);
  end = std::min(n, end + 1);
  const auto put = [&](qsizetype i) {
    points.x.push_back(x[i]);
    points.y.push_back(y[i]);
  };
  if (end - begin <= 4 * static_cast<qsizetype>(columns)) {
    for (qsizetype i = begin; i < end; ++i)
      if (std::isfinite(y[i])) put(i);
    return points;
  }
  const double width = to > from ? (to - from) / columns : 1;
  for (qsizetype i = begin; i < end;) {
    // One pixel column.
    const double column = std::floor((x[i] - from) / width);
    qsizetype first = -1;
    qsizetype last = -1;
    qsizetype low = -1;
    qsizetype high = -1;
    for (; i < end && std::floor((x[i] - from) / width) == column; ++i) {
      if (!std::isfinite(y[i])) continue;
      if (first < 0) first = low = high = i;
      last = i;
      if (y[i] < y[low]) low = i;
      if (y[i] > y[high]) high = i;
    }
    if (first < 0) continue;
    qsizetype kept[] = {first, low, high, last};
    std::sort(std::begin(kept), std::end(kept));
    for (int k = 0; k < 4; ++k)
      if (k == 0 || kept[k] != kept[k - 1]) put(kept[k]);
  }
  return points;
}

QVector<double> notFinite(const QVector<double>& x, const QVector<double>& y) {
  QVector<double> places;
  for (qsizetype i = 0; i < std::min(x.size(), y.size()); ++i)
    if (!std::isfinite(y[i])) places.push_back(x[i]);
  return places;
}

QVector<double> movingMean(const QVector<double>& y, int window) {
  QVector<double> mean(y.size());
  for (qsizetype i = 0; i < y.size(); ++i) {
    // Summed anew each time: a running sum would carry its rounding, and a NaN, along.
    double sum = 0;
    int count = 0;
    for (qsizetype j = std::max<qsizetype>(0, i - window + 1); j <= i; ++j) {
      if (!std::isfinite(y[j])) continue;
      sum += y[j];
      ++count;
    }
    mean[i] = count > 0 ? sum / count : std::nan("");
  }
  return mean;
}

void RunSeries::clear() { *this = RunSeries(); }

double RunSeries::secondsOf(const Sample& sample, const QVector<AttemptRow>& attempts) {
  double before = 0;
  for (const AttemptRow& attempt : attempts) {
    if (attempt.number == sample.attempt)
      return before + static_cast<double>(std::max<std::int64_t>(0, sample.wallMs - attempt.startedMs)) / 1000;
    const auto last = m_lastMs.constFind(attempt.number);
    if (last != m_lastMs.cend())
      before += static_cast<double>(std::max<std::int64_t>(0, *last - attempt.startedMs)) / 1000;
  }
  return before;
}

bool RunSeries::add(const SeriesChunk& chunk) {
  Series& series = m_series[chunk.metric];
  if (chunk.reset) series = Series();
  m_sources[chunk.metric] = chunk.source;
  for (const Sample& sample : chunk.samples) {
    auto& last = m_lastMs[sample.attempt];
    last = std::max(last, sample.wallMs);
    double seconds = secondsOf(sample, chunk.attempts);
    // Two processes' clocks may differ: x must not go back.
    if (!series.seconds.isEmpty()) seconds = std::max(seconds, series.seconds.back());
    series.step.push_back(static_cast<double>(sample.step));
    series.seconds.push_back(seconds);
    series.value.push_back(sample.value);
    m_seconds = std::max(m_seconds, seconds);
  }
  return chunk.reset || !chunk.samples.isEmpty();
}

const Series& RunSeries::of(const QString& metric) const {
  static const Series none;
  const auto found = m_series.constFind(metric);
  return found == m_series.cend() ? none : *found;
}

}  // namespace dsa::ui
