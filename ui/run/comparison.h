// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs side by side as tables: what was asked of them, what came out, and whether that may be compared at all.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>

#include "core/record/records.h"

namespace dsa::ui {

struct ParameterRow {
  QString key;
  QString a;
  QString b;
  bool differs = false;
};

/// Every key of either spec, in the order of the table of keys.
[[nodiscard]] QVector<ParameterRow> compareParameters(const RunRow& a, const RunRow& b);

struct ResultRow {
  QString name;
  QString a;
  QString b;
  QString delta;  ///< b - a
  QString ratio;  ///< b / a, "0.021 x"
};
[[nodiscard]] QVector<ResultRow> compareResults(const RunRow& a, const RunRow& b);

/// Training time: of the result, which leaves out the filling of the table, else as far as the run has come.
[[nodiscard]] std::optional<double> trainedSeconds(const RunRow& run);

/// Why the two are not like for like; empty when they are: one dataset content, one seed, dim, k, rule, batch, ...;
/// only where the table lies and how fast it may be reached differ.
[[nodiscard]] QStringList notLikeForLike(const RunRow& a, const RunRow& b);

enum class Sameness { unknown, differ, sameLosses, sameTable };
/// What the recorded losses and table hashes say.
[[nodiscard]] Sameness sameness(const RunRow& a, const RunRow& b);
[[nodiscard]] QString samenessText(Sameness sameness);

}  // namespace dsa::ui
