// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/embedding_page.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/look/theme.h"
#include "ui/look/units.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/run_picker.h"
#include "ui/plots/scatter.h"
#include "ui/run/run_text.h"

namespace dsa::ui {

QString shownRowsText(const EmbeddingRows& of) {
  const QString shown = Units::count(of.rows.size());
  if (of.rows.size() == of.totalRows) return EmbeddingPage::tr("all %1 rows").arg(shown);
  return EmbeddingPage::tr("%1 of %2 rows, those the first batches met").arg(shown, Units::count(of.totalRows));
}

QString projectionText(const EmbeddingFrame& frame) {
  const QString share = QLocale().toString(100 * frame.share, 'f', 0);
  switch (frame.kind) {
    case ProjectionKind::directions:
      return EmbeddingPage::tr("two leading directions through the origin, %1 % of the squares").arg(share);
    case ProjectionKind::pca:
      return EmbeddingPage::tr("PCA, %1 % of the variance").arg(share);
    case ProjectionKind::coordinates:
      break;
  }
  return frame.of && frame.of->dim == 1 ? EmbeddingPage::tr("the only coordinate")
                                        : EmbeddingPage::tr("first two coordinates");
}

EmbeddingPage::EmbeddingPage(RunsModel& model, QWidget* parent) : QWidget(parent), m_model(model) {
  auto* empty = new EmptyState("embedding",
                               tr("No run is shown. The one-minute demo ends with one that unfolds before your eyes."),
                               tr("One-minute demo"));
  connect(empty, &EmptyState::clicked, this, &EmbeddingPage::demoWanted);
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(16, 12, 16, 12);
  column->setSpacing(8);
  column->addWidget(makeHeader());
  m_scatter = new Scatter;
  column->addWidget(m_scatter, 1);
  m_stack = stackOf(*this, empty, page);
}

QWidget* EmbeddingPage::makeHeader() {
  auto* header = new QWidget;
  m_picker = makeRunPicker(tr("Run shown"), 24, [this](RunId run) { emit runChosen(run); });
  m_status = new QLabel;
  m_found = new QLabel;
  m_found->setForegroundRole(QPalette::PlaceholderText);
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("Find a name or a row number"));
  m_search->setAccessibleName(tr("Find points"));
  m_search->setToolTip(tr("Lights the points that match; Enter goes from one to the next"));
  m_search->setClearButtonEnabled(true);
  m_search->setMinimumWidth(230);
  connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
    m_scatter->search(text);
    updateFound();
  });
  connect(m_search, &QLineEdit::returnPressed, this, [this] { m_scatter->showNextMatch(); });
  m_facts = new QLabel;
  m_facts->setForegroundRole(QPalette::PlaceholderText);
  m_facts->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  top->addWidget(m_picker, 1);
  top->addWidget(m_status);
  top->addStretch(1);
  top->addWidget(m_found);
  top->addWidget(m_search);
  auto* column = new QVBoxLayout(header);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  column->addLayout(top);
  column->addWidget(m_facts);
  return header;
}

void EmbeddingPage::showRun(RunId run) {
  if (run != m_run) {
    m_run = run;
    m_problem.clear();
    m_scatter->clear();
    m_scatter->setEmptyText(QString());
    m_search->clear();
  }
  m_stack->setCurrentIndex(run != 0 ? 1 : 0);
  runsChanged();
}

void EmbeddingPage::expect() {
  showRun(0);
  m_stack->setCurrentIndex(1);
  m_scatter->setEmptyText(tr("The run is about to begin …"));
  m_status->clear();
  m_facts->setText(" ");
}

void EmbeddingPage::takeFrame(const EmbeddingFrame& frame) {
  if (frame.run != m_run) return;
  m_problem = frame.problem;
  if (frame.of) {
    m_scatter->setFrame(frame);
    updateFound();
  }
  updateFacts();
}

void EmbeddingPage::runsChanged() {
  fillRunPicker(*m_picker, m_model.runs(), m_run);
  const auto run = m_model.run(m_run);
  if (!run) return;
  m_scatter->setPlacement(QString::fromStdString(run->placement));
  updateFacts();
}

void EmbeddingPage::updateFacts() {
  const auto run = m_model.run(m_run);
  if (!run) return;
  showStatus(*m_status, run->status, statusText(run->status));
  const EmbeddingFrame& frame = m_scatter->frame();
  const QString dot = QString("  ") + QChar(0x00B7) + "  ";
  QStringList facts;
  if (frame.of) facts << tr("step %1").arg(Units::count(frame.step)) << shownRowsText(*frame.of);
  facts << QString("%1, %2").arg(tr("dim %1").arg(Units::count(run->dim)), geometryText(run->k));
  if (frame.of) facts << projectionText(frame);
  m_facts->setText(facts.join(dot));
  m_facts->setToolTip(m_facts->text());
  m_scatter->setEmptyText(!m_problem.isEmpty()             ? m_problem
                          : runStatusIsActive(run->status) ? tr("The first points come with the first steps.")
                                                           : tr("No points were recorded of this run: an older version "
                                                                "trained it, or it ended before its first step."));
}

void EmbeddingPage::updateFound() {
  m_found->setText(m_search->text().trimmed().isEmpty() ? QString() : tr("%n found", nullptr, m_scatter->matches()));
}

void EmbeddingPage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && m_scatter != nullptr) updateFacts();
}

QString EmbeddingPage::facts() const { return m_facts->text(); }

void EmbeddingPage::search(const QString& text) { m_search->setText(text); }

}  // namespace dsa::ui
