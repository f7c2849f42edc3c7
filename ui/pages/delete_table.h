// SPDX-License-Identifier: GPL-3.0-or-later
// Asks before a run's table is deleted: what goes, how large it is, and a word to type, since there is no way back.
#pragma once

#include <QDialog>

#include "core/record/records.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace dsa::ui {

/// Deletes nothing itself: accepted() says that the user typed the word. Thread: the window's; the folder is looked at
/// by a thread of its own.
class DeleteTableDialog : public QDialog {
  Q_OBJECT
 public:
  explicit DeleteTableDialog(const RunRow& run, QWidget* parent = nullptr);
  /// What has to be typed, in the window's language.
  [[nodiscard]] static QString word();
  [[nodiscard]] QLineEdit& confirmation() const { return *m_typed; }
  [[nodiscard]] QPushButton& button() const { return *m_delete; }
  [[nodiscard]] QString sizeText() const;
  /// Whether the folder has been looked at.
  [[nodiscard]] bool measured() const { return m_measured; }

 private:
  void measure(const QString& folder);
  QLabel* m_size;
  QLineEdit* m_typed;
  QPushButton* m_delete;
  bool m_measured = false;
};

}  // namespace dsa::ui
