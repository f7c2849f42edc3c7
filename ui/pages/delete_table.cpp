// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/delete_table.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/base/file.h"
#include "ui/look/units.h"
#include "ui/run/background.h"

namespace dsa::ui {

namespace {

QLabel* paragraph(const QString& text) {
  auto* label = new QLabel(text);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  return label;
}

}  // namespace

DeleteTableDialog::DeleteTableDialog(const RunRow& run, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Delete the table"));
  const QString folder = QString::fromStdString(run.cacheFolder);
  auto* name = paragraph(QString::fromStdString(run.name));
  QFont font = name->font();
  font.setPointSize(13);
  font.setWeight(QFont::DemiBold);
  name->setFont(font);
  m_size = paragraph(tr("Its table takes … on the disk."));
  auto* path = paragraph(folder);
  path->setTextInteractionFlags(Qt::TextSelectableByMouse);
  path->setForegroundRole(QPalette::PlaceholderText);
  auto* meaning = paragraph(
      tr("The record stays, with its plots and its result. Without the table the run can be neither resumed nor "
         "evaluated. This cannot be undone."));
  m_typed = new QLineEdit;
  m_typed->setPlaceholderText(word());
  auto* ask = new QLabel(tr("Type \"%1\" to &confirm:").arg(word()));
  ask->setBuddy(m_typed);
  auto* buttons = new QDialogButtonBox;
  // Our own words: Qt's are in English where its translations are not installed.
  buttons->addButton(tr("Cancel"), QDialogButtonBox::RejectRole);
  m_delete = buttons->addButton(tr("Delete the table"), QDialogButtonBox::AcceptRole);
  m_delete->setEnabled(false);
  connect(m_typed, &QLineEdit::textChanged, this, [this](const QString& text) {
    m_delete->setEnabled(text.trimmed().compare(word(), Qt::CaseInsensitive) == 0);
  });
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 16, 24, 16);
  column->setSpacing(8);
  for (QLabel* label : {name, m_size, path, meaning}) column->addWidget(label);
  column->addSpacing(8);
  column->addWidget(ask);
  column->addWidget(m_typed);
  column->addSpacing(8);
  column->addWidget(buttons);
  setMinimumWidth(460);
  measure(folder);
}

QString DeleteTableDialog::word() { return tr("delete"); }

QString DeleteTableDialog::sizeText() const { return m_size->text(); }

void DeleteTableDialog::measure(const QString& folder) {
  // A disk may sleep or be far away.
  inBackground(
      this, [folder = folder.toStdString()] { return occupiedBytes(folder); },
      [this](const Result<std::uint64_t>& bytes) {
        m_measured = true;
        m_size->setText(bytes ? tr("Its table takes %1 on the disk.").arg(Units::bytes(static_cast<double>(*bytes)))
                              : tr("Its folder is not there any more; only the record will be put right."));
      });
}

}  // namespace dsa::ui
