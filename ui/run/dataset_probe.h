// SPDX-License-Identifier: GPL-3.0-or-later
// Counts of a dataset for the form: bundled ones at once, others read in the background, each once.
#pragma once

#include <QHash>
#include <QObject>
#include <QString>
#include <optional>

#include "core/spec/dataset_facts.h"

namespace dsa::ui {

struct ProbedDataset {
  DatasetFacts facts;
  QString sha256;   ///< of its content; empty for bundled ones, whose files are checked when they are loaded
  QString remarks;  ///< warnings of the reader
};

/// Thread: the window's. One background read at a time; what was asked for meanwhile comes next.
class DatasetProbe : public QObject {
  Q_OBJECT
 public:
  explicit DatasetProbe(QObject* parent = nullptr) : QObject(parent) {}

  enum class State { known, reading, failed };
  struct Answer {
    State state = State::reading;
    ProbedDataset dataset;
    QString error;
  };
  /// What is known now; changed() follows where the answer is "reading".
  Answer ask(const QString& name);

 signals:
  void changed();

 private:
  void read(const QString& name);

  QHash<QString, Answer> m_answers;
  QString m_reading;
  QString m_next;
};

/// "hierarchy · 1,180 entities · 6,540 training edges"
[[nodiscard]] QString factsText(const DatasetFacts& facts);

}  // namespace dsa::ui
