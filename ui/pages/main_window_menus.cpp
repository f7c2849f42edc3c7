// SPDX-License-Identifier: GPL-3.0-or-later
// The main window's menus, tool bar and shortcuts.
#include "ui/pages/main_window.h"

#include <QAction>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QTableView>
#include <QToolBar>

#include "ui/look/icons.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/live_page.h"
#include "ui/pages/runs_page.h"

namespace dsa::ui {

QAction* MainWindow::add(QMenu* menu, const QString& iconName, const QString& text, const QKeySequence& key,
                         std::function<void()> act) {
  auto* action = new QAction(text, this);
  if (!iconName.isEmpty()) {
    action->setIcon(icon(iconName));
    m_icons.push_back({action, iconName});
  }
  action->setShortcut(key);
  connect(action, &QAction::triggered, this, [act = std::move(act)] { act(); });
  menu->addAction(action);
  if (!key.isEmpty()) m_shortcuts << action;
  return action;
}

void MainWindow::makeActions() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  QAction* fresh = add(file, "new", tr("New run …"), QKeySequence::New, [this] { openNewRun(); });
  add(file, "open", tr("Open …"), QKeySequence::Open, [this] { openFile({}); });
  m_exportAction = add(file, "", tr("Export the run …"), QKeySequence("Ctrl+E"), [this] { exportSelected(); });
  file->addSeparator();
  add(file, "", tr("Quit"), QKeySequence::Quit, [this] { close(); });

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  QAction* undo = m_runs->undoStack().createUndoAction(this, tr("Undo"));
  undo->setShortcut(QKeySequence::Undo);
  QAction* redo = m_runs->undoStack().createRedoAction(this, tr("Redo"));
  redo->setShortcut(QKeySequence::Redo);
  edit->addActions({undo, redo});
  m_shortcuts << undo << redo;
  edit->addSeparator();
  add(edit, "rename", tr("Rename"), QKeySequence("F2"), [this] {
    showTab(RunsTab);
    m_runs->renameSelected();
  });
  QAction* archive =
      add(edit, "archive", tr("Archive or take back"), QKeySequence::Delete, [this] { m_runs->archiveSelected(); });
  // Del belongs to the list; in a text field it deletes a character.
  archive->setShortcutContext(Qt::WidgetShortcut);
  m_runs->table().addAction(archive);
  m_deleteTableAction = add(edit, "", tr("Delete the table …"), {}, [this] { deleteTable(current()); });
  add(edit, "search", tr("Filter the runs"), QKeySequence::Find, [this] {
    showTab(RunsTab);
    m_runs->focusFilter();
  });

  QMenu* view = menuBar()->addMenu(tr("&View"));
  const QPair<QString, Tab> tabs[] = {{tr("Start"), StartTab},
                                      {tr("Runs"), RunsTab},
                                      {tr("Live"), LiveTab},
                                      {tr("Compare"), CompareTab},
                                      {tr("Embedding"), EmbeddingTab}};
  for (const auto& [name, tab] : tabs)
    add(view, "", name, QKeySequence(QString("Ctrl+%1").arg(tab + 1)), [this, tab = tab] { showTab(tab); });
  view->addSeparator();
  add(view, "", tr("Full screen"), QKeySequence("F11"),
      [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
  QMenu* look = view->addMenu(tr("Appearance"));
  const QPair<QString, ThemeMode> modes[] = {
      {tr("Like the system"), ThemeMode::system}, {tr("Light"), ThemeMode::light}, {tr("Dark"), ThemeMode::dark}};
  for (const auto& [name, mode] : modes) add(look, "", name, {}, [this, mode = mode] { emit themeWanted(mode); });

  QMenu* run = menuBar()->addMenu(tr("&Run"));
  QAction* demo = add(run, "demo", tr("One-minute demo"), QKeySequence("Ctrl+Shift+D"), [this] { startDemo(); });
  m_keepDemoAction = add(run, "", tr("Keep the demo's table"), {},
                         [this] { QSettings().setValue("keepDemoTable", m_keepDemoAction->isChecked()); });
  m_keepDemoAction->setCheckable(true);
  m_keepDemoAction->setChecked(QSettings().value("keepDemoTable", false).toBool());
  run->addSeparator();
  m_pauseAction =
      add(run, "pause", tr("Pause or continue"), QKeySequence("Ctrl+P"), [this] { m_live->pauseOrResume(); });
  m_stopAction = add(run, "stop", tr("Stop"), QKeySequence("Ctrl+."), [this] { m_live->stop(); });
  m_evictAction = add(run, "evict", tr("Evict page cache"), QKeySequence("Ctrl+Shift+E"), [this] { m_live->evict(); });
  m_resumeAction = add(run, "resume", tr("Resume"), QKeySequence("Ctrl+Shift+R"), [this] { resume(current()); });
  m_compareAction =
      add(run, "compare", tr("Compare"), QKeySequence("Ctrl+K"), [this] { compareRuns(m_runs->selected()); });

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  add(help, "", tr("Keyboard shortcuts"), QKeySequence("Ctrl+/"), [this] { showShortcuts(); });
  add(help, "info", tr("About DSA Lab"), {}, [this] { showAbout(); });

  QToolBar* bar = addToolBar(tr("Tools"));
  bar->setObjectName("tools");
  // Docking by mouse cannot be undone on every Wayland: the bar stays where it is.
  bar->setMovable(false);
  bar->setFloatable(false);
  bar->setContextMenuPolicy(Qt::PreventContextMenu);
  bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  bar->setIconSize({20, 20});
  bar->addActions({fresh, demo});
  bar->addSeparator();
  bar->addActions({m_resumeAction, m_stopAction, m_evictAction, m_compareAction});
}

void MainWindow::showShortcuts() {
  QString text = "<table cellpadding='3'>";
  for (const QAction* action : m_shortcuts)
    text += QString("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>")
                .arg(action->shortcut().toString(QKeySequence::NativeText).toHtmlEscaped(),
                     QString(action->text()).remove('&').toHtmlEscaped());
  text += QString("<tr><td><b>%1</b></td><td>%2</td></tr>").arg(tr("Space"), tr("Pause the view of the live plots"));
  text += QString("<tr><td><b>L</b></td><td>%1</td></tr></table>").arg(tr("Loss on a logarithmic axis"));
  showText(tr("Keyboard shortcuts"), text);
}

void MainWindow::showAbout() {
  showText(
      tr("About DSA Lab"),
      tr("<h3>DSA Lab %1</h3><p>Embedding tables on disk, and what they cost.</p><p>The window is free software under "
         "the "
         "GPL, version 3 or later (it uses QCustomPlot); the runner \"dsa\" and its library are under the Apache "
         "License 2.0.</p>")
          .arg(DSA_VERSION));
}

void MainWindow::showText(const QString& title, const QString& text) {
  auto* box = new QMessageBox(QMessageBox::NoIcon, title, text, QMessageBox::NoButton, this);
  // Our own word: Qt's is in English where its translations are not installed.
  box->addButton(tr("Close"), QMessageBox::RejectRole);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

}  // namespace dsa::ui
