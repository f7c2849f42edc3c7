// SPDX-License-Identifier: GPL-3.0-or-later
// The filter above the list of runs: words, and conditions such as dim>=128 k=0 status:done.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>

#include "core/record/records.h"

namespace dsa::ui {

/// All words and conditions must hold. Words are looked for in name, dataset, rule, model, place, tags, without regard
/// to case. Conditions: dim, k, seed, loss, epoch, step, id with = != < <= > >=; status, dataset, rule, place, model,
/// name, tag with : or =. "status:done" is finished. A condition that is not understood is a plain word.
class RunFilter {
 public:
  RunFilter() = default;
  explicit RunFilter(const QString& text);
  [[nodiscard]] bool matches(const RunSummary& run) const;
  [[nodiscard]] bool isEmpty() const { return m_words.isEmpty() && m_conditions.isEmpty(); }

 private:
  struct Condition {
    QString key;
    QString op;
    QString text;
    double number = 0;
  };
  bool holds(const Condition& condition, const RunSummary& run) const;

  QStringList m_words;
  QVector<Condition> m_conditions;
};

}  // namespace dsa::ui
