// SPDX-License-Identifier: GPL-3.0-or-later
// The series of a run as plots take them: against steps or active time, thinned for a number of pixels.
#pragma once

#include <QHash>
#include <QString>
#include <QVector>
#include <optional>

#include "ui/records/records_service.h"

namespace dsa::ui {

/// One series. x rises; y may hold NaN and infinities.
struct Series {
  QVector<double> step;
  QVector<double> seconds;  ///< active time: the gaps between attempts are left out
  QVector<double> value;

  [[nodiscard]] bool isEmpty() const { return value.isEmpty(); }
  /// Largest finite value.
  [[nodiscard]] std::optional<double> peak() const;
  [[nodiscard]] std::optional<double> last() const;
};

/// x [n] and y [n] of what a plot draws.
struct Points {
  QVector<double> x;
  QVector<double> y;
};

/// Of x [n] rising and y [n] those in [from, to], at most four a pixel column: the first, the smallest, the largest and
/// the last finite value, in order. What sticks out by one sample stays; NaN and infinities are left out (see
/// notFinite). The neighbours just outside are kept, so that lines run to the edge.
[[nodiscard]] Points decimate(const QVector<double>& x, const QVector<double>& y, double from, double to, int columns);

/// Places x where y is not finite.
[[nodiscard]] QVector<double> notFinite(const QVector<double>& x, const QVector<double>& y);

/// Mean of the finite values of the last `window` samples at each place: causal, so that the past never changes.
[[nodiscard]] QVector<double> movingMean(const QVector<double>& y, int window);

/// All series of one run, filled from chunks.
class RunSeries {
 public:
  /// Takes over a chunk of this run. Gives whether anything changed.
  bool add(const SeriesChunk& chunk);
  [[nodiscard]] const Series& of(const QString& metric) const;
  [[nodiscard]] QString sourceOf(const QString& metric) const { return m_sources.value(metric); }
  /// Active seconds so far, over all attempts.
  [[nodiscard]] double seconds() const { return m_seconds; }
  void clear();

 private:
  double secondsOf(const Sample& sample, const QVector<AttemptRow>& attempts);

  QHash<QString, Series> m_series;
  QHash<QString, QString> m_sources;
  QHash<int, std::int64_t> m_lastMs;  ///< of each attempt
  double m_seconds = 0;
};

}  // namespace dsa::ui
