// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/records/records_service.h"

#include <QPointer>

#include "ui/records/records_threads.h"

namespace dsa::ui {

RecordsService::RecordsService(QString path, Pace pace, QObject* parent) : QObject(parent), m_path(std::move(path)) {
  qRegisterMetaType<dsa::ui::RunList>("dsa::ui::RunList");
  qRegisterMetaType<dsa::ui::ChunkList>("dsa::ui::ChunkList");
  qRegisterMetaType<dsa::ui::EventList>("dsa::ui::EventList");
  qRegisterMetaType<dsa::ui::EmbeddingFrame>("dsa::ui::EmbeddingFrame");
  qRegisterMetaType<dsa::RunId>("dsa::RunId");
  qRegisterMetaType<QVector<dsa::RunId>>("QVector<dsa::RunId>");
  m_reader = new RecordsReader(m_path, pace);
  m_writer = new RecordsWriter(m_path, pace);
  m_reader->moveToThread(&m_readThread);
  m_writer->moveToThread(&m_writeThread);
  connect(&m_readThread, &QThread::started, m_reader, &RecordsReader::start);
  connect(&m_writeThread, &QThread::started, m_writer, &RecordsWriter::start);
  connect(&m_readThread, &QThread::finished, m_reader, &QObject::deleteLater);
  connect(&m_writeThread, &QThread::finished, m_writer, &QObject::deleteLater);
  connect(m_reader, &RecordsReader::runsChanged, this, &RecordsService::runsChanged);
  connect(m_reader, &RecordsReader::samplesArrived, this, &RecordsService::samplesArrived);
  connect(m_reader, &RecordsReader::eventsArrived, this, &RecordsService::eventsArrived);
  connect(m_reader, &RecordsReader::embeddingArrived, this, &RecordsService::embeddingArrived);
  connect(m_reader, &RecordsReader::watchWanted, m_writer, &RecordsWriter::watch);
  connect(m_reader, &RecordsReader::troubleChanged, this, &RecordsService::troubleChanged);
  m_readThread.setObjectName("records-read");
  m_writeThread.setObjectName("records-write");
}

void RecordsService::start() {
  m_writeThread.start();
  m_readThread.start();
}

RecordsService::~RecordsService() {
  m_readThread.quit();
  m_writeThread.quit();
  m_readThread.wait();
  m_writeThread.wait();
}

void RecordsService::follow(const QVector<RunId>& runs, RunId drawn) {
  QMetaObject::invokeMethod(m_reader, [reader = m_reader, runs, drawn] { reader->follow(runs, drawn); });
}

void RecordsService::fetchRun(RunId run, QObject* context, std::function<void(const std::optional<RunRow>&)> then) {
  QMetaObject::invokeMethod(
      m_reader, [reader = m_reader, run, context = QPointer<QObject>(context), then = std::move(then), this] {
        const std::optional<RunRow> row = reader->fetch(run);
        // Through the service, which outlives its threads: the context may be gone by then.
        QMetaObject::invokeMethod(this, [context, then, row] {
          if (context) then(row);
        });
      });
}

void RecordsService::edit(const QString& what, std::function<Result<void>(Editor&)> work, QObject* context,
                          std::function<void()> then) {
  QMetaObject::invokeMethod(m_writer, [writer = m_writer, what, work = std::move(work),
                                       context = QPointer<QObject>(context), then = std::move(then), this] {
    const Result<void> done = writer->run(work);
    const QString text = done ? QString() : QString::fromStdString(done.error().message);
    QMetaObject::invokeMethod(this, [this, what, text, context, then] {
      if (!text.isEmpty()) emit editFailed(what, text);
      if (text.isEmpty() && context && then) then();
    });
  });
}

void RecordsService::send(RunId run, CommandKind kind, std::optional<std::int64_t> value) {
  edit(tr("Send the order \"%1\"").arg(QString::fromUtf8(commandKindName(kind).data())),
       [run, kind, value](Editor& editor) -> Result<void> {
         DSA_TRY(editor.sendCommand(run, kind, value));
         return {};
       });
}

}  // namespace dsa::ui
