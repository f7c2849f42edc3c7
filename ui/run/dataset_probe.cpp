// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/dataset_probe.h"

#include <QDateTime>
#include <QFileInfo>

#include "core/data/inspect.h"
#include "ui/look/units.h"
#include "ui/run/background.h"

namespace dsa::ui {

namespace {

/// A file that was changed is another dataset.
QString keyOf(const QString& name) {
  const QFileInfo file(name);
  return file.exists() ? QString("%1|%2|%3").arg(name).arg(file.lastModified().toMSecsSinceEpoch()).arg(file.size())
                       : name;
}

DatasetProbe::Answer readDataset(const QString& name) {
  DatasetProbe::Answer answer;
  const auto read = inspectDataset(name.toStdString());
  if (!read) {
    answer.state = DatasetProbe::State::failed;
    answer.error = QString::fromStdString(read.error().message);
    return answer;
  }
  answer.state = DatasetProbe::State::known;
  answer.dataset.facts = factsOf(read->dataset);
  answer.dataset.sha256 = QString::fromStdString(read->dataset.sha256);
  QStringList remarks;
  for (const std::string& warning : read->dataset.warnings) remarks << QString::fromStdString(warning);
  answer.dataset.remarks = remarks.join('\n');
  return answer;
}

}  // namespace

DatasetProbe::Answer DatasetProbe::ask(const QString& name) {
  if (const auto bundled = factsOfBundled(name.toStdString())) {
    Answer answer;
    answer.state = State::known;
    answer.dataset.facts = *bundled;
    return answer;
  }
  const QString key = keyOf(name);
  const auto known = m_answers.constFind(key);
  if (known != m_answers.cend()) return *known;
  if (m_reading.isEmpty()) {
    read(name);
  } else if (m_reading != key) {
    m_next = name;
  }
  return Answer{};
}

void DatasetProbe::read(const QString& name) {
  m_reading = keyOf(name);
  inBackground(
      this, [name] { return readDataset(name); },
      [this, key = m_reading](const Answer& answer) {
        m_answers[key] = answer;
        m_reading.clear();
        const QString next = std::exchange(m_next, QString());
        if (!next.isEmpty()) ask(next);
        emit changed();
      });
}

QString factsText(const DatasetFacts& facts) {
  const QString dot = QString(" ") + QChar(0x00B7) + " ";
  switch (facts.kind) {
    case DatasetFacts::Kind::hierarchy:
      return DatasetProbe::tr("hierarchy") + dot + DatasetProbe::tr("%1 entities").arg(Units::count(facts.entities)) +
             dot + DatasetProbe::tr("%1 training edges").arg(Units::count(facts.trainCount));
    case DatasetFacts::Kind::graph:
      return DatasetProbe::tr("knowledge graph") + dot +
             DatasetProbe::tr("%1 entities").arg(Units::count(facts.entities)) + dot +
             DatasetProbe::tr("%1 relations").arg(Units::count(facts.relations)) + dot +
             DatasetProbe::tr("%1 training triples").arg(Units::count(facts.trainCount));
    case DatasetFacts::Kind::pairs:
      break;
  }
  return DatasetProbe::tr("synthetic pairs by a Zipf law") + dot +
         DatasetProbe::tr("%1 rows").arg(Units::count(facts.entities));
}

}  // namespace dsa::ui
