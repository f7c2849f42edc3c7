// SPDX-License-Identifier: Apache-2.0
#include "core/eval/checked_rows.h"

#include <algorithm>
#include <cmath>

#include "core/rows/kernels.h"

namespace dsa {

void FirstFault::offer(std::uint64_t place, ErrorCode code, std::string message) {
  const std::lock_guard lock(m_mutex);
  if (m_any.load(std::memory_order_relaxed) && m_place <= place) return;
  m_place = place;
  m_error = {code, std::move(message)};
  m_any.store(true, std::memory_order_release);
}

Result<void> FirstFault::result() const {
  if (any()) return tl::unexpected<Error>(m_error);
  return {};
}

std::string rowText(const char* table, std::uint64_t row, const Vocabulary& names) {
  if (row >= names.size() || names.isNumbered()) return fmt::format("{} row {}", table, row);
  return fmt::format("{} row {} ({})", table, row, names.name(row));
}

void CheckedRows::read(std::uint64_t begin, std::uint64_t count, float* out, FirstFault& fault) const {
  if (const auto read = m_source.read(begin, count, out); !read) {
    fault.offer(begin, read.error().code,
                fmt::format("{}. Nothing was measured, and the table is as it was", read.error().message));
    return;
  }
  if (const std::int64_t bad = firstNotFinite(out, count, dim(), dim()); bad >= 0) {
    const auto row = static_cast<std::uint64_t>(bad);
    const float* const values = out + row * dim();
    const float* const value = std::find_if(values, values + dim(), [](float x) { return !std::isfinite(x); });
    fault.offer(begin + row, ErrorCode::input,
                fmt::format("{}: coordinate {} is {}; such a row has no rank, so nothing was measured and the table is "
                            "as it was. Train again with a smaller lr, or resume from an earlier checkpoint.",
                            text(begin + row), value - values, *value));
  } else if (m_ballK > 0) {
    checkBall(begin, count, out, fault);
  }
}

void CheckedRows::checkBall(std::uint64_t begin, std::uint64_t count, const float* rows, FirstFault& fault) const {
  for (std::uint64_t i = 0; i < count; ++i) {
    const float* const row = rows + i * dim();
    double score = 0;
    m_kernels.score({m_centre.data(), nullptr, &row, 1, dim(), m_ballK, false}, &score);
    if (std::isfinite(score)) continue;
    double square = 0;
    for (std::uint32_t j = 0; j < dim(); ++j) square += static_cast<double>(row[j]) * row[j];
    fault.offer(begin + i, ErrorCode::input,
                fmt::format("{}: its length is {:.9g}, the ball of k = {} ends at {:.9g}; it has no distance from the "
                            "others, so nothing was measured and the table is as it was. Was it trained with this k?",
                            text(begin + i), std::sqrt(square), m_ballK, 1 / std::sqrt(m_ballK)));
    return;
  }
}

}  // namespace dsa
