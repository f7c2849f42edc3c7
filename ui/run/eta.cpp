// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/eta.h"

namespace dsa::ui {

namespace {

constexpr double kQuietSeconds = 30;
constexpr double kQuietShare = 0.02;
constexpr double kWindowSeconds = 60;
constexpr double kStillSeconds = 10;  // no step for so long: no rate to go by

}  // namespace

void Eta::reset() { *this = Eta(); }

void Eta::feed(double atSeconds, std::uint64_t step, std::uint64_t plannedSteps) {
  m_planned = plannedSteps;
  if (!m_marks.empty() && step < m_marks.back().step) reset(), m_planned = plannedSteps;  // rolled back
  if (!m_marks.empty() && step == m_marks.back().step) return;
  m_marks.push_back(Mark{atSeconds, step});
  if (!m_first) m_first = m_marks.front();
  while (m_marks.size() > 2 && m_marks.front().at < atSeconds - kWindowSeconds) m_marks.pop_front();
}

std::optional<double> Eta::secondsLeft(double atSeconds) const {
  if (m_marks.size() < 2 || m_planned == 0) return std::nullopt;
  const Mark& last = m_marks.back();
  if (last.step >= m_planned || atSeconds - last.at > kStillSeconds) return std::nullopt;
  const double share = static_cast<double>(last.step - m_first->step) / static_cast<double>(m_planned);
  if (last.at - m_first->at < kQuietSeconds && share < kQuietShare) return std::nullopt;
  const Mark& old = m_marks.front();
  const double rate = static_cast<double>(last.step - old.step) / (last.at - old.at);
  if (!(rate > 0)) return std::nullopt;
  const double left = static_cast<double>(m_planned - last.step) / rate - (atSeconds - last.at);
  return left > 0 ? left : 0;
}

}  // namespace dsa::ui
