// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/run/launcher.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QSaveFile>
#include <QStandardPaths>
#include <algorithm>

#include "core/spec/resolve.h"
#include "core/spec/spec_table.h"
#include "ui/run/spec_text.h"

namespace dsa::ui {

namespace {

/// Whether the process still does something; a zombie does not.
bool isAlive(qint64 pid) {
  QFile stat(QString("/proc/%1/stat").arg(pid));
  if (!stat.open(QIODevice::ReadOnly)) return false;
  const QByteArray text = stat.readAll();
  const qsizetype name = text.lastIndexOf(')');
  return name >= 0 && name + 2 < text.size() && text[name + 2] != 'Z' && text[name + 2] != 'X';
}

QString quoted(const QString& word) {
  static const QRegularExpression plain("^[A-Za-z0-9_./:,=+-]+$");
  if (plain.match(word).hasMatch()) return word;
  QString inner = word;
  return "'" + inner.replace("'", "'\\''") + "'";
}

QString lastLines(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  file.seek(std::max<qint64>(0, file.size() - 2000));
  QStringList lines = QString::fromUtf8(file.readAll()).trimmed().split('\n');
  while (lines.size() > 4) lines.removeFirst();
  for (QString& line : lines)
    if (line.startsWith("dsa: ")) line.remove(0, 5);
  return lines.join('\n');
}

}  // namespace

bool placeRun(RunSpec& spec, const QString& arm) {
  const QStringList parts = arm.split(':');
  if (parts.size() != 2) return false;
  const SpecKey* place = findSpecKey("optimizer.placement");
  const SpecKey* rule = findSpecKey("optimizer.rule");
  const auto placeValue = valueFromText(*place, parts[0].toStdString(), "place");
  const auto ruleValue = valueFromText(*rule, parts[1].toStdString(), "rule");
  if (!placeValue || !ruleValue) return false;
  place->set(spec, *placeValue);
  rule->set(spec, *ruleValue);
  setArm(spec, *spec.optimizer.placement, *spec.optimizer.rule);
  return true;
}

QStringList launchArguments(const LaunchRequest& request, const QString& specFile, const QStringList& uuids,
                            const QString& database) {
  QStringList words = {request.arms.isEmpty() ? "train" : "compare",
                       "--spec",
                       specFile,
                       "--db",
                       database,
                       "--uuid",
                       uuids.join(','),
                       "--json"};
  // Two arms are compared by their tables, too.
  if (!request.arms.isEmpty()) words << "--arms" << request.arms.join(',') << "--hash";
  if (request.queue) words << "--queue";
  return words;
}

QString commandLineFor(const LaunchRequest& request) {
  QStringList words = {"dsa", request.arms.isEmpty() ? "train" : "compare"};
  for (const SpecKey& key : specTable()) {
    const auto value = key.get(request.spec);
    if (!value || (!request.arms.isEmpty() && (key.path == "optimizer.placement" || key.path == "optimizer.rule")))
      continue;
    const QString flag = QString::fromStdString(key.flags.substr(0, key.flags.find(',')));
    words << flag << quoted(specValueText(*value));
  }
  if (!request.arms.isEmpty()) words << "--arms" << request.arms.join(',') << "--hash";
  return words.join(' ');
}

Launcher::Launcher(QString database, QObject* parent) : QObject(parent), m_database(std::move(database)) {
  m_timer.setInterval(500);
  connect(&m_timer, &QTimer::timeout, this, &Launcher::check);
}

QString Launcher::runner() {
  QString named = qEnvironmentVariable("DSA_RUNNER");
  if (!named.isEmpty()) return named;
  const QFileInfo beside(QCoreApplication::applicationDirPath() + "/dsa");
  if (beside.isExecutable()) return beside.absoluteFilePath();
  return QStandardPaths::findExecutable("dsa");
}

QStringList Launcher::start(const LaunchRequest& request) {
  if (!request.queue || request.arms.isEmpty()) return startOne(request);
  // The arms of a queued pair wait as two runs.
  QStringList uuids;
  for (const QString& arm : request.arms) {
    LaunchRequest one = request;
    one.arms.clear();
    if (!placeRun(one.spec, arm)) qFatal("an arm that the form cannot make: %s", qPrintable(arm));
    uuids << startOne(one);
  }
  return uuids;
}

QStringList Launcher::startOne(const LaunchRequest& request) {
  QStringList uuids;
  const qsizetype runs = std::max<qsizetype>(1, request.arms.size());
  for (qsizetype i = 0; i < runs; ++i) uuids << QString::fromStdString(newUuid());
  const QString folder = QFileInfo(m_database).absolutePath() + "/logs";
  if (!QDir().mkpath(folder)) {
    emit failed(tr("The folder %1 cannot be made; nothing was started. Is it writable?").arg(folder));
    return {};
  }
  const QString base = folder + "/" + uuids.constFirst();
  QSaveFile spec(base + ".json");
  const std::string json = specToJson(request.spec);
  if (!spec.open(QIODevice::WriteOnly) || spec.write(json.data(), static_cast<qint64>(json.size())) < 0 ||
      !spec.commit()) {
    emit failed(
        tr("The spec could not be written to %1 (%2); nothing was started.").arg(spec.fileName(), spec.errorString()));
    return {};
  }
  if (!launch(launchArguments(request, spec.fileName(), uuids, m_database),
              {.uuids = uuids, .log = base + ".log", .attemptsBefore = -1}))
    return {};
  return uuids;
}

bool Launcher::resume(const RunSummary& run) {
  const QString uuid = QString::fromStdString(run.uuid);
  return launch({"resume", QString::number(run.id), "--db", m_database, "--hash", "--json"},
                {.uuids = {uuid}, .log = logOf(uuid), .attemptsBefore = run.attempts});
}

bool Launcher::deleteTable(const RunSummary& run) {
  const QString uuid = QString::fromStdString(run.uuid);
  return launch({"runs", "rm", QString::number(run.id), "--table-only", "--db", m_database},
                {.uuids = {uuid}, .log = logOf(uuid), .deletes = true});
}

QString Launcher::logOf(const QString& uuid) const {
  const QString folder = QFileInfo(m_database).absolutePath() + "/logs";
  QDir().mkpath(folder);
  return folder + "/" + uuid + ".log";
}

bool Launcher::launch(const QStringList& arguments, Started started) {
  const QString program = runner();
  if (program.isEmpty()) {
    emit failed(
        tr("The runner \"dsa\" was not found beside this program or in PATH; nothing was started. Install the "
           "package again, or name it in DSA_RUNNER."));
    return false;
  }
  QProcess process;
  process.setProgram(program);
  process.setArguments(arguments);
  process.setStandardInputFile(QProcess::nullDevice());
  process.setStandardOutputFile(QProcess::nullDevice());
  process.setStandardErrorFile(started.log);
  if (!process.startDetached(&started.pid)) {
    emit failed(tr("%1 could not be started: %2. Nothing was changed.").arg(program, process.errorString()));
    return false;
  }
  m_started.push_back(std::move(started));
  m_timer.start();
  return true;
}

void Launcher::noticeRuns(const RunList& runs) {
  for (Started& started : m_started) {
    const std::string uuid = started.uuids.constFirst().toStdString();
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const RunSummary& r) { return r.uuid == uuid; });
    if (run == runs.end()) continue;
    // A refusal is recorded without an attempt.
    if (started.deletes ? !run->hasTable : run->attempts > started.attemptsBefore || run->status == RunStatus::refused)
      started.began = true;
  }
}

void Launcher::check() {
  for (auto it = m_started.begin(); it != m_started.end();) {
    // Its last words may still be on their way through the database: three looks, a second and a half.
    if (isAlive(it->pid) || ++it->deadChecks < 3) {
      ++it;
      continue;
    }
    // Once it has begun, the record says how it ended.
    if (!it->began) {
      const QString said = lastLines(it->log);
      emit failed(said.isEmpty() ? tr("The runner ended without a word.") : said);
    }
    it = m_started.erase(it);
  }
  if (m_started.isEmpty()) m_timer.stop();
}

}  // namespace dsa::ui
