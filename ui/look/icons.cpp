// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/look/icons.h"

#include <QFile>
#include <QPainter>
#include <QSvgRenderer>

#include "ui/look/theme.h"

namespace dsa::ui {

QPixmap iconPixmap(const QString& name, int size, const QColor& colour, double ratio) {
  QFile file(":/icons/" + name + ".svg");
  if (!file.open(QIODevice::ReadOnly)) qFatal("no icon %s", qPrintable(name));
  QByteArray svg = file.readAll();
  svg.replace("currentColor", colour.name().toLatin1());
  QSvgRenderer renderer(svg);
  QPixmap pixmap(QSize(size, size) * ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  renderer.render(&painter);
  painter.end();
  pixmap.setDevicePixelRatio(ratio);
  return pixmap;
}

QIcon icon(const QString& name) {
  const Theme& theme = Theme::current();
  QIcon made;
  for (const double ratio : {1.0, 1.5, 2.0}) {
    made.addPixmap(iconPixmap(name, 20, theme.text, ratio), QIcon::Normal);
    made.addPixmap(iconPixmap(name, 20, theme.dark ? QColor("#6B7480") : QColor("#9AA3AD"), ratio), QIcon::Disabled);
  }
  return made;
}

}  // namespace dsa::ui
