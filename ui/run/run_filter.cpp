// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/run_filter.h"

#include <QRegularExpression>
#include <optional>

namespace dsa::ui {

namespace {

std::optional<double> numberOf(const QString& key, const RunSummary& run) {
  if (key == "dim") return static_cast<double>(run.dim);
  if (key == "k") return run.k;
  if (key == "seed") return static_cast<double>(run.seed);
  if (key == "id") return static_cast<double>(run.id);
  if (key == "loss") return run.progress.lossLast;
  if (key == "epoch") return run.progress.epoch;
  if (key == "step" && run.progress.step) return static_cast<double>(*run.progress.step);
  return std::nullopt;
}

bool isNumberKey(const QString& key) {
  static const QStringList keys = {"dim", "k", "seed", "id", "loss", "epoch", "step"};
  return keys.contains(key);
}

/// A list of one; not by braces, in which g++ 12 sees a dangling pointer that is none.
QStringList only(const std::string& text) {
  QStringList list;
  list << QString::fromStdString(text);
  return list;
}

std::optional<QStringList> textsOf(const QString& key, const RunSummary& run) {
  if (key == "status") {
    QStringList names = only(std::string(runStatusName(run.status)));
    if (run.status == RunStatus::finished) names << "done";
    return names;
  }
  if (key == "dataset") return only(run.dataset);
  if (key == "rule") return only(run.rule);
  if (key == "place") return only(run.placement);
  if (key == "model") return only(run.model);
  if (key == "name") return only(run.name);
  if (key == "tag") {
    QStringList tags;
    for (const std::string& tag : run.tags) tags << QString::fromStdString(tag);
    return tags;
  }
  return std::nullopt;
}

bool compare(double a, const QString& op, double b) {
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  return op == "!=" ? a != b : a == b;
}

}  // namespace

RunFilter::RunFilter(const QString& text) {
  static const QRegularExpression condition("^([a-z]+)(<=|>=|!=|<|>|=|:)(.+)$");
  const RunSummary none;
  for (const QString& word : text.simplified().split(' ', Qt::SkipEmptyParts)) {
    const auto match = condition.match(word.toLower());
    if (match.hasMatch()) {
      Condition parsed{match.captured(1), match.captured(2), match.captured(3), 0};
      bool isNumber = false;
      parsed.number = parsed.text.toDouble(&isNumber);
      if (isNumberKey(parsed.key) ? isNumber : textsOf(parsed.key, none).has_value()) {
        m_conditions << parsed;
        continue;
      }
    }
    m_words << word;
  }
}

bool RunFilter::holds(const Condition& condition, const RunSummary& run) const {
  if (isNumberKey(condition.key)) {
    const auto value = numberOf(condition.key, run);
    return value && compare(*value, condition.op, condition.number);
  }
  bool found = false;
  for (const QString& text : textsOf(condition.key, run).value_or(QStringList()))
    found = found || text.startsWith(condition.text, Qt::CaseInsensitive);
  return condition.op == "!=" ? !found : found;
}

bool RunFilter::matches(const RunSummary& run) const {
  for (const Condition& condition : m_conditions)
    if (!holds(condition, run)) return false;
  if (m_words.isEmpty()) return true;
  QStringList all;
  for (const char* key : {"name", "dataset", "rule", "place", "model", "status", "tag"})
    all << textsOf(key, run).value_or(QStringList());
  const QString text = all.join(' ');
  for (const QString& word : m_words)
    if (!text.contains(word, Qt::CaseInsensitive)) return false;
  return true;
}

}  // namespace dsa::ui
