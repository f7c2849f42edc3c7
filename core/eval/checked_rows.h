// SPDX-License-Identifier: Apache-2.0
// Reads rows of a table and refuses those that no score can be made from; keeps the first refusal.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/data/vocabulary.h"
#include "core/eval/weight_source.h"
#include "core/model/model.h"

namespace dsa {

/// The failure with the smallest place among those that several threads met. Thread-safe.
class FirstFault {
 public:
  void offer(std::uint64_t place, ErrorCode code, std::string message);
  [[nodiscard]] bool any() const { return m_any.load(std::memory_order_acquire); }
  /// Fails with the fault if there is one. Call when the threads have joined.
  [[nodiscard]] Result<void> result() const;

 private:
  std::mutex m_mutex;
  std::atomic<bool> m_any{false};
  std::uint64_t m_place = 0;
  Error m_error;
};

/// "entity row 17 (dog.n.01)"; the name only where the vocabulary has one.
[[nodiscard]] std::string rowText(const char* table, std::uint64_t row, const Vocabulary& names);

/// A table whose rows are looked at as they are read. Thread: read() from any thread.
class CheckedRows {
 public:
  /// table is "entity" or "relation", for messages. ballK > 0: rows must lie inside the ball of that curvature, where
  /// `kernels` gives them a finite distance from the centre. All that is passed must outlive this.
  CheckedRows(const WeightSource& source, const char* table, const Vocabulary& names, const ModelKernels& kernels,
              double ballK)
      : m_source(source),
        m_table(table),
        m_names(names),
        m_kernels(kernels),
        m_ballK(ballK),
        m_centre(source.dim, 0.0f) {}

  [[nodiscard]] std::uint64_t rows() const { return m_source.rows; }
  [[nodiscard]] std::uint32_t dim() const { return m_source.dim; }
  [[nodiscard]] std::string text(std::uint64_t row) const { return rowText(m_table, row, m_names); }

  /// Writes rows [begin, begin + count) to out. Offers the first row that is not finite or not inside the ball, or why
  /// the rows could not be read; out means nothing then.
  void read(std::uint64_t begin, std::uint64_t count, float* out, FirstFault& fault) const;

 private:
  void checkBall(std::uint64_t begin, std::uint64_t count, const float* rows, FirstFault& fault) const;

  const WeightSource& m_source;
  const char* m_table;
  const Vocabulary& m_names;
  const ModelKernels& m_kernels;
  double m_ballK;
  std::vector<float> m_centre;
};

}  // namespace dsa
