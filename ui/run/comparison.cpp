// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/comparison.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/spec/run_spec.h"
#include "core/spec/spec_table.h"
#include "ui/look/units.h"
#include "ui/run/spec_text.h"

namespace dsa::ui {

namespace {

struct ComparisonText {
  Q_DECLARE_TR_FUNCTIONS(ComparisonText)
};

QString textOf(const SpecKey& key, const RunSpec& spec) {
  const auto value = key.get(spec);
  return value ? specValueText(*value) : QString();
}

RunSpec specOf(const RunRow& run) { return parseSpec(run.spec).value_or(RunSpec()); }

nlohmann::json resultOf(const RunRow& run) {
  nlohmann::json json = nlohmann::json::parse(run.result, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

std::optional<double> numberAt(const nlohmann::json& json, const char* group, const char* key) {
  const nlohmann::json* at = &json;
  if (group != nullptr) {
    if (!json.contains(group)) return std::nullopt;
    at = &json[group];
  }
  if (!at->is_object() || !at->contains(key) || !(*at)[key].is_number()) return std::nullopt;
  return (*at)[key].get<double>();
}

QString contentOf(const RunRow& run) {
  const QJsonObject versions = QJsonDocument::fromJson(QByteArray::fromStdString(run.versions)).object();
  return versions["dataset_sha256"].toString();
}

enum class Form { number, bytes, count, seconds, rate };

QString write(double value, Form form) {
  switch (form) {
    case Form::bytes:
      return Units::bytes(value);
    case Form::count:
      return value >= 0 ? Units::count(static_cast<std::uint64_t>(value))
                        : QString(QChar(0x2212)) + Units::count(static_cast<std::uint64_t>(-value));
    case Form::seconds:
      return value >= 0 ? Units::duration(value) : QString(QChar(0x2212)) + Units::duration(-value);
    case Form::rate:
    case Form::number:
      break;
  }
  return Units::number(value);
}

ResultRow row(const QString& name, std::optional<double> a, std::optional<double> b, Form form) {
  ResultRow row;
  row.name = name;
  if (a) row.a = write(*a, form);
  if (b) row.b = write(*b, form);
  if (a && b && std::isfinite(*a) && std::isfinite(*b)) {
    row.delta = *a == *b ? QString("0") : write(*b - *a, form);
    if (*a > 0 && *b >= 0)
      row.ratio = QString::fromLatin1("%1").arg(Units::number(*b / *a)) + QChar(0xA0) + QChar(0x00D7);
  }
  return row;
}

}  // namespace

QVector<ParameterRow> compareParameters(const RunRow& a, const RunRow& b) {
  const RunSpec left = specOf(a);
  const RunSpec right = specOf(b);
  QVector<ParameterRow> rows;
  for (const SpecKey& key : specTable()) {
    ParameterRow row{QString::fromStdString(key.path), textOf(key, left), textOf(key, right), false};
    row.differs = row.a != row.b;
    if (key.path != "name" && (!row.a.isEmpty() || !row.b.isEmpty())) rows << row;
  }
  if (contentOf(a) != contentOf(b))
    rows << ParameterRow{ComparisonText::tr("content of the dataset (sha256)"), contentOf(a).left(12),
                         contentOf(b).left(12), true};
  return rows;
}

QVector<ResultRow> compareResults(const RunRow& a, const RunRow& b) {
  const nlohmann::json left = resultOf(a);
  const nlohmann::json right = resultOf(b);
  struct Line {
    QString name;
    const char* group;
    const char* key;
    Form form;
  };
  const Line lines[] = {
      {ComparisonText::tr("private peak"), "memory", "private_peak", Form::bytes},
      {ComparisonText::tr("table in memory, peak"), "memory", "table_resident_peak", Form::bytes},
      {ComparisonText::tr("device peak"), "memory", "device_peak", Form::bytes},
      {ComparisonText::tr("on disk"), "memory", "disk_bytes", Form::bytes},
      {ComparisonText::tr("time"), nullptr, "seconds", Form::seconds},
      {ComparisonText::tr("samples per second"), nullptr, "samples_per_s", Form::number},
      {ComparisonText::tr("final loss"), nullptr, "loss_last", Form::number},
      {ComparisonText::tr("MAP"), "metrics", "map", Form::number},
      {ComparisonText::tr("mean rank"), "metrics", "mean_rank", Form::number},
      {ComparisonText::tr("MRR"), "metrics", "mrr", Form::number},
      {ComparisonText::tr("Hits@10"), "metrics", "hits_10", Form::number},
      {ComparisonText::tr("major faults"), "faults", "major", Form::count},
      {ComparisonText::tr("minor faults"), "faults", "minor", Form::count},
      {ComparisonText::tr("read from disk"), "io", "read", Form::bytes},
      {ComparisonText::tr("dirtied for disk"), "io", "written", Form::bytes},
  };
  QVector<ResultRow> rows;
  for (const Line& line : lines) {
    auto x = numberAt(left, line.group, line.key);
    auto y = numberAt(right, line.group, line.key);
    // A run that is still going has no result yet, but its peaks and time are known.
    const auto known = [&](const RunRow& run) -> std::optional<double> {
      const std::string key = line.key;
      if (key == "private_peak" && run.progress.privatePeak) return static_cast<double>(*run.progress.privatePeak);
      if (key == "table_resident_peak" && run.progress.cachePeak) return static_cast<double>(*run.progress.cachePeak);
      if (key == "seconds") return run.progress.seconds;
      if (key == "loss_last") return run.progress.lossLast;
      return std::nullopt;
    };
    if (!x) x = known(a);
    if (!y) y = known(b);
    if (!x && !y) continue;
    // No zero lines for what neither has.
    if (x.value_or(0) == 0 && y.value_or(0) == 0 && line.group != nullptr && std::string(line.group) != "metrics")
      continue;
    rows << row(line.name, x, y, line.form);
  }
  return rows;
}

std::optional<double> trainedSeconds(const RunRow& run) {
  const auto recorded = numberAt(resultOf(run), nullptr, "seconds");
  return recorded ? recorded : run.progress.seconds;
}

QStringList notLikeForLike(const RunRow& a, const RunRow& b) {
  QStringList reasons;
  if (contentOf(a) != contentOf(b)) reasons << ComparisonText::tr("the datasets' content differs");
  const RunSpec left = specOf(a);
  const RunSpec right = specOf(b);
  for (const SpecKey& key : specTable()) {
    if (key.effect == SpecEffect::none || key.path == "dataset" || key.path == "name") continue;
    const QString x = textOf(key, left);
    const QString y = textOf(key, right);
    if (x != y) reasons << ComparisonText::tr("%1 differs (%2 and %3)").arg(QString::fromStdString(key.path), x, y);
  }
  return reasons;
}

Sameness sameness(const RunRow& a, const RunRow& b) {
  const nlohmann::json left = resultOf(a);
  const nlohmann::json right = resultOf(b);
  if (!left.contains("losses") || !right.contains("losses")) return Sameness::unknown;
  if (left["losses"] != right["losses"]) return Sameness::differ;
  if (left.contains("table_sha256") && right.contains("table_sha256"))
    return left["table_sha256"] == right["table_sha256"] ? Sameness::sameTable : Sameness::differ;
  return Sameness::sameLosses;
}

QString samenessText(Sameness sameness) {
  switch (sameness) {
    case Sameness::sameTable:
      return ComparisonText::tr("difference 0, identical bits");
    case Sameness::sameLosses:
      return ComparisonText::tr("difference 0");
    case Sameness::differ:
      return ComparisonText::tr("the losses differ");
    case Sameness::unknown:
      break;
  }
  return {};
}

}  // namespace dsa::ui
